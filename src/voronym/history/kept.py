"""Kept groups: they publish the same again, and their published values stand for their people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from voronym.errors import InputError, hint
from voronym.history.engine import Round
from voronym.history.frozen import put_back
from voronym.history.ledger import Entry
from voronym.history.people import Prints
from voronym.table.table import Table

Ints = NDArray[np.int64]


def check_facts(entries: Sequence[Entry], people: Prints, facts: Mapping[str, Any]) -> None:
    """Refuse to publish people differently from earlier releases."""
    for entry in entries:
        if not (entry.of(entry.groups, people) >= 0).any():
            continue
        other = [
            name
            for name, value in facts.items()
            if entry.about.get(name, value if name != "keys" else None) != value
        ]
        if other:
            raise InputError(
                f"kept groups publish their earlier values, and {', '.join(other)} differ "
                f"from release {entry.number}: a figure that is computed again, without the people who "
                "left, would reveal their values. Keep these settings, or begin another history: leave "
                f"out {hint('keep_groups')}, and release people who are in no earlier release"
            )


def check_steps(entries: Sequence[Entry], steps: Sequence[str]) -> None:
    """Refuse steps that differ from those of the releases whose groups are kept."""
    earlier = [entry.about.get("steps", []) for entry in entries if entry.about.get("kept_groups")]
    if earlier and list(earlier[-1]) != list(steps):
        raise InputError(
            "kept groups publish their earlier values, and the steps differ from the previous release "
            "({'; '.join(earlier[-1]) or 'none'}): take the same steps, or leave out "
            f"{hint('keep_groups')}"
        )


def published_before(entries: Sequence[Entry], people: Prints) -> tuple[dict[int, dict[str, Any]], Ints]:
    """Return the last published values of people, by the number of their group, and these numbers."""
    numbers = np.full(len(people), -1, np.int64)
    rows: dict[int, dict[str, Any]] = {}
    for entry in entries:
        mine = entry.of(entry.groups, people)
        numbers = np.where(mine >= 0, mine, numbers)
        if "keys" in entry.published:
            held = zip(entry.published["groups"], entry.published["values"], strict=True)
            rows |= {number: dict(zip(entry.published["keys"], row, strict=True)) for number, row in held}
    wanted = set(numbers[numbers >= 0].tolist())
    if lacking := wanted - set(rows):
        raise InputError(
            f"the ledger lacks the published values of {len(lacking):,} groups, so these groups cannot be "
            f"kept: leave out {hint('keep_groups')}, and release people who are in no earlier release"
        )
    return {number: rows[number] for number in wanted}, numbers


def stood_in(entries: Sequence[Entry], people: Prints, table: Table, weights: str | None) -> Table:
    """Return a table in which published values of groups replace the keys of their people.

    So the keys of a person enter only one published figure, and later figures reveal no more about them
    or about people who left.

    Parameters
    ----------
    entries : sequence of Entry
        The releases before.
    people : array
        The person of each row.
    table : Table
        The rows.
    weights : str or None
        The column of weights, which groups publish, too.
    """
    rows, numbers = published_before(entries, people)
    if not rows or not all(entry.about.get("plain", True) for entry in entries):
        return table
    names = list(next(iter(rows.values())))
    shown = {number: [row.get(name) for name in table.keys] for number, row in rows.items()}
    frame = put_back(table.frame.select(list(table.keys)), shown, numbers)
    made = {name: frame[name] for name in table.keys}
    if weights is not None and weights in names and weights in table.columns:
        values = table.frame[weights].cast(nw.Float64()).to_list()
        mine = [
            value if number not in rows else rows[number][weights]
            for value, number in zip(values, numbers.tolist(), strict=True)
        ]
        made[weights] = nw.new_series(weights, mine, nw.Float64(), backend=table.frame.implementation)
    return table.like(
        table.frame.with_columns(**{name: nw.maybe_reset_index(series) for name, series in made.items()}),
        table.source,
    )


def last_groups(entries: Sequence[Entry], people: Prints, number: int, *, retire: bool) -> tuple[Ints, Ints]:
    """Return the group of each person (-1 for none), and the number of releases they have waited.

    A member was in the group when it was last published. People who were absent then cannot come back,
    because the others have a history without them.

    Parameters
    ----------
    entries : sequence of Entry
        The releases before.
    people : array
        Fingerprints of the grouped people.
    number : int
        The first number that no group has had.
    retire : bool
        Whether people without a group are never published again; otherwise they join new groups.
    """
    group = np.full(len(people), -1, np.int64)
    waited = np.zeros(len(people), np.int64)
    seen = np.zeros(len(people), np.int64)
    ended: dict[int, int] = {}
    for entry in entries:
        there, _ = entry.find(people)
        groups = entry.of(entry.groups, people)
        group, seen = np.where(groups >= 0, groups, group), np.where(groups >= 0, entry.number, seen)
        waited = np.where(there, entry.of(entry.waited, people), waited)
        ended |= dict.fromkeys(np.unique(entry.groups).tolist(), entry.number)
    away = (group >= 0) & (seen != np.array([ended.get(own, 0) for own in group.tolist()], np.int64))
    alone = number + np.arange(len(group))  # a group of one, which is dissolved
    return np.where(away, alone if retire else -1, group), waited


def frozen_rows(
    entries: Sequence[Entry], people: Prints, made: Round, keys: Sequence[str]
) -> dict[int, list[Any]]:
    """Return the published values of groups without new people, by group number.

    Living groups publish their earlier values. If published values cannot stand for keys (ranges), new
    groups of known people publish the values of the group of most of their members.
    """
    rows, numbers = published_before(entries, people)
    plain = all(entry.about.get("plain", True) for entry in entries)
    settled = made.published & (numbers >= 0) & (~made.began if plain else True)
    out: dict[int, list[Any]] = {}
    pairs, many = np.unique(
        np.column_stack([made.groups[settled], numbers[settled]]), axis=0, return_counts=True
    )
    for at in np.lexsort((-pairs[:, 1], many)):  # that of most of them comes last
        out[int(pairs[at, 0])] = [rows[int(pairs[at, 1])].get(name) for name in keys]
    return out
