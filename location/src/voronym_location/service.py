"""The location anonymizer as plain Python methods; the API and the pages are thin layers over it."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterable, Mapping
from threading import Lock
from typing import Any

from sqlalchemy import delete, select

from voronym.core.formats import program_version
from voronym_location import accounts, directory, homes
from voronym_location.accounts import Account, Session
from voronym_location.attributes import Attributes
from voronym_location.errors import Refused, Unavailable
from voronym_location.keys import ServiceKey
from voronym_location.mail import Delivery, Postman, deliver
from voronym_location.memory import Memory
from voronym_location.operations import Operations
from voronym_location.passwords import Passwords, check_password
from voronym_location.sealing import Place, Seal
from voronym_location.settings import ServiceSettings
from voronym_location.statements import Signer, Statement, Waiting, clock_text
from voronym_location.store import AWAY, Store
from voronym_location.store.quick import Quick
from voronym_location.store.tables import account, epoch, home, member, token

__all__ = ["Service"]

log = logging.getLogger("voronym_location")


class Service(Operations):
    """A location anonymizer.

    Parameters
    ----------
    settings : ServiceSettings
        Settings of the service.
    clock : callable, optional
        Returns the time in seconds since 1970.
    """

    def __init__(self, settings: ServiceSettings, *, clock: Callable[[], float] = time.time) -> None:
        self.settings, self.clock = settings, clock
        self.attributes = Attributes.of(settings.attributes)
        self.key = ServiceKey.open(settings.key_file)
        self.seal = Seal.read(settings.home_keys)
        self.store = Store(settings.url).open()
        self._signer = Signer(self.key, settings.name)
        self._passwords = Passwords(settings.hash_memory, settings.hash_rounds)
        self._memory = Memory()
        self._outline: tuple[float, tuple[Any, ...], dict[str, Any] | None] | None = None
        self._sending = Lock()
        self._postman = Postman(self._delivered)

    def close(self) -> None:
        """Send the waiting mail, and close the database."""
        self._postman.close()
        self.store.close()

    def __enter__(self) -> Service:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- accounts ------------------------------------------------------------------------------------------

    def sign_up(self, email: str) -> None:
        """Begin an account, or a new password: a code is mailed. The answer is the same for every address."""
        email, minutes, name = accounts.check_email(email), self.settings.code_minutes, self.settings.name
        with self.store.write() as connection:
            accounts.begin(connection, self.key, email, self.clock(), minutes, name)
        self._postman.wake()

    def verify(self, email: str, code: str, password: str) -> bool:
        """Finish a sign-up by the mailed code, and set the password; return whether the code was right.

        The password comes with the code, from the reader of the mail. If it came with the sign-up, an
        attacker could sign up a neighbour's address with their own password, and wait for the
        neighbour to enter the code.
        """
        email, now = accounts.check_email(email), self.clock()
        password, digest = check_password(password), self.key.digest("verify", email)
        with self.store.read() as connection:
            accounts.pause(connection, digest, now)
        hashed = self._passwords.hash(password)
        with self.store.write() as connection:
            accounts.pause(connection, digest, now)
            right = accounts.confirm(connection, self.key, email, str(code), hashed, now)
            if right:  # the owner of the mailbox gets in even after others tried passwords
                accounts.succeeded(connection, digest)
                accounts.succeeded(connection, self.key.digest("sign-in", email))
            else:
                accounts.failed(connection, digest, now)
        return right

    def sign_in(self, email: str, password: str, code: str = "") -> Session:
        """Return a session for an address and a password; operators also need a second factor."""
        email, now = accounts.check_email(email), self.clock()
        digest = self.key.digest("sign-in", email)
        with self.store.read() as connection:
            accounts.pause(connection, digest, now)
            result = connection.execute(select(account).where(account.c.email == email)).first()
        right = self._passwords.check(result.password if result else None, str(password)[:1000])
        if result is not None and result.operator:
            right &= accounts.second_factor(result.secret, str(code), now)
        with self.store.write() as connection:
            if right and result is not None and result.operator:
                used = self.key.digest("second factor", email, str(code))
                right = accounts.first_use(connection, used, now)
            if result is None or not right:
                accounts.failed(connection, digest, now)
                fresh = None
            else:
                accounts.succeeded(connection, digest)
                connection.execute(delete(token).where(token.c.expires <= now))
                expires = now + 86400 * self.settings.token_days
                fresh = accounts.issue(connection, result.id, expires)
        if fresh is None or result is None:
            raise Refused(accounts.WRONG)
        return Session(fresh, Account(result.id, result.email, result.operator), expires)

    def sign_out(self, shown: str) -> None:
        """End a session."""
        digest = accounts.digest_of(shown)
        self._memory.drop_token(digest)
        with self.store.write() as connection:
            connection.execute(delete(token).where(token.c.digest == digest))

    def whoami(self, shown: str) -> Account:
        """Return the signed-in account."""
        with self.store.read() as connection:
            return accounts.who(connection, shown, self.clock())

    # -- home and statement --------------------------------------------------------------------------------

    def submit_home(
        self, shown: str, latitude: float, longitude: float, attributes: Mapping[str, Any] | None = None
    ) -> None:
        """Record a person's home and attributes; the next epoch uses them."""
        place, facts = directory.check_place(latitude, longitude), self.attributes.write(attributes)
        with self.store.write() as connection:
            who = accounts.who(connection, shown, self.clock())
            near = directory.household(connection, *place, self.settings.reach, self.settings.snap)
            homes.put(connection, self.seal, who.id, Place(*place, near, facts), self.clock())

    def submit_address(self, shown: str, text: str, attributes: Mapping[str, Any] | None = None) -> None:
        """Record a person's home, by an address of the directory, and attributes."""
        facts = self.attributes.write(attributes)
        with self.store.write() as connection:
            who = accounts.who(connection, shown, self.clock())
            near, latitude, longitude = directory.resolve(connection, str(text))
            homes.put(connection, self.seal, who.id, Place(latitude, longitude, near, facts), self.clock())

    def find_address(self, shown: str, text: str) -> tuple[float, float]:
        """Return the place of an address of the directory, without recording it."""
        with self.store.read() as connection:
            accounts.who(connection, shown, self.clock())
            return directory.resolve(connection, str(text))[1:]

    def suggest_addresses(self, shown: str, text: str) -> list[str]:
        """Return addresses of the directory that are written nearly like this."""
        with self.store.read() as connection:
            accounts.who(connection, shown, self.clock())
            return directory.suggest(connection, str(text))

    def home(self, shown: str) -> dict[str, Any] | None:
        """Return the person's recorded home; None without one."""
        with self.store.read() as connection:
            who = accounts.who(connection, shown, self.clock())
            row = connection.execute(select(home).where(home.c.person == who.id)).first()
        if row is None:
            return None
        place = self.seal.open(who.id, row._mapping)
        facts = {"attributes": json.loads(place.attributes)} if place.attributes else {}
        return {
            "latitude": place.latitude, "longitude": place.longitude, **facts,
            "submitted": clock_text(row.submitted),
        }  # fmt: skip

    def statement(self, shown: str) -> Statement | Waiting | None:
        """Return the person's statement, or the reason why there is none yet, or None without a home.

        While the database cannot be reached, the last statement is repeated.
        """
        digest = accounts.digest_of(shown)
        try:
            with self.store.read() as connection:
                result = connection.execute(homes.STANDING, {"digest": digest, "now": self.clock()}).first()
        except Unavailable:
            return self._remembered(digest)
        return self._checked_statement(digest, result)

    async def statement_soon(self, shown: str, quick: Quick) -> Statement | Waiting | None:
        """Return the statement, from an event loop."""
        digest = accounts.digest_of(shown)
        try:
            result = await quick.first({"digest": digest, "now": self.clock()})
        except Unavailable:
            return self._remembered(digest)
        return self._checked_statement(digest, result)

    def _remembered(self, digest: bytes) -> Statement:
        remembered = self._memory.get(digest)
        if remembered is None:
            raise Unavailable(AWAY)
        return remembered

    def _checked_statement(self, digest: bytes, result: Iterable[Any] | None) -> Statement | Waiting | None:
        if result is None:
            raise Refused(accounts.UNKNOWN)
        row = homes.Standing(*result)
        answer = self._answer(row)
        if isinstance(answer, Statement):
            self._memory.put(digest, row.person, answer)
        return answer

    def _answer(self, row: homes.Standing) -> Statement | Waiting | None:
        if row.wanted is None:
            return None
        if row.number is None or row.cohort is None or row.cohort < 0 or row.pseudonym is None:
            due = None
            if row.number is not None and self.settings.period:
                due = clock_text(row.published + self.settings.period)
            if row.cohort is None:
                condition = (
                    f", if you gave{', '.join(self.attributes.names)} with it" if self.attributes else ""
                )
                return Waiting(f"the next epoch will use your home{condition}", due)
            if row.earlier and self.settings.epochs.get("linked"):
                return Waiting(
                    "the group that you were in has become too small, and here nobody gets a second point: "
                    "anybody who recognised you, by an IP address for example, would learn more from it", None
                )  # fmt: skip
            return Waiting("there are not enough people near you yet, or not for long enough", due)
        text, signature = self._signer.signed(
            row.number, row.expires, row.k, row.latitude, row.longitude, row.attributes
        )
        return Statement(
            text, signature, self.key.id, row.pseudonym.hex(), row.latitude, row.longitude, row.number,
            clock_text(row.expires), row.k, row.wanted != row.seen, json.loads(row.attributes or "{}"),
        )  # fmt: skip

    def cancel(self, shown: str) -> None:
        """Leave the service: the home is deleted now, and the next epoch does not count the person."""
        with self.store.write() as connection:
            who = accounts.who(connection, shown, self.clock())
            homes.remove(connection, who.id)
        self._memory.drop_person(who.id)

    def export(self, shown: str) -> dict[str, Any]:
        """Return all that is stored about oneself."""
        with self.store.read() as connection:
            who = accounts.who(connection, shown, self.clock())
            about = connection.execute(select(account).where(account.c.id == who.id)).one()
            last = select(epoch.c.number).order_by(epoch.c.number.desc()).limit(1).scalar_subquery()
            served = connection.execute(
                select(member).where(member.c.epoch == last, member.c.person == who.id)
            ).first()
            sessions = connection.execute(select(token.c.expires).where(token.c.account == who.id)).scalars()
            ends = [clock_text(at) for at in sessions]
        answer = self.statement(shown)
        return {
            "voronym": program_version(),
            "account": {
                "email": about.email, "created": clock_text(about.created), "imported": about.vouched,
                "verified": None if about.verified is None else clock_text(about.verified),
            },
            "home": self.home(shown),
            "sessions_end": ends,
            "statement": None if answer is None else answer.plain(),
            "counts_towards_k": None if served is None else served.counting,
        }  # fmt: skip

    def delete(self, shown: str) -> None:
        """Delete the account and all that is stored about it."""
        with self.store.write() as connection:
            who = accounts.who(connection, shown, self.clock())
            homes.forget(connection, who.id, who.email)
        self._memory.drop_person(who.id)

    def outline(self, shown: str) -> dict[str, Any] | None:
        """Return the town's outline by the directory: bounds, inhabited squares, streets."""
        self.whoami(shown)
        now, kept = time.monotonic(), self._outline
        if kept is None or now - kept[0] > 60:
            with self.store.read() as connection:
                state = directory.state(connection)
                old = kept is not None and kept[1] == state  # drawing a large town takes seconds
                made = kept[2] if kept and old else directory.outline(connection, self.settings.k)
            self._outline = kept = now, state, made
        return kept[2]

    # -- mail ----------------------------------------------------------------------------------------------

    def deliver(self) -> Delivery:
        """Send the waiting mail now."""
        with self._sending:  # nothing twice
            return deliver(self.store, self.settings)

    def _delivered(self) -> bool:
        """Send the waiting mail, and return whether all of it was sent."""
        try:
            result = self.deliver()
        except Exception as error:  # it waits in the database, and is tried again
            log.warning("mail waits", extra={"reason": type(error).__name__})
            return False
        if result.refused:
            log.warning("mail was refused by the mail server for good", extra={"messages": result.refused})
        return not result.waiting
