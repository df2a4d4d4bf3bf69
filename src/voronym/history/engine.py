"""Make the groups of this release from the groups of the last release and the people of today."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voronym.core import later
from voronym.core.context import Context
from voronym.errors import InputError
from voronym.history.policy import RETIRED, Policy
from voronym.method import METHODS
from voronym.partition import Partition
from voronym.problem import Problem, check_k
from voronym.space.records import Records

cKDTree = later.called("scipy.spatial", "cKDTree")  # noqa: N816 - its own name

Ints = NDArray[np.int64]
Divide = Callable[[Problem, Ints, Context], Ints]
"""A function of problem, people and context that divides people into groups; -1 means to wait."""
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Round:
    """The groups of a release, and how they were made.

    Parameters
    ----------
    groups : array of int, shape (n,)
        The group of everybody present; -1 for people who wait and are not published. A living group keeps its
        number; new groups get unused numbers.
    waited : array of int, shape (n,)
        Number of rounds, this one included, in which each person was not published; 0 for published people,
        `RETIRED` for people of dissolved groups who are not published again.
    began : array of bool, shape (n,)
        Whether each person's history begins with this round: their group was formed now.
    kept, formed : int
        Groups that live on, and groups that were formed.
    dissolved : int
        Groups that fell below k.
    renewed : int
        People of groups that were dissolved as neighbours of others.
    """

    groups: Ints
    waited: Ints
    began: NDArray[np.bool_]
    kept: int
    formed: int
    dissolved: int
    renewed: int = 0

    @property
    def published(self) -> NDArray[np.bool_]:
        """Whether each is published."""
        return self.groups >= 0

    @property
    def waiting(self) -> int:
        """Number of people who wait for a later release."""
        return int(((self.groups < 0) & (self.waited != RETIRED)).sum())

    @property
    def retired(self) -> int:
        """Number of people of dissolved groups who are not published again."""
        return int((self.waited == RETIRED).sum())

    def __repr__(self) -> str:
        n = len(self.groups)
        return (
            f"Round({self.published.sum()} of {n} people in {self.kept + self.formed} groups, "
            f"{self.formed} of them new; {self.dissolved} dissolved)"
        )


def advance(
    records: Records,
    groups: ArrayLike,
    k: int,
    ctx: Context,
    *,
    policy: Policy | None = None,
    waited: ArrayLike | None = None,
    number: int = 0,
    divide: Divide | None = None,
    apart: ArrayLike | None = None,
) -> Round:
    """Keep the groups that still have k people, and form groups of all others.

    Parameters
    ----------
    records : Records
        The people present now, in a space.
    groups : array of int, shape (n,)
        The last group of each person; -1 without one. People who left are not included.
    k : int
        The least number of people in a group.
    ctx : Context
        The same seed gives the same groups. The work must be completed.
    policy : Policy, optional
        See there.
    waited : array of int, shape (n,), optional
        Number of rounds in which each person was not published.
    number : int
        New groups get numbers from this on, or from the largest number in use.
    divide : callable, optional
        ``(problem, people, ctx) -> groups``, which forms groups, -1 for people who wait; by default the
        method of the policy.
    apart : array of int, shape (n,), optional
        A number for the releases each person was in before, 0 for none. People with different numbers never
        share a group: the difference of two releases reveals who was in one of them.

    Returns
    -------
    Round
        Its groups have at least k people each. Nobody joined a living group.

    Examples
    --------
    >>> import numpy as np
    >>> from voronym.space import Euclidean
    >>> people = Euclidean().records(np.array([[0.0], [0.1], [0.2], [5.0], [5.2], [5.1]]))
    >>> advance(people, [0, 0, 0, 1, 1, -1], 3, Context()).groups.tolist()  # one left, one is new
    [0, 0, 0, 2, 2, 2]
    """
    chosen = Policy() if policy is None else policy
    now = np.array(groups, np.int64)
    n = len(records)
    before = np.zeros(n, np.int64) if waited is None else np.asarray(waited, np.int64)
    if now.shape != (n,) or before.shape != (n,):
        raise InputError(f"there are {n} people, and groups of {len(now)}: give one for everybody, or -1")
    k = check_k(k, max(n, k) if isinstance(k, int) else n)  # too few people wait; that is no error
    kind = np.zeros(n, np.int64) if apart is None else np.asarray(apart, np.int64)
    number = max(number, int(now.max(initial=-1)) + 1)
    sizes = np.bincount(now[now >= 0], minlength=number)
    least = _least_alike(now, kind, number)
    weak = np.flatnonzero((sizes > 0) & (least < k))
    living = np.flatnonzero((sizes > 0) & (least >= k))
    extra = _neighbours(records, now, kind, weak, living, k, chosen)
    drop = np.zeros(number + 1, bool)
    drop[weak] = drop[extra] = True
    pool = np.flatnonzero((now < 0) | drop[now])  # now is -1 for new people: the last entry, never dropped
    if chosen.dissolved == "retire":
        pool = pool[now[pool] < 0]
    out = now.copy()
    out[(now < 0) | drop[now]] = -1
    labels = _form(records, pool, kind, k, ctx, chosen, divide)
    labels = _postpone(records, pool, labels, out, before, kind[pool] > 0, chosen)
    placed = labels >= 0
    fresh = np.unique(labels[placed], return_inverse=True)[1].reshape(-1)
    out[pool[placed]] = number + fresh
    began = np.zeros(n, bool)
    began[pool[placed]] = True
    formed = int(fresh.max(initial=-1)) + 1
    Partition(out[out >= 0], k=k) if (out >= 0).any() else None  # counted, not trusted
    after = np.where(out >= 0, 0, np.maximum(before, 0) + 1)
    if chosen.dissolved == "retire":
        after[(out < 0) & (now >= 0)] = RETIRED
    return Round(
        out, after, began, len(living) - len(extra), formed, len(weak),
        int(sizes[extra].sum()),
    )  # fmt: skip


def _least_alike(now: Ints, kind: Ints, number: int) -> Ints:
    """Return the smallest number of people of one kind in each group."""
    out = np.zeros(number, np.int64)
    inside = np.flatnonzero(now >= 0)
    pairs, many = np.unique(np.column_stack([now[inside], kind[inside]]), axis=0, return_counts=True)
    out[pairs[:, 0]] = np.iinfo(np.int64).max
    np.minimum.at(out, pairs[:, 0], many)
    return out


def _neighbours(
    records: Records, now: Ints, kind: Ints, weak: Ints, living: Ints, k: int, policy: Policy
) -> Ints:
    """Return living groups to dissolve together with groups below k: the nearest ones of the same kind.

    The budget limits their number. One more is dissolved if fewer than k people of a kind have no group,
    because these would wait, and then be a kind of their own.
    """
    none = np.empty(0, np.int64)
    if not policy.neighbours or not len(weak) or not len(living) or policy.dissolved == "retire":
        return none
    points = records.coordinates
    inside = np.flatnonzero(now >= 0)
    size = np.bincount(now[inside])
    sums = [np.bincount(now[inside], column) for column in points[inside].T]
    centre = np.stack(sums, axis=1) / np.maximum(size, 1)[:, None]
    of_group = np.zeros(len(size), np.int64)
    of_group[now[inside]] = kind[inside]
    free = np.bincount(kind[~np.isin(now, living)], minlength=int(kind.max(initial=0)) + 1)
    out: list[int] = []
    budget = policy.renewed * len(now)
    pairs: list[tuple[float, int, bool]] = []
    for mine in np.unique(of_group[weak]).tolist():
        some, others = weak[of_group[weak] == mine], living[of_group[living] == mine]
        if not len(others):
            continue
        many = min(policy.neighbours, len(others))
        gap, near = cKDTree(centre[others]).query(centre[some], many)
        result = sorted(zip(np.reshape(gap, -1).tolist(), others[np.reshape(near, -1)].tolist(), strict=True))
        needed = 0 < free[mine] < k
        pairs += [(far, group, needed and not at) for at, (far, group) in enumerate(result)]
    for _, group, needed in sorted(pairs):
        if group not in out and (needed or size[group] <= budget):
            out.append(group)
            budget -= size[group]
    return np.array(out, np.int64)


def _form(
    records: Records, pool: Ints, kind: Ints, k: int, ctx: Context, policy: Policy, divide: Divide | None
) -> Ints:
    """Return groups of the people without one, by keys alone; -1 for kinds with fewer than k people."""
    labels = np.full(len(pool), -1, np.int64)
    groups = 0
    for item in np.unique(kind[pool]).tolist():
        mine = np.flatnonzero(kind[pool] == item)
        if len(mine) < k:
            continue
        people = pool[mine]
        problem = Problem(records.subset(people), min(k + policy.headroom, len(mine)))
        if divide is None:
            made = np.array(METHODS[policy.method].partition(problem, ctx).labels)
        else:
            made = np.array(divide(problem, people, ctx))
        labels[mine] = np.where(made >= 0, made + groups, -1)
        groups += int(made.max(initial=-1)) + 1
    return labels


def _postpone(
    records: Records,
    pool: Ints,
    labels: Ints,
    out: Ints,
    waited: Ints,
    seen: NDArray[np.bool_],
    policy: Policy,
) -> Ints:
    """Let the widest groups of new people wait, up to the allowed share of waiting people."""
    room = int(policy.waiting * len(out)) - int((labels < 0).sum())
    if room <= 0 or (labels < 0).all() or not (out >= 0).any():
        return labels
    there = np.flatnonzero(labels >= 0)
    part = Partition(labels[there])
    X = records.X[pool[there]]
    paid = records.space.paired(X, records.space.centroids(X, part.labels, part.n_cells), part.labels)
    each = np.bincount(part.labels, paid) / part.sizes
    patient = np.bincount(part.labels, (waited[pool[there]] >= policy.patience) | seen[there]) == 0
    order = np.argsort(-each, kind="stable")
    order = order[patient[order]]
    late = order[np.cumsum(part.sizes[order]) <= room]
    out_now = labels.copy()
    out_now[there[np.isin(part.labels, late)]] = -1
    return out_now
