"""Drafts of epochs: hidden rows, written piece by piece, and removed when obsolete."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from sqlalchemy import Connection, text

from voronym.core.context import Context
from voronym_location.census import Census
from voronym_location.epochs import Epoch
from voronym_location.population import Objects
from voronym_location.store import Store
from voronym_location.store.locks import hold

__all__ = ["alone", "draft", "tidy"]

PIECE = 5_000
"""Number of rows written at a time."""
BREATH = 0.005
"""Seconds between two pieces of a draft, so that others can write."""
COLUMNS = "epoch, person, cohort, since, seen, version, household, counting, young, pseudonym"


def alone(store: Store) -> contextlib.AbstractContextManager[None]:
    """Hold the single lock for making epochs; it ends with its process."""
    return hold(store, "epoch", "an epoch is being made already: wait until it is published")


def tidy(store: Store, ctx: Context) -> None:
    """Delete rows of finished epochs and of abandoned drafts, piece by piece.

    Each piece is a range of the primary key. A search for rows "not of the last epoch" would read the
    last epoch again for every piece.
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
    """Remove the first members of an epoch, and return their number."""
    piece = {"number": number, "last": PIECE - 1}
    query = "select person from member where epoch = :number order by person limit 1 offset :last"
    end = connection.scalar(text(query), piece)
    few = "" if end is None else " and person <= :end"
    rows = connection.execute(
        text(f"delete from member where epoch = :number{few}"),  # noqa: S608 - our own words
        {"number": number} if end is None else {"number": number, "end": end},
    )
    return rows.rowcount


def draft(store: Store, census: Census, made: Epoch, ctx: Context) -> None:
    """Write the groups and members of an epoch that is not yet visible."""
    now, people = made.standing.epoch, census.people
    fresh = made.standing.born == now
    cohorts = zip(
        made.standing.groups[fresh].tolist(), made.standing.born[fresh].tolist(),
        *made.standing.centroids[fresh].T.tolist(), _published(census, made.standing.attributes[fresh]),
        strict=True,
    )  # fmt: skip
    labels = np.unique(people.household, return_inverse=True)[1].reshape(-1)
    labels = np.random.default_rng(int.from_bytes(os.urandom(8))).permutation(len(labels))[labels]
    columns = (made.group, made.since, census.seen, census.version, labels)
    members = zip(
        [now] * len(people), people.person.tolist(), *(column.tolist() for column in columns),
        people.counts.tolist(), people.young.tolist(), _pseudonyms(census, made), strict=True,
    )  # fmt: skip
    for table, names, rows in (
        ("cohort", "id, born, latitude, longitude, attributes", list(cohorts)),
        ("member", COLUMNS, list(members)),
    ):
        for start in range(0, len(rows), PIECE):
            with store.write() as connection:
                _insert(connection, table, names, rows[start : start + PIECE])
            time.sleep(BREATH)
            ctx.tell(start / len(rows), whole=True)


def _published(census: Census, attributes: Objects) -> list[str | None]:
    """Return the published attributes of new groups, as JSON."""
    names = census.attributes.names
    return [json.dumps(dict(zip(names, row, strict=True))) if names else None for row in attributes.tolist()]


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
    """Return a fresh pseudonym for everybody with a new place; others keep theirs."""
    drawn = os.urandom(16 * len(made.told))
    served = made.group >= 0
    return [
        drawn[16 * row : 16 * row + 16] if new else (old if kept else None)
        for row, (new, kept, old) in enumerate(
            zip(made.told.tolist(), served.tolist(), census.pseudonym, strict=True)
        )
    ]
