"""Several rows of one person, several members of one household: k people, k households, in the file."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import people as made
import voronym as vr
from commands import runner
from repeats import examples
from voronym.errors import GuaranteeError, InputError, SchemaError, WriteError
from voronym.table import Table
from voronym.table.units import distinct

KEYS = ["age", "sex", "town"]
HOME = ["age", "sex", "town", "hhsize"]
ROLES = {"keys": KEYS, "confidential": ["ill"], "other": ["mark"]}
HOME_ROLES = {"keys": HOME, "confidential": ["ill"], "other": ["mark"]}
pytestmark = pytest.mark.filterwarnings("ignore:.*column 'mark'.*")


def release(rows, tmp_path, **options):
    """Anonymize and write; return the release and the rows of the file."""
    made_of = {"k": 5, "method": "mdav", **ROLES, **options}
    result = vr.anonymize(pl.DataFrame(rows), **made_of)
    receipt = result.write(tmp_path / "out.csv", overwrite=True)
    return result, receipt, made.read_rows(tmp_path / "out.csv")


@pytest.mark.parametrize("drift", [False, True])
@pytest.mark.parametrize("options", [{}, {"space": "mixed"}, {"k": 3, "method": "auto"}, {"method": "vmdav"}])
def test_k_people_behind_every_combination(tmp_path, drift, options):
    rows = made.visits(drift=drift)
    result, receipt, out = release(rows, tmp_path, person="patient", **options)
    k = options.get("k", 5)
    assert made.least_heads(out, KEYS) >= k
    assert receipt.k_counted == result.risk.k == made.least_heads(out, KEYS)
    assert "patient" not in out[0]
    assert sorted(row["mark"] for row in out) == sorted(row["mark"] for row in rows)
    # whoever knows several rows of somebody is led to one group
    assert all(len(seen) == 1 for seen in made.groups_of_owners(out, KEYS).values())


def test_without_a_word_k_counts_rows_and_that_is_warned_of(tmp_path):
    rows = made.visits()
    with pytest.warns(UserWarning, match=r"60 different values .* person='patient'"):
        _, _, out = release(rows, tmp_path, identifiers=["patient"])
    assert made.least_heads(out, KEYS) < 5  # what the warning is about


@examples(6, 36)
@given(seed=st.integers(0, 10**6), people=st.integers(12, 40), k=st.integers(2, 6))
def test_any_table_of_visits(tmp_path_factory, seed, people, k):
    rows = made.visits(people, seed, drift=bool(seed % 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few people make a single group
        folder = tmp_path_factory.mktemp("v")
        # Few people share few diagnoses, which would be refused for another reason than k.
        _, _, out = release(rows, folder, person="patient", k=k, allow_unit_columns=["ill"])
    assert made.least_heads(out, KEYS) >= k


def test_fewer_people_than_k(tmp_path):
    with pytest.raises(GuaranteeError, match="4 people"):
        release(made.visits(4, 1), tmp_path, person="patient")


def test_a_person_with_many_rows_weighs_as_much_as_another():
    rows = [{"id": "a", "age": 20}] * 50 + [{"id": item, "age": 80} for item in "bcde"]
    with pytest.warns(UserWarning, match="single group"):
        result = vr.anonymize(pl.DataFrame(rows), keys=["age"], person="id", k=5)
    assert result.table["age"].unique().to_list() == [68]


@pytest.mark.parametrize(
    ("model", "check", "good"),
    [
        ("p-sensitive=3", made.least_diversity, lambda value: value >= 3),
        ("l-diversity=2", made.least_diversity, lambda value: value >= 2),
        ("t-closeness=0.15", made.greatest_distance, lambda value: value <= 0.15 + 1e-9),
    ],
)
def test_models_count_people(tmp_path, model, check, good):
    result, _, out = release(made.visits(80, 3), tmp_path, person="patient", models=[model])
    assert made.least_heads(out, KEYS) >= 5
    assert good(check(out, KEYS, "ill"))
    assert result.findings[1].value == pytest.approx(check(out, KEYS, "ill"))


def test_what_everybody_in_a_class_has_is_known_of_them():
    rows = [{"id": i, "age": 30, "ill": ill} for i in range(5) for ill in ("flu", "hiv")]
    rows += [{"id": 5 + i, "age": 60, "ill": "flu" if i < 3 else "cold"} for i in range(5)]
    table = Table.build(pl.DataFrame(rows), keys=["age"], confidential=["ill"], person="id")
    plain = Table.build(pl.DataFrame(rows).drop("id"), keys=["age"], confidential=["ill"])
    for model in (
        vr.PSensitive(2),
        vr.LDiversity(2),
        vr.LDiversity(2, "entropy"),
        vr.LDiversity(2, "recursive", c=9),
    ):
        assert not model.measure(table).holds
    assert vr.PSensitive(2).measure(plain).holds  # by rows, there are two values


def test_pseudonyms_join_rows_and_nothing_else(tmp_path):
    rows = made.visits()
    _, _, out = release(rows, tmp_path, person="patient", pseudonyms=True)
    _, _, again = release(rows, tmp_path, person="patient", pseudonyms=True)
    pairs = {(row["patient"], made.owner(row)) for row in out}
    assert len(pairs) == 60 == len({name for name, _ in pairs})
    assert not {name for name, _ in pairs} & {row["patient"] for row in rows}
    assert pairs != {
        (row["patient"], made.owner(row)) for row in again
    }  # fresh each time, the same seed or not
    # the numbers do not follow the order of the original
    order = list(dict.fromkeys(made.owner(row) for row in rows))
    named = {who: name for name, who in pairs}
    numbers = [int(named[who]) for who in order]
    assert abs(np.corrcoef(numbers, range(60))[0, 1]) < 0.6


def test_every_group_has_people_of_k_households(tmp_path):
    rows = made.households()
    result, receipt, out = release(rows, tmp_path, household="hid", **HOME_ROLES)
    assert made.least_heads(out, HOME) >= 5
    assert receipt.k_counted == result.risk.k >= 5
    assert "hid" not in out[0]


@pytest.mark.parametrize("seed", range(4))
def test_households_kept_together_share_their_whole_pattern(tmp_path, seed):
    rows = made.households(90, seed)
    _, _, out = release(rows, tmp_path, household="hid", pseudonyms=True, **HOME_ROLES)
    assert made.least_heads(out, HOME) >= 5
    assert made.least_pattern(out, HOME, "hid") >= 5
    homes = {}
    for row in out:
        if row["hid"]:
            homes.setdefault(row["hid"], []).append(row)
    assert homes
    for members in homes.values():
        assert len({made.owner(row) for row in members}) == 1
        assert len({row["town"] for row in members}) == 1  # what all members shared they still share
        assert {row["hhsize"] for row in members} == {str(len(members))}


def test_people_in_households(tmp_path):
    rows = [
        {**row, "pid": row["mark"], "mark": f"{row['mark']}-{i}"}
        for row in made.households(50)
        for i in range(2)
    ]
    table = pl.DataFrame(rows)
    for more in ({}, {"pseudonyms": True}):
        result = vr.anonymize(table, k=4, method="mdav", person="pid", household="hid", **HOME_ROLES, **more)
        result.write(tmp_path / "out.csv", overwrite=True)
        assert made.least_heads(made.read_rows(tmp_path / "out.csv"), HOME) >= 4


def test_households_and_models_are_kept_apart_from_pseudonyms(tmp_path):
    with pytest.raises(InputError, match="leave out one of the two"):
        release(
            made.households(),
            tmp_path,
            household="hid",
            pseudonyms=True,
            models=["p-sensitive=2"],
            **HOME_ROLES,
        )
    _, _, out = release(made.households(), tmp_path, household="hid", models=["p-sensitive=2"], **HOME_ROLES)
    assert made.least_heads(out, HOME) >= 5


def test_rare_sizes_get_no_pseudonym(tmp_path):
    rows = made.households(60, 2, sizes=(1, 2, 3)) + [
        {**row, "hid": "big", "hhsize": 11, "mark": f"99-{i}"}
        for i, row in enumerate(made.households(30, 5)[:11])
    ]
    result, _, out = release(rows, tmp_path, household="hid", pseudonyms=True, **HOME_ROLES)
    assert made.least_heads(out, HOME) >= 5
    assert made.least_pattern(out, HOME, "hid") >= 5
    assert all(not row["hid"] for row in out if made.owner(row) == "99")
    assert any("got no pseudonym" in step for step in result.log)


def test_a_key_that_changes_within_people_is_told(tmp_path):
    rows = [{**row, "day": i % 28} for i, row in enumerate(made.visits())]
    with pytest.warns(UserWarning, match="key 'day' changes from row to row"):
        release(rows, tmp_path, person="patient", keys=[*KEYS, "day"])


def test_recipes_know_people(tmp_path):
    rows = made.visits()
    result, _, _ = release(rows, tmp_path, person="patient")
    again = vr.anonymize(pl.DataFrame(rows), recipe=vr.Recipe.from_toml(result.recipe.to_toml()))
    assert again.schema.person == "patient"
    assert sorted(again.table.rows()) == sorted(result.table.rows())


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"person": "nobody"}, "no column"),
        ({"person": ["patient"]}, "person must be the name of a column"),
        ({"person": "age"}, "declared twice"),
        ({"pseudonyms": True, "identifiers": ["patient"]}, "people or households"),
    ],
)
def test_wrong_words(tmp_path, options, word):
    with pytest.raises((SchemaError, InputError), match=word):
        release(made.visits(20), tmp_path, **options)


def test_rows_without_a_person_are_refused(tmp_path):
    rows = [{**row, "patient": None if i == 3 else row["patient"]} for i, row in enumerate(made.visits(20))]
    with pytest.raises(SchemaError, match="missing in 1 of"):
        release(rows, tmp_path, person="patient")


def test_a_stored_release_joins_no_rows(tmp_path):
    result, _, _ = release(made.visits(), tmp_path, person="patient")
    back = pickle.loads(pickle.dumps(result))  # noqa: S301 - our own
    assert back._table.units is None
    assert back.risk.k == result.risk.k >= 5
    with pytest.raises(WriteError, match="which rows belong together"):
        back.write(tmp_path / "again.csv")


def test_distinct_counts_pairs():
    rng = np.random.default_rng(0)
    labels, codes = rng.integers(0, 7, 200), rng.integers(0, 30, 200)
    expected = [len(set(codes[labels == item].tolist())) for item in range(7)]
    assert distinct(labels, codes, 7).tolist() == expected


@pytest.fixture
def voronym(monkeypatch, capsys, tmp_path):
    """Run a command in a fresh folder; give back (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)
    return runner(monkeypatch, capsys)


