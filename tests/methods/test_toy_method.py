"""A method without groups, written here, is released, reported, kept in a recipe and listed."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import voronym as vr
from voronym.cli import app
from voronym.core.figures import Figures
from voronym.core.options import Options, number, option
from voronym.errors import InputError
from voronym.method import METHODS, table_method
from voronym.result import Masked

PATIENTS = vr.datasets.hospital(80, seed=4).select("age", "sex", "diagnosis")
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # notes of the method
ROLES = {"keys": ["age", "sex"], "confidential": ["diagnosis"], "method": "swap"}


@dataclass(frozen=True)
class SwapFigures(Figures):
    share: float


@pytest.fixture(autouse=True)
def swap():
    @dataclass(frozen=True)
    class SwapOptions(Options):
        share: float = option(0.5, "share of the records that change places", check=number(0.0, 1.0))

    @table_method("swap", guarantee="none", cost="O(n)", reference="this file", options=SwapOptions)
    def swap(table, ctx, options):
        """Let some records change the values of their keys, column by column."""
        columns = []
        for done, name in enumerate(table.keys):
            ctx.part(0.0, 1.0, stage="swapping").tell(done / len(table.keys))
            moved = np.flatnonzero(ctx.rng.random(table.n) < options.share)
            rows = np.arange(table.n)
            rows[moved] = ctx.rng.permutation(moved)
            columns.append(table.frame[name][rows.tolist()])
        frame = table.frame.with_columns(*columns)
        return Masked(frame, SwapFigures(options.share), ("it is a toy",), (f"{options.share:.0%} swapped.",))

    yield swap
    METHODS.remove("swap")


def released(**more):
    return vr.anonymize(PATIENTS, **ROLES, **more)


def test_it_is_released_and_written(tmp_path):
    stages = []
    release = released(options={"share": 0.9}, progress=lambda step: stages.append(step.stage))
    assert "swapping" in stages
    assert sorted(release.table["age"]) == sorted(PATIENTS["age"])
    assert sorted(release.table.rows()) != sorted(PATIENTS.rows())
    assert release.information_loss > 0
    assert release.figures == SwapFigures(0.9)
    assert "it is a toy" in release.warnings
    release.write(tmp_path / "out.csv")
    assert sorted(pl.read_csv(tmp_path / "out.csv").rows()) == sorted(release.table.rows())


def test_it_is_reported_for_both_audiences(tmp_path):
    release = released()
    inside = release.report(tmp_path / "in.html").read_text(encoding="utf-8")
    assert "50% swapped." in inside
    outside = release.report(tmp_path / "out.html", audience="public").read_text(encoding="utf-8")
    assert "swap" in outside
    assert json.loads(json.dumps(release.to_dict()))["inside"]["figures"] == {"share": 0.5}


def test_a_recipe_repeats_it(tmp_path):
    release = released(options={"share": 0.3}, seed=2)
    release.recipe.save(tmp_path / "r.toml")
    again = vr.anonymize(PATIENTS, recipe=vr.Recipe.load(tmp_path / "r.toml"))
    assert again.recipe.options == {"share": 0.3}
    assert sorted(again.table.rows()) == sorted(release.table.rows())


def test_its_options_are_checked_by_name_and_value():
    with pytest.raises(InputError, match="method 'swap' has no option 'often'; it has: share"):
        released(options={"often": 1})
    with pytest.raises(InputError, match="share must be a number, 0 to 1, not 2"):
        released(options={"share": 2})
    with pytest.raises(InputError, match="'swap' does not compare records in a space"):
        released(space="mixed")


def test_it_is_on_the_command_line(tmp_path):
    PATIENTS.write_csv(tmp_path / "in.csv")
    listed = CliRunner().invoke(app, ["methods", "swap"])
    assert "share of the records that change places" in " ".join(listed.output.split())
    words = ["anonymize", str(tmp_path / "in.csv"), "-o", str(tmp_path / "out.csv"), "--key", "age,sex"]
    words += ["--confidential", "diagnosis", "--method", "swap", "--share", "0.4", "--json"]
    made = CliRunner().invoke(app, words)
    assert made.exit_code == 0, made.output
    assert json.loads(made.stdout)["inside"]["recipe"]["options"] == {"share": 0.4}
    assert pl.read_csv(tmp_path / "out.csv").height == PATIENTS.height
