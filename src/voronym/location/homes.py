"""Homes, and what a person may ask about oneself. Every query begins at a token: nobody asks for others."""

from __future__ import annotations

import secrets
from typing import Any

from sqlalchemy import Connection, bindparam, delete, insert, select, true, update

from voronym.location.store.tables import account, code, cohort, epoch, home, member, outbox, token

__all__ = ["forget", "put", "remove", "standing_of"]

_last = select(epoch).order_by(epoch.c.number.desc()).limit(1).subquery("last")
_standing = (
    select(
        token.c.account.label("person"),
        home.c.version.label("wanted"),
        member.c.version.label("seen"),
        member.c.cohort,
        member.c.pseudonym,
        cohort.c.latitude,
        cohort.c.longitude,
        _last.c.number,
        _last.c.published,
        _last.c.expires,
        _last.c.k,
    )
    .select_from(token)
    .outerjoin(home, home.c.person == token.c.account)
    .outerjoin(_last, true())
    .outerjoin(member, (member.c.epoch == _last.c.number) & (member.c.person == token.c.account))
    .outerjoin(cohort, cohort.c.id == member.c.cohort)
    .where(token.c.digest == bindparam("digest"), token.c.expires > bindparam("now"))
)


def standing_of(connection: Connection, digest: bytes, now: float) -> Any:
    """Return how the owner of a token stands in the epoch in force; None where nobody owns it."""
    return connection.execute(_standing, {"digest": digest, "now": now}).first()


def put(
    connection: Connection, person: int, latitude: float, longitude: float, household: int, now: float,
    *, vouched: bool = False,
) -> None:  # fmt: skip
    """Take down where a person lives; the next epoch will see it. The old home is gone at once."""
    values = {
        "latitude": latitude, "longitude": longitude, "household": household, "submitted": now,
        "version": secrets.randbits(62), "vouched": vouched,
    }  # fmt: skip
    done = connection.execute(update(home).where(home.c.person == person).values(values))
    if not done.rowcount:
        connection.execute(insert(home).values(person=person, **values))


def remove(connection: Connection, person: int) -> bool:
    """Forget where a person lives; say whether that was known. They leave with the next epoch."""
    return bool(connection.execute(delete(home).where(home.c.person == person)).rowcount)


def forget(connection: Connection, person: int, email: str) -> None:
    """Delete a person. Until the next epoch a number is left, without a name, a home or a pseudonym."""
    connection.execute(update(member).where(member.c.person == person).values(pseudonym=None))
    for table in (code, outbox):
        column = table.c.email if table is code else table.c.recipient
        connection.execute(delete(table).where(column == email))
    for table, column in ((token, token.c.account), (home, home.c.person), (account, account.c.id)):
        connection.execute(delete(table).where(column == person))
