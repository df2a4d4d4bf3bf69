"""Which living groups are dissolved along with those that must be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial import cKDTree

from voronym.context import Context
from voronym.location.population import Ints

if TYPE_CHECKING:
    from voronym.location.forming import Crowd


def renew(crowd: Crowd, weak: Ints, ctx: Context) -> Ints:
    """Return living groups whose people are told anew for the sake of all, within the budget."""
    living = crowd.living()
    waiting = np.flatnonzero((crowd.group < 0) | np.isin(crowd.group, weak))
    room = int(crowd.settings.budget * len(crowd.people)) - len(waiting)
    if not len(living) or not len(waiting) or room <= 0:
        return living[:0]
    own = crowd.places[np.searchsorted(crowd.standing.groups, living)]
    gap, near = cKDTree(own).query(crowd.points[waiting])
    found = living[near[np.argsort(gap, kind="stable")]]
    found = found[np.sort(np.unique(found, return_index=True)[1])]
    sizes = crowd.sizes[np.searchsorted(crowd.standing.groups, found)]
    ctx.check()
    return np.asarray(found[np.cumsum(sizes) <= room])
