"""The problem through the few letters that a good rule uses: the same answer as with all of them."""

from __future__ import annotations

import numpy as np
import pytest

from voronym.channel import columns as module
from voronym.channel.alphabet import check_alphabet
from voronym.channel.columns import columns
from voronym.channel.interior import Limit, interior
from voronym.core.context import Context


@pytest.fixture
def worth(monkeypatch):
    """Small problems are taken through their letters, too; the letters solved for are noted."""
    monkeypatch.setattr(module, "_WORTH", 1)
    seen = []

    def noted(part, *rest, **words):
        seen.append(part.d.shape[1])
        return interior(part, *rest, **words)

    monkeypatch.setattr(module, "interior", noted)
    return seen


def law(letters, seed):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(letters * letters, 0.2)).reshape(letters, letters)
    points = rng.random((letters, 2))
    return check_alphabet(p, np.square(points[:, None] - points).sum(axis=2))[0]


@pytest.mark.parametrize("seed", range(3))
def test_the_cost_is_that_of_all_letters(seed, worth):
    alphabet = law(40, seed)
    result = columns(alphabet, Context(), weight_d=1.0, weight_r=0.2)
    whole = interior(alphabet, Context(), weight_d=1.0, weight_r=0.2)
    cost = alphabet.distortion(result.J) + 0.2 * alphabet.risk(result.J)
    assert max(worth) < 40, "no letter was left out"
    assert result.bound == alphabet.certificate(result.J, weight_d=1.0, weight_r=0.2)
    assert cost - result.bound <= 1e-6 * cost
    assert cost == pytest.approx(alphabet.distortion(whole.J) + 0.2 * alphabet.risk(whole.J), rel=2e-6)
    np.testing.assert_allclose(result.J.sum(axis=1), alphabet.p, rtol=1e-12)


@pytest.mark.parametrize(("on", "share"), [("distortion", 0.3), ("risk", 0.1)])
def test_limits_lead_to_the_same_weights(on, share, worth):
    alphabet = law(40, 3)
    most = alphabet.distortion(alphabet.constant()) if on == "distortion" else alphabet.source_risk
    limit = Limit(on, share * most)
    result = columns(alphabet, Context(), limit=limit)
    whole = interior(alphabet, Context(), limit=limit)
    assert max(worth) < 40
    assert result.weight_d / result.weight_r == pytest.approx(whole.weight_d / whole.weight_r, rel=1e-3)
    assert getattr(alphabet, on)(result.J) == pytest.approx(limit.value, rel=1e-4)


def test_a_letter_that_the_descent_missed_comes_in_by_its_price(worth, monkeypatch):
    alphabet = law(40, 1)
    monkeypatch.setattr(module, "_DESCENT", 3)
    monkeypatch.setattr(module, "_USED", 1.3)
    result = columns(alphabet, Context(), weight_d=1.0, weight_r=0.2)
    cost = alphabet.distortion(result.J) + 0.2 * alphabet.risk(result.J)
    assert len(worth) > 1, "the first choice was never enlarged"
    assert worth == sorted(worth)
    assert cost - result.bound <= 1e-6 * cost
