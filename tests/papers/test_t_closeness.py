"""The t-closeness paper: what was typed in agrees with its own formulas, and ours with both."""

from __future__ import annotations

import numpy as np
import pytest

from voronym.channel import scalar_multiplier, scalar_risk
from voronym.context import Context
from voronym.papers import PAPERS, Chart, Highlight, Table
from voronym.papers import t_closeness as paper


def test_the_typed_multipliers_belong_to_the_typed_distortions():
    for multiplier, share in paper.MULTIPLIERS.items():
        assert scalar_multiplier(paper.RHO, share) == pytest.approx(multiplier, abs=0.005)
    assert scalar_risk(paper.RHO, 0.5) == pytest.approx(paper.RISK_AT_HALF, abs=0.005)
    assert scalar_risk(paper.RHO, 0.0) == pytest.approx(paper.INFORMATION, abs=0.05)
    assert "t-closeness" in PAPERS


def test_figure_6_is_on_the_bound():
    chart, table, highlight = paper.figure_6(400, Context())
    assert isinstance(chart, Chart)
    assert isinstance(table, Table)
    assert isinstance(highlight, Highlight)
    for row in table.rows:
        values = dict(zip(("lam", "D8", "D", "R8", "R", "grid", "Dw", "Rw", "gap"), row[:9], strict=True))
        assert values["D"] == pytest.approx(values["D8"], rel=0.01)
        assert values["R"] == pytest.approx(values["grid"], rel=0.01)
        assert values["Dw"] == pytest.approx(values["D8"], rel=0.001)
        assert values["Rw"] == pytest.approx(values["R8"], rel=0.001)
        assert values["gap"] <= 1e-6
        slow_d, slow_r = row[10], row[11]
        assert slow_d + values["lam"] * slow_r > values["D"] + values["lam"] * values["R"]


def test_figure_7_has_four_shapes_that_add_up():
    chart, _ = paper.figure_7(50, Context())
    assert len(chart.curves) == 4
    for curve in chart.curves:
        assert sum(y for _, y in curve.points) == pytest.approx(1.0)


def test_figures_8_and_9_are_above_the_bound_but_not_far(monkeypatch):
    monkeypatch.setattr(paper, "SHARES", (1 / 32, 1 / 8, 1 / 2))
    _, table = paper.figures_8_9(1024, False, Context())
    assert {row[0] for row in table.rows} == {"MDAV", "μ-Approx", "univariate"}
    for row in table.rows:
        assert -0.05 < row[-1] < 0.15  # a thousand records only
        assert row[4] >= row[5]  # the correction takes away


def test_several_keys_are_farther_from_the_bound(monkeypatch):
    monkeypatch.setattr(paper, "SHARES", (0.0, 1 / 8, 0.0))
    chart, table = paper.several_keys(2, 1024, 0.2, Context())
    assert "optimal noise" in {curve.name for curve in chart.curves}
    assert {"mdav", "anneal"} <= {row[0] for row in table.rows}
    for row in table.rows:
        assert row[-1] > 0.1


def test_counting_information():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 20, 5000), rng.integers(0, 20, 5000)
    plain, corrected = paper.information(a, b)
    assert plain > 0.02  # out of nothing
    assert corrected < 0.01
    w, X = paper.draw(200_000, [0.6, 0.3])
    assert np.corrcoef(X[:, 0], w)[0, 1] == pytest.approx(0.6, abs=0.01)
    assert np.corrcoef(X[:, 1], w)[0, 1] == pytest.approx(0.3, abs=0.01)
    assert w.std() == pytest.approx(1.0, abs=0.01)
