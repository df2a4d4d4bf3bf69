"""Workers on this machine: this process for one worker, separate processes for more."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import forkserver
from pathlib import Path
from types import ModuleType
from typing import Any

from voronym.errors import hint
from voronym.run.parts.job import ShortOfMemoryError, perform
from voronym.run.parts.runners.base import LostError, Runner, runner
from voronym.run.parts.watching import log, losses

PIECE = 0.1
SOCKET = 75
"""Longest path of a temporary folder for a fork server: a socket name has at most 107 characters."""
LIVES = 3
"""Number of times workers may die before the run gives up."""
STAGES = ("measuring", "portrait", "private", "whole", "writing")
LOADED = [*(f"voronym.run.parts.{name}" for name in STAGES), "pyarrow.parquet", "scipy.spatial"]
"""Modules that tasks import, loaded once for all workers."""
FRESH = ("write", "count")
"""Stages before which workers restart, because fragmented memory of earlier stages counts against the limit.
"""
ALONE = {
    "POLARS_MAX_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
    "ARROW_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "2",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}
"""Settings of libraries in a worker: workers replace threads, and the gigabyte that Arrow's pool reserves
would count against a worker's memory.
"""


def _begin(memory: int, leader: int) -> None:
    """Prepare a worker: the leader handles Ctrl-C, and memory has a limit."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Before the limit: a thread that finds no memory to begin with is waited for without end.
    threading.Thread(target=_watch, args=(leader,), daemon=True).start()
    if sys.platform == "linux":
        import resource

        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))


def _watch(leader: int) -> None:
    """End this process when its leader has ended, even by a kill."""
    while True:
        time.sleep(1.0)
        if _is_gone(leader):
            os._exit(1)


def _is_gone(process: int) -> bool:
    """Whether a process has ended, even if its exit status was not read yet."""
    try:
        os.kill(process, 0)
    except OSError:
        return True
    with contextlib.suppress(OSError):
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    return False


@contextlib.contextmanager
def _plain_surroundings() -> Iterator[None]:
    """Start workers with one thread per library, and without running the caller's script again."""
    before = {name: os.environ.get(name) for name in ALONE}
    script = sys.modules["__main__"]
    os.environ.update(ALONE)  # read when a worker starts
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = script
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _server() -> bool:
    """Whether workers can come from a fork server."""
    return sys.platform == "linux" and len(tempfile.gettempdir()) <= SOCKET


@runner("local")
class Local(Runner):
    """Processes on this machine; a single worker runs in this process."""

    def __init__(self, *, workers: int, memory: int, address: str | None = None) -> None:
        super().__init__(workers=workers, memory=memory, address=address)
        self.limited = True
        self._pool: ProcessPoolExecutor | None = None

    def begin(self) -> None:
        """Start the process that workers come from; it imports while this process reads the data."""
        if self.workers > 1 and self._pool is None and _server():
            with _plain_surroundings():
                forkserver.set_forkserver_preload(LOADED)
                forkserver.ensure_running()

    def run(
        self, work: str, stage: str, tasks: Sequence[int], wait: Callable[[], None]
    ) -> Iterator[tuple[int, Any]]:
        """Run tasks of a stage; the task of a dead worker is repeated."""
        if self.workers == 1 or len(tasks) == 1:
            for number in tasks:
                wait()
                yield number, perform(work, stage, number)
            return
        if stage in FRESH:
            self.close()
        left, lives = dict.fromkeys(tasks), LIVES
        while left:
            try:
                for number, answer in self._round(work, stage, list(left), wait):
                    del left[number]
                    yield number, answer
            except ShortOfMemoryError:
                self.close()
                if self.workers == 1:
                    raise
                self.workers = max(1, self.workers // 2)  # each has twice the memory then
                log.warning("memory is short in stage %s: %d workers continue", stage, self.workers)
                self.notes.append(
                    f"{self.workers} {'worker' if self.workers == 1 else 'workers'} continued from the stage "
                    f"{stage!r}: with more workers, each had too little memory"
                )
            except BrokenProcessPool:
                self.close()
                losses.add(stage)
                lives -= 1
                if lives == 0:
                    raise LostError(
                        f"workers died {LIVES} times in the stage {stage!r}, killed from outside or for "
                        f"lack of memory: give {hint('memory')} more, take fewer {hint('workers')} or a "
                        f"smaller {hint('leaf')}"
                    ) from None

    def _round(
        self, work: str, stage: str, tasks: Sequence[int], pause: Callable[[], None]
    ) -> Iterator[tuple[int, Any]]:
        with _plain_surroundings():  # workers start when tasks come
            pool = self._open()
            pending: dict[Future[Any], int] = {
                pool.submit(perform, work, stage, number): number for number in tasks
            }
        while pending:
            pause()
            done, _ = wait(pending, timeout=PIECE, return_when=FIRST_COMPLETED)
            for future in done:
                yield pending.pop(future), future.result()

    def _open(self) -> ProcessPoolExecutor:
        if self._pool is None:
            how = multiprocessing.get_context("forkserver" if _server() else "spawn")
            if _server():
                how.set_forkserver_preload(LOADED)
            self._pool = ProcessPoolExecutor(
                self.workers,
                mp_context=how,
                initializer=_begin,
                initargs=(self.memory // self.workers, os.getpid()),
            )
        return self._pool

    def close(self) -> None:
        """Stop the workers."""
        pool, self._pool = self._pool, None
        if pool is not None:
            for process in list((pool._processes or {}).values()):
                process.kill()
            pool.shutdown(wait=True, cancel_futures=True)
