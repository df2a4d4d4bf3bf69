"""Actions and views of operators: aggregates without small counts, every look logged, no homes."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import Connection, func, insert, select

from voronym_location import accounts
from voronym_location.directory import Entry, address_key, insert_for
from voronym_location.errors import Forbidden
from voronym_location.sealing import Place, Seal
from voronym_location.statements import clock_text
from voronym_location.store.tables import account, audit, directory, epoch, home, member

__all__ = ["figures", "in_force", "note", "require"]


def require(connection: Connection, shown: str, now: float) -> accounts.Account:
    """Return the operator of a token."""
    who = accounts.who(connection, shown, now)
    if not who.operator:
        raise Forbidden("that is for operators")
    return who


def note(connection: Connection, now: float, operator: int | None, action: str) -> None:
    """Log an operator's action."""
    connection.execute(insert(audit).values(at=now, operator=operator, action=action))


def in_force(connection: Connection) -> dict[str, Any] | None:
    """Return number, moments and figures of the epoch in force."""
    row = connection.execute(select(epoch).order_by(epoch.c.number.desc()).limit(1)).first()
    return None if row is None else _row_data(row)


def _row_data(row: Any) -> dict[str, Any]:
    return {
        "epoch": row.number, "published": clock_text(row.published), "expires": clock_text(row.expires),
        "k": row.k, **json.loads(row.figures),
    }  # fmt: skip


def acts(connection: Connection, most: int = 12) -> list[dict[str, str]]:
    """Return the last actions of operators, without looks at figures."""
    query = (
        select(audit.c.at, audit.c.action)
        .where(audit.c.action != "figures read")
        .order_by(audit.c.id.desc())
        .limit(most)
    )
    return [{"at": clock_text(row.at), "action": row.action} for row in connection.execute(query)]


def figures(connection: Connection, k: int) -> dict[str, Any]:
    """Return aggregates, see `rounded`. Counts of people are those of the epoch in force, never live.

    Live counts would reveal who came and went between two views.
    """
    last = connection.execute(select(epoch).order_by(epoch.c.number.desc()).limit(50)).all()
    number = last[0].number if last else -1
    sizes = _sizes(number)
    least = connection.execute(select(func.min(sizes.c.size), func.count()).select_from(sizes)).one()
    return {
        "k": k,
        "addresses": rounded(connection.scalar(select(func.count()).select_from(directory)) or 0, k),
        "groups": least[1],
        "smallest_group_at_least_k": None if least[0] is None else bool(least[0] >= k),
        "epochs": [softened(_row_data(row), k) for row in last],
    }


COUNTS = ("people", "served", "waiting", "told", "renewed", "retired")
"""Figures of an epoch that count people."""


def softened(exact: Mapping[str, Any], k: int) -> dict[str, Any]:
    """Return the figures of an epoch with publishable counts, and whole metres."""
    out = {name: rounded(value, k) if name in COUNTS else value for name, value in exact.items()}
    out |= {name: round(exact[name]) for name in ("rms", "median") if name in exact}
    parts = [part | {"people": rounded(part["people"], k)} for part in exact.get("by_density", ())]
    return out | {"by_density": parts if all(part["people"] for part in parts) else []}


def rounded(count: Any, k: int) -> int | None:
    """Return a count of people rounded to a multiple of k; None if it is below k.

    Exact counts would reveal small ones as the difference of two counts or of two epochs.
    """
    return None if count is None or 0 < count < k else int((count + k / 2) // k * k)


def _sizes(number: int) -> Any:
    """Return the counted people of each group, a household once."""
    return (
        select(member.c.cohort, func.count(member.c.household.distinct()).label("size"))
        .where(member.c.epoch == number, member.c.cohort >= 0, member.c.counting)
        .group_by(member.c.cohort)
        .subquery()
    )


def enter_people(
    connection: Connection, seal: Seal, entries: Iterable[Entry], numbers: Mapping[str, int], now: float
) -> int:
    """Create an account and a home for each new e-mail address; return the number."""
    named = {entry.email: entry for entry in entries if entry.email is not None}
    if not named:
        return 0
    emails = list(named)
    made = insert_for(connection)(account).on_conflict_do_nothing(index_elements=[account.c.email])
    connection.execute(
        made, [{"email": email, "vouched": True, "operator": False, "created": now} for email in emails]
    )
    rows = []
    for start in range(0, len(emails), 500):
        query = (
            select(account.c.id, account.c.email)
            .outerjoin(home, home.c.person == account.c.id)
            .where(
                account.c.email.in_(emails[start : start + 500]), account.c.vouched, home.c.person.is_(None)
            )
        )
        for number, email in connection.execute(query):
            entry = named[email]
            household = numbers[address_key(entry.address)]
            rows.append(
                {"person": number, "vouched": True, "version": secrets.randbits(62), "submitted": now,
                 **seal.close(number, Place(entry.latitude, entry.longitude, household, entry.attributes))}
            )  # fmt: skip
    if rows:
        connection.execute(insert(home), rows)
    return len(rows)
