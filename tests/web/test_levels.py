"""Hierarchies that are typed on the page: lines become a tree, counted at each level, and its labels."""

from __future__ import annotations

import polars as pl

import voronym as vr
from voronym.web.bench import Bench, Wishes
from voronym.web.forms import column_fields, patched
from voronym.web.levels import levels, text_of, tree_of
from voronym.web.settings import Settings

LINES = "nurse; care; health\nmidwife; care; health\nsurgeon; medicine; health\nclerk; office; other"
JOBS = ["nurse"] * 5 + ["midwife"] * 3 + ["surgeon"] * 6 + ["clerk"] * 6


def test_lines_come_back_as_they_were_and_counts_are_those_of_the_column() -> None:
    assert text_of(tree_of(LINES)) == LINES
    frame = pl.DataFrame({"job": JOBS})
    assert levels(frame, {"job": tree_of(LINES)})["job"] == (
        "as it is: 4 values, the rarest has 3 rows; level 1: 3 values, the rarest has 6 rows; "
        "level 2: 2 values, the rarest has 6 rows; level 3: 1 value"
    )
    assert (
        levels(frame, {"job": tree_of("nurse; care")})["job"] == "not in the tree: clerk, midwife and surgeon"
    )
    assert "job" not in levels(frame.rename({"job": "work"}), {"job": tree_of(LINES)})
    wrong = levels(frame, {"job": tree_of("nurse; care; nurse")})["job"]
    assert wrong
    assert "level 1" not in wrong


def test_a_typed_hierarchy_is_in_form_recipe_command_and_release() -> None:
    frame = pl.DataFrame({"age": [30 + i % 4 for i in range(20)], "job": JOBS})
    columns = [{"name": name} for name in frame.columns]
    roles = {"role-0": "key", "role-1": "key", "hierarchies-1": LINES}
    chosen = patched(roles, Settings({"k": 4, "method": "mdav"}), columns, "roles")
    assert column_fields(chosen, frame.columns)["hierarchies-1"] == LINES
    assert patched({"role-0": "key"}, chosen, columns, "roles").hierarchies == chosen.hierarchies
    assert "--hierarchy" in chosen.command("people.csv", {})
    bench = Bench()
    bench._frame = frame
    asked = Wishes(lambda _: None)
    assert "level 1: 3 values" in bench.alone(asked, settings=chosen.plain())["levels"]["job"]
    recipe = vr.Recipe.from_toml(bench.recipe(asked, settings=chosen.plain()))
    release = vr.anonymize(frame, recipe=recipe)
    known = {part for value, above in tree_of(LINES).items() for part in (value, *above)} | {"*"}
    assert set(release.table["job"]) <= known
    assert release.table["job"].is_in(["care", "health", "medicine", "office", "other", "*"]).any()
