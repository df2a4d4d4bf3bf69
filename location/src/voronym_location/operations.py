"""The operators' work: people and addresses, keys, epochs, drafts."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from sqlalchemy import delete, func, insert, select, update

from voronym.core.context import Context
from voronym.errors import InputError
from voronym_location import accounts, desk_state, directory, homes, operators
from voronym_location.accounts import Account
from voronym_location.keys import ServiceKey
from voronym_location.memory import Memory
from voronym_location.passwords import Passwords, check_password
from voronym_location.sealing import Seal
from voronym_location.settings import ServiceSettings
from voronym_location.statements import Signer
from voronym_location.store import Store
from voronym_location.store.locks import RUNNING, hold
from voronym_location.store.tables import account, cohort, desk, epoch, home, member, token

BATCH = 2000
"""Rows of a directory per transaction, so that others can write in between."""


class Operations:
    """The operators' half of the service; `voronym_location.service.Service` is the whole of it."""

    settings: ServiceSettings
    clock: Callable[[], float]
    key: ServiceKey
    seal: Seal
    store: Store
    _signer: Signer
    _passwords: Passwords
    _memory: Memory
    _outline: tuple[float, tuple[Any, ...], dict[str, Any] | None] | None

    def add_operator(self, email: str, password: str) -> str:
        """Create an operator; return the secret of the second factor, in Base32. For the command line."""
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
        """Return aggregates for an operator; counts below k are withheld."""
        with self.store.write() as connection:
            who = operators.require(connection, shown, self.clock())
            operators.note(connection, self.clock(), who.id, "figures read")
        with self.store.read() as connection:
            return operators.figures(connection, self.settings.k)

    def require_operator(self, shown: str) -> Account:
        """Return the operator of a token, or refuse."""
        with self.store.read() as connection:
            return operators.require(connection, shown, self.clock())

    def public_figures(self) -> dict[str, Any] | None:
        """Return public figures of the epoch in force, without small counts."""
        last = self.in_force()
        return None if last is None else operators.softened(last, self.settings.k)

    def import_directory(self, rows: Iterable[directory.Entry], shown: str | None = None) -> dict[str, int]:
        """Enter addresses, and people for rows with an e-mail address; they count at once.

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
        """Delete an account with all its data; return whether there was one."""
        with self.store.write() as connection:
            number = connection.scalar(select(account.c.id).where(account.c.email == email.strip().lower()))
            if number is not None:
                homes.forget(connection, number, email.strip().lower())
                operators.note(connection, self.clock(), None, "somebody forgotten on request")
        if number is not None:
            self._memory.drop_person(number)
        return number is not None

    def begin_again(self) -> int:
        """End all groups after a restored backup; return their number. People wait for new groups.

        The backup counts people who have left since, and groups that may have been dissolved, and it
        lacks what intruders saw meanwhile. So no group continues.
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
        """Seal all homes with a new key, or open them; return the number of homes.

        The new key is in the file before any home is sealed with it; old keys are removed when no
        home needs them. A running service would continue to use a removed key, so the service must be
        stopped.
        """
        file = self.settings.home_keys
        if file is None:
            raise InputError("the setting 'home_key' names no file: name the file for the key of homes")
        with hold(self.store, "serving", RUNNING):
            return self._seal_all(file, plain=plain)

    def _seal_all(self, file: Path, *, plain: bool) -> int:
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
        """Sign with a new key from now on, and return its identifier; the old key is published as retired.

        Statements signed by the old key stay valid until they expire. Mailed codes that were not used
        become invalid.
        """
        until = self.clock() + self.settings.valid * (self.settings.period or 86400.0)
        self.key = self.key.replaced(self.settings.key_file, until)
        self._signer = Signer(self.key, self.settings.name)
        return self.key.id

    def run_epoch(self, ctx: Context | None = None) -> dict[str, Any]:
        """Make and publish the next epoch, and return its figures; change nothing if k cannot be kept."""
        from voronym_location.publishing import publish_next

        return publish_next(self.store, self.settings, self.clock, ctx or Context(seed=0))

    # -- the operator's desk -------------------------------------------------------------------------------

    def preview_epoch(self, shown: str | None = None, ctx: Context | None = None) -> dict[str, Any]:
        """Plan the next epoch, keep it as a hidden draft, and return its preview.

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
        """Put the previewed draft in force, without people who have left since."""
        from voronym_location.previewing import publish_preview

        self._note(shown, "draft put in force")
        return publish_preview(self.store, self.settings, self.clock)

    def discard_preview(self, shown: str | None = None) -> bool:
        """Discard the draft; nothing of it was published. Return whether there was one."""
        from voronym_location.previewing import discard

        self._note(shown, "draft discarded")
        return discard(self.store)

    def pause_epochs(self, shown: str | None = None, *, on: bool = True) -> None:
        """Stop the schedule, or resume it."""
        self._note(shown, "schedule paused" if on else "schedule resumed")
        with self.store.write() as connection:
            desk_state.pause(connection, on=on, now=self.clock())

    def desk_state(self, shown: str) -> dict[str, Any]:
        """Return the data of the desk: the draft, whether the schedule is paused, the last actions."""
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
