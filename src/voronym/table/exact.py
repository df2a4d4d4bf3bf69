"""Exact sums: parts can be summed in any order, with the same result to the last bit."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

_DIGITS = 53
_HALF = 27
_MASK = np.int64(2**_HALF - 1)
_LOWEST = -1200
"""A number below every binary exponent of a float64, less its digits."""
_BLOCK = 2**20
"""Values per block, so that sums of 27-bit halves are exact in floats."""


@dataclass
class Moments:
    """Count of numbers, their sum and the sum of their squares, as exact fractions.

    Examples
    --------
    >>> one, other = Moments.of(np.array([0.1, 1e17])), Moments.of(np.array([-1e17, 0.3]))
    >>> both = one.merged(other)
    >>> both.count, both.mean
    (4, 0.1)
    """

    count: int = 0
    total: Fraction = field(default_factory=Fraction)
    squares: Fraction = field(default_factory=Fraction)

    @classmethod
    def of(cls, values: NDArray[Any], shift: int = 0) -> Moments:
        """Sum finite values, each less ``shift``; whole numbers are shifted exactly."""
        out = cls()
        for start in range(0, len(values), _BLOCK):
            block = values[start : start + _BLOCK]
            floats = block.astype(np.float64) if not shift else (block - shift).astype(np.float64)
            out = out.merged(_sums(floats))
        return out

    def merged(self, other: Moments) -> Moments:
        """Return the sums of both."""
        return Moments(self.count + other.count, self.total + other.total, self.squares + other.squares)

    def shifted(self, by: int) -> Moments:
        """Return the sums of the same numbers after adding a whole number to each."""
        squares = self.squares + 2 * by * self.total + by * by * self.count
        return Moments(self.count, self.total + by * self.count, squares)

    @property
    def mean(self) -> float:
        """The mean, correctly rounded; 0 if there was no number."""
        return float(self.total / self.count) if self.count else 0.0

    @property
    def exact_variance(self) -> Fraction:
        """The mean squared distance to the mean."""
        if not self.count:
            return Fraction(0)
        return self.squares / self.count - (self.total / self.count) ** 2

    @property
    def deviation(self) -> float:
        """The square root of the variance."""
        return root(self.exact_variance)


def root(value: Fraction) -> float:
    """Return the square root of an exact number, correct to the last bit or the one before."""
    if value <= 0:
        return 0.0
    # As a whole number of 128 bits or more, so that the integer root has 64.
    bits = 128 - (value.numerator.bit_length() - value.denominator.bit_length())
    even = bits + bits % 2
    scaled = value * Fraction(2) ** even
    return float(Fraction(isqrt(scaled.numerator // scaled.denominator)) / Fraction(2) ** (even // 2))


def _sums(values: NDArray[np.float64]) -> Moments:
    """Sum the values and squares of one block exactly: by binary exponent, in halves that floats hold."""
    mantissa, exponent = np.frexp(values)
    whole = np.ldexp(mantissa, _DIGITS).astype(np.int64)
    sign = np.where(whole < 0, -1.0, 1.0)
    size = np.abs(whole)
    place = exponent.astype(np.int64) - _LOWEST
    high, low = size >> _HALF, size & _MASK
    total = _scaled(_by_place(high * sign, place), _HALF) + _scaled(_by_place(low * sign, place), 0)
    squares = Fraction(0)
    for product, shift in ((high * high, 2 * _HALF), (high * low, _HALF + 1), (low * low, 0)):
        for part, more in ((product >> _HALF, _HALF), (product & _MASK, 0)):
            squares += _scaled(_by_place(part.astype(np.float64), place), shift + more, twice=True)
    return Moments(len(values), total, squares)


def _by_place(values: NDArray[Any], place: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.bincount(place, weights=values).astype(np.float64)


def _scaled(sums: NDArray[np.float64], shift: int, *, twice: bool = False) -> Fraction:
    """Return the sum of sums by exponent, each in its place."""
    out = Fraction(0)
    for place in np.flatnonzero(sums).tolist():
        exponent = place + _LOWEST - _DIGITS
        out += int(sums[place]) * Fraction(2) ** ((2 * exponent if twice else exponent) + shift)
    return out
