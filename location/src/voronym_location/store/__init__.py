"""The database: one way to read, one way to write, and readable errors.

SQLite by default, with a write-ahead log and every commit forced to the disk; PostgreSQL for larger services.
An acknowledged change is committed. A write takes its lock at once, and writers of one process queue in
order.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, exc, make_url

from voronym.errors import InputError
from voronym_location.errors import Unavailable

__all__ = ["AWAY", "Store", "told"]

AWAY = "the database cannot be reached: nothing was changed. The service goes on when it is back"
PATIENCE = 15
"""Seconds to wait for another process's lock, or for a server's answer."""


class Store:
    """A database of the service.

    Parameters
    ----------
    url : str
        Address in SQLAlchemy's form: ``sqlite:///file``, or ``postgresql+psycopg://...``.

    Examples
    --------
    >>> Store("sqlite:///somewhere/service.db").kind
    'sqlite'
    """

    def __init__(self, url: str) -> None:
        parsed = make_url(url)
        if parsed.drivername == "postgresql":
            parsed = parsed.set(drivername="postgresql+psycopg")
        self.kind = parsed.get_backend_name()
        self.file = Path(parsed.database or "") if self.kind == "sqlite" else None
        self._lock = threading.Lock()
        self._identity: tuple[int, int] | None = None
        if self.file is None:
            self.engine = create_engine(
                parsed, hide_parameters=True, pool_size=8, max_overflow=8,
                connect_args={"connect_timeout": 5},
            )  # fmt: skip
        else:
            self.engine = create_engine(
                parsed, hide_parameters=True, pool_size=8, max_overflow=32,
                connect_args={"timeout": PATIENCE, "check_same_thread": False},
            )  # fmt: skip
            _listen(self.engine)

    def open(self) -> Store:
        """Create missing tables, and upgrade those of an older version."""
        from voronym_location.store.upgrade import upgrade

        if self.file is not None:
            made = not self.file.exists()
            self.file.parent.mkdir(0o700, parents=True, exist_ok=True)
            if made:  # readable only by its owner, like the other files
                with contextlib.suppress(FileExistsError):
                    os.close(os.open(self.file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        try:
            with worded_errors():
                upgrade(self.engine)
        except BaseException:
            self.close()
            raise
        if self.file is not None:
            self._identity = _identity(self.file)
        return self

    @contextlib.contextmanager
    def read(self, *, moment: bool = False) -> Iterator[Connection]:
        """Yield a connection for reading; with ``moment``, all reads see the same state."""
        with worded_errors(), self.engine.connect() as connection:
            if moment and self.file is None:  # a transaction of SQLite is one anyway
                connection = connection.execution_options(isolation_level="REPEATABLE READ")
            with connection.begin():
                yield connection

    @contextlib.contextmanager
    def write(self) -> Iterator[Connection]:
        """Yield a connection for writing; its changes are on disk at the end of the block, or discarded."""
        with worded_errors(), self._lock if self.file is not None else contextlib.nullcontext():
            self._still_there()
            with self.engine.connect() as connection:
                marked = connection.execution_options(voronym_write=True)
                with marked.begin():
                    yield marked

    def _still_there(self) -> None:
        """Refuse to write if the database file was moved or deleted, because the data would be lost."""
        if self.file is not None and self._identity is not None and _identity(self.file) != self._identity:
            raise Unavailable(
                "the database file was moved or deleted: nothing was changed. Put it back, or start the "
                "service again"
            )

    def backup(self, target: Path) -> None:
        """Write a complete copy while the service runs, only for its owner; SQLite only."""
        if self.file is None:
            raise InputError("back PostgreSQL up by pg_dump: see the page on operations")
        try:
            os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except OSError as error:
            raise InputError(f"cannot write the backup {str(target)!r}: {error.strerror}") from None
        with (
            contextlib.closing(sqlite3.connect(self.file)) as source,
            contextlib.closing(sqlite3.connect(target)) as copy,
        ):
            source.backup(copy, pages=1000, sleep=0.01)
        if not is_sound(target):
            raise Unavailable("the backup is not sound: look at the disk, and make another")

    def restore(self, backup: Path) -> None:
        """Replace the database by a backup, completely or not at all; SQLite only.

        The log of the old database is removed; otherwise SQLite would apply it to the restored one.
        """
        if self.file is None:
            raise InputError("restore PostgreSQL by pg_restore, then run voronym location after-restore")
        draft = self.file.with_name(f".{self.file.name}.restoring")
        try:
            with (
                backup.open("rb") as source,
                os.fdopen(os.open(draft, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "wb") as out,
            ):
                shutil.copyfileobj(source, out)
                out.flush()
                os.fsync(out.fileno())
            if not is_sound(draft):
                raise InputError(f"{backup.name!r} is no sound backup: nothing was changed")
            for end in ("-wal", "-shm"):
                self.file.with_name(self.file.name + end).unlink(missing_ok=True)
            draft.replace(self.file)
        except OSError as error:
            raise InputError(f"cannot restore the backup {backup.name!r}: {error.strerror}") from None
        finally:
            draft.unlink(missing_ok=True)

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


def is_sound(file: Path) -> bool:
    """Return whether a file is a database of the service without damage."""
    try:
        # Immutable: SQLite makes no files next to it, and looks for no log.
        name = f"{file.absolute().as_uri()}?immutable=1"
        with contextlib.closing(sqlite3.connect(name, uri=True)) as base:
            base.execute("select version_num from alembic_version").fetchone()
            return bool(base.execute("pragma integrity_check").fetchone()[0] == "ok")
    except sqlite3.Error:
        return False


def _listen(engine: Engine) -> None:
    """Configure SQLite: a log, forced commits, wiped pages, and immediate locks."""

    @event.listens_for(engine, "connect")
    def _prepare(connection: Any, _: Any) -> None:
        connection.isolation_level = None
        for pragma in (
            "journal_mode = wal", "synchronous = full", "foreign_keys = on", "secure_delete = on",
            "temp_store = memory", "cache_size = -16000",
        ):  # fmt: skip
            connection.execute(f"pragma {pragma}")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        write = connection.get_execution_options().get("voronym_write")
        connection.exec_driver_sql("begin immediate" if write else "begin")


@contextlib.contextmanager
def worded_errors() -> Iterator[None]:
    """Turn database errors into sentences, because the originals may quote values."""
    try:
        yield
    except exc.SQLAlchemyError as error:
        raise Unavailable(_sentence(error)) from None


def _sentence(error: exc.SQLAlchemyError) -> str:
    result = str(getattr(error, "orig", "")).lower()
    for sign, sentence in (
        ("disk is full", "the disk of the database is full: nothing was changed. Make room, and try again"),
        ("no space left", "the disk of the database is full: nothing was changed. Make room, and try again"),
        ("disk i/o", "the disk of the database cannot be written: nothing was changed. Look at the disk"),
        ("locked", "the database is busy with another writer: nothing was changed. Try again"),
        ("readonly", "the database may not be written by this user: nothing was changed"),
        ("permission denied", "the role of the service lacks a right in the database: see the page on roles"),
    ):
        if sign in result:
            return sentence
    if isinstance(error, exc.IntegrityError):
        return "the database refused a change that somebody else made first: nothing was changed. Try again"
    if isinstance(error, exc.ProgrammingError):
        return f"the database refused a statement ({type(error).__name__}): nothing was changed"
    return AWAY


def _identity(file: Path) -> tuple[int, int] | None:
    try:
        result = file.stat()
    except OSError:
        return None
    return result.st_dev, result.st_ino
