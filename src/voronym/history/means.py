"""Compare group means of two releases: their difference must not reveal one person's value.

If groups are not kept, a group is averaged again. If it has the same people and one of them changed their
keys or weight, the difference of the two sums is that change. If one person has a dominant weight, the
difference of two weighted sums is nearly theirs, however many people there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voronym.errors import GuaranteeError, hint
from voronym.history.check import leavers
from voronym.history.ledger import Entry
from voronym.history.marks import DRAWN, Marks, moved
from voronym.history.people import Prints
from voronym.keyspaces import DOMINANCE

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
ALIKE = 10 / 65_536
"""Share of people whose marks may agree by chance although values differ; 10 times the expected share."""
RENAMED = 0.9
"""If this share of people has equal marks in two columns, they count as one renamed column."""


def heavy(weights: NDArray[np.float64], groups: Ints, k: int) -> Bools:
    """Return the people whose weight dominates some k people of their group (p % rule).

    Examples
    --------
    >>> heavy(np.array([90.0, 1, 2, 3, 4, 5]), np.zeros(6, np.int64), 5).tolist()
    [True, False, False, False, False, False]
    """
    order = np.lexsort((weights, groups))
    begin = np.searchsorted(groups[order], groups)
    place = np.minimum(begin[:, None] + np.arange(max(k - 2, 1)), len(groups) - 1)
    least = np.where(groups[order][place] == groups[:, None], weights[order][place], 0.0).sum(axis=1)
    return np.asarray(least < DOMINANCE * weights)


def heavy_people(
    weights: NDArray[np.float64] | None, everyone: Prints, people: Prints, groups: Ints, k: int
) -> Bools:
    """Return the people whose total weight dominates some k people of their group.

    Parameters
    ----------
    weights, everyone : array
        The weight of each row, None without weights; and the person of each row.
    people, groups : array
        Fingerprints, ascending, and their groups; -1 and less for people in no group.
    k : int
        The promised k.
    """
    out = np.zeros(len(people), bool)
    inside = groups >= 0
    if weights is not None and inside.any():
        rows = np.isin(everyone, people[inside])
        at = np.searchsorted(people[inside], everyone[rows])
        own = np.bincount(at, weights[rows], minlength=int(inside.sum())).astype(np.float64)
        out[inside] = heavy(own, groups[inside], k)
    return out


def check_means(
    entries: Sequence[Entry], people: Prints, groups: Ints, k: int, changed: Bools, dominant: Bools
) -> None:
    """Refuse means that differ from an earlier release because of fewer than k people, or a dominant one.

    Parameters
    ----------
    entries : sequence of Entry
        The earlier releases.
    people, groups : array
        Fingerprints of the released people, ascending, and their groups.
    k : int
        The most that the release or an earlier one promises.
    changed : array of bool
        Whether each person's keys or weight differ from an earlier release.
    dominant : array of bool
        Whether each person is heavy.
    """
    _, at = np.unique(groups, return_inverse=True)
    many = np.bincount(at, changed)
    few = int(many[(many > 0) & (many < k)].sum())
    if few:
        raise GuaranteeError(
            f"{few:,} people changed their keys or weight since an earlier release, fewer than k={k} in a "
            "group, and a group's published values are computed from its people: the difference would reveal "
            f"the change. Nothing was released. {hint('keep_groups')} publishes the earlier values of groups"
        )
    alone = sum(_regrouped(entry, people, groups, dominant) for entry in entries)
    if alone:
        raise GuaranteeError(
            f"{alone:,} people are in other groups than in an earlier release, and the weight of "
            "one of them is so large that the difference of two weighted means would reveal that person's "
            f"values (p % rule). Nothing was released. {hint('keep_groups')} publishes the earlier values of "
            "groups"
        )


def check_leavers(entries: Sequence[Entry], people: Prints, k: int) -> None:
    """Refuse means that differ from an earlier release because fewer than k people left.

    Parameters
    ----------
    entries, people, k
        As for `check_means`.
    """
    left = int(leavers(entries, people, k, ever=True).sum())
    if left:
        raise GuaranteeError(
            f"{left:,} people of earlier releases are not in this one, fewer than k={k} in a group, and a "
            "group's published values are computed from its people: the difference would reveal the values "
            f"of those who left. Nothing was released. {hint('keep_groups')} publishes the earlier values of "
            "groups"
        )


def check_raw(
    entries: Sequence[Entry], people: Prints, names: Sequence[str], marks: Marks, columns: Sequence[str]
) -> None:
    """Refuse a step that publishes means of a column again, for other people or changed values.

    Its groups cross those of the release, so two of them may differ by a single person.

    Parameters
    ----------
    entries, people, names, marks, columns
        As for `moved`.
    """
    changed = moved(entries, people, names, marks, columns)
    for entry in entries:
        if set(columns) & set(entry.about.get("marked", ())):
            before = entry.people[entry.groups >= 0]
            if changed.any() or not np.array_equal(before, people):
                raise GuaranteeError(
                    "a step publishes means of a column, as one did in an earlier release, and people came, "
                    "left, or have other values now: the difference of two means would reveal one person's "
                    f"value. Nothing was released. Round the values instead; or {hint('changed', 'publish')} "
                    "releases them anyway"
                )


def redrawn(recipe: Any) -> set[str]:
    """Return the columns whose published values a recipe draws at random for each person.

    Kept groups publish their earlier values, whatever is drawn for their keys.
    """
    keys = set(recipe.schema.keys)
    by_method = keys if not recipe.makes_groups and recipe.private is None else set()
    return by_method | {
        name
        for step in recipe.column_steps
        if step.random
        for name in step.columns
        if not (recipe.keep_groups and step.when == "before" and name in keys)
    }


def check_drawn(entries: Sequence[Entry], people: Prints, names: Sequence[str], marks: Marks) -> None:
    """Refuse to draw again for people with the same values as in an earlier draw.

    The mean of several draws is nearer to the true value than a single one. A renamed column is
    recognised by its marks, if nearly all of them agree.

    Parameters
    ----------
    entries, people, names, marks
        As for `moved`.
    """
    for column, name in enumerate(names):
        if not name.startswith(DRAWN):
            continue
        again, known = np.zeros(len(people), bool), np.zeros(len(people), bool)
        for entry in entries:
            inside, place = entry.find(people)
            there = inside & (entry.of(entry.groups, people) >= 0)
            if entry.marks is None or not there.any():
                continue
            for at, other in enumerate(entry.about.get("marked", ())):
                same = entry.marks[place[there], at] == marks[there, column]
                if other == name or (other.startswith(DRAWN) and same.mean() > RENAMED):
                    again[there] |= same
                    known |= there
        many = int(again.sum())
        if many > ALIKE * int(known.sum()):
            raise GuaranteeError(
                f"{many:,} people have the same {name.removeprefix(DRAWN)} as in an earlier release. That "
                "release drew its published values at random, as this one would: the mean of both draws "
                "is nearer to the truth than each. Nothing was released. Leave the column out, or round "
                f"it; or {hint('changed', 'publish')} releases it all the same"
            )


def _regrouped(entry: Entry, people: Prints, groups: Ints, dominant: Bools) -> int:
    """Return the number of dominant people who are in a new group with a part of their earlier one.

    A group with the same people as before, or with none of them, reveals nothing by its difference.
    """
    there = entry.groups >= 0
    now, then = (people, groups), (entry.people[there], entry.groups[there])
    return _elsewhere(now, then, dominant) + _elsewhere(then, now, entry.heavy[there])


def _elsewhere(mine: tuple[Prints, Ints], theirs: tuple[Prints, Ints], who: Bools) -> int:
    """Return the number of people in ``who`` whose group holds only a part of another group of theirs."""
    (people, groups), (others, other_groups) = mine, theirs
    if not len(people) or not len(others):
        return 0
    place = np.minimum(np.searchsorted(others, people), len(others) - 1)
    _, own, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    _, codes, their_sizes = np.unique(other_groups, return_inverse=True, return_counts=True)
    seen = np.where(others[place] == people, codes[place], -1)
    low, high = np.full(len(sizes), len(their_sizes)), np.full(len(sizes), -1)
    np.minimum.at(low, own, seen)
    np.maximum.at(high, own, seen)
    same = (low == high) & (their_sizes[high] == sizes)
    return int(who[((high >= 0) & ~same)[own]].sum())
