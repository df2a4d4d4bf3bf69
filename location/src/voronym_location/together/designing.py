"""Probability-constrained Lloyd from counts and sums per cell, without other data of devices.

Centres and costs are public whole numbers; a device finds its cell by equation 4. The counts move the costs
towards equal cells, within a number of rounds; the sums move the centres. All arithmetic is on whole numbers,
so the same sums give exactly the same cells.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from voronym.errors import GuaranteeError, InputError
from voronym_location.population import Ints
from voronym_location.together.sharing import BITS, HALF, Flags, Sums

Presence = Callable[[int], Flags]
"""The devices that a round reaches, by its number."""


@dataclass(frozen=True, eq=False)
class Cells:
    """A design: every device finds its cell by itself, and publishes the cell's centre.

    Parameters
    ----------
    centres : array of int, shape (m, 2)
        Centres in units, such as metres.
    costs : array of int, shape (m,)
        Costs of equation 4, in squared units.
    counts : array of int, shape (m,)
        Last count of devices in each cell; approximate if there is noise.
    rounds : int
        Number of requests for sums.
    """

    centres: Ints
    costs: Ints
    counts: Ints
    rounds: int

    def assign(self, homes: Ints) -> Ints:
        """Return the cell of each home: the least squared distance plus cost; the first cell in a tie."""
        out = np.empty(len(homes), np.int64)
        for start in range(0, len(homes), 4096):
            part = homes[start : start + 4096, None, :] - self.centres
            out[start : start + 4096] = (np.square(part).sum(axis=2) + self.costs).argmin(axis=1)
        return out


def design(
    homes: Ints,
    k: int,
    sums: Sums,
    *,
    width: int,
    turns: int = 20,
    steps: int = 4,
    present: Presence | None = None,
    margin: float = 0.0,
) -> Cells:
    """Design cells of k devices or more from sums alone.

    Parameters
    ----------
    homes : array of int, shape (n, 2)
        Place of each device, in units from the corner of a public square. Only `Sums` sees messages made from
        it.
    k : int
        The least number of devices in a cell.
    sums : Sums
        Adds up the messages.
    width : int
        Width of the public square, in units.
    turns, steps : int
        Number of moves of the centres, and of changes of the costs before each.
    present : callable, optional
        Which devices a round reaches; by default all, always.
    margin : float
        Subtracted from the counts before they are compared with k: with noise, some standard deviations of
        it.

    Examples
    --------
    >>> from voronym_location.together import Plain
    >>> homes = np.random.default_rng(0).integers(0, 1000, (60, 2))
    >>> made = design(homes, 5, Plain(), width=1000)
    >>> int(made.counts.min()) >= 5, int(made.counts.sum())
    (True, 60)
    """
    n = len(homes)
    m = max(1, round(n / (1.15 * k + 2 * margin)))
    if n < k + margin:
        raise InputError(f"{n} devices are fewer than k={k}")
    side = int(np.ceil(np.sqrt(m)))
    row, column = np.divmod(np.arange(m), side)
    high = int(np.ceil(m / side))
    centres = np.stack([(2 * column + 1) * width // (2 * side), (2 * row + 1) * width // (2 * high)], axis=1)
    cells = Cells(centres, np.zeros(m, np.int64), np.zeros(m, np.int64), 0)
    everybody = np.ones(n, bool)

    def ask(cells: Cells) -> tuple[Ints, Ints, Cells]:
        here = everybody if present is None else present(cells.rounds)
        own = cells.assign(homes)
        offset = np.clip(homes - cells.centres[own] + HALF, 0, (1 << BITS) - 1)
        counts, total, _ = sums.total(own, offset, len(cells.centres), here)
        return counts, total, Cells(cells.centres, cells.costs, counts, cells.rounds + 1)

    step = np.full(m, max(1, width * width // (16 * m)))  # squared units; each cell finds its own
    before = np.zeros(m, np.int64)
    for _ in range(turns):
        for _ in range(steps):
            counts, total, cells = ask(cells)
            mean = max(1, int(counts.sum()) // m)
            way = np.sign(counts - mean) * (np.abs(counts - mean) > mean // 16)
            step = np.where(way * before < 0, step // 2, np.where(way * before > 0, step * 5 // 4, step))
            step, before = np.clip(step, 1, width * width // m), way
            cells = Cells(cells.centres, cells.costs + way * step, counts, cells.rounds)
        counts, total, cells = ask(cells)
        many = np.maximum(counts, 1)[:, None]
        shift = np.where(counts[:, None] > 0, (2 * (total - counts[:, None] * HALF) + many) // (2 * many), 0)
        shift = np.clip(shift, -HALF, HALF)
        cells = Cells(np.clip(cells.centres + shift, 0, width), cells.costs, counts, cells.rounds)
    while True:  # k is counted on the published cells; the smallest cell is removed until all have k
        counts, _, cells = ask(cells)
        if (counts - margin >= k).all():
            return cells
        if len(counts) == 1:
            raise GuaranteeError(f"no cell of k={k} could be counted: {int(counts[0])} devices took part")
        keep = np.arange(len(counts)) != counts.argmin()
        cells = Cells(cells.centres[keep], cells.costs[keep], counts[keep], cells.rounds)
