"""Search by annealing for the class in which each record is published, for any unit that k counts.

The state is a class for each record; equal records differ only by their households. See
`voronym._kernels.blanks` for the moves.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import blanks as kernels
from voronym._kernels.anneal import QUANTILES
from voronym.core.clock import now
from voronym.core.context import Context
from voronym.methods.blanks import Choices

Ints = NDArray[np.int64]
PROPOSALS, FEWEST, MOST = 600, 100_000, 6_000_000
"""Proposals per record of a rare combination; smallest total; largest total without a time limit."""
HOT, COLD = 1.0, 0.15
"""Temperatures, in prices of a usual gap."""
QUENCH = 60
"""Proposals per record at the lowest temperature, if a search must stop while it is hot."""
ROOM = 400
"""Largest number of records that one proposal may move."""
PIECE = 4_000
"""Proposals between two looks at the clock."""


def anneal(
    choices: Choices, which: Ints, homes: Ints | None, ctx: Context, prove: Callable[[float], float]
) -> tuple[Ints, float]:
    """Publish every record in a class of k heads or more, with few gaps.

    Parameters
    ----------
    choices : Choices
        The combinations of keys, and the classes that fit them.
    which : array of int, shape (n,)
        The combination of each record.
    homes : array of int, optional
        The household of each record, which k counts; None if it counts records.
    ctx : Context
        Its time limit is used up by longer searches; without one the result is the same on every machine.
    prove : callable
        Takes the cost of a choice, and returns a lower bound on any choice's cost; when it is reached, the
        search ends.

    Returns
    -------
    array of int, shape (n,)
        The class of each record.
    float
        A lower bound on the cost of any choice.
    """
    begun = now()
    best = _annealed(choices, which, homes, PROPOSALS, MOST, ctx)
    each, seconds = PROPOSALS, now() - begun
    cost = _price(choices, which, best)
    least = prove(cost)
    while ctx.timed and not ctx.over and ctx.left > 2.2 * seconds and cost > least * (1.0 + 1e-6) + 1e-6:
        each, begun = 2 * each, now()
        other = _annealed(choices, which, homes, each, None, ctx)
        seconds = now() - begun
        if _price(choices, which, other) < cost:
            best, cost = other, _price(choices, which, other)
    return best, least


def _annealed(
    choices: Choices, which: Ints, homes: Ints | None, each: int, most: int | None, ctx: Context
) -> Ints:
    """Anneal once, from a state in which each record has as few gaps as its neighbours allow.

    If the time ends early, the last proposals are made at the lowest temperature, within the time.
    """
    fits, crew = _fits(choices), _crew(choices, which, homes)
    kernels.settle(fits, crew, choices.k)
    focus = np.flatnonzero(~crew.common)
    if not len(focus):
        return crew.at
    unit = float(choices.price.mean())
    total = max(FEWEST, each * len(focus))
    total = total if most is None else min(total, most)
    random = ctx.rng.integers(1, 2**63, 1).astype(np.uint64)
    heat = np.array([HOT, COLD]) * unit
    rest, begun = max(FEWEST, QUENCH * len(focus)), now()
    at = 0
    while at < total:
        ctx.tell(at / total, whole=False)
        if ctx.over or (at and ctx.left < rest * (now() - begun) / at):
            at, total, heat = 0, rest, heat[[1, 1]]
            break
        stop = min(at + PIECE, total)
        kernels.anneal(fits, crew, focus, choices.k, unit, heat, at, stop, total, QUANTILES, random)
        at = stop
    for start in range(at, total, PIECE):
        if start and ctx.over:
            break
        kernels.anneal(
            fits,
            crew,
            focus,
            choices.k,
            unit,
            heat,
            start,
            min(start + PIECE, total),
            total,
            QUANTILES,
            random,
        )
    return crew.at


def _price(c: Choices, which: Ints, at: Ints) -> float:
    return float((c.whole[which] - c.worth[at]).sum())


def _fits(c: Choices) -> kernels.Fits:
    order = np.argsort(c.of, kind="stable")
    ends = np.searchsorted(c.of[order], np.arange(len(c.kept) + 1))
    return kernels.Fits(c.start, c.of, ends, c.row[order], c.worth, c.whole)


def _crew(c: Choices, which: Ints, homes: Ints | None) -> kernels.Crew:
    """Return everybody in their cheapest class, even if some classes are too small."""
    n, m, classes = len(which), len(c.counts), len(c.kept)
    home = np.arange(n) if homes is None else np.unique(homes, return_inverse=True)[1].reshape(-1)
    at = c.of[c.start[:-1]][which]
    heads_of_row = _distinct(which, home, m)
    order = np.argsort(at, kind="stable")
    linked = at[order][1:] == at[order][:-1]
    following, before, first = np.full(n, -1), np.full(n, -1), np.full(classes, -1)
    following[order[:-1][linked]] = order[1:][linked]
    before[order[1:][linked]] = order[:-1][linked]
    first[at[order][::-1]] = order[::-1]
    of_row, of_home = np.argsort(which, kind="stable"), np.argsort(home, kind="stable")
    return kernels.Crew(
        which.astype(np.int64),
        of_row,
        np.searchsorted(which[of_row], np.arange(m + 1)),
        home.astype(np.int64),
        of_home,
        np.searchsorted(home[of_home], np.arange(int(home.max()) + 2)),
        at.copy(),
        following,
        before,
        first,
        np.bincount(at, minlength=classes),
        _distinct(at, home, classes),
        np.zeros(n, np.int64),
        np.full(n, -1),
        np.zeros(1, np.int64),
        (heads_of_row >= c.k)[which],
        np.zeros(ROOM, np.int64),
        np.zeros(ROOM, np.int64),
    )


def _distinct(labels: Ints, codes: Ints, many: int) -> Ints:
    """Return the number of distinct codes of each label."""
    pairs = np.unique(labels * (int(codes.max()) + 1) + codes)
    return np.bincount(pairs // (int(codes.max()) + 1), minlength=many)
