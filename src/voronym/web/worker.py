"""A worker process: one table, one line of JSON for each order and each answer, nothing else.

It reads orders from standard input and ends when that does, so it never outlives its server. What libraries
print goes nowhere: it might quote a value.
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
from pathlib import Path
from time import monotonic
from typing import Any

from voronym.core.clock import on_compiling
from voronym.errors import VoronymError, speaking
from voronym.web.bench import Bench, Wishes

DO = ("open", "alone", "check", "choices", "recipe", "preview", "judge", "ledger", "look", "run")
LEAST = 0.08
"""Seconds between two steps of a task that are told."""


class Worker:
    """Run tasks, each in a thread."""

    def __init__(self, out: Any) -> None:
        self._out, self._lock = out, threading.Lock()
        self._bench = Bench()
        self._tasks: dict[int, Wishes] = {}

    def say(self, message: dict[str, Any]) -> None:
        """Write a line."""
        line = json.dumps(message, allow_nan=False, default=str).encode() + b"\n"
        with self._lock:
            self._out.write(line)
            self._out.flush()

    def take(self, order: dict[str, Any]) -> None:
        """Take an order: a task, or a wish about one."""
        number = int(order["id"])
        if "wish" in order:
            wishes = self._tasks.get(number)
            if wishes is not None:
                setattr(wishes, order["wish"], True)
            return
        self._tasks[number] = wishes = Wishes(_sparing(lambda item: self.say({"id": number, **item})))
        threading.Thread(target=self._work, args=(number, wishes, order), daemon=True).start()

    def _work(self, number: int, wishes: Wishes, order: dict[str, Any]) -> None:
        try:
            what = order["do"]
            if what not in DO:
                raise ValueError(what)
            answer: dict[str, Any] = {"done": getattr(self._bench, what)(wishes, **order["with"])}
        except VoronymError as error:
            answer = {"error": error.worded("page"), "kind": type(error).__name__}
        except MemoryError:
            answer = {"error": "there is not enough memory for this table", "kind": "MemoryError"}
        except BaseException as error:  # its text may quote a cell: only type and place are told
            where = traceback.extract_tb(error.__traceback__)[-1]
            answer = {
                "error": f"this is a defect of voronym, not of your table: {type(error).__name__} in "
                f"{Path(where.filename).name}, line {where.lineno}. Nothing was written",
                "kind": "Defect",
            }
            if os.environ.get("VORONYM_DEBUG"):
                traceback.print_exc()
        self._tasks.pop(number, None)
        with contextlib.suppress(OSError, ValueError):
            self.say({"id": number, **answer})

    def compiling(self, going_on: bool) -> None:
        """Tell all tasks that kernels are being compiled, which takes as long as it takes."""
        with contextlib.suppress(OSError, ValueError):
            self.say({"compiling": going_on})


def _sparing(tell: Any) -> Any:
    """Return a teller that leaves out progress that follows the last one too soon."""
    at, stage = -LEAST, ""

    def spare(result: dict[str, Any]) -> None:
        nonlocal at, stage
        progress = result.get("progress")
        if progress is not None:
            if monotonic() - at < LEAST and progress["stage"] == stage:
                return
            at, stage = monotonic(), progress["stage"]
        tell(result)

    return spare


def limit_memory(megabytes: int) -> None:
    """Have the system refuse memory beyond a limit, where it can."""
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
    os._exit(0)  # tasks that still run have nobody to work for


if __name__ == "__main__":
    main()
