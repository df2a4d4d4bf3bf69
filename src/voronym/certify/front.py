"""The door to every bound."""

from __future__ import annotations

from numpy.typing import ArrayLike

from voronym.certify.bound import Bound
from voronym.certify.exact import SUBSETS, exact
from voronym.certify.neighbours import neighbours
from voronym.errors import InputError
from voronym.microaggregate.front import check_k, check_points
from voronym.partition import Partition
from voronym.progress import Progress, silent

KINDS = ("auto", "neighbours", "columns", "exact")


def lower_bound(
    X: ArrayLike,
    k: int,
    *,
    time_limit: float | None = 60.0,  # noqa: ARG001
    partition: Partition | None = None,
    kind: str = "auto",
    seed: int = 0,  # noqa: ARG001
    progress: Progress | None = None,
) -> Bound:
    """Prove how little any partition into cells of at least k records can lose."""
    points = check_points(X)
    k = check_k(k, len(points))
    tell = silent if progress is None else progress
    if kind not in KINDS:
        raise InputError(f"no bound is called {kind!r}; there are: {', '.join(KINDS)}")
    if partition is not None and partition.n != len(points):
        raise InputError(f"the partition is of {partition.n} records, X has {len(points)}")
    if kind == "exact" or (kind == "auto" and (len(points) <= SUBSETS or points.shape[1] == 1)):
        return exact(points, k, progress=tell)
    return neighbours(points, k, progress=tell)
