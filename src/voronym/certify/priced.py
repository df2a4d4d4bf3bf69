"""The result of a pricing: groups, and how far prices must fall."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Priced:
    """The result of a pricing.

    ``groups``: arrays of records. ``costs``: their reduced costs, best first for each anchor and size.
    ``lower[i]``: a proven lower bound (at most 0) on the reduced cost of every group with anchor i.
    ``cheapest[i]``: the least reduced cost (at most 0) of the groups with anchor i that were found.
    ``unseen``: records whose groups were not searched because the time was over; a group with one of
    them as anchor has no other records. ``complete``: whether no search ended at the node limit.
    ``all_found``: whether no search had to discard groups. ``members``: whether i is any member of the
    groups instead of their anchor; groups that were not searched then have records of ``unseen`` alone.
    """

    groups: list[Integers]
    costs: Floats
    lower: Floats
    cheapest: Floats
    unseen: NDArray[np.bool_]
    nodes: int
    complete: bool
    all_found: bool
    members: bool = False

    def with_groups(self, other: Priced) -> Priced:
        """Return this pricing of groups of k with another one of larger groups."""
        return Priced(
            [*self.groups, *other.groups],
            np.concatenate([self.costs, other.costs]),
            np.minimum(self.lower, other.lower),
            np.minimum(self.cheapest, other.cheapest),
            self.unseen | other.unseen,
            self.nodes + other.nodes,
            self.complete and other.complete,
            self.all_found and other.all_found,
        )

    def falls(self, k: int, *, apart: bool = True) -> Floats:
        """Return by how much each price must fall so that groups of k or more cost no less than theirs.

        With ``apart`` this is not for groups of unseen records alone, whose prices fall otherwise.
        """
        if self.members:
            return -self.lower / k
        return repair(np.where(self.unseen, 0.0, self.lower) if apart else self.lower, k)

    def hinted(self, k: int) -> Floats:
        """Return the same as far as the groups demand it that were found."""
        return -self.cheapest / k if self.members else repair(self.cheapest, k)


def repair(lower: Floats, k: int) -> Floats:
    """Return the decrease of each price that is needed if groups with anchor i cost ``lower[i]`` less.

    All k or more records of a group share the decrease. Let each price fall by ``d``, and an anchor's
    price by the remainder after ``k d``. The total is least if one anchor in k falls by more.

    Examples
    --------
    >>> repair(np.array([-4.0, -4.0, -4.0, -12.0]), 2).tolist()
    [2.0, 2.0, 2.0, 10.0]
    """
    lacking = np.maximum(0.0, -lower)
    place = max(0, len(lacking) - 1 - len(lacking) // k)
    each = float(np.partition(lacking, place)[place]) / k
    return np.asarray(np.maximum(each, lacking - (k - 1) * each), np.float64)
