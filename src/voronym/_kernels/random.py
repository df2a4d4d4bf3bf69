"""Random numbers for searches (xorshift64*): the state is an array of one number other than 0."""

from __future__ import annotations

import numpy as np

from voronym._kernels import inner


@inner
def draw(random):
    """Return the next of 2^64 - 1 numbers."""
    x = random[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    random[0] = x
    return x * np.uint64(2685821657736338717)


@inner
def below(random, n):
    """Return a whole number from 0 to n - 1; n is far below 2^31."""
    return np.int64((draw(random) >> np.uint64(33)) % np.uint64(n))


@inner
def uniform(random):
    """Return a number in [0, 1)."""
    return np.float64(draw(random) >> np.uint64(11)) * 1.1102230246251565e-16
