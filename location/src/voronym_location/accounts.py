"""Accounts: signing up, codes, signing in, back-off. Answers do not reveal whether an account exists."""

from __future__ import annotations

import hashlib
import re
import secrets
from dataclasses import dataclass

from sqlalchemy import Connection, delete, func, insert, select, update

from voronym_location.directory import insert_for
from voronym_location.errors import BadRequest, Refused, TooMany
from voronym_location.keys import ServiceKey
from voronym_location.mail import post
from voronym_location.passwords import one_time_code
from voronym_location.store.tables import account, attempt, code, outbox, token

__all__ = ["Account", "Session", "check_email"]

FREE, LONGEST = 5, 900.0
"""Number of failures without a pause, and the longest pause in seconds."""
PENDING = 3
"""Largest number of open codes for one address; further ones are not mailed."""
UNKNOWN = "you are not signed in, or no longer: sign in again"
WRONG = "address, password or code is wrong"

_LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_EMAIL = re.compile(rf"[A-Za-z0-9.!#$%&*+/=?^_{{|}}~-]{{1,64}}@{_LABEL}(?:\.{_LABEL})*")
"""The address form that every mail server accepts; many refuse letters beyond ASCII later."""


@dataclass(frozen=True)
class Account:
    """The signed-in person."""

    id: int
    email: str
    operator: bool


@dataclass(frozen=True)
class Session:
    """The result of signing in: a token to show from then on, and its end."""

    token: str
    account: Account
    expires: float


def check_email(email: object) -> str:
    """Return an e-mail address in the form used for comparison; raise if it is invalid."""
    plain = email.strip() if isinstance(email, str) else ""
    if len(plain) > 254 or not _EMAIL.fullmatch(plain):
        raise BadRequest("that is no e-mail address: it looks like name@example.org, in plain letters")
    return plain.lower()


def begin(connection: Connection, key: ServiceKey, email: str, now: float, minutes: float, name: str) -> None:
    """Store a sign-up until its code comes back, and mail the code.

    It is the same for an account that is here. There the code is good for a new password: the reader of an
    address's mail owns its account; asking for a code gives no right.
    """
    connection.execute(delete(code).where(code.c.expires < now))
    connection.execute(delete(outbox).where(outbox.c.recipient.not_in(select(code.c.email))))
    waiting = connection.scalar(select(func.count()).select_from(code).where(code.c.email == email))
    if (waiting or 0) >= PENDING:
        return
    digits = f"{secrets.randbelow(10**8):08d}"
    connection.execute(
        insert(code).values(digest=key.digest("code", email, digits), email=email, expires=now + 60 * minutes)
    )
    post(
        connection, email, f"{name}: your code {digits}",
        f"Your code is {digits}. It holds for {minutes:.0f} minutes.\n\nSomebody, most likely you, gave this "
        f"address to {name}. If it was not you just now, do nothing and tell the code to nobody.\n",
    )  # fmt: skip


def confirm(
    connection: Connection, key: ServiceKey, email: str, digits: str, hashed: str, now: float
) -> bool:
    """Turn a sign-up with the right code into an account with a password; return whether it was right."""
    digest = key.digest("code", email, digits.strip())
    row = connection.execute(select(code).where(code.c.digest == digest, code.c.expires >= now)).first()
    if row is None:
        return False
    connection.execute(delete(code).where(code.c.email == email))
    known = connection.execute(
        select(account.c.id, account.c.operator).where(account.c.email == email)
    ).first()
    if known is None:
        connection.execute(
            insert(account).values(
                email=email, password=hashed, verified=now, vouched=False, operator=False, created=now
            )
        )
    elif known.operator:  # an operator's password is set on the machine, never by mail
        return False
    else:
        connection.execute(delete(token).where(token.c.account == known.id))
        connection.execute(
            update(account).where(account.c.id == known.id).values(password=hashed, verified=now)
        )
    return True


def pause(connection: Connection, digest: bytes, now: float) -> None:
    """Raise `TooMany` while an address must wait after failures."""
    until = connection.scalar(select(attempt.c.until).where(attempt.c.digest == digest))
    if until is not None and until > now:
        # A clock that was set back must not lock anybody out for longer than the longest pause.
        raise TooMany("too many failures: wait before you try again", min(until - now, LONGEST))


def failed(connection: Connection, digest: bytes, now: float) -> None:
    """Record a failed attempt; after a few, each further one doubles the pause."""
    connection.execute(delete(attempt).where(attempt.c.until < now - 2 * LONGEST))
    first = insert_for(connection)(attempt).values(digest=digest, failures=1, until=now)
    more = first.on_conflict_do_update(
        index_elements=[attempt.c.digest], set_={"failures": attempt.c.failures + 1}
    )  # in one statement: of two failures at a time, both count
    failures = min(connection.scalar(more.returning(attempt.c.failures)) or 1, 60)
    until = now + (min(LONGEST, 2.0 ** (failures - FREE)) if failures > FREE else 0.0)
    connection.execute(update(attempt).where(attempt.c.digest == digest).values(until=until))


def succeeded(connection: Connection, digest: bytes) -> None:
    """Forget failures."""
    connection.execute(delete(attempt).where(attempt.c.digest == digest))


def second_factor(secret: bytes | None, digits: str, now: float) -> bool:
    """Return whether an operator's second factor is right; clocks may differ by half a minute."""
    if secret is None:
        return False
    shown = digits.encode(errors="replace")  # letters of all alphabets can be sent
    codes = [one_time_code(secret, now, drift).encode() for drift in (-1, 0, 1)]
    return any(secrets.compare_digest(code, shown) for code in codes)


def first_use(connection: Connection, digest: bytes, now: float) -> bool:
    """Return whether a second factor's code is unused, and mark it as used."""
    seen = insert_for(connection)(attempt).values(digest=digest, failures=0, until=now)
    made = seen.on_conflict_do_nothing().returning(attempt.c.failures)
    return connection.execute(made).first() is not None


def issue(connection: Connection, person: int, expires: float) -> str:
    """Return a fresh token; only its digest is kept."""
    fresh = secrets.token_urlsafe(32)
    connection.execute(insert(token).values(digest=digest_of(fresh), account=person, expires=expires))
    return fresh


def digest_of(shown: str) -> bytes:
    """Return the stored digest of a token; tokens are long and random, so no salt is needed."""
    return hashlib.sha256(shown.encode(errors="replace")).digest()


def who(connection: Connection, shown: str, now: float) -> Account:
    """Return the owner of a token."""
    result = connection.execute(
        select(account.c.id, account.c.email, account.c.operator)
        .join(token, token.c.account == account.c.id)
        .where(token.c.digest == digest_of(shown), token.c.expires > now)
    ).first()
    if result is None:
        raise Refused(UNKNOWN)
    return Account(result.id, result.email, result.operator)
