"""A worker process for one table; each order and each answer is one line of JSON.

It reads orders from standard input and ends when the input ends, so it never outlives its server. Output of
libraries is discarded, because it might quote a value.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Any

from voronym.core.clock import on_compiling
from voronym.errors import VoronymError, speaking
from voronym.web.bench import Bench, Wishes
from voronym.web.settings import labelled

DO = ("open", "alone", "check", "choices", "recipe", "preview", "judge", "ledger", "look", "run")
LEAST, MOST = 0.08, 0.4
"""Least and most seconds between two progress reports."""


class Worker:
    """Run tasks, each in a thread."""

    def __init__(self, out: Any) -> None:
        self._out, self._lock = out, threading.Lock()
        self._bench = Bench()
        self._tasks: dict[int, Wishes] = {}

    def say(self, message: dict[str, Any]) -> None:
        """Write a message as a line of JSON to standard output."""
        line = json.dumps(message, allow_nan=False, default=str).encode() + b"\n"
        with self._lock:
            self._out.write(line)
            self._out.flush()

    def take(self, order: dict[str, Any]) -> None:
        """Handle an order: a new task, or a request to a running one."""
        number = int(order["id"])
        if "wish" in order:
            wishes = self._tasks.get(number)
            if wishes is not None:
                setattr(wishes, order["wish"], True)
            return
        teller = Teller(lambda item: self.say({"id": number, **item}))
        self._tasks[number] = wishes = Wishes(teller)
        threading.Thread(target=teller.pulse, daemon=True).start()
        threading.Thread(target=self._work, args=(number, wishes, order, teller), daemon=True).start()

    def _work(self, number: int, wishes: Wishes, order: dict[str, Any], teller: Teller) -> None:
        try:
            what = order["do"]
            if what not in DO:
                raise ValueError(what)
            answer: dict[str, Any] = {"done": getattr(self._bench, what)(wishes, **order["with"])}
        except VoronymError as error:
            answer = {"error": labelled(error.worded("page")), "kind": type(error).__name__}
        except MemoryError:
            answer = {"error": "there is not enough memory for this table", "kind": "MemoryError"}
        except BaseException as error:  # the error text may quote a cell: report only type and place
            where = traceback.extract_tb(error.__traceback__)[-1]
            answer = {
                "error": f"this is a defect of voronym, not of your table: {type(error).__name__} in "
                f"{Path(where.filename).name}, line {where.lineno}. Nothing was written",
                "kind": "Defect",
            }
            if os.environ.get("VORONYM_DEBUG"):
                traceback.print_exc()
        teller.end()
        self._tasks.pop(number, None)
        with contextlib.suppress(OSError, ValueError):
            self.say({"id": number, **answer})

    def compiling(self, going_on: bool) -> None:
        """Notify all tasks that kernels are being compiled."""
        with contextlib.suppress(OSError, ValueError):
            self.say({"compiling": going_on})


class Teller:
    """Reports a task's progress: not too often, and again during a long step.

    Silence means that the process has stopped.
    """

    def __init__(self, tell: Callable[[dict[str, Any]], None]) -> None:
        self._tell, self._over = tell, threading.Event()
        self._at, self._began, self._last = -LEAST, monotonic(), dict[str, Any]()

    def __call__(self, result: dict[str, Any]) -> None:
        """Send a message; drop progress reports that come too soon after the last one."""
        progress = result.get("progress")
        if progress is not None:
            now, same = monotonic(), self._last.get("stage") == progress["stage"]
            self._began = self._began if same and progress == self._last else now
            if same and now - self._at < LEAST:
                return
            self._at, self._last = now, progress
        self._tell(result)

    def pulse(self) -> None:
        """Repeat the last step while it continues, with its seconds so far."""
        while not self._over.wait(MOST / 2):
            now = monotonic()
            if self._last and now - self._at >= MOST - LEAST:
                self._at = now
                with contextlib.suppress(OSError, ValueError):
                    self._tell({"progress": {**self._last, "since": now - self._began}})

    def end(self) -> None:
        """Stop sending."""
        self._over.set()


def limit_memory(megabytes: int) -> None:
    """Limit the memory of the process, if the system can."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        most = megabytes << 20
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def main() -> None:
    """Serve standard input until it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends this process
    out = os.fdopen(os.dup(1), "wb")
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    if not os.environ.get("VORONYM_DEBUG"):
        os.dup2(silent, 2)
    warnings.simplefilter("ignore")  # they are in the release
    limit_memory(int(sys.argv[1]))
    worker = Worker(out)
    on_compiling(worker.compiling)
    worker.say({"ready": os.getpid()})
    with speaking("page"):
        for line in sys.stdin.buffer:
            worker.take(json.loads(line))
    os._exit(0)  # no client waits for the running tasks


if __name__ == "__main__":
    main()
