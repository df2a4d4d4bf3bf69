"""The server's side of a worker process: it sends orders, receives answers and progress, and can end it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from voronym.errors import VoronymError

LINE = 64 << 20
"""The longest answer, in bytes."""


class Refused(VoronymError):  # noqa: N818 - the house said no
    """A refusal by the library: its sentence and its type."""

    def __init__(self, sentence: str, kind: str) -> None:
        super().__init__(sentence)
        self.kind = kind


GONE = (
    "the work stopped, most likely because there was not enough memory. Nothing was made; take a smaller "
    "table, or grant more with the option memory of voronym page"
)

Heard = Callable[[dict[str, Any]], None]


class Process:
    """A worker process; `start` starts it, `end` kills it."""

    def __init__(self, child: asyncio.subprocess.Process) -> None:
        self._child = child
        self._next = 0
        self._waiting: dict[int, tuple[asyncio.Future[Any], Heard | None]] = {}
        self.compiling = False
        self._reader = asyncio.create_task(self._read())

    @classmethod
    async def start(cls, memory: int) -> Process:
        """Start a worker with a limit on memory, in megabytes."""
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "voronym.web.worker", str(memory),
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=LINE,
            start_new_session=True, env={**os.environ, "POLARS_MAX_THREADS": "2"},
        )  # fmt: skip
        return cls(child)

    @property
    def alive(self) -> bool:
        """Whether it is still running."""
        return self._child.returncode is None and not self._reader.done()

    @property
    def pid(self) -> int:
        """Its process number."""
        return self._child.pid

    async def ask(
        self, do: str, heard: Heard | None = None, number: list[int] | None = None, **given: Any
    ) -> Any:
        """Run a task; return its answer.

        Parameters
        ----------
        do : str
            The task; see `voronym.web.bench`.
        heard : callable, optional
            Called with the reports of the task.
        number : list, optional
            Gets the number of the task, for wishes.
        **given
            Its arguments.

        Raises
        ------
        Refused
            The house refused, or the worker ended.
        """
        self._next += 1
        mine, future = self._next, asyncio.get_running_loop().create_future()
        self._waiting[mine] = (future, heard)
        if number is not None:
            number.append(mine)
        if not self.alive:
            self._waiting.pop(mine, None)
            raise Refused(GONE, "Gone")
        await self._send({"id": mine, "do": do, "with": given})
        return await future

    async def wish(self, number: int, what: str) -> None:
        """Pass on a request: "finish" or "cancel"."""
        await self._send({"id": number, "wish": what})

    async def _send(self, message: dict[str, Any]) -> None:
        assert self._child.stdin is not None  # noqa: S101 - a pipe was asked for
        with contextlib.suppress(OSError):
            self._child.stdin.write(json.dumps(message).encode() + b"\n")
            await self._child.stdin.drain()

    async def _read(self) -> None:
        assert self._child.stdout is not None  # noqa: S101
        try:
            while line := await self._child.stdout.readline():
                self._hear(json.loads(line))
        finally:
            waiting, self._waiting = self._waiting, {}
            for future, _ in waiting.values():
                if not future.done():
                    future.set_exception(Refused(GONE, "Gone"))

    def _hear(self, message: dict[str, Any]) -> None:
        if "compiling" in message:
            self.compiling = bool(message["compiling"])
        number = message.get("id")
        if number not in self._waiting:
            return
        future, heard = self._waiting[number]
        if "done" in message or "error" in message:
            del self._waiting[number]
            if future.done():
                return
            if "done" in message:
                future.set_result(message["done"])
            else:
                future.set_exception(Refused(message["error"], message["kind"]))
        elif heard is not None:
            heard(message)

    async def end(self) -> None:
        """Kill it, and wait until it has ended."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):  # with the processes of a run over parts
                os.killpg(self._child.pid, signal.SIGKILL)
            else:
                self._child.kill()
        await self._child.wait()
        await asyncio.gather(self._reader, return_exceptions=True)
        if self._child.stdin is not None:
            self._child.stdin.close()
            with contextlib.suppress(OSError):
                await self._child.stdin.wait_closed()
