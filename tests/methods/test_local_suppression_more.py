"""Local suppression with models, people of several rows and households, counted in files by plain loops."""

from __future__ import annotations

import itertools
import random
import warnings
from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.people import greatest_distance, least_diversity, read_rows, write_rows

import voronym as vr
from repeats import examples, few
from voronym.core.context import Context
from voronym.errors import GuaranteeError, SchemaError
from voronym.methods import blank_bound
from voronym.methods.local_suppression import suppress_locally
from voronym.privacy.cells import Judge
from voronym.privacy.level import Levels
from voronym.privacy.p_sensitive import distinct

KEYS = ["age", "sex", "town"]
K = 4


def people(n=70, seed=0, rows=(1,), homes=40):
    """Make up people with some rows each; where somebody has several, the town changes now and then."""
    rng = random.Random(seed)
    out = []
    for person in range(n):
        age, sex, home = rng.choice([20, 30, 40, 50]), rng.choice("fm"), rng.randrange(homes)
        town = rng.choice(["Reus", "Valls", "Falset", ""])
        for visit in range(rng.choice(rows)):
            town = rng.choice(["Reus", "Valls"]) if visit and rng.random() < 0.2 else town
            ill = rng.choice(["flu", "flu", "flu", "cold", "hiv"])
            row = {"pid": f"q{person}", "hid": f"h{home}", "age": age, "sex": sex, "town": town, "ill": ill}
            out.append({**row, "mark": f"{person}-{visit}"})
    rng.shuffle(out)
    return out


def release(rows, folder, **more):
    """Release them, and return what was written."""
    write_rows(folder / "in.csv", rows)
    how = {"keys": KEYS, "confidential": ["ill"], "other": ["mark"], "drop_undeclared": True, "k": K}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = vr.anonymize(folder / "in.csv", method="local-suppression", **{**how, **more})
    result.write(folder / "out.csv")
    return result, read_rows(folder / "out.csv")


def classes(rows, what="mark"):
    """Return what is in each class of equal keys, gaps included."""
    behind = defaultdict(list)
    for row in rows:
        behind[tuple(row[key] for key in KEYS)].append(row[what])
    return behind


def check(before, out):
    """Every published value is true, and nothing is missing that a whole class shares."""
    truth = {row["mark"]: row for row in before}
    assert len(out) == len(before)
    for row in out:
        own = truth[row["mark"]]
        assert all(row[key] in ("", str(own[key])) for key in KEYS)
    return truth


CHECKS = {
    "l-diversity=2": lambda out: least_diversity(out, KEYS, "ill") >= 2,
    "p-sensitive=3": lambda out: least_diversity(out, KEYS, "ill") >= 3,
    "t-closeness=0.25": lambda out: greatest_distance(out, KEYS, "ill") <= 0.25 + 1e-9,
    "mutual-information=0.1": lambda out: messages_of(out) <= 0.1 + 1e-9,
}


def messages_of(rows):
    """How much the classes tell about the illness, in nats."""
    n, ill = len(rows), Counter(row["ill"] for row in rows)
    both = Counter((key, item) for key, ills in classes(rows, "ill").items() for item in ills)
    size = {key: len(ills) for key, ills in classes(rows, "ill").items()}
    return sum(m / n * np.log(m * n / (size[key] * ill[item])) for (key, item), m in both.items())


@pytest.mark.parametrize("model", few(CHECKS, 2))
def test_classes_are_joined_until_a_model_holds(model, tmp_path):
    broken = 0
    for seed in range(2):
        folder = tmp_path / str(seed)
        folder.mkdir()
        rows = people(seed=seed)
        result, out = release(rows, folder, models=[model])
        truth = check(rows, out)
        assert min(map(len, classes(out).values())) >= K
        assert CHECKS[model](out)
        for shown, marks in classes(out).items():
            for c, key in enumerate(KEYS):
                if shown[c] == "":  # a gap stands for several values, or for none
                    assert len({truth[mark][key] for mark in marks}) > 1 or truth[marks[0]][key] == ""
        figures = result.figures.local_suppression
        assert figures.cost == sum(figures.suppressed.values()) >= figures.least
        assert any("against an intruder who knows the keys" in sentence for sentence in result.log)
        for again in range(1 if broken else 8):  # ties are broken at random: some releases obey by chance
            (folder / f"plain {again}").mkdir()
            plain = release(rows, folder / f"plain {again}")
            broken += not CHECKS[model](plain[1])
            assert not any("intruder" in sentence for sentence in plain[0].log)
    assert broken  # without the model it did not hold


@pytest.mark.parametrize("model", ["p-sensitive=3", "t-closeness=0.25"])
def test_every_way_to_enforce_is_followed_and_auto_keeps_the_fewest_gaps(model, tmp_path):
    rows, made = people(seed=1), {}
    for way in ("merge", "swap", "confidential-first", "auto"):
        (tmp_path / way).mkdir()
        made_release, out = release(rows, tmp_path / way, models=[model], enforce=way, seed=3)
        check(rows, out)
        assert min(map(len, classes(out).values())) >= K
        assert CHECKS[model](out)
        made[way] = (made_release.figures.local_suppression.cost, sorted(map(len, classes(out).values())))
    assert made["auto"][0] == min(cost for cost, _ in made.values())
    assert made["swap"][0] < made["merge"][0]
    assert made["merge"] != made["swap"] != made["confidential-first"]


