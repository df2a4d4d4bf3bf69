"""The location anonymizer as plain Python methods; the API and the pages are thin clothes over it."""

from __future__ import annotations

import base64
import logging
import secrets
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from threading import Lock
from typing import Any

from sqlalchemy import delete, func, insert, select, update

from voronym.core.context import Context
from voronym.errors import InputError
from voronym_location import accounts, desk_state, directory, homes, operators
from voronym_location.accounts import Account, Session
from voronym_location.errors import Refused, Unavailable
from voronym_location.keys import ServiceKey
from voronym_location.mail import Delivery, Postman, deliver
from voronym_location.memory import Memory
from voronym_location.passwords import Passwords, check_password
from voronym_location.sealing import Place, Seal
from voronym_location.settings import ServiceSettings
from voronym_location.statements import Signer, Statement, Waiting, clock_text
from voronym_location.store import AWAY, Store
from voronym_location.store.quick import Quick
from voronym_location.store.tables import account, cohort, desk, epoch, home, member, token

__all__ = ["Service"]

log = logging.getLogger("voronym_location")
BATCH = 2000
"""Rows of a directory that are written at a time, so that others may write in between."""


class Service:
    """A location anonymizer.

    Parameters
    ----------
    settings : ServiceSettings
        How it is set up.
    clock : callable, optional
        Returns the time in seconds since 1970.
    """

    def __init__(self, settings: ServiceSettings, *, clock: Callable[[], float] = time.time) -> None:
        self.settings, self.clock = settings, clock
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
        """Send what mail there is, and close the database."""
        self._postman.close()
        self.store.close()

    def __enter__(self) -> Service:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- accounts ------------------------------------------------------------------------------------------

    def sign_up(self, email: str) -> None:
        """Begin an account, or a new password for one: a code is mailed. The answer is always the same."""
        email, minutes, name = accounts.check_email(email), self.settings.code_minutes, self.settings.name
        with self.store.write() as connection:
            accounts.begin(connection, self.key, email, self.clock(), minutes, name)
        self._postman.wake()

    def verify(self, email: str, code: str, password: str) -> bool:
        """Finish a sign-up by the code that was mailed, and choose the password; say whether it was right.

        The password comes with the code, from whoever reads the mail. If it came with the sign-up, somebody
        could sign up a neighbour's address with a password of theirs, and wait until the neighbour enters
        the code.
        """
        email, now = accounts.check_email(email), self.clock()
        password, digest = check_password(password), self.key.digest("verify", email)
        with self.store.read() as connection:
            accounts.pause(connection, digest, now)
        hashed = self._passwords.hash(password)
        with self.store.write() as connection:
            accounts.pause(connection, digest, now)
            right = accounts.confirm(connection, self.key, email, str(code), hashed, now)
            if right:  # whoever reads the mail comes in, though others tried passwords
                accounts.succeeded(connection, digest)
                accounts.succeeded(connection, self.key.digest("sign-in", email))
            else:
                accounts.failed(connection, digest, now)
        return right

    def sign_in(self, email: str, password: str, code: str = "") -> Session:
        """Return a session for an address and a password; operators show a second factor, too."""
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
        """Return who is signed in."""
        with self.store.read() as connection:
            return accounts.who(connection, shown, self.clock())

    # -- home and statement --------------------------------------------------------------------------------

    def submit_home(self, shown: str, latitude: float, longitude: float) -> None:
        """Say where one lives, or moved to; the next epoch will see it."""
        place = directory.check_place(latitude, longitude)
        with self.store.write() as connection:
            who = accounts.who(connection, shown, self.clock())
            near = directory.household(connection, *place, self.settings.reach, self.settings.snap)
            homes.put(connection, self.seal, who.id, Place(*place, near), self.clock())

    def submit_address(self, shown: str, text: str) -> None:
        """Say where one lives by an address of the directory."""
        with self.store.write() as connection:
            who = accounts.who(connection, shown, self.clock())
            near, latitude, longitude = directory.resolve(connection, str(text))
            homes.put(connection, self.seal, who.id, Place(latitude, longitude, near), self.clock())

    def find_address(self, shown: str, text: str) -> tuple[float, float]:
        """Return where an address of the directory is; nothing is taken down."""
        with self.store.read() as connection:
            accounts.who(connection, shown, self.clock())
            return directory.resolve(connection, str(text))[1:]

    def suggest_addresses(self, shown: str, text: str) -> list[str]:
        """Return addresses of the directory that are written nearly like this."""
        with self.store.read() as connection:
            accounts.who(connection, shown, self.clock())
            return directory.suggest(connection, str(text))

    def home(self, shown: str) -> dict[str, Any] | None:
        """Return where one said one lives."""
        with self.store.read() as connection:
            who = accounts.who(connection, shown, self.clock())
            row = connection.execute(select(home).where(home.c.person == who.id)).first()
        if row is None:
            return None
        place = self.seal.open(who.id, row._mapping)
        return {
            "latitude": place.latitude, "longitude": place.longitude, "submitted": clock_text(row.submitted)
        }  # fmt: skip

    def statement(self, shown: str) -> Statement | Waiting | None:
        """Return one's own statement, why there is none yet, or None for who gave no home.

        While the database is away, what was said before is said again.
        """
        digest = accounts.digest_of(shown)
        try:
            with self.store.read() as connection:
                result = connection.execute(homes.STANDING, {"digest": digest, "now": self.clock()}).first()
        except Unavailable:
            return self._remembered(digest)
        return self._told(digest, result)

    async def statement_soon(self, shown: str, quick: Quick) -> Statement | Waiting | None:
        """Return the same from an event loop."""
        digest = accounts.digest_of(shown)
        try:
            result = await quick.first({"digest": digest, "now": self.clock()})
        except Unavailable:
            return self._remembered(digest)
        return self._told(digest, result)

    def _remembered(self, digest: bytes) -> Statement:
        remembered = self._memory.get(digest)
        if remembered is None:
            raise Unavailable(AWAY)
        return remembered

    def _told(self, digest: bytes, result: Iterable[Any] | None) -> Statement | Waiting | None:
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
                return Waiting("your home will be seen by the next epoch", due)
            if row.earlier and self.settings.epochs.get("linked"):
                return Waiting(
                    "the group that you were in has become too small, and here nobody gets a second point: "
                    "whoever recognised you by an IP address, say, would learn more from it", None
                )  # fmt: skip
            return Waiting("there are not enough people near you yet, or not for long enough", due)
        text, signature = self._signer.signed(row.number, row.expires, row.k, row.latitude, row.longitude)
        return Statement(
            text, signature, self.key.id, row.pseudonym.hex(), row.latitude, row.longitude, row.number,
            clock_text(row.expires), row.k, row.wanted != row.seen,
        )  # fmt: skip

    def cancel(self, shown: str) -> None:
        """Leave: the home is deleted now, and the next epoch no longer counts the person."""
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
        """Return where the town is, by the directory: bounds, inhabited squares, streets."""
        self.whoami(shown)
        now, kept = time.monotonic(), self._outline
        if kept is None or now - kept[0] > 60:
            with self.store.read() as connection:
                state = directory.state(connection)
                old = kept is not None and kept[1] == state  # drawing a large town takes seconds
                made = kept[2] if kept and old else directory.outline(connection, self.settings.k)
            self._outline = kept = now, state, made
        return kept[2]

    # -- operator ------------------------------------------------------------------------------------------

    def add_operator(self, email: str, password: str) -> str:
        """Make an operator, and return the secret of the second factor, in Base32. For the command line."""
        email, now = accounts.check_email(email), self.clock()
        hashed, secret = self._passwords.hash(check_password(password)), secrets.token_bytes(20)
        values = {"password": hashed, "operator": True, "secret": secret, "verified": now}
        with self.store.write() as connection:
            known = connection.scalar(select(account.c.id).where(account.c.email == email))
            if known is None:
                connection.execute(insert(account).values(email=email, vouched=False, created=now, **values))
            else:
                connection.execute(delete(token).where(token.c.account == known))
                connection.execute(update(account).where(account.c.id == known).values(values))
            operators.note(connection, now, None, "operator added")
        return base64.b32encode(secret).decode()

    def operator_figures(self, shown: str) -> dict[str, Any]:
        """Return aggregates for an operator; counts below k are not told."""
        with self.store.write() as connection:
            who = operators.require(connection, shown, self.clock())
            operators.note(connection, self.clock(), who.id, "figures read")
        with self.store.read() as connection:
            return operators.figures(connection, self.settings.k)

    def require_operator(self, shown: str) -> Account:
        """Return the operator whose token this is, or refuse."""
        with self.store.read() as connection:
            return operators.require(connection, shown, self.clock())

    def public_figures(self) -> dict[str, Any] | None:
        """Return figures of the epoch in force that anybody may know: small counts are left out."""
        last = self.in_force()
        return None if last is None else operators.softened(last, self.settings.k)

    def import_directory(self, rows: Iterable[directory.Entry], shown: str | None = None) -> dict[str, int]:
        """Enter addresses, and people where a row has an e-mail address; they count at once.

        Parameters
        ----------
        rows : iterable of Entry
            See `voronym_location.directory.read_rows`.
        shown : str, optional
            An operator's token; None from the command line.
        """
        now, entered, people = self.clock(), 0, 0
        with self.store.write() as connection:
            who = None if shown is None else operators.require(connection, shown, now).id
            operators.note(connection, now, who, "directory imported")
        remaining: Iterator[directory.Entry] = iter(rows)
        while part := list(islice(remaining, BATCH)):
            with self.store.write() as connection:
                numbers = directory.enter(connection, part)
                people += operators.enter_people(connection, self.seal, part, numbers, now)
            entered += len(part)
        self._outline = None
        return {"rows": entered, "people": people}

    def forget(self, email: str) -> bool:
        """Delete an account and all that is stored about it; say whether there was one."""
        with self.store.write() as connection:
            number = connection.scalar(select(account.c.id).where(account.c.email == email.strip().lower()))
            if number is not None:
                homes.forget(connection, number, email.strip().lower())
                operators.note(connection, self.clock(), None, "somebody forgotten on request")
        if number is not None:
            self._memory.drop_person(number)
        return number is not None

    def begin_again(self) -> int:
        """End all groups after a backup was restored, and return how many; people wait for new ones.

        In the backup people are counted who left since, and its groups may have been dissolved: what
        intruders saw meanwhile is not in it. So nobody goes on from there.
        """
        with self.store.write() as connection:
            last = connection.scalar(select(func.coalesce(func.max(epoch.c.number), 0))) or 0
            connection.execute(delete(desk))
            connection.execute(delete(member).where(member.c.epoch > last))
            connection.execute(delete(cohort).where(cohort.c.born > last))
            connection.execute(update(member).values(cohort=-1, since=last, pseudonym=None))
            ended = connection.execute(update(cohort).where(cohort.c.ended.is_(None)).values(ended=last))
            operators.note(connection, self.clock(), None, "began again from a backup")
        return ended.rowcount

    def rotate_homes(self, *, plain: bool = False) -> int:
        """Seal all homes with a fresh key, or open them; return how many.

        The new key is in the file before any home is sealed with it, and old ones are taken out when none is
        left that needs them. End the service before: one that runs knows the old key alone.
        """
        file = self.settings.home_keys
        if file is None:
            raise InputError("the setting 'home_key' names no file: where shall the key of homes be?")
        new = Seal() if plain else self.seal.renewed()
        if not plain:
            new.write(file)
        last: int | None = 0
        while last is not None:
            last = self._sealed(new, last)
        self.seal = Seal(new.keys[:1])
        if not plain:
            self.seal.write(file)
        return self._homes()

    def _sealed(self, new: Seal, after: int) -> int | None:
        old = Seal([*new.keys, *self.seal.keys])
        with self.store.write() as connection:
            return homes.seal_again(connection, old, new, after, BATCH)

    def _homes(self) -> int:
        with self.store.read() as connection:
            return connection.scalar(select(func.count()).select_from(home)) or 0

    def rotate_key(self) -> str:
        """Sign with a fresh key from now on, and return its identifier; the old one is published as retired.

        Statements that it signed can be checked until they run out. Codes that were mailed and not used are
        void.
        """
        until = self.clock() + self.settings.valid * (self.settings.period or 86400.0)
        self.key = self.key.replaced(self.settings.key_file, until)
        self._signer = Signer(self.key, self.settings.name)
        return self.key.id

    def run_epoch(self, ctx: Context | None = None) -> dict[str, Any]:
        """Make and publish the next epoch, and return its figures; if k cannot be kept, nothing changes."""
        from voronym_location.publishing import publish_next

        return publish_next(self.store, self.settings, self.clock, ctx or Context(seed=0))

    # -- the operator's desk -------------------------------------------------------------------------------

    def preview_epoch(self, shown: str | None = None, ctx: Context | None = None) -> dict[str, Any]:
        """Plan the next epoch, keep it as a draft that nobody is shown, and return what may be seen of it.

        Parameters
        ----------
        shown : str, optional
            An operator's token; None from the command line, as for all that is done at the desk.
        ctx : Context, optional
        """
        from voronym_location.previewing import make_preview

        self._note(shown, "next epoch looked at")
        return make_preview(self.store, self.settings, self.clock, ctx or Context(seed=0))

    def publish_preview(self, shown: str | None = None) -> dict[str, Any]:
        """Put the draft that was looked at in force, without those who left since."""
        from voronym_location.previewing import publish_preview

        self._note(shown, "draft put in force")
        return publish_preview(self.store, self.settings, self.clock)

    def discard_preview(self, shown: str | None = None) -> bool:
        """Take the draft back; nothing of it was told. Say whether there was one."""
        from voronym_location.previewing import discard

        self._note(shown, "draft discarded")
        return discard(self.store)

    def pause_epochs(self, shown: str | None = None, *, on: bool = True) -> None:
        """Stop the schedule, or let it go on."""
        self._note(shown, "schedule paused" if on else "schedule resumed")
        with self.store.write() as connection:
            desk_state.pause(connection, on=on, now=self.clock())

    def desk_state(self, shown: str) -> dict[str, Any]:
        """Return what the desk shows: the draft, whether the schedule is paused, the last acts."""
        with self.store.read() as connection:
            operators.require(connection, shown, self.clock())
            return {
                "preview": desk_state.read_preview(connection, self.settings.k),
                "paused": desk_state.is_paused(connection),
                "acts": operators.acts(connection),
            }

    def _note(self, shown: str | None, action: str) -> None:
        with self.store.write() as connection:
            who = None if shown is None else operators.require(connection, shown, self.clock()).id
            operators.note(connection, self.clock(), who, action)

    def in_force(self) -> dict[str, Any] | None:
        """Return number, moments and figures of the epoch in force."""
        with self.store.read() as connection:
            return operators.in_force(connection)

    # -- mail ----------------------------------------------------------------------------------------------

    def deliver(self) -> Delivery:
        """Send the mail that waits, now."""
        with self._sending:  # nothing twice
            return deliver(self.store, self.settings)

    def _delivered(self) -> bool:
        """Send the mail that waits, and say whether all of it is gone."""
        try:
            result = self.deliver()
        except Exception as error:  # it waits in the database, and is tried again
            log.warning("mail waits", extra={"reason": type(error).__name__})
            return False
        if result.refused:
            log.warning("mail was refused by the mail server for good", extra={"messages": result.refused})
        return not result.waiting
