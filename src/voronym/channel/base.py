"""The interface of a channel, and the finite channel: a transition matrix that knows its cost."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import log
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voronym.core.chance import masking
from voronym.core.options import number
from voronym.errors import InputError

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


@runtime_checkable
class Channel(Protocol):
    """A randomised perturbation rule p(x̂|x) that knows its distortion and its risk ``I(W; X̂)`` in nats."""

    @property
    def distortion(self) -> float:
        """Expected distortion."""
        ...

    @property
    def risk(self) -> float:
        """Mutual information of the confidential W and the published keys, in nats."""
        ...

    def apply(self, X: ArrayLike, *, seed: int | np.random.Generator | None = None) -> NDArray[Any]:
        """Perturb data."""
        ...


@dataclass(frozen=True)
class FiniteChannel:
    """A transition matrix ``p(x̂|x)`` between finite alphabets, with a proof of how near the optimum it is.

    Parameters
    ----------
    matrix : array, shape (n, m)
        Row x, column x̂; rows add up to 1.
    distortion : float
        Expected distortion ``D``.
    risk : float
        ``R = I(W; X̂)`` in nats.
    multiplier : float
        The λ of ``D + λ R`` that the rule minimises: how much distortion a nat of privacy costs here.
    objective : {"cost", "risk", "distortion"}
        The minimised quantity: ``D + λ R``, the risk under a limit on the distortion, or the other way round.
    bound : float
        A proven lower bound on the objective, over all rules.
    joint : array, shape (k, n)
        The law of W and X that the rule was made for.
    d : array, shape (n, m)
        The distortions.
    method : str
        The solver.
    iterations : int
        Its steps.
    sees_w : bool
        Whether the rule looks at w, too. Then its letters are pairs: row ``w n + x`` of the matrix, and
        column of ``joint``, belongs to w and x.
    """

    matrix: Array
    distortion: float
    risk: float
    multiplier: float
    objective: str
    bound: float
    joint: Array = field(repr=False)
    d: Array = field(repr=False)
    method: str = ""
    iterations: int = 0
    sees_w: bool = False

    @property
    def cost(self) -> float:
        """``D + λ R``."""
        return self.distortion + self.multiplier * self.risk if self.risk > 0.0 else self.distortion

    @property
    def value(self) -> float:
        """The value of the objective."""
        return {"cost": self.cost, "risk": self.risk, "distortion": self.distortion}[self.objective]

    @property
    def gap(self) -> float:
        """A proven upper limit on the objective above the optimum, in the objective's unit."""
        return max(0.0, self.value - self.bound)

    @property
    def risk_bits(self) -> float:
        """The risk in bits."""
        return self.risk / log(2.0)

    @property
    def released(self) -> Array:
        """The joint law of W and the published keys, shape (k, m)."""
        return np.asarray(self.joint @ self.matrix)

    def apply(
        self, X: ArrayLike, W: ArrayLike | None = None, *, seed: int | np.random.Generator | None = None
    ) -> Ints:
        """Draw a published letter for every letter.

        Parameters
        ----------
        X : array of int, shape (r,)
            Letters, 0 to n-1.
        W : array of int, shape (r,), optional
            Confidential letters, 0 to k-1, for a rule that looks at them.
        seed : int, Generator or None
            By default drawn from the system. A number gives the same letters again, with a warning: anybody
            who knows it can undo some of the noise.

        Returns
        -------
        array of int64, shape (r,)
        """
        if self.sees_w != (W is not None):
            raise InputError(
                "this rule looks at w: give W, too"
                if self.sees_w
                else "this rule does not look at w: leave W"
            )
        return draw(self.matrix, X if W is None else self._pairs(X, W), masking(seed))

    def _pairs(self, X: ArrayLike, W: ArrayLike) -> Ints:
        x, w = np.asarray(X), np.asarray(W)
        n = len(self.matrix) // len(self.joint)
        if x.shape != w.shape or not all(np.issubdtype(item.dtype, np.integer) for item in (x, w)):
            raise InputError("W and X are whole numbers in one column each, and as many")
        outside = int(((x < 0) | (x >= n) | (w < 0) | (w >= len(self.joint))).sum())
        if outside:
            raise InputError(f"{outside} of {x.size} pairs are not in 0..{len(self.joint) - 1}, 0..{n - 1}")
        return np.asarray(w * n + x, np.int64)

    def __str__(self) -> str:
        n, m = self.matrix.shape
        return (
            f"FiniteChannel {n} x {m}: distortion {self.distortion:.6g}, risk {self.risk:.6g} nats, "
            f"{self.objective} within {self.gap:.1g} of the least possible"
        )


def draw(matrix: Array, X: ArrayLike, rng: np.random.Generator) -> Ints:
    """Draw a column for every given row of a transition matrix, by inverting cumulative sums."""
    codes = np.asarray(X)
    if codes.ndim != 1 or not (codes.size == 0 or np.issubdtype(codes.dtype, np.integer)):
        raise InputError("letters are whole numbers in one column: 0 for the first row of the matrix")
    outside = int(((codes < 0) | (codes >= len(matrix))).sum())
    if outside:
        raise InputError(
            f"{outside} of {len(codes)} letters are not in 0..{len(matrix) - 1}, the rows of the matrix"
        )
    uniform = rng.random(len(codes))
    out = np.zeros(len(codes), np.int64)
    order = np.argsort(codes, kind="stable")
    edges = np.searchsorted(codes[order], np.arange(len(matrix) + 1))
    for letter in np.flatnonzero(np.diff(edges)):
        rows = order[edges[letter] : edges[letter + 1]]
        ends = np.cumsum(matrix[letter])
        last = int(np.flatnonzero(matrix[letter])[-1])  # rounding must not draw a letter of probability 0
        out[rows] = np.minimum(np.searchsorted(ends, uniform[rows] * ends[-1], side="right"), last)
    return out


def joint_counts(about: Ints, letters: Ints) -> Ints:
    """Return the number of records with each pair of categories; rows belong to the first column."""
    counts = np.zeros((int(about.max()) + 1, int(letters.max()) + 1), np.int64)
    np.add.at(counts, (about, letters), 1)
    return counts


def joint_law(about: Ints, letters: Ints) -> Array:
    """Return the share of records with each pair of categories; rows belong to the first column."""
    return joint_counts(about, letters) / len(letters)


def information_of(law: Array) -> float:
    """Return the mutual information of a joint law, in nats.

    Examples
    --------
    >>> round(information_of(np.eye(2) / 2), 4)
    0.6931
    """
    outer = np.outer(law.sum(axis=1), law.sum(axis=0))
    there = law > 0.0
    return max(0.0, float((law[there] * np.log(law[there] / outer[there])).sum()))


def one_limit(**given: float | None) -> tuple[str, float]:
    """Return the limit that was given, with its name; raise unless exactly one was given."""
    outcome = {name: value for name, value in given.items() if value is not None}
    if len(outcome) != 1:
        result = f"given: {', '.join(outcome)}" if outcome else "none was given"
        raise InputError(f"give either {' or '.join(given)}; {result}")
    name, value = next(iter(outcome.items()))
    return name, float(number(0.0)(name, value))
