"""Households with visible members: grouped as units, published consistently.

If the pseudonym of a household is published, its members form a pattern, such as a couple of 34 and 36 with
two children. So households of equal size are grouped, at least k at a time, and their members are matched in
the order of their keys: the first members of all households in a group get the same keys, then the second
members, and so on. At least k households then share the whole pattern, keys that all members share still
agree, and no household changes its size.

Sizes of fewer than k households cannot be shared. Their members get no pseudonym and are grouped one by one,
each group with people of at least k households.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voronym.core.context import Context
from voronym.core.options import Options
from voronym.errors import GuaranteeError, InputError
from voronym.method import Method
from voronym.partition import Partition
from voronym.problem import Problem

Ints = NDArray[np.int64]


def sizes_together(household: Ints, k: int) -> tuple[dict[int, Ints], Ints]:
    """Return the households by size, for sizes of at least k households, and the households of other sizes.

    The others are none or at least k: the rarest sizes join them until they are.
    """
    size_of = np.bincount(household)
    sizes, often = np.unique(size_of, return_counts=True)
    shared = {int(s): np.flatnonzero(size_of == s) for s, many in zip(sizes, often, strict=True) if many >= k}
    rest = np.flatnonzero(~np.isin(size_of, list(shared)))
    while 0 < len(rest) < k and shared:
        rarest = min(shared, key=lambda size: len(shared[size]))
        rest = np.concatenate([rest, shared.pop(rarest)])
    if 0 < len(rest) < k:
        raise GuaranteeError(f"k={k} cannot be reached with {len(size_of)} households")
    return shared, np.sort(rest)


def group_households(
    problem: Problem, household: Ints, method: Method, options: Options, ctx: Context
) -> tuple[Ints, Ints]:
    """Group households by size, member by member.

    Parameters
    ----------
    problem : Problem
        The members, one record each, and k.
    household : array
        The household of each, 0, 1, 2, ...
    method, options
        The method that makes groups.
    ctx : Context
        Context of this work.

    Returns
    -------
    labels : array
        The group of each member; -1 for households that are grouped member by member.
    rest : array
        The households of these.
    """
    if problem.records.points is None:
        raise InputError("pseudonyms of households need coordinates: leave out the space, or the pseudonyms")
    X, k = problem.points, problem.k
    shared, rest = sizes_together(household, k)
    order = np.lexsort((*X.T[::-1], household))  # members side by side: by their keys, the first key first
    start = np.searchsorted(household[order], np.arange(int(household.max()) + 1))
    labels = np.full(len(X), -1, np.int64)
    groups = 0
    for number, (size, homes) in enumerate(sorted(shared.items())):
        members = order[start[homes][:, None] + np.arange(size)]  # (homes, size)
        wide = Problem.of(X[members].reshape(len(homes), -1), k)
        wide.check_method(method)
        here = ctx.part(number / len(shared), (number + 1) / len(shared), time=1 / (len(shared) - number))
        part: Partition = method.partition(wide, here, options)
        for place in range(size):
            labels[members[:, place]] = groups + part.labels
            groups += part.n_cells
    return labels, rest
