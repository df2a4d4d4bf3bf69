"""People who are left out, with several rows each and with earlier releases, watched by who keeps all files.

The intruder shares no code with the library: csv, sets, counters. They know everybody's keys, how the work is
done, and so whom each release left out; values that do not change tell them which rows are of one person.
"""

from __future__ import annotations

import csv
from collections import Counter, defaultdict

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.people import least_heads, owner, read_rows, visits, write_rows

import voronym as vr
from repeats import examples
from voronym.core.context import Context
from voronym.errors import GuaranteeError, InputError
from voronym.history import Ledger
from voronym.methods.leaving import leave_out
from voronym.problem import Problem

pytestmark = pytest.mark.filterwarnings("ignore")
KEYS = ["x", "y"]


def crowd(n, seed, far=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)).round(2)
    X[:far] *= 9
    return pl.DataFrame({"pid": [f"p{i}" for i in range(n)], "x": X[:, 0], "y": X[:, 1], "tag": np.arange(n)})


def towns(sizes, seed, strangers=()):
    """People in towns far apart, each a group; and a stranger some way out of each of some towns."""
    rng = np.random.default_rng(seed)
    place = [(100.0 * (town % 3), 100.0 * (town // 3)) for town in range(len(sizes))]
    at = [place[town] for town, size in enumerate(sizes) for _ in range(size)]
    at += [(place[town][0] + 25.0, place[town][1]) for town in strangers]
    X = np.array(at) + rng.normal(size=(len(at), 2)).round(2)
    return pl.DataFrame(
        {"pid": [f"p{i}" for i in range(len(X))], "x": X[:, 0], "y": X[:, 1], "tag": range(len(X))}
    )


def publish(frame, path, ledger, suppress=0.0, k=3, **more):
    how = {"keys": KEYS, "identifiers": ["pid"], "other": ["tag"], "k": k, "method": "mdav", **more}
    release = vr.anonymize(frame, ledger=ledger, suppress=suppress, **how)
    release.write(path)
    return release


def seen(paths, everybody):
    """Return the history of everybody: the class in each file, or that they are not in it."""
    out = dict.fromkeys(everybody, ())
    for path in paths:
        with path.open(newline="", encoding="utf-8") as file:
            here = {row["tag"]: (row["x"], row["y"]) for row in csv.DictReader(file)}
        out = {tag: (*past, here.get(tag, "left out")) for tag, past in out.items()}
    return out


def fewest(paths, everybody):
    """Return the least number of people with one history, of those who were published at least once."""
    result = seen(paths, everybody)
    many = Counter(result.values())
    return min(many[past] for past in result.values() if set(past) != {"left out"})


# -- several rows each -----------------------------------------------------------------------------------


@examples(5, 30)
@given(st.integers(0, 10_000), st.integers(25, 60), st.sampled_from([0.05, 0.1, 0.2]))
def test_people_leave_with_all_their_rows_and_k_share_what_is_left(tmp_path_factory, seed, people, share):
    tmp_path = tmp_path_factory.mktemp("visits")
    rows = visits(people, seed, drift=seed % 2 == 0)
    write_rows(tmp_path / "visits.csv", rows)
    how = {"keys": ["age", "sex"], "confidential": ["ill"], "other": ["mark"], "drop_undeclared": True}
    release = vr.anonymize(
        tmp_path / "visits.csv", person="patient", k=3, method="mdav", pseudonyms=seed % 3 == 0,
        suppress=share, **how)  # fmt: skip
    release.write(tmp_path / "out.csv")
    out = read_rows(tmp_path / "out.csv")
    assert least_heads(out, ["age", "sex"]) >= 3
    before, after = Counter(map(owner, rows)), Counter(map(owner, out))
    assert all(after[who] == before[who] for who in after)  # with all rows, or with none
    gone = len(before) - len(after)
    assert gone <= share * len(before)
    output = release.log[0]
    assert f"{gone} of {len(before)} people" in output if gone else "nobody was left out" in output


def test_who_is_like_nobody_else_leaves_however_many_rows_they_have():
    rng = np.random.default_rng(2)
    pid = np.repeat(np.arange(80), rng.integers(1, 6, 80))
    x = rng.normal(size=80).round(2)
    x[7], x[30] = 60.0, -50.0
    frame = pl.DataFrame({"pid": pid, "x": x[pid], "y": rng.normal(size=80).round(2)[pid], "tag": pid})
    how = {
        "keys": KEYS,
        "person": "pid",
        "other": ["tag"],
        "allow_unit_columns": ["tag"],
        "k": 4,
        "method": "mdav",
    }
    release = vr.anonymize(frame, suppress="3%", **how)
    assert set(range(80)) - set(release.table["tag"]) == {7, 30}
    assert release.table.group_by(KEYS).agg(pl.col("tag").n_unique())["tag"].min() >= 4
    assert "2 of 80 people (2.5 %) were left out with all their rows" in release.log[0]
    assert any("78 people behind" in item for item in release.log)


# -- earlier releases --------------------------------------------------------------------------------------


@examples(7, 45)
@given(
    st.lists(st.integers(3, 5), min_size=4, max_size=8),
    st.sets(st.integers(0, 3), min_size=1, max_size=3),
    st.sampled_from([0.0, 0.07, 0.14]),
    st.sampled_from([0.0, 0.07, 0.14]),
    st.integers(0, 100),
)
def test_no_history_is_shared_by_fewer_than_k(tmp_path_factory, sizes, strangers, first, second, seed):
    """Whatever is left out of two releases: both files show everybody among k people, or one is refused."""
    tmp_path, frame = tmp_path_factory.mktemp("two"), towns(sizes, seed, sorted(strangers))
    everybody = [str(tag) for tag in frame["tag"]]
    ledger, paths = tmp_path / "l.ledger", [tmp_path / "1.csv", tmp_path / "2.csv"]
    publish(frame, paths[0], ledger, first, method="auto")
    assert fewest(paths[:1], everybody) >= 3
    try:
        publish(frame, paths[1], ledger, second, method="auto")
    except (GuaranteeError, InputError):
        return
    assert fewest(paths, everybody) >= 3


def test_a_stranger_neither_leaves_nor_comes_in(tmp_path):
    """The groups of all others stay as they are, with k people or more: the difference is the stranger."""
    frame, everybody = towns([4] * 5, 0, [2]), list(map(str, range(21)))
    paths = [tmp_path / f"{i}.csv" for i in range(4)]
    publish(frame, paths[0], tmp_path / "out.ledger", "5%", method="auto")
    assert seen(paths[:1], everybody)["20"] == ("left out",)
    with pytest.raises(GuaranteeError, match=r"^1 of 21 people were not in the release before"):
        publish(frame, paths[1], tmp_path / "out.ledger", method="auto")
    publish(
        frame, paths[1], tmp_path / "free.ledger", method="auto"
    )  # an intruder who has both finds who came in
    assert fewest(paths[:2], everybody) == 1
    publish(frame, paths[2], tmp_path / "in.ledger", method="auto")
    publish(frame, paths[3], tmp_path / "in.ledger", "5%", method="auto")
    assert seen(paths[3:], everybody)["20"] != ("left out",)
    assert fewest(paths[2:], everybody) >= 3


def test_the_same_people_twice_and_the_ways_out(tmp_path):
    frame, ledger = crowd(60, 1), tmp_path / "l.ledger"
    everybody = [str(tag) for tag in frame["tag"]]
    paths = [tmp_path / f"{i}.csv" for i in range(3)]
    publish(frame, paths[0], ledger, "5%")
    out = {tag for tag, past in seen(paths[:1], everybody).items() if past == ("left out",)}
    assert 0 < len(out) <= 3
    with pytest.raises(GuaranteeError, match="of an earlier release: suppress leaves them"):
        publish(frame, paths[1], ledger)  # who comes in is the difference of the two
    again = publish(frame, paths[1], ledger, "2%")
    # More than the budget stay out; of those who are known nobody leaves, nobody comes in
    assert f"{len(out)} of 60 people" in again.log[0].replace("records", "people")
    assert "as in an earlier release" in again.log[0]
    assert {tag for tag, past in seen(paths[1:2], everybody).items() if past == ("left out",)} == out
    assert fewest(paths[:2], everybody) >= 3
    new = crowd(50, 9).with_columns(pl.col("pid") + "n", pl.col("tag") + 100)
    few = frame.filter(pl.col("tag").cast(str).is_in(list(out)))
    both = publish(pl.concat([few, new]), paths[2], ledger, "10%")
    assert "as in an earlier release and those that cost most" in both.log[0]
    assert not {str(tag) for tag in both.table["tag"]} & out
    result = Ledger(ledger).entries
    assert [item.left_out for item in result] == [len(out), len(out), 53 - both.table.height]
    assert [item.waiting for item in result] == [0, 0, 0]


def test_people_of_an_earlier_release_do_not_leave(tmp_path):
    """Six people of one place and k = 5: if one of them left, what is lacking would be theirs."""
    frame, ledger = crowd(60, 2), tmp_path / "l.ledger"
    first = publish(frame.filter(pl.col("tag") >= 4), tmp_path / "1.csv", ledger)
    more = publish(frame.filter(pl.col("tag") < 4), tmp_path / "2.csv", ledger, "25%", strangers=True)
    assert first.table.height == 56
    assert more.table.height == 3
    known = frame.filter(pl.col("tag") >= 4)
    same = publish(known, tmp_path / "3.csv", ledger, "10%")
    assert same.table.height == 56
    assert "nobody was left out" in same.log[0]


def test_rows_of_one_person_are_not_torn_apart(tmp_path):
    frame = crowd(60, 3)
    twice = pl.concat([frame, frame.head(4).with_columns(x=pl.lit(0.0))])
    with pytest.raises(InputError, match=r"people have several rows.*person='pid'"):
        publish(twice, tmp_path / "1.csv", tmp_path / "l.ledger", "5%")
    how = {
        "keys": KEYS,
        "person": "pid",
        "other": ["tag"],
        "allow_unit_columns": ["tag"],
        "k": 3,
        "method": "mdav",
    }
    release = vr.anonymize(twice, suppress="5%", ledger=tmp_path / "m.ledger", **how)
    rows = defaultdict(int)
    for tag in release.table["tag"]:
        rows[tag] += 1
    assert all(rows[tag] == 2 for tag in range(4) if tag in rows)


def test_kept_groups_let_people_wait_instead(tmp_path):
    release = publish(crowd(60, 3), tmp_path / "1.csv", tmp_path / "l.ledger", "5%", keep_groups=True)
    assert 57 <= len(release.table) <= 60


@pytest.mark.parametrize("seed", range(4))
def test_who_may_not_leave_stays_and_who_has_to_leaves(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(50, 2))
    X[:6] *= 8
    may, out = rng.random(50) < 0.6, np.zeros(50, bool)
    out[np.flatnonzero(may)[-2:]] = True
    result = leave_out(Problem.of(X, 3), 0.12, Context(), may=may, out=out)
    assert result.kept[~may].all()
    assert not result.kept[out].any()
    assert 2 <= (~result.kept).sum() <= 6
    assert result.again == 2
    assert result.least <= result.after <= result.before
