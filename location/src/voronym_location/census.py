"""Read the active people from the database, at one moment, for the next epoch."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from sqlalchemy import Connection, Row, select

from voronym.errors import InputError
from voronym_location.attributes import Attributes
from voronym_location.directory import METRES
from voronym_location.epochs import Standing
from voronym_location.population import Floats, Ints, Objects, Population, is_young, points
from voronym_location.rules import Settings
from voronym_location.sealing import Seal
from voronym_location.settings import ServiceSettings
from voronym_location.store.tables import account, cohort, directory, epoch, home, member

__all__ = ["Census", "take"]

Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Census:
    """The people of a moment, with the database's facts about each and the input of `plan`.

    Parameters
    ----------
    people : Population
        Everybody with a home. A person who moved has no group.
    before : Standing
        The standing after the epoch in force.
    published : float or None
        When that was.
    version, seen : arrays of int
        Version of each home, and the first epoch that saw it.
    pseudonym : list of bytes or None
        Pseudonym of each person; None without one.
    addresses : array, shape (a, 2), or None
        The directory.
    attributes : Attributes
        The declared attributes.
    """

    people: Population
    before: Standing
    published: float | None
    version: Ints
    seen: Ints
    pseudonym: list[bytes | None]
    addresses: Floats | None
    attributes: Attributes


def take(connection: Connection, settings: ServiceSettings, seal: Seal | None = None) -> Census:
    """Read the active people; open sealed homes with the keys of the settings.

    People without a value for a declared attribute wait, and do not count towards k.
    """
    asked = Attributes.of(settings.attributes)
    seal = Seal.read(settings.home_keys) if seal is None else seal
    last = connection.execute(select(epoch).order_by(epoch.c.number.desc()).limit(1)).first()
    before = _standing(connection, last, asked)
    now = before.epoch + 1
    query = (
        select(
            home.c.person, home.c.latitude, home.c.longitude, home.c.household, home.c.attributes,
            home.c.sealed, home.c.version, home.c.vouched, member.c.version, member.c.cohort, member.c.since,
            member.c.seen, member.c.counting, member.c.pseudonym, account.c.published,
        )
        .select_from(home)
        .join(account, account.c.id == home.c.person)
        .outerjoin(member, (member.c.person == home.c.person) & (member.c.epoch == before.epoch))
        .order_by(home.c.person)
    )  # fmt: skip
    columns = _columns(connection, query, "qOOOOOq?OOOOOO?")
    opened = _opened(seal, asked, len(before) > 0, columns[0], *columns[1:6])
    complete, latitude, longitude, household, attributes = opened
    person, *_, version, vouched, known = (column[complete] for column in columns[:9])
    *state, published = (column[complete] for column in columns[9:])
    same = np.asarray(known == version, bool)  # neither new nor moved since
    group, since, seen, counted = (
        np.where(same, column, missing).astype(np.int64)
        for column, missing in zip(state[:4], (-1, now, now, 0), strict=True)
    )
    numbers, addresses = _addresses(connection)
    household = _housed(household, latitude, longitude, numbers, addresses, settings.reach)
    counting = _counting(latitude, longitude, counted.astype(bool), vouched, seen, now, settings)
    young = is_young(seen, now, Settings(**settings.epochs).young) & ~vouched
    people = Population(
        person, latitude, longitude, group, since, household, counting, young, published, attributes
    )  # fmt: skip
    pseudonym = [item if kept else None for item, kept in zip(state[4], same & (group >= 0), strict=True)]
    return Census(
        people, before, None if last is None else last.published, version, seen, pseudonym,
        addresses if len(addresses) else None, asked,
    )  # fmt: skip


CHANGED = (
    "the attributes in the settings differ from those that living groups publish: set them back, or end all "
    "groups by voronym location after-restore; everybody then gives them again, and waits for a new group"
)


def _opened(
    seal: Seal, asked: Attributes, living: bool, person: Ints, *place: Any
) -> tuple[Flags, Floats, Floats, Ints, Objects]:
    """Return which people gave all attributes, and their latitudes, longitudes, households and attributes.

    While groups exist, nobody drops out because the settings no longer allow a value: the end of their
    pseudonym would reveal that they had this value.
    """
    closed = np.array([sealed is not None for sealed in place[4]], bool)
    out = [np.where(closed, 0, column) for column in place[:4]]
    for row in np.flatnonzero(closed).tolist():
        for column, value in zip(out, seal.open(int(person[row]), {"sealed": place[4][row]}), strict=True):
            column[row] = value
    rows = [asked.row(text) for text in out[3]] if asked else [()] * len(person)
    if living and any(
        row is None and set(asked.names) <= set(json.loads(text or "{}"))
        for row, text in zip(rows, out[3], strict=True)
    ):
        raise InputError(CHANGED)
    complete = np.array([row is not None for row in rows], bool)
    attributes = np.empty((int(complete.sum()), len(asked)), object)
    for at, values in enumerate(row for row in rows if row is not None):
        attributes[at] = values
    latitude, longitude, household = (column[complete] for column in out[:3])
    return complete, latitude.astype(float), longitude.astype(float), household.astype(np.int64), attributes


def _standing(connection: Connection, last: Row[Any] | None, asked: Attributes) -> Standing:
    if last is None:
        return Standing.empty()
    columns = (cohort.c.id, cohort.c.latitude, cohort.c.longitude, cohort.c.born, cohort.c.attributes)
    query = select(*columns).where(cohort.c.ended.is_(None), cohort.c.born <= last.number)
    numbers, latitude, longitude, born, texts = _columns(connection, query, "qddqO")
    if any(tuple(json.loads(text or "{}")) != asked.names or asked.row(text) is None for text in texts):
        raise InputError(CHANGED)
    attributes = np.array([list(json.loads(text).values()) for text in texts], object) if asked else None
    return Standing.of(
        last.number, numbers, np.stack([latitude, longitude], axis=1), born,
        top=last.top, designed=last.designed, rms=last.rms,
        **({} if attributes is None else {"attributes": attributes.reshape(len(numbers), len(asked))}),
    )  # fmt: skip


def _addresses(connection: Connection) -> tuple[Ints, Floats]:
    query = select(directory.c.id, directory.c.latitude, directory.c.longitude).order_by(directory.c.id)
    numbers, *places = _columns(connection, query, "qdd")
    return numbers, np.stack(places, axis=1)


def _housed(
    household: Ints, latitude: Floats, longitude: Floats, numbers: Ints, addresses: Floats, reach: float
) -> Ints:
    """Return the households of homes, including homes submitted before there was a directory.

    Otherwise people of one house would count twice: some by its address, some by the square it is in.
    """
    rows = np.flatnonzero(household < 0)
    if not len(rows) or not len(numbers):
        return household
    gap, near = cKDTree(points(*addresses.T)).query(points(latitude[rows], longitude[rows]))
    out = household.copy()
    out[rows] = np.where(gap <= reach, numbers[near], household[rows])
    return out


def _columns(connection: Connection, query: Any, kinds: str) -> list[Any]:
    """Return the columns of a query as arrays, read piece by piece."""
    parts: list[list[Any]] = [[] for _ in kinds]
    for rows in connection.execute(query, execution_options={"yield_per": 50_000}).partitions():
        for part, values, kind in zip(parts, zip(*rows, strict=True), kinds, strict=True):
            part.append(np.array(values, np.dtype(kind)))
    empty = np.empty(0)
    return [
        np.concatenate(part) if part else empty.astype(kind) for part, kind in zip(parts, kinds, strict=True)
    ]


def _counting(
    latitude: Floats, longitude: Floats, counted: Flags, vouched: Flags, seen: Ints, now: int,
    settings: ServiceSettings,
) -> Flags:  # fmt: skip
    """Return who counts towards k: vouched people at once, others after a time and limited per area.

    An attacker may invent neighbours to fill a target's group. Each of them must be verified at a
    separate address, must wait, and must stay below the usual growth of an area. In the first epoch all
    people count.
    """
    counting = counted | vouched
    if now == 1:
        return np.ones(len(seen), bool)
    old = ~counting & (now - seen >= settings.age)
    if not old.any():
        return counting
    row = np.floor(latitude * METRES / settings.area)
    width = np.maximum(np.cos(np.radians((row + 0.5) * settings.area / METRES)), 0.01) * METRES
    column = np.floor(longitude * width / settings.area)
    area = np.unique(np.stack([row, column], axis=1), axis=0, return_inverse=True)[1].reshape(-1)
    room = np.maximum(settings.k // 2, settings.newcomers * np.bincount(area, counting)).astype(np.int64)
    waiting = np.flatnonzero(old)
    order = waiting[np.lexsort((waiting, seen[waiting], area[waiting]))]  # area by area, the oldest first
    first = np.r_[0, np.flatnonzero(np.diff(area[order])) + 1]
    rank = np.arange(len(order)) - np.repeat(first, np.diff(np.r_[first, len(order)]))
    counting = counting.copy()
    counting[order[rank < room[area[order]]]] = True
    return counting
