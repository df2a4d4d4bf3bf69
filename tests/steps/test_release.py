"""Releases with steps: k in the written file, what the report says, and what it must not say."""

from __future__ import annotations

from collections import Counter

import polars as pl
import pytest
from typer.testing import CliRunner

import voronym as vr
from voronym.cli import app
from voronym.errors import GuaranteeError, InputError

STEPS = ["top age=80", "recode zip level=2", "round cost=500", "suppress diagnosis rare=12", "pram sex=0.1"]


@pytest.fixture(scope="module")
def release():
    return vr.anonymize(
        vr.datasets.hospital(400, seed=4),
        keys=["age", "sex", "zip"],
        confidential=["diagnosis", "cost"],
        drop_undeclared=True,
        k=5,
        method="mdav",
        steps=STEPS,
    )


def test_k_is_counted_in_the_file_by_other_code(release, tmp_path):
    release.write(tmp_path / "r.csv")
    lines = (tmp_path / "r.csv").read_text().splitlines()
    names = lines[0].split(",")
    at = [names.index(name) for name in ("age", "sex", "zip")]
    counts = Counter(tuple(line.split(",")[i] for i in at) for line in lines[1:])
    assert min(counts.values()) >= 5
    written = pl.read_csv(tmp_path / "r.csv", schema_overrides={"zip": pl.String})
    assert written["age"].max() <= 80
    assert (written["cost"] % 500 == 0).all()
    assert all(code.endswith("**") for code in written["zip"])


def test_the_report_tells_the_holder_and_not_the_public(release):
    result = release.dossier()
    assert [column.step for column in result.inside.effects] == STEPS
    fates = {column.name: column.fate for column in result.public.columns}
    assert fates["cost"] == "rounded to multiples of 500"
    assert fates["age"].startswith("values above 80")
    assert "centre of its group" in fates["age"]
    assert fates["name"] == "dropped"
    assert result.outside().inside is None
    assert "alone" not in str(result.outside().to_dict())


def test_values_that_were_named_are_not_in_the_public_part():
    table = vr.datasets.hospital(300, seed=5).with_columns(
        pl.when(pl.int_range(pl.len()) == 7)
        .then(pl.lit("zebra fever"))
        .otherwise("diagnosis")
        .alias("diagnosis")
    )
    made = vr.anonymize(
        table,
        keys=["age"],
        confidential=["diagnosis"],
        drop_undeclared=True,
        method="mdav",
        steps=['recode diagnosis values="zebra fever",stroke to=other'],
    )
    public = made.dossier().outside()
    assert "zebra" not in str(public.to_dict(pictures=True))
    assert "2 values became 'other'" in str(public.to_dict())


def test_a_step_that_buys_nothing_is_seen():
    frame = pl.DataFrame(
        {"age": list(range(100)), "pay": [10 * (i // 2) if i < 80 else i for i in range(100)]}
    )
    made = vr.anonymize(
        frame, keys=["age"], other=["pay"], method="mdav", steps=["round pay=1000", "noise age=0.001"]
    )
    assert not made.effects[0].idle
    first = vr.anonymize(frame, keys=["age"], other=["pay"], method="mdav", steps=["top pay=380"])
    assert first.effects[0].unique == (18, 18)  # who was alone is below the limit
    assert first.effects[0].idle


def test_drawing_after_groups_breaks_k_and_is_refused():
    with pytest.raises(GuaranteeError, match="does not keep its promise"):
        vr.anonymize(
            vr.datasets.hospital(200, seed=6),
            keys=["age"],
            drop_undeclared=True,
            method="mdav",
            steps=["after noise age=0.5"],
        )


def test_groups_that_are_kept_take_the_same_steps(tmp_path):
    people = vr.datasets.hospital(100, seed=7).with_columns(
        pl.int_range(pl.len()).cast(pl.String).alias("id")
    )
    roles = {"keys": ["age"], "identifiers": ["id"], "drop_undeclared": True, "keep_groups": True}
    roles["dissolved"] = "retire"
    first = vr.anonymize(people, ledger=tmp_path / "l", steps=["top age=80"], **roles)
    first.write(tmp_path / "1.csv")
    assert vr.anonymize(people, ledger=tmp_path / "l", steps=["top age=80"], **roles).table["age"].max() <= 80
    with pytest.raises(InputError, match="step"):
        vr.anonymize(people, ledger=tmp_path / "l", steps=["top age=70"], **roles)


def test_a_step_on_a_column_that_is_dropped_says_so():
    asked = {"keys": ["age"], "drop_undeclared": True, "method": "mdav"}
    with pytest.raises(
        vr.VoronymError, match=r"'cost' is dropped, as an identifier or because it has no role"
    ):
        vr.anonymize(vr.datasets.hospital(30, seed=1), steps=["round cost=50"], **asked)


def test_on_the_command_line(tmp_path):
    vr.datasets.hospital(200, seed=8).write_csv(tmp_path / "p.csv")
    words = ["anonymize", str(tmp_path / "p.csv"), "-o", str(tmp_path / "r.csv"), "--key", "age,sex",
             "--confidential", "cost", "--drop-undeclared", "--method", "mdav"]  # fmt: skip
    wrong = CliRunner().invoke(app, [*words, "--step", "round costs=50"])
    assert wrong.exit_code == 1
    assert "Did you mean 'cost'" in str(wrong.exception)
    made = CliRunner().invoke(app, [*words, "--step", "round cost=500", "--report", str(tmp_path / "r.html")])
    assert made.exit_code == 0, made.output
    assert "rounded to multiples of 500" in " ".join(made.output.split())
    assert "What each step changed and bought" in (tmp_path / "r.html").read_text()


def test_steps_over_several_leaves(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    vr.datasets.hospital(300, seed=9).write_parquet(folder / "a.parquet")
    recipe = vr.anonymize(
        vr.datasets.hospital(300, seed=9),
        keys=["age"],
        drop_undeclared=True,
        method="mdav",
        steps=["top age=80"],
    ).recipe
    vr.anonymize(str(folder), output=str(tmp_path / "out"), recipe=recipe, leaf=150, rounds=1)
    assert pl.read_parquet(tmp_path / "out" / "*.parquet")["age"].max() <= 80
