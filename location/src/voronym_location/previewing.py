"""The operator's desk: preview the next epoch, put it in force or discard it, pause the schedule.

A preview is a draft that no user sees. Putting it in force counts again, without people who have left since.
People who joined or moved since then wait for the next epoch. A draft can be discarded, because none of its
pseudonyms or places was shown to anybody.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, delete, func, select, text

from voronym.core.context import Context
from voronym_location.census import Census, take
from voronym_location.desk_state import get_note, set_note, shown
from voronym_location.drafting import alone, tidy
from voronym_location.epochs import Epoch, Figures, Standing
from voronym_location.errors import BadRequest, TooMany
from voronym_location.population import Objects, Population
from voronym_location.publishing import drafted, put_in_force, sizes
from voronym_location.rules import Settings
from voronym_location.settings import ServiceSettings
from voronym_location.store import Store
from voronym_location.store.tables import account, cohort, desk, epoch, home, member

__all__ = ["discard", "make_preview", "publish_preview"]

AGAIN = 4
"""Largest number of previews per period; from more, an operator could see who came and went."""
TIGHT = 2
"""A group with fewer than this many addresses above k counts as tight."""
MOST_PLACES = 3000
"""Largest number of places that are drawn."""
CHANGED = (
    "the settings of epochs or of attributes changed since the draft was made: discard the draft and look at "
    "the next epoch again, or set them back"
)


def make_preview(
    store: Store, settings: ServiceSettings, clock: Callable[[], float], ctx: Context
) -> dict[str, Any]:
    """Plan the next epoch, keep it as a draft, and return the operator's preview."""
    with store.read() as connection:
        looked = get_note(connection, "looked")
    pause_for = settings.period / AGAIN
    if looked is not None and clock() - looked < pause_for:
        wait = pause_for - (clock() - looked)
        raise TooMany(
            f"the next epoch can be looked at {AGAIN} times in a period: wait "
            f"{max(1, round(wait / 60))} minutes",
            wait,
        )
    with alone(store):
        census, made, extra = drafted(store, settings, clock, ctx)
        counted = sizes(census.people, made.group, settings.k)
        places = [
            [latitude, longitude, counted[number] < settings.k + TIGHT]
            for number, (latitude, longitude) in zip(
                made.standing.groups.tolist(), made.standing.centroids.tolist(), strict=True
            )
        ]
        at = clock()
        preview = {
            "at": at,
            "figures": made.figures.to_dict() | extra,
            "standing": {"top": made.standing.top, "designed": made.standing.designed,
                         "rms": made.standing.rms},
            "places": places[:MOST_PLACES],
            "tight": sum(place[2] for place in places),
            "settings": _settings(settings),
        }  # fmt: skip
        with store.write() as connection:
            set_note(connection, "preview", preview)
            set_note(connection, "looked", at)
    return shown(preview, settings.k)


def publish_preview(store: Store, settings: ServiceSettings, clock: Callable[[], float]) -> dict[str, Any]:
    """Put the previewed draft in force, without people who have left since; return its figures."""
    with alone(store):
        with store.write() as connection:
            kept = get_note(connection, "preview")
            last = connection.scalar(select(func.max(epoch.c.number))) or 0
            if kept is None or kept["figures"]["epoch"] != last + 1:
                raise BadRequest("there is no draft of the next epoch: look at it first")
            if kept.get("settings") != _settings(settings):
                raise BadRequest(CHANGED)
            census = take(connection, settings)
            census, made = _drafted(connection, census, kept)
            extra = {name: kept["figures"][name] for name in ("by_density", "linked")}
            figures = put_in_force(connection, census, made, settings, clock(), extra)
            connection.execute(delete(desk).where(desk.c.name == "preview"))
        tidy(store, Context())
    return figures


def discard(store: Store) -> bool:
    """Discard a draft; return whether there was one."""
    with alone(store):
        with store.write() as connection:
            done = connection.execute(delete(desk).where(desk.c.name == "preview")).rowcount
        tidy(store, Context())
    return bool(done)


