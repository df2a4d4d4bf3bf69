"""Make an epoch and put it in force: plan, write a draft, publish in one short transaction.

Nobody waits for the plan. It uses the data of one moment; later changes wait for the following epoch. The
draft is written in small pieces, so others can write in between. Rows of an epoch that is not in the table
``epoch`` are not shown. The last transaction removes people who have left since, dissolves groups that became
too small, counts again in Python and in SQL, and writes nothing if a count fails.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from sqlalchemy import Connection, delete, text

from voronym.core.context import Context
from voronym.errors import GuaranteeError, InputError
from voronym_location.census import Census, take
from voronym_location.checking import check
from voronym_location.density import by_density
from voronym_location.drafting import alone, draft, tidy
from voronym_location.epochs import Epoch, plan
from voronym_location.errors import Busy, Unavailable
from voronym_location.forming import Crowd, young_limit
from voronym_location.population import Ints, Population
from voronym_location.rules import Settings
from voronym_location.settings import ServiceSettings
from voronym_location.store import Store
from voronym_location.store.tables import desk

__all__ = ["publish_next"]

log = logging.getLogger("voronym_location")

DAY = 86_400.0


def publish_next(
    store: Store, settings: ServiceSettings, clock: Callable[[], float], ctx: Context
) -> dict[str, Any]:
    """Make the next epoch and put it in force; return its figures."""
    began = time.perf_counter()
    with alone(store):
        census, made, extra = drafted(store, settings, clock, ctx)
        with store.write() as connection:
            figures = put_in_force(connection, census, made, settings, clock(), extra)
        tidy(store, ctx)
    seconds = time.perf_counter() - began
    log.info("epoch published", extra={"epoch": figures["epoch"], "seconds": round(seconds, 2)})
    return figures | {"seconds": seconds}


def drafted(
    store: Store, settings: ServiceSettings, clock: Callable[[], float], ctx: Context
) -> tuple[Census, Epoch, dict[str, Any]]:
    """Plan the next epoch and write its draft; remove older drafts with their previews."""
    chosen = Settings(**settings.epochs)
    with store.write() as connection:
        connection.execute(delete(desk).where(desk.c.name == "preview"))
    tidy(store, ctx)
    with store.read(moment=True) as connection:
        _check_linked(connection, chosen)
        census = take(connection, settings)
    _check_clock(census.published, clock())
    made = plan(
        census.people, census.before, chosen, ctx.part(0.1, 0.6), directory=census.addresses,
        attributes=census.attributes,
    )  # fmt: skip
    extra = {"by_density": by_density(census.people, made, chosen.k), "linked": chosen.linked}
    draft(store, census, made, ctx.part(0.6, 0.9, stage="writing"))
    return census, made, extra


def _check_linked(connection: Connection, chosen: Settings) -> None:
    """Refuse the promise against linked pseudonyms if people already had several."""
    last = connection.scalar(text("select figures from epoch order by number desc limit 1"))
    if chosen.linked and last is not None and not json.loads(last).get("linked"):
        raise InputError(
            "the setting 'linked' is for a service from its first epoch on: in this one people may have had "
            "several places already. Set linked = false, or begin a new service"
        )


def _check_clock(published: float | None, now: float) -> None:
    if published is not None and now < published:
        raise Unavailable(
            "the clock of this machine was set back behind the last epoch: no epoch is published, and the "
            "old one stays in force. Set the clock"
        )


def put_in_force(
    connection: Connection,
    census: Census,
    made: Epoch,
    settings: ServiceSettings,
    at: float,
    extra: dict[str, Any],
) -> dict[str, Any]:
    """Put a draft in force, or raise and change nothing."""
    chosen = Settings(**settings.epochs)
    now, k = made.standing.epoch, chosen.k
    last = connection.scalar(text("select coalesce(max(number), 0) from epoch"))
    if last != now - 1:
        raise Busy("another epoch was published meanwhile: nothing was changed")
    gone = _left(connection, now)
    census, made = _without(census, made, gone, chosen)
    _settle(connection, made, now, gone)
    check(census.people, made, census.before, k, linked=chosen.linked)
    count(connection, now, k, linked=chosen.linked)
    connection.execute(
        text(
            "update account set published = true where not published and id in "
            "(select person from member where epoch = :now and cohort >= 0)"
        ),
        {"now": now},
    )
    figures = made.figures.to_dict()
    served = int((made.group >= 0).sum())
    figures |= {
        "people": len(made.group), "served": served, "waiting": len(made.group) - served,
        "told": int(made.told.sum()), "groups": len(made.standing),
        "smallest": min(sizes(census.people, made.group, k).values(), default=0),
    } | extra  # fmt: skip
    connection.execute(
        text(
            "insert into epoch (number, published, expires, k, top, designed, rms, figures) "
            "values (:number, :published, :expires, :k, :top, :designed, :rms, :figures)"
        ),
        {
            "number": now, "published": at, "expires": at + settings.valid * (settings.period or DAY), "k": k,
            "top": made.standing.top, "designed": made.standing.designed, "rms": made.standing.rms,
            "figures": json.dumps(figures),
        },
    )  # fmt: skip
    return figures


def _left(connection: Connection, now: int) -> set[int]:
    """Return the people who cancelled or were deleted since the draft began."""
    query = text(
        "select m.person from member m left join home h on h.person = m.person "
        "where m.epoch = :now and h.person is null"
    )
    return set(connection.scalars(query, {"now": now}))


def _without(census: Census, made: Epoch, gone: set[int], chosen: Settings) -> tuple[Census, Epoch]:
    """Return the epoch without people who left, and without groups that then fail a demand."""
    if not gone:
        return census, made
    stay = ~np.isin(census.people.person, list(gone))
    people, group = census.people.rows(stay), made.group[stay]
    after = people.after(group, made.since[stay])
    live = ~Crowd.of(after, made.standing, chosen, None, census.attributes).lacking
    short = made.standing.groups[~live]
    out = np.isin(group, short)
    standing = made.standing.rows(live)
    dissolved = np.union1d(made.dissolved, short[np.isin(short, census.before.groups)])
    made = replace(
        made, group=np.where(out, -1, group), since=np.where(out, standing.epoch, made.since[stay]),
        told=made.told[stay] & ~out, standing=standing, dissolved=dissolved,
    )  # fmt: skip
    return replace(census, people=people), made


def sizes(people: Population, group: Ints, k: int) -> dict[int, int]:
    """Return the number of counted addresses of each group; addresses of young people up to a limit."""
    out: dict[int, int] = {}
    old = people.counts & ~people.young
    served = np.flatnonzero(people.counts & (group >= 0))
    homes = dict.fromkeys(zip(group[served].tolist(), people.household[served].tolist(), strict=True), False)
    rows = np.flatnonzero(old & (group >= 0))
    homes |= dict.fromkeys(zip(group[rows].tolist(), people.household[rows].tolist(), strict=True), True)
    fresh: dict[int, int] = {}
    for (number, _), settled in homes.items():
        out[number] = out.get(number, 0) + settled
        fresh[number] = fresh.get(number, 0) + (not settled)
    return {number: many + min(fresh[number], young_limit(k)) for number, many in out.items()}


def _settle(connection: Connection, made: Epoch, now: int, gone: set[int]) -> None:
    """Update the draft to the last decisions, and end groups that do not continue.

    Only people found missing earlier are removed: another person may leave at this moment.
    """
    if gone:
        connection.execute(
            text("delete from member where epoch = :now and person = :person"),
            [{"now": now, "person": entry} for entry in gone],
        )
    living = set(made.standing.groups.tolist())
    drafted = connection.scalars(text("select distinct cohort from member where epoch = :now"), {"now": now})
    short = [{"now": now, "cohort": item} for item in drafted if item >= 0 and item not in living]
    if short:
        connection.execute(
            text(
                "update member set cohort = -1, since = :now, pseudonym = null "
                "where epoch = :now and cohort = :cohort"
            ),
            short,
        )
    held = "(select cohort from member where epoch = :now)"
    connection.execute(
        text(f"update cohort set ended = :now where ended is null and id not in {held}"),  # noqa: S608
        {"now": now},
    )


def count(connection: Connection, now: int, k: int, *, linked: bool = False) -> None:
    """Count the promised figures in SQL, and raise if the promise is broken."""
    small = connection.scalar(
        text(
            "select count(*) from cohort c left join (select cohort, sum(settled) as settled, "
            "sum(1 - settled) as fresh from (select cohort, household, "
            "max(case when young then 0 else 1 end) as settled from member "
            "where epoch = :now and counting group by cohort, household) as homes group by cohort) as held "
            "on held.cohort = c.id where c.ended is null and coalesce(held.settled, 0) + "
            "case when coalesce(held.fresh, 0) > :few then :few else coalesce(held.fresh, 0) end < :k"
        ),
        {"now": now, "k": k, "few": k // 3},
    )
    joined = connection.scalar(
        text(
            "select count(*) from member m join cohort c on c.id = m.cohort "
            "left join member o on o.epoch = :before and o.person = m.person and o.cohort = m.cohort "
            "where m.epoch = :now and c.born < :now and o.person is null"
        ),
        {"now": now, "before": now - 1},
    )
    again = connection.scalar(
        text(
            "select count(*) from member m join cohort c on c.id = m.cohort "
            "join account a on a.id = m.person where m.epoch = :now and c.born = :now and a.published"
        ),
        {"now": now},
    )
    again = again if linked else 0
    if small or joined or again:
        raise GuaranteeError(
            f"the epoch is not published: {small or 0} groups would be below k={k}, {joined or 0} people "
            f"would have joined an existing group, and {again or 0} would have a second place though "
            "pseudonyms may be linked"
        )
