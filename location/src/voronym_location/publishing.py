"""Making an epoch and putting it in force: planned aside, drafted, published in one short transaction.

Nobody waits for the plan: it is made from what was true at one moment, and what people submit meanwhile is
for the epoch after it. The draft is written in small pieces, between which others may write; nobody is shown
rows of an epoch that is not in the table ``epoch``. The transaction that puts it there first takes out those
who left since, dissolves groups that are too small without them, counts again, in Python and in SQL, and
writes nothing at all where that fails.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sqlalchemy import Connection, text

from voronym.core.context import Context
from voronym.errors import GuaranteeError
from voronym_location.census import Census, take
from voronym_location.checking import check
from voronym_location.density import by_density
from voronym_location.epochs import Epoch, Settings, plan
from voronym_location.errors import Busy, Unavailable
from voronym_location.forming import Crowd
from voronym_location.population import Ints, Population
from voronym_location.settings import ServiceSettings
from voronym_location.store import Store, told

__all__ = ["publish_next"]

log = logging.getLogger("voronym_location")

PIECE = 5_000
"""Rows that are written at a time."""
BREATH = 0.005
"""Seconds between two pieces, in which others get their turn to write."""
COLUMNS = "epoch, person, cohort, since, seen, version, household, counting, pseudonym"
DAY = 86_400.0


def publish_next(
    store: Store, settings: ServiceSettings, clock: Callable[[], float], ctx: Context
) -> dict[str, Any]:
    """Make the next epoch and put it in force; return its figures."""
    began = time.perf_counter()
    with _alone(store):
        _tidy(store, ctx)
        with store.read(moment=True) as connection:
            census = take(connection, settings)
        _check_clock(census.published, clock())
        chosen = Settings(**settings.epochs)
        made = plan(census.people, census.before, chosen, ctx.part(0.1, 0.6), directory=census.addresses)
        extra = {"by_density": by_density(census.people, made, chosen.k)}
        _draft(store, census, made, ctx.part(0.6, 0.9, stage="writing"))
        with store.write() as connection:
            figures = _publish(connection, census, made, chosen, settings, clock(), extra)
        _tidy(store, ctx)
    seconds = time.perf_counter() - began
    log.info("epoch published", extra={"epoch": figures["epoch"], "seconds": round(seconds, 2)})
    return figures | {"seconds": seconds}


def _check_clock(published: float | None, now: float) -> None:
    if published is not None and now < published:
        raise Unavailable(
            "the clock of this machine was set back behind the last epoch: no epoch is published, and the "
            "old one stays in force. Set the clock"
        )


@contextlib.contextmanager
def _alone(store: Store) -> Iterator[None]:
    """Hold the one lock of those who make epochs; it is gone with its process."""
    busy = "an epoch is being made already: wait until it is published"
    if store.file is None:
        with told(), store.engine.connect() as connection:
            if not connection.exec_driver_sql("select pg_try_advisory_lock(7302)").scalar():
                raise Busy(busy)
            connection.commit()
            try:
                yield
            finally:
                connection.exec_driver_sql("select pg_advisory_unlock(7302)")
                connection.commit()
        return
    import fcntl

    handle = os.open(store.file.with_name(f"{store.file.name}.epoch"), os.O_CREAT | os.O_RDWR, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Busy(busy) from None
        yield
    finally:
        os.close(handle)


def _tidy(store: Store, ctx: Context) -> None:
    """Remove rows of epochs that are over, and of drafts whose makers died, piece by piece.

    Each piece is a range of the primary key: looking for rows "that are not of the last epoch" would read
    those of the last epoch again for every piece.
    """
    done = 1
    while done:
        ctx.check()
        with store.write() as connection:
            last = connection.scalar(text("select coalesce(max(number), 0) from epoch"))
            ends = connection.execute(text("select min(epoch), max(epoch) from member")).one()
            over = [number for number in ends if number is not None and number != last][:1]
            done = sum(_remove(connection, number) for number in over)
        time.sleep(BREATH)
    with store.write() as connection:
        connection.execute(
            text("delete from cohort where born > (select coalesce(max(number), 0) from epoch)")
        )


def _remove(connection: Connection, number: int) -> int:
    """Remove the first members of an epoch, and say how many."""
    piece = {"number": number, "last": PIECE - 1}
    query = "select person from member where epoch = :number order by person limit 1 offset :last"
    end = connection.scalar(text(query), piece)
    few = "" if end is None else " and person <= :end"
    rows = connection.execute(
        text(f"delete from member where epoch = :number{few}"),  # noqa: S608 - our own words
        {"number": number} if end is None else {"number": number, "end": end},
    )
    return rows.rowcount


def _draft(store: Store, census: Census, made: Epoch, ctx: Context) -> None:
    """Write groups and members of an epoch that nobody is shown yet."""
    now, people = made.standing.epoch, census.people
    fresh = made.standing.born == now
    cohorts = zip(
        made.standing.groups[fresh].tolist(), made.standing.born[fresh].tolist(),
        *made.standing.centroids[fresh].T.tolist(), strict=True,
    )  # fmt: skip
    labels = np.unique(people.household, return_inverse=True)[1].reshape(-1)
    labels = np.random.default_rng(int.from_bytes(os.urandom(8))).permutation(len(labels))[labels]
    columns = (made.group, made.since, census.seen, census.version, labels)
    members = zip(
        [now] * len(people), people.person.tolist(), *(column.tolist() for column in columns),
        people.counts.tolist(), _pseudonyms(census, made), strict=True,
    )  # fmt: skip
    for table, names, rows in (
        ("cohort", "id, born, latitude, longitude", list(cohorts)),
        ("member", COLUMNS, list(members)),
    ):
        for start in range(0, len(rows), PIECE):
            with store.write() as connection:
                _insert(connection, table, names, rows[start : start + PIECE])
            time.sleep(BREATH)
            ctx.tell(start / len(rows), whole=True)


def _insert(connection: Connection, table: str, names: str, rows: Sequence[tuple[Any, ...]]) -> None:
    if connection.dialect.name == "sqlite":
        marks = ", ".join("?" * len(rows[0]))
        connection.exec_driver_sql(f"insert into {table} ({names}) values ({marks})", list(rows))  # noqa: S608
        return
    driver: Any = connection.connection.driver_connection
    with driver.cursor() as cursor, cursor.copy(f"copy {table} ({names}) from stdin") as copy:
        for row in rows:
            copy.write_row(row)


def _pseudonyms(census: Census, made: Epoch) -> list[bytes | None]:
    """Return a fresh one for everybody who is told a place that is new to them; others keep theirs."""
    drawn = os.urandom(16 * len(made.told))
    served = made.group >= 0
    return [
        drawn[16 * row : 16 * row + 16] if new else (old if kept else None)
        for row, (new, kept, old) in enumerate(
            zip(made.told.tolist(), served.tolist(), census.pseudonym, strict=True)
        )
    ]


def _publish(
    connection: Connection,
    census: Census,
    made: Epoch,
    chosen: Settings,
    settings: ServiceSettings,
    at: float,
    extra: dict[str, Any],
) -> dict[str, Any]:
    """Put a draft in force, or raise and leave everything as it was."""
    now, k = made.standing.epoch, chosen.k
    last = connection.scalar(text("select coalesce(max(number), 0) from epoch"))
    if last != now - 1:
        raise Busy("another epoch was published meanwhile: nothing was changed")
    gone = _left(connection, now)
    census, made = _without(census, made, gone, chosen)
    _settle(connection, made, now, gone)
    check(census.people, made, census.before, k)
    count(connection, now, k)
    figures = made.figures.to_dict()
    served = int((made.group >= 0).sum())
    figures |= {
        "people": len(made.group), "served": served, "waiting": len(made.group) - served,
        "told": int(made.told.sum()), "groups": len(made.standing),
        "smallest": int(min(sizes(census.people, made.group).values(), default=0)),
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
    """Return who cancelled or was deleted since the draft was begun."""
    query = text(
        "select m.person from member m left join home h on h.person = m.person "
        "where m.epoch = :now and h.person is null"
    )
    return set(connection.scalars(query, {"now": now}))


def _without(census: Census, made: Epoch, gone: set[int], chosen: Settings) -> tuple[Census, Epoch]:
    """Return an epoch without people who left, and without the groups that lack something without them."""
    if not gone:
        return census, made
    stay = ~np.isin(census.people.person, list(gone))
    people, group = census.people.rows(stay), made.group[stay]
    live = ~Crowd.of(people.after(group, made.since[stay]), made.standing, chosen, None).lacking
    short = made.standing.groups[~live]
    out = np.isin(group, short)
    standing = replace(
        made.standing, groups=made.standing.groups[live], centroids=made.standing.centroids[live],
        born=made.standing.born[live],
    )  # fmt: skip
    dissolved = np.union1d(made.dissolved, short[np.isin(short, census.before.groups)])
    made = replace(
        made, group=np.where(out, -1, group), since=np.where(out, standing.epoch, made.since[stay]),
        told=made.told[stay] & ~out, standing=standing, dissolved=dissolved,
    )  # fmt: skip
    return replace(census, people=people), made


def sizes(people: Population, group: Ints) -> dict[int, int]:
    """Return how many addresses count in each group."""
    rows = np.flatnonzero(people.counts & (group >= 0))
    pairs = np.unique(np.stack([group[rows], people.household[rows]], axis=1), axis=0)
    return dict(zip(*(pair.tolist() for pair in np.unique(pairs[:, 0], return_counts=True)), strict=True))


def _settle(connection: Connection, made: Epoch, now: int, gone: set[int]) -> None:
    """Make the draft say what was decided last, and end the groups that live no more.

    Exactly those are taken out who were missed before: somebody else may leave at this moment.
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


def count(connection: Connection, now: int, k: int) -> None:
    """Count in SQL what the promise is about, and raise where it is broken."""
    small = connection.scalar(
        text(
            "select count(*) from cohort c left join (select cohort, count(distinct household) as homes "
            "from member where epoch = :now and counting group by cohort) as held on held.cohort = c.id "
            "where c.ended is null and coalesce(held.homes, 0) < :k"
        ),
        {"now": now, "k": k},
    )
    joined = connection.scalar(
        text(
            "select count(*) from member m join cohort c on c.id = m.cohort "
            "left join member o on o.epoch = :before and o.person = m.person and o.cohort = m.cohort "
            "where m.epoch = :now and c.born < :now and o.person is null"
        ),
        {"now": now, "before": now - 1},
    )
    if small or joined:
        raise GuaranteeError(
            f"the epoch is not published: {small or 0} groups would be below k={k}, and {joined or 0} people "
            "would have joined a group that lives"
        )
