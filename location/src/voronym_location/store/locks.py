"""Locks between processes. They end with their process, however it ends."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from sqlalchemy import exc

from voronym_location.errors import Busy
from voronym_location.store import Store, worded_errors

__all__ = ["hold"]

NUMBERS = {"epoch": 7302, "serving": 7303}
"""Numbers of the locks in PostgreSQL; with SQLite, locks are files."""
RUNNING = "the service runs: end it first. Nothing was changed"


@contextlib.contextmanager
def hold(store: Store, name: str, busy: str, *, shared: bool = False) -> Iterator[None]:
    """Hold a lock, together with others if ``shared``; raise `Busy` with the text ``busy`` if it is taken."""
    if store.file is None:
        way = "_shared" if shared else ""
        with worded_errors(), store.engine.connect() as connection:
            if not connection.exec_driver_sql(f"select pg_try_advisory_lock{way}({NUMBERS[name]})").scalar():
                raise Busy(busy)
            connection.commit()
            try:
                yield
            finally:  # a database that went away took its locks along
                with contextlib.suppress(exc.SQLAlchemyError):
                    connection.exec_driver_sql(f"select pg_advisory_unlock{way}({NUMBERS[name]})")
                    connection.commit()
        return
    import fcntl

    handle = os.open(store.file.with_name(f"{store.file.name}.{name}"), os.O_CREAT | os.O_RDWR, 0o600)
    try:
        try:
            fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except OSError:
            raise Busy(busy) from None
        yield
    finally:
        os.close(handle)
