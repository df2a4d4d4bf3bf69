"""The t-closeness paper: what was typed in agrees with its own formulas, and ours with both."""

from __future__ import annotations

import itertools
import json
import os
from pathlib import Path

import numpy as np
import pytest

from voronym.channel import scalar_multiplier, scalar_risk
from voronym.core.context import Context
from voronym_papers import PAPERS, Chart, Mark, Table
from voronym_papers.t_closeness import counted, function, places, published


def of(kind, items):
    return [item for item in items if isinstance(item, kind)]


def test_the_typed_multipliers_belong_to_the_typed_distortions():
    for multiplier, share in published.MULTIPLIERS.items():
        assert scalar_multiplier(published.RHO, share) == pytest.approx(multiplier, abs=0.005)
    assert scalar_risk(published.RHO, 0.5) == pytest.approx(published.RISK_AT_HALF, abs=0.005)
    assert scalar_risk(published.RHO, 0.0) == pytest.approx(published.INFORMATION, abs=0.05)
    assert "t-closeness" in PAPERS


def test_what_was_typed_in_is_what_others_typed_in():
    path = Path(os.environ.get("VORONYM_DATA", ".")).parent / "reference" / "published.json"
    if not path.exists():
        pytest.skip("no published.json beside the reference data")
    output = json.loads(path.read_text(encoding="utf-8"))["privacy_distortion_gaussian"]
    assert dict(zip(output["lambda"], output["d"], strict=True)) == published.MULTIPLIERS


def test_the_noise_of_theorem_2_does_what_it_promises():
    (table,) = of(Table, function.figure_5(Context()))
    for share, result, formula, drawn, variance in table.rows:
        assert result == pytest.approx(share, rel=0.01)
        assert drawn == pytest.approx(formula, rel=0.01)
        assert variance == pytest.approx(1 - share, rel=0.01)


def test_figure_6_is_on_the_bound():
    items = list(function.figure_6(400, Context()))
    ours, slow = of(Table, items)
    assert {mark.verdict for mark in of(Mark, items) if mark.what.startswith(("d at", "R at"))} == {"same"}
    for row in (dict(zip(ours.columns, values, strict=True)) for values in ours.rows):
        assert row["D"] == pytest.approx(row["D, (8)"], rel=0.01)
        assert row["R"] == pytest.approx(row["R, (8) on the grid"], rel=0.01)
        assert row["D, wide"] == pytest.approx(row["D, (8)"], rel=0.001)
        assert row["R, wide"] == pytest.approx(row["R, (8)"], rel=0.005)
        assert row["gap, share"] <= 1e-6
    assert all(row[3] > 0 for row in slow.rows)  # descent is above the optimum


def test_figure_7_has_four_shapes_that_add_up():
    (chart,) = of(Chart, function.figure_7((50,), Context()))
    assert len(chart.curves) == 4
    for curve in chart.curves:
        assert sum(y for _, y in curve.points) == pytest.approx(1.0)


def test_figures_8_and_9_are_near_the_bound_and_never_above_all_there_is(monkeypatch):
    monkeypatch.setattr(counted, "SHARES", (1 / 256, 1 / 2))
    items = list(counted.figures_8_9(published.RECORDS, False, Context()))
    (table,) = of(Table, items)
    assert {row[0] for row in table.rows} == {"MDAV", "μ-Approx", "univariate"}
    most = scalar_risk(published.RHO, 0.0)
    for *_, plain, corrected, lower, above, note in table.rows:
        assert -0.05 < above < 0.1
        assert plain >= corrected  # the correction takes away
        assert note == (counted.ABOVE if corrected > most else counted.BELOW if corrected < lower else "")
        assert corrected <= most


def test_an_estimate_above_all_there_is_says_so():
    assert counted.word(1.3, 1.1, 1.16) == counted.ABOVE
    assert counted.word(1.15, 1.1, 1.16) == ""
    assert counted.word(1.05, 1.1, 1.16) == counted.BELOW


@pytest.mark.slow
def test_several_keys_are_farther_from_the_bound(monkeypatch):
    monkeypatch.setattr(counted, "SHARES", (0.0, 0.0, 1 / 8, 0.0))
    items = list(counted.several_keys(2, 1024, 0.2, Context()))
    (chart,), (table,) = of(Chart, items), of(Table, items)
    assert "optimal noise" in {curve.name for curve in chart.curves}
    assert {"mdav", "anneal"} <= {row[0] for row in table.rows}
    for row in table.rows:
        assert row[5] > 0.1


def test_counting_information():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 20, 5000), rng.integers(0, 20, 5000)
    plain, corrected = counted.information(a, b)
    assert plain > 0.02  # out of nothing
    assert corrected < 0.01
    joint = np.histogram2d(a, b, bins=(20, 20))[0] / 5000
    by_definition = (joint * np.log(joint / np.outer(joint.sum(axis=1), joint.sum(axis=0)))).sum()
    assert plain == pytest.approx(by_definition)
    w, X = counted.draw(200_000, [0.6, 0.3])
    assert np.corrcoef(X[:, 0], w)[0, 1] == pytest.approx(0.6, abs=0.01)
    assert np.corrcoef(X[:, 1], w)[0, 1] == pytest.approx(0.3, abs=0.01)
    assert w.std() == pytest.approx(1.0, abs=0.01)


def test_a_place_tells_least_by_the_best_rule():
    items = list(places.users(6, 3, Context()))  # with 4 a quarter of the town is no coarser grid
    marks = {mark.what: mark for mark in of(Mark, items)}
    assert {mark.verdict for mark in marks.values()} == {"ours alone"}
    for what in ("R(0) less I(W; X), nats", "R at the error of one place for all, nats"):
        assert abs(marks[what].ours) < 1e-6
    assert marks["rises of the curve"].ours == marks["bends of the wrong kind"].ours == 0
    for name in ("coarser grid", "noise"):
        assert marks[f"the best rule tells less than {name}, at least"].ours > 0
    p, centres = places.town(6, 3)
    assert p.sum() == pytest.approx(1)
    np.testing.assert_allclose(p.sum(axis=1), 1 / 3)  # everybody asks as often
    assert places.risk(p, np.eye(36)) <= np.log(3)
    d = places.distances(centres)
    for i, j in itertools.product(range(36), repeat=2):
        assert d[i, j] == pytest.approx(np.hypot(*(centres[i] - centres[j])))
