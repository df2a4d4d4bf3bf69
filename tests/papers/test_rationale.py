"""Appendix A of 2011: the objective by hand, and that falling noise finds costs where derivatives do not."""

from __future__ import annotations

import numpy as np
import pytest

from voronym.core.context import Context
from voronym_papers import Mark
from voronym_papers.items import Chart, Picture, Surfaces
from voronym_papers.pcl import rationale


def test_the_objective_is_counted():
    rng = np.random.default_rng(0)
    X, costs = rng.random((12, 2)), rng.normal(0, 0.2, (40, 3))
    costs[:, 0] = 0
    for own, value in zip(costs, rationale.objective(X, rationale.THREE, costs), strict=True):
        cells = [min(range(3), key=lambda q: sum((x - rationale.THREE[q]) ** 2) + own[q]) for x in X]
        assert value == pytest.approx(1 / 3 - min(cells.count(q) for q in range(3)) / 12)


def test_figures_21_to_28(monkeypatch):
    monkeypatch.setattr(rationale, "COPIES", 600)
    items = list(rationale.figures_21_to_28(12, Context()))
    marks = {(mark.exhibit, mark.what): mark for mark in items if isinstance(mark, Mark)}
    assert {exhibit for exhibit, _ in marks} == {f"Figure {number}" for number in range(21, 29)}
    assert all(mark.verdict == "holds" for mark in marks.values() if "no noise" in mark.what)
    sizes = [marks[f"Figure {number}", "smallest cell by exact costs"].ours for number in (21, 23, 25, 27)]
    assert sizes == [5, 5, 1, 5]
    results = [
        marks["Figure 28", f"costs found, share of draws, {how}"].ours
        for how in ("without noise", "falling noise")
    ]
    assert results[0] < 60 < 80 < results[1]
    assert [
        len([item for item in items if isinstance(item, kind)]) for kind in (Picture, Chart, Surfaces)
    ] == [4, 2, 2]
    (steps, sharpened) = (item for item in items if isinstance(item, Chart))
    assert min(y for _, y in steps.curves[0].points) == 0
    assert len(sharpened.curves) == 5