@examples(6, 36)
@given(st.integers(0, 10_000), st.integers(20, 70), st.sampled_from([(1,), (1, 2, 3)]), st.booleans())
def test_k_people_or_households_share_what_is_published(tmp_path_factory, seed, n, many, at_home):
    folder = tmp_path_factory.mktemp("people")
    rows = people(n, seed, many, homes=max(K, n // 3))
    units = {"person": "pid", **({"household": "hid"} if at_home else {})}
    try:
        _, out = release(rows, folder, **units)
    except SchemaError as error:  # somebody's rare illness would join the rows of a household
        assert at_home and "would join rows" in str(error)  # noqa: PT017, PT018 - both are the reason
        return
    except GuaranteeError:
        assert len({row["hid"] for row in rows}) < K
        return
    truth = check(rows, out)
    for marks in classes(out).values():
        assert len({truth[mark]["pid"] for mark in marks}) >= K
        if at_home:
            assert len({truth[mark]["hid"] for mark in marks}) >= K
    # Whoever knows all rows of somebody finds one class, of k people, and never the ones that two share.
    shown = defaultdict(set)
    for row in out:
        shown[truth[row["mark"]]["pid"]].add(tuple(row[key] for key in KEYS))
    assert all(len(seen) == 1 for seen in shown.values())


def test_households_alone_and_with_a_model(tmp_path):
    rows = people(90, 5, homes=30)
    result, out = release(rows, tmp_path, household="hid", models=["l-diversity=2"])
    truth = check(rows, out)
    homes = [{truth[mark]["hid"] for mark in marks} for marks in classes(out).values()]
    assert min(map(len, homes)) >= K
    assert len(homes) > 3
    assert least_diversity(out, KEYS, "ill") >= 2
    assert any("4 households or more have the same keys" in item for item in result.log)


def test_models_of_people_count_people(tmp_path):
    rows = people(60, 6, (1, 4, 9))
    result, out = release(rows, tmp_path, person="pid", models=["p-sensitive=2"])
    check(rows, out)
    assert result.findings[1].holds
    assert least_diversity(out, KEYS, "ill") >= 2


def test_the_bound_holds_with_models_too():
    """Against all partitions of seven records into classes that obey; the cost is no less than the best."""
    above = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        codes, ill, k = rng.integers(0, 3, (7, 2)), rng.integers(0, 2, 7), 2
        if len(set(ill.tolist())) < 2:
            continue
        judge = Judge(Levels("ill", ill, False, (0, 1)), distinct, 2.0, at_most=False)
        result = suppress_locally(codes, k, Context(seed=0), judges=[judge])
        groups = [np.flatnonzero(result.labels == item) for item in np.unique(result.labels)]
        assert all(len(rows) >= k and len(set(ill[rows].tolist())) == 2 for rows in groups)
        assert result.cost == sum(gaps(codes[rows]) for rows in groups)
        best = min(
            sum(gaps(codes[rows]) for rows in part)
            for part in partitions(list(range(7)))
            if all(len(rows) >= k and len(set(ill[rows].tolist())) == 2 for rows in part)
        )
        assert result.least <= best + 1e-9 <= result.cost + 2e-9
        above += result.cost - best
    assert above <= 20  # of 14 values about two more than the best choice, on average


def gaps(rows):
    return sum(len(rows) for column in rows.T if len(set(column.tolist())) > 1)


def partitions(rows):
    """All partitions of some rows."""
    if not rows:
        yield []
        return
    first, *rest = rows
    for many in range(len(rest) + 1):
        for others in itertools.combinations(rest, many):
            for more in partitions([item for item in rest if item not in others]):
                yield [[first, *others], *more]


def test_a_solution_of_the_programme_that_breaks_k_is_not_taken(monkeypatch):
    """Solvers err by rounding. Here one claims less cost, with a single record in the class (0, gap)."""
    codes, asked = np.array([[0, 0], [0, 1], [1, 0]]), []

    def programme(cost, at, counts, of, others, k, home, nodes, ctx):
        asked.append(k)
        first = int(np.flatnonzero((at == 0) & (cost == 1.0))[0])
        rest = [int(np.flatnonzero((at == row) & (cost == 2.0))[0]) for row in (1, 2)]
        records = np.zeros(len(cost), np.int64)
        records[[first, *rest]] = 1
        return records, None

    monkeypatch.setattr(blank_bound, "_programme", programme)
    gaps = suppress_locally(codes, 2, Context(seed=0))
    assert asked == [2]
    assert np.bincount(gaps.labels).min() >= 2
    assert gaps.cost == 6.0
