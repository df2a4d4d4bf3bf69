"""Policies over many files: completed from all of them, judged in what is written, refused as in memory."""

import polars as pl
import pytest

import voronym as vr
from voronym.policy.counted import count_files
from voronym.policy.recognise import recognise, recognise_cells

POPULATIONS = "zip3,people\n080,1600000\n430,15000\n"


@pytest.fixture
def patients():
    frame = vr.datasets.hospital(1200, seed=3)
    ages = [97 if row == 1100 else age for row, age in enumerate(frame["age"])]
    return frame.with_columns(pl.Series("age", ages))


@pytest.fixture
def folder(patients, tmp_path):
    """Four files; the only age above 89 is in the last."""
    data = tmp_path / "data"
    data.mkdir()
    for part in range(4):
        patients[300 * part : 300 * (part + 1)].write_parquet(data / f"{part}.parquet")
    (tmp_path / "zips.csv").write_text(POPULATIONS)
    return data


def safe(folder, output, **more):
    facts = {"zip-populations": str(folder.parent / "zips.csv")}
    asked = {"policy": "hipaa-safe-harbor", "facts": facts, "leaf": 400, "workers": 1, **more}
    return vr.anonymize(folder, output=output, **asked)


def test_counts_add_up_over_files(patients, folder):
    counted = count_files(sorted(folder.iterdir()))
    whole = recognise(patients)
    merged = recognise_cells(counted.cells, counted.rows)
    assert counted.rows == len(patients)
    for name, seen in whole.items():
        assert (merged[name].what, merged[name].why) == (seen.what, seen.why)
        assert sorted((held.cell.text, held.rows) for held in merged[name].cells) == sorted(
            (held.cell.text, held.rows) for held in seen.cells
        )


def test_a_policy_over_parts_asks_for_the_same_as_in_memory(patients, folder, tmp_path):
    facts = {"zip-populations": str(tmp_path / "zips.csv")}
    memory = vr.anonymize(patients, policy="hipaa-safe-harbor", facts=facts)
    made = safe(folder, tmp_path / "out")
    assert made.recipe.steps == memory.recipe.steps
    assert made.recipe.schema.keys == memory.recipe.schema.keys
    verdicts = [(item.section, item.demand, item.verdict) for item in made.checklist.items]
    assert verdicts == [(item.section, item.demand, item.verdict) for item in memory.checklist.items]
    assert made.checklist.rows == 1200
    assert {str(item) for item in made.checklist.added} == {str(item) for item in memory.checklist.added}
    written = pl.read_parquet(tmp_path / "out" / "*.parquet")
    again = vr.policy.judge.check(written, "hipaa-safe-harbor", keys=made.recipe.schema.keys, facts=facts)
    assert again.passes
    assert written["age"].max() <= 89
    sizes = written.group_by(made.recipe.schema.keys).len()["len"]
    assert sizes.min() == made.k >= 5


def test_a_demand_that_fails_in_one_file_leaves_nothing(folder, tmp_path):
    """An office's own policy demands what the run cannot make: the folder never gets its name."""
    own = tmp_path / "own.toml"
    own.write_text(
        'format = 1\nname = "own"\ntitle = "t"\nversion = "1"\ndate = 2026-01-01\nsource = "us"\nnote = "n"\n'
        '[[loss]]\ndemand = "information-loss"\nmost = 0.5\nsays = "Nothing is lost"\nsource = "us"\n'
    )
    with pytest.raises(vr.GuaranteeError, match="Nothing is lost"):
        safe(
            folder,
            tmp_path / "out",
            policy=str(own),
            facts=None,
            drop_undeclared=True,
            keys=["age", "sex", "zip"],
        )
    assert not (tmp_path / "out").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "own.toml", "zips.csv"]


def test_attacks_over_parts_are_left_open(folder, tmp_path):
    made = safe(folder, tmp_path / "out", policy="wp29-2014", facts=None)
    attacks = [item for item in made.checklist.items if item.section == "attacks"]
    assert {item.verdict for item in attacks} == {"open"}
    assert all("many files" in item.evidence for item in attacks)


def test_a_query_has_no_files_to_count(tmp_path):
    from voronym.request.rules import check_parts

    request = vr.request.request.Request.of({"keys": ["age"], "policy": "ema-0070"})
    with pytest.raises(vr.InputError, match="write the result of the query to Parquet files"):
        check_parts(request.release, database=True)
    check_parts(request.release)
