"""Hypothesis strategies for records: scattered, on grids full of ties, constant, far from the origin."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from voronym.space import Euclidean


@st.composite
def records(draw, *, least=4, most=160, columns=6):
    n = draw(st.integers(least, most))
    d = draw(st.integers(1, columns))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kind = draw(
        st.sampled_from(["normal", "grid", "coarse", "constant", "clusters", "offset", "tiny", "mixed"])
    )
    if kind == "normal":
        return rng.normal(size=(n, d))
    if kind == "grid":
        return rng.integers(-6, 7, (n, d)).astype(float)
    if kind == "coarse":  # few distinct records, nearly everything is a tie
        return rng.integers(0, 2, (n, d)) / 3.0
    if kind == "constant":
        return np.full((n, d), 0.1)
    if kind == "clusters":
        return 100.0 * rng.integers(0, 3, (n, 1)) + rng.normal(size=(n, d))
    if kind == "offset":  # a mean that takes many digits
        return 1e6 + rng.normal(size=(n, d))
    if kind == "tiny":  # squares leave the range of normal numbers
        return rng.integers(-3, 4, (n, d)) * 1e-160
    return np.where(np.arange(d) % 2 == 0, rng.integers(0, 3, (n, d)), rng.normal(size=(n, d)))


@st.composite
def scattered(draw, *, least=12, most=60, columns=4):
    """Records without ties, for methods whose steps compare sums that round differently in a twin."""
    shape = draw(st.integers(least, most)), draw(st.integers(1, columns))
    return np.random.default_rng(draw(st.integers(0, 2**32 - 1))).normal(size=shape)


def records_of(X):
    """Return rows as Euclidean records."""
    return Euclidean().records(X)