def _settings(settings: ServiceSettings) -> dict[str, Any]:
    """Return the settings behind a draft; another order of attributes counts as another setting."""
    attributes = json.dumps(settings.attributes)
    return {"epochs": asdict(Settings(**settings.epochs)), "attributes": attributes}


def _drafted(connection: Connection, census: Census, kept: dict[str, Any]) -> tuple[Census, Epoch]:
    """Read a draft back as a plan, without people whose homes were deleted."""
    now, before = census.before.epoch + 1, census.before
    old = member.alias("old")
    rows = connection.execute(
        select(
            member.c.person, member.c.cohort, member.c.since, member.c.household, member.c.counting,
            member.c.young, member.c.version == home.c.version,
            func.coalesce(old.c.cohort, -1), func.coalesce(old.c.version == member.c.version, False),
            account.c.published,
        )
        .select_from(member)
        .join(home, home.c.person == member.c.person)  # people who left since have none
        .join(account, account.c.id == member.c.person)
        .outerjoin(old, (old.c.epoch == before.epoch) & (old.c.person == member.c.person))
        .where(member.c.epoch == now)
        .order_by(member.c.person)
    ).all()  # fmt: skip
    columns = [np.array(column) for column in zip(*rows, strict=True)] if rows else [np.empty(0)] * 10
    person, group, since, household = (column.astype(np.int64) for column in columns[:4])
    counts, young, there = (column.astype(bool) for column in columns[4:7])
    if not np.isin(person, census.people.person).all():  # the rows below would be other people's
        raise BadRequest(CHANGED)
    at = np.searchsorted(census.people.person, person)  # both ascend, and only these people have a home
    latitude, longitude = census.people.latitude[at], census.people.longitude[at]
    was = np.where(columns[8].astype(bool), columns[7].astype(np.int64), -1)
    for row in np.flatnonzero(~there):  # people who moved since add no building: their old home was deleted
        beside = np.flatnonzero(there & (group == group[row]))
        if len(beside):
            latitude[row], longitude[row] = latitude[beside[0]], longitude[beside[0]]
    people = Population(
        person, latitude, longitude, was, since, household, counts, young, columns[9].astype(bool),
        census.people.attributes[at],
    )  # fmt: skip
    fresh = connection.execute(select(cohort).where(cohort.c.born == now).order_by("id")).all()
    numbers = np.array([row.id for row in fresh], np.int64)
    lives = np.isin(before.groups, connection.scalars(_cohorts(now)).all())
    standing = replace(
        before,
        epoch=now,
        groups=np.concatenate([before.groups[lives], numbers]),
        centroids=np.concatenate(
            [
                before.centroids[lives],
                np.array([(row.latitude, row.longitude) for row in fresh]).reshape(-1, 2),
            ]
        ),
        attributes=_published(before, lives, fresh, len(census.attributes)),
        born=np.concatenate([before.born[lives], np.full(len(numbers), now)]),
        **kept["standing"],
    )
    names = set(Figures.__dataclass_fields__)
    figures = Figures(**{name: value for name, value in kept["figures"].items() if name in names})
    moved = (group >= 0) & (group != was)
    made = Epoch(group, since, standing, before.groups[~lives], moved, figures)
    return replace(census, people=people), made


def _published(before: Standing, lives: NDArray[np.bool_], fresh: Sequence[Any], many: int) -> Objects:
    """Return the attributes of living and of drafted groups."""
    new = np.array([list(json.loads(row.attributes or "{}").values()) for row in fresh], object)
    old = before.attributes[lives].reshape(int(lives.sum()), many)
    return np.concatenate([old, new.reshape(len(fresh), many)])


def _cohorts(now: int) -> Any:
    return text("select distinct cohort from member where epoch = :now").bindparams(now=now)