def test_on_the_command_line(voronym, tmp_path):
    made.write_rows(tmp_path / "visits.csv", made.visits())
    roles = ["--key", "age,sex,town", "--confidential", "ill"]
    code, out, err = voronym("inspect", "visits.csv")
    assert code == 0
    assert "--person patient" in out
    assert "person='patient'" not in out
    code, _, err = voronym(
        "anonymize", "visits.csv", "-o", "out.csv", *roles, "--other", "mark", "--person", "patient",
        "--method", "mdav", "--report", "r.html", "--pseudonyms",
    )  # fmt: skip
    assert code == 0, err
    assert "5 people or more" in err
    assert made.least_heads(made.read_rows(tmp_path / "out.csv"), KEYS) >= 5
    assert "60 people behind" in (tmp_path / "r.html").read_text(encoding="utf-8")
    code, out, err = voronym("measure", "out.csv", *roles, "--person", "patient", "-k", 5)
    assert code == 0, err
    assert "(people)" in out
    code, out, err = voronym("measure", "visits.csv", *roles, "--person", "patient", "-k", 5)
    assert code == 3
    code, out, err = voronym(
        "compare", "visits.csv", *roles[:2], "--person", "patient", "-k", 3, "--method", "mdav"
    )
    assert code == 0, err
    assert "60 people" in out
    assert "the loss is that of their rows" in out
