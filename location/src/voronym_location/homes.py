"""Homes, and a person's queries. Every query uses a token, so nobody can query others."""

from __future__ import annotations

import secrets
from typing import NamedTuple

from sqlalchemy import Connection, bindparam, delete, func, insert, select, true, update

from voronym_location.sealing import Place, Seal
from voronym_location.store.tables import account, code, cohort, epoch, home, member, outbox, token

__all__ = ["STANDING", "Standing", "forget", "put", "remove", "seal_again"]

_last = select(epoch).order_by(epoch.c.number.desc()).limit(1).subquery("last")
STANDING = (
    select(
        token.c.account,
        home.c.version,
        member.c.version,
        member.c.cohort,
        member.c.pseudonym,
        cohort.c.latitude,
        cohort.c.longitude,
        _last.c.number,
        _last.c.published,
        _last.c.expires,
        _last.c.k,
        account.c.published,
        cohort.c.attributes,
    )
    .select_from(token)
    .join(account, account.c.id == token.c.account)
    .outerjoin(home, home.c.person == token.c.account)
    .outerjoin(_last, true())
    .outerjoin(member, (member.c.epoch == _last.c.number) & (member.c.person == token.c.account))
    .outerjoin(cohort, cohort.c.id == member.c.cohort)
    .where(token.c.digest == bindparam("digest"), token.c.expires > bindparam("now"))
)


class Standing(NamedTuple):
    """The state of a token's owner in the epoch in force: a row of the query ``STANDING``."""

    person: int
    wanted: int | None
    seen: int | None
    cohort: int | None
    pseudonym: bytes | None
    latitude: float
    longitude: float
    number: int | None
    published: float
    expires: float
    k: int
    earlier: bool
    attributes: str | None


def put(
    connection: Connection, seal: Seal, person: int, place: Place, now: float, *, vouched: bool = False
) -> None:
    """Record a person's home for the next epoch; delete the old one at once.

    A person who gives the known address with the same attributes has not moved, and keeps their group.
    """
    values = seal.close(person, place) | {"submitted": now}
    old = connection.execute(select(home).where(home.c.person == person).with_for_update()).first()
    known = None if old is None else seal.open(person, old._mapping)
    if known is not None and known[2:] == place[2:]:
        connection.execute(update(home).where(home.c.person == person).values(values))
        return
    values |= {"version": secrets.randbits(62), "vouched": vouched}
    if old is not None:
        connection.execute(update(home).where(home.c.person == person).values(values))
    else:
        connection.execute(insert(home).values(person=person, **values))


def seal_again(connection: Connection, old: Seal, new: Seal, after: int, most: int) -> int | None:
    """Seal some homes with another key, by ascending person; return the last person, None if all are done."""
    query = select(home).where(home.c.person > after).order_by(home.c.person).limit(most).with_for_update()
    rows = connection.execute(query).all()
    for row in rows:
        values = new.close(row.person, old.open(row.person, row._mapping))
        connection.execute(update(home).where(home.c.person == row.person).values(values))
    return rows[-1].person if rows else None


def remove(connection: Connection, person: int) -> bool:
    """Delete a person's home; return whether there was one. They leave with the next epoch.

    A person who was imported and leaves does not come back with the next import of the same directory.
    """
    connection.execute(update(account).where(account.c.id == person).values(vouched=False))
    return bool(connection.execute(delete(home).where(home.c.person == person)).rowcount)


def forget(connection: Connection, person: int, email: str) -> None:
    """Delete a person. Until the next epoch a number remains, without a name, a home or a pseudonym."""
    last = connection.scalar(select(func.max(epoch.c.number))) or 0
    around = [
        last - 1,
        last,
        last + 1,
    ]  # one may be on its way out, one be drafted
    connection.execute(
        update(member).where(member.c.epoch.in_(around), member.c.person == person).values(pseudonym=None)
    )
    for table in (code, outbox):
        column = table.c.email if table is code else table.c.recipient
        connection.execute(delete(table).where(column == email))
    for table, column in ((token, token.c.account), (home, home.c.person), (account, account.c.id)):
        connection.execute(delete(table).where(column == person))
