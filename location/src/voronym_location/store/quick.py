"""The most frequent query, executed directly by the driver.

SQLite answers in less time than a thread takes over, so it is asked from the event loop; PostgreSQL is asked
over a few connections of the event loop's own. Everything else goes through `Store`.
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import Select

from voronym_location.errors import Unavailable
from voronym_location.store import AWAY, Store

__all__ = ["Quick"]

LANES = 8
"""Number of connections to PostgreSQL."""


class Quick:
    """Runs the same query many times, from one event loop.

    Parameters
    ----------
    store : Store
        The database.
    query : Select
        A query with named parameters.
    """

    def __init__(self, store: Store, query: Select[Any]) -> None:
        self._store = store
        compiled = query.compile(store.engine)
        self._text = str(compiled)
        self._names: Sequence[str] | None = compiled.positiontup
        self._fixed = {name: value for name, value in compiled.params.items() if value is not None}
        self._file: sqlite3.Connection | None = None
        self._idle: list[Any] = []
        self._lanes = asyncio.Semaphore(LANES)

    async def first(self, values: dict[str, Any]) -> tuple[Any, ...] | None:
        """Return the first row."""
        given = self._fixed | values
        if self._store.file is not None:
            return self._from_file(self._store.file, [given[name] for name in self._names or ()])
        async with self._lanes:
            return await self._from_server(given)

    def _from_file(self, file: Path, values: list[Any]) -> tuple[Any, ...] | None:
        try:
            if self._file is None:
                name = f"{file.absolute().as_uri()}?mode=ro"  # folders have any name
                self._file = sqlite3.connect(name, uri=True, isolation_level=None, check_same_thread=False)
            row: tuple[Any, ...] | None = self._file.execute(self._text, values).fetchone()
            return row
        except sqlite3.Error:
            self._forget_file()
            raise Unavailable(AWAY) from None

    async def _from_server(self, values: dict[str, Any]) -> tuple[Any, ...] | None:
        import psycopg

        for last in (False, True):  # the second time over a connection that is new
            connection = None
            try:
                connection = self._idle.pop() if self._idle and not last else await self._connect()
                cursor = await connection.execute(self._text, values)
                row: tuple[Any, ...] | None = await cursor.fetchone()
            except psycopg.Error:
                if connection is not None:
                    await connection.close()
                continue
            except BaseException:  # the client went away, so the connection is in an unknown state
                if connection is not None:
                    await connection.close()
                raise
            self._idle.append(connection)
            return row
        raise Unavailable(AWAY)

    async def warm(self) -> None:
        """Open a few connections before the first request, if opening them takes long."""
        if self._store.file is None:
            with contextlib.suppress(Exception):  # without a database requests say so themselves
                self._idle += [await self._connect() for _ in range(LANES // 2)]

    async def _connect(self) -> Any:
        import psycopg

        url = self._store.engine.url.set(drivername="postgresql").render_as_string(hide_password=False)
        return await psycopg.AsyncConnection.connect(url, autocommit=True, connect_timeout=5)

    async def close(self) -> None:
        """Close all connections."""
        self._forget_file()
        while self._idle:
            await self._idle.pop().close()

    def _forget_file(self) -> None:
        if self._file is not None:
            with contextlib.suppress(sqlite3.Error):
                self._file.close()
            self._file = None
