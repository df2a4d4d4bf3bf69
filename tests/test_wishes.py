"""Wishes at any moment: finish gives a release that keeps its promises, or says there is none yet."""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

import voronym as vr
from voronym.core.context import Context, Progress
from voronym.errors import Cancelled, Unfinished
from voronym.request.recipe import Recipe
from voronym.run.memory import make_release
from voronym.table.table import Table

RECIPES = {
    **{name: {"method": name} for name in sorted(vr.algorithms()) if not vr.algorithms()[name].univariate},
    "noisy-pcl": {"method": "noisy-pcl", "options": {"iterations": 6, "designs": 2}},
    "auto in a time": {"method": "auto", "time_limit": 1.0},
    "t-closeness": {"method": "mdav", "models": ("t-closeness=0.4",)},
    "mixed": {"method": "auto", "space": "mixed"},
    "channel": {"method": "channel", "options": {"max_distortion": 0.2}, "k": None},
    "records": {"method": "records", "k": None, "options": {"despite_loss": True}},
}


@cache
def table() -> Table:
    patients = vr.datasets.hospital(120, seed=3)
    return Table.build(
        patients, keys=["age", "sex", "weight"], confidential=["diagnosis"], drop_undeclared=True
    )


def run(
    name: str, wish: str | None, moment: int, told: list[Progress] | None = None
) -> tuple[vr.Release, list[Progress]]:
    """Make a release; at the given step of progress somebody wishes for something."""
    told = [] if told is None else told

    def progress(step: Progress) -> None:
        told.append(step)
        if len(told) == moment and wish is not None:
            getattr(ctx, wish)()

    recipe = Recipe(table().schema, **{"k": 3, **RECIPES[name]})
    ctx = Context(seed=recipe.seed, time_limit=recipe.time_limit, progress=progress)
    release = make_release(table(), recipe, ctx)
    assert all(a.done <= b.done < 1.0 for a, b in pairwise(told))
    return release, told


def keeps_k(release: vr.Release, least: int) -> bool:
    """Count by ourselves."""
    rows = zip(*(release.table[name].to_list() for name in ("age", "sex", "weight")), strict=True)
    return min(Counter(rows).values()) >= least


@pytest.mark.parametrize("name", RECIPES)
def test_without_a_wish_progress_only_rises(name):
    release, output = run(name, None, 0)
    assert output
    if release.recipe.k is not None:
        assert keeps_k(release, 3)


@given(st.sampled_from(sorted(RECIPES)), st.integers(1, 40))
def test_finish_at_any_moment(name, moment):
    messages: list[Progress] = []
    try:
        release, _ = run(name, "finish", moment, messages)
    except Unfinished as error:
        assert "no result yet" in str(error)  # noqa: PT017 - either outcome is right
        # Whoever told a loss had a partition to return, unless a model was to be enforced after that.
        assert name == "t-closeness" or all(step.loss is None for step in messages)
        return
    assert all(finding.holds for finding in release.findings)
    if release.recipe.k is not None:
        assert keeps_k(release, 3)


@given(st.sampled_from(sorted(RECIPES)), st.integers(1, 40))
def test_cancel_at_any_moment(name, moment):
    messages: list[Progress] = []
    try:
        _, messages = run(name, "cancel", moment)
    except Cancelled:
        return
    assert len(messages) < moment  # the work was over before anybody wished


def test_cancel_is_heeded_at_the_first_word():
    with pytest.raises(Cancelled):
        run("auto", "cancel", 1)
