"""The server of the page: on 127.0.0.1, with a folder that is wiped when it ends."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import tempfile
from collections.abc import Callable, Iterator
from html import escape
from pathlib import Path
from threading import Thread
from time import monotonic

import uvicorn

from voronym.core.locks import private_folder, sweep
from voronym.errors import InputError, VoronymError
from voronym.web.app import build
from voronym.web.desk import Desk
from voronym.web.guard import HOURS, Guard
from voronym.web.intake import Limits

HOST = "127.0.0.1"
IDLE = HOURS * 3600.0
FORGOTTEN = f"The tables were deleted after {HOURS} hours without a request."


def serve(
    file: Path | None,
    *,
    port: int,
    memory: int,
    limits: Limits,
    printed: Callable[[str], None],
    browse: Callable[[str], None] | None = None,
    idle: float = IDLE,
) -> None:
    """Serve the page until the user ends it.

    Parameters
    ----------
    file : Path, optional
        A table to open at once, in its place.
    port : int
        0 takes any that is free.
    memory : int
        Megabytes for the work on one table.
    limits : Limits
        Limits of uploads.
    printed : callable
        Called with the address to open, at first and whenever one was used.
    browse : callable, optional
        Opens a browser. It is called when the server listens, with the address of a file that leads to the
        page. The arguments of a browser are visible to all users of the machine, so the address of the page
        itself is not passed.
    idle : float
        Seconds without a request after which everything is wiped.
    """
    with listening(port) as door:
        asyncio.run(_serve(door, file, memory, limits, printed, browse, idle))


@contextlib.contextmanager
def listening(port: int) -> Iterator[socket.socket]:
    """Listen on a port; raise if it is taken."""
    door = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        door.bind((HOST, port))
    except OSError as error:
        door.close()
        raise InputError(
            f"port {port} cannot be used: {error.strerror}; leave the port out to take any"
        ) from None
    try:
        yield door
    finally:
        door.close()


class _Server(uvicorn.Server):  # type: ignore[misc] # mypy does not look into uvicorn
    """A server that ends quietly on Ctrl-C."""

    ready: Callable[[], None]
    """Called when it listens."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and announce it."""
        await super().startup(sockets)
        if self.started:
            self.ready()

    def leave(self) -> None:
        """End without waiting for browsers that keep their connections."""
        self.should_exit = self.force_exit = True

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the command line."""
        yield


class Way:
    """A file only for its owner that leads a browser to the page while its token is valid."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "open.html"

    def open(self, address: str) -> str:
        """Write the file, and return its address."""
        place = escape(f"{address}&open=1", quote=True)
        handle = os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(
                "<!DOCTYPE html><html lang=en><meta charset=utf-8><meta name=referrer content=no-referrer>"
                f'<meta http-equiv=refresh content="0; url={place}"><title>voronym</title>'
                f'<p><a href="{place}">To the page</a>'
            )
        return self._path.as_uri()

    def close(self) -> None:
        """Remove the file with the address: its token was used."""
        self._path.unlink(missing_ok=True)


async def _serve(
    door: socket.socket,
    file: Path | None,
    memory: int,
    limits: Limits,
    printed: Callable[[str], None],
    browse: Callable[[str], None] | None,
    idle: float,
) -> None:
    home = Path(tempfile.gettempdir())
    sweep(home)  # remains of a killed server
    folder, _handle = private_folder(home)
    desk = Desk(folder, limits, memory)
    try:
        given = None if file is None else await desk.add(file.absolute(), file.name, desk.place(), None)
        desk.prepare()

        def first() -> str:
            return f"/t/{given.id}" if given is not None and given.id in desk.tables else "/"

        way = Way(folder)

        def renewed(address: str) -> None:
            way.close()
            printed(address)

        guard = Guard(build(desk), door.getsockname()[1], renewed, first)
        config = uvicorn.Config(
            guard, log_level="critical", access_log=False, server_header=False, lifespan="off", ws="none",
            h11_max_incomplete_event_size=64 << 10, timeout_graceful_shutdown=1, proxy_headers=False,
        )  # fmt: skip
        server = _Server(config)
        for sign in (signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
            with contextlib.suppress(NotImplementedError):  # another system: Ctrl-C raises there
                asyncio.get_running_loop().add_signal_handler(sign, server.leave)

        def ready() -> None:
            printed(guard.address)
            if browse is not None:
                # In a thread: a browser in the foreground comes back when it is closed.
                Thread(target=browse, args=(way.open(guard.address),), daemon=True).start()

        server.ready = ready
        watch = asyncio.create_task(_watch(guard, desk, idle))
        try:
            await server.serve(sockets=[door])
        finally:
            watch.cancel()
            await asyncio.gather(watch, return_exceptions=True)
    finally:
        await desk.close()


async def _watch(guard: Guard, desk: Desk, idle: float) -> None:
    """Wipe everything after a long time without a request."""
    while True:
        await asyncio.sleep(min(60.0, idle / 4))
        if monotonic() - guard.seen > idle and not desk.ahead and desk.tables:
            with contextlib.suppress(VoronymError):
                await desk.clear()
            desk.note = FORGOTTEN
            guard.lock()
