"""A better lower bound on the cost of blanked values, from record prices that rise step by step.

Every record has a price. Each class chooses its cheapest publication on its own: empty, or with at least k
heads, including all records whose cost is below their price. The sum of prices less the gains of the classes
is a lower bound: in any solution every record is in one class, whose members cost at least their prices less
the gain of the class. So any prices prove a bound. Better prices raise those of records that no class takes,
and lower those that several classes take (a subgradient of the Lagrangian dual).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voronym._kernels.blank_room import Offers, relaxed
from voronym.core.context import Context
from voronym.methods.blanks import Choices

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
ROUNDS, FEWEST, WORK = 300, 20, 60_000_000
"""Most and fewest steps; and offers examined in all of them."""
PATIENCE, SHORTER = 8, 0.6
"""Number of steps without a gain after which the step is shortened, and the factor."""


def raised(
    choices: Choices, which: Ints, homes: Ints | None, price: Floats, cost: float, ctx: Context
) -> float:
    """Return a lower bound on the cost of any choice of gaps.

    Parameters
    ----------
    choices : Choices
        The combinations of keys, and the classes that fit them.
    which : array of int, shape (n,)
        The combination of each record.
    homes : array of int, optional
        The household of each record, which k counts.
    price : array, shape (m,)
        First prices of the combinations; 0 for common ones (see `voronym.methods.blanks`).
    cost : float
        The cost of the best choice so far.
    ctx : Context
        Its time limit ends the search for prices, after some steps in any case.
    """
    offers, row = _offers(choices, which, homes)
    k = choices.k
    prices = np.where(row >= 0, price[row], 0.0)
    weight = np.where(row >= 0, offers.count, 0)
    seen, picked, many = (
        np.empty(int(offers.home.max()) + 1, np.int64),
        np.empty(k, np.int64),
        np.empty(k, np.int64),
    )
    taken = np.empty(len(row), np.int64)
    best, best_prices, length, idle = 0.0, prices, 1.0, 0
    rounds = int(min(ROUNDS, max(FEWEST, WORK // max(1, len(offers.unit)))))
    for number in range(rounds):
        ctx.tell(number / rounds, whole=False)
        bound = float(weight @ prices) + relaxed(offers, prices, k, seen, picked, many, taken)
        if bound > best + 1e-6 * cost:
            best, best_prices, idle = bound, prices, 0
        else:
            idle += 1
        if best >= cost - 1e-6 or (number >= FEWEST and ctx.over):
            break
        if idle == PATIENCE:
            prices, length, idle = best_prices, length * SHORTER, 0
            continue
        off = np.where(row >= 0, offers.count - taken, 0).astype(np.float64)
        if not off.any():
            break
        each = off / offers.count
        prices = prices + length * max(cost - bound, 0.0) / float(off @ each) * each
    return best * (1.0 - 1e-12)


def _offers(c: Choices, which: Ints, homes: Ints | None) -> tuple[Offers, Ints]:
    """Return the classes in which each unit may be published, and its combination; -1 for helpers.

    A unit is a combination, or a combination within a household. Units of common combinations cost
    nothing where they are: their price stays 0. Among possible helpers of a class, only the cheapest with
    k heads are kept.
    """
    m = len(c.counts)
    if homes is None:
        row, home, count, heads = np.arange(m), np.arange(m), c.counts, c.counts
    else:
        number = np.unique(homes, return_inverse=True)[1].reshape(-1)
        width = int(number.max()) + 1
        units, count = np.unique(which * width + number, return_counts=True)
        row, home = units // width, units % width
        heads = np.bincount(row, minlength=m)
    common = heads >= c.k
    rare = ~common[row]
    row, home, count = row[rare], home[rare], count[rare]
    spans = c.start[row + 1] - c.start[row]
    unit = np.repeat(np.arange(len(row)), spans)
    pair = np.arange(len(unit)) - np.repeat(np.cumsum(spans) - spans, spans) + c.start[row][unit]
    helpers = common[c.row]
    classes = np.unique(c.of[helpers])
    price = np.full(len(c.kept), np.inf)
    np.minimum.at(price, c.of[helpers], c.cost[helpers])
    free = int(home.max(initial=-1)) + 1
    many, extra = len(row), len(classes)
    of = np.concatenate([c.of[pair], classes])
    order = np.argsort(of, kind="stable")
    offers = Offers(
        np.searchsorted(of[order], np.arange(len(c.kept) + 1)),
        np.concatenate([unit, many + np.arange(extra)])[order],
        np.concatenate([c.cost[pair], price[classes]])[order],
        np.concatenate([count, np.full(extra, c.k)]),
        np.concatenate([home, free + np.arange(extra)]),
        np.concatenate([np.full(many, homes is None), np.ones(extra, bool)]),
    )
    return offers, np.concatenate([row, np.full(extra, -1)])
