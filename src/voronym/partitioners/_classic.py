"""Shared parts of the classic methods: the promise about sizes."""

from __future__ import annotations

from collections.abc import Callable

from voronym.core.options import Options
from voronym.method import algorithm
from voronym.partition import Partition

Function = Callable[..., Partition]


def classic(
    name: str,
    *,
    cost: str,
    reference: str,
    more: str = "",
    options: type[Options] = Options,
    univariate: bool = False,
) -> Callable[[Function], Function]:
    """Register a method on coordinates whose groups have k to 2k-1 records.

    Parameters
    ----------
    name, cost, reference, options, univariate
        As for `voronym.method.algorithm`.
    more : str
        Its promise in addition to the sizes.
    """
    return algorithm(
        name,
        guarantee="every group has k to 2k-1 records" + (f"; {more}" if more else ""),
        cost=cost,
        reference=reference,
        options=options,
        univariate=univariate,
        max_size=lambda k: 2 * k - 1,
    )
