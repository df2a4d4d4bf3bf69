"""Bounds beside measured points."""

from __future__ import annotations

import numpy as np
import pytest

from voronym.channel import GaussianSource, between_bounds, curve, information_bound, scalar_risk
from voronym.errors import InputError


def test_the_upper_bound_is_a_line():
    assert [information_bound(1.2, d) for d in (0.0, 0.5, 1.0, 2.0)] == pytest.approx([1.2, 0.6, 0.0, 0.0])
    assert information_bound(np.inf, 1.0) == 0.0
    with pytest.raises(InputError):
        information_bound(-1.0, 0.5)


def test_the_curve_is_between_its_ends():
    rows = curve(GaussianSource([[1.0]], [[1.0]], [[0.95]]), np.linspace(0.0, 1.0, 11))
    lower, upper = ([row[name] for row in rows] for name in ("lower", "upper"))
    assert lower == pytest.approx([scalar_risk(0.95, d) for d in np.linspace(0, 1, 11)])
    assert (np.diff(lower) < 0).all()
    assert all(a <= b + 1e-12 for a, b in zip(lower, upper, strict=True))


def test_a_release_beside_its_bounds():
    rng = np.random.default_rng(0)
    x = rng.standard_normal(5000)
    w = 0.9 * x + np.sqrt(1 - 0.81) * rng.standard_normal(5000)
    noisy = 0.5 * x + 0.5 * rng.standard_normal(5000)
    point = between_bounds(x, w, noisy, risk=0.3)
    assert point.share == pytest.approx(float(np.square(x - noisy).mean() / x.var()))
    assert point.lower == pytest.approx(scalar_risk(np.corrcoef(x, w)[0, 1], point.share), rel=1e-6)
    assert point.upper > point.lower
    assert point.gaussian
    assert "lower bound" in str(point)
    known = between_bounds(x, w, noisy, risk=0.3, information=2.0, entropy=1.0)
    assert known.upper == pytest.approx(2.0 * (1 - point.share))
    assert not known.gaussian
    with pytest.raises(InputError, match="rows must correspond"):
        between_bounds(x, w, noisy[:10], risk=0.1)
