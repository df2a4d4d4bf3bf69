"""Scheduled epochs: a thread that waits, and a process that works while requests are answered."""

from __future__ import annotations

import contextlib
import logging
import os
import subprocess
import sys
import threading

from sqlalchemy import func, select

from voronym.errors import VoronymError
from voronym_location.desk_state import is_paused
from voronym_location.errors import Unavailable
from voronym_location.service import Service
from voronym_location.settings import ServiceSettings
from voronym_location.store.tables import epoch

__all__ = ["Scheduler", "main"]

log = logging.getLogger("voronym_location")
AGAIN = 60.0
"""Seconds until a failed epoch is tried again; the old epoch stays in force."""


class Scheduler:
    """Runs an epoch at a fixed interval, even if nobody joined, so that its time reveals nothing.

    Parameters
    ----------
    service : Service
        Tells when the last epoch was.
    """

    def __init__(self, service: Service) -> None:
        self._service, self._stop = service, threading.Event()
        self._thread = threading.Thread(target=self._run, name="voronym-epochs", daemon=True)
        self._began = service.clock()

    def start(self) -> None:
        """Start the thread."""
        if self._service.settings.period:
            self._thread.start()

    def close(self) -> None:
        """Stop; an unfinished epoch is abandoned, and nothing of it is published."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def due(self) -> float:
        """Return the seconds until the next epoch; 0 if it is due."""
        now, period = self._service.clock(), self._service.settings.period
        with self._service.store.read() as connection:
            if is_paused(connection):
                return AGAIN
            last = connection.scalar(select(func.max(epoch.c.published)))
        since = self._began if last is None else last
        if now < since:
            log.error("no epoch: the clock was set back behind the last one; set the clock")
            return AGAIN
        return float(max(0.0, since + period - now))

    def _run(self) -> None:
        wait = 0.0
        while not self._stop.wait(wait):
            try:
                wait = self.due()
                if not wait and not self._once():
                    wait = AGAIN
            except Unavailable as error:
                log.error("no epoch", extra={"reason": str(error)})
                wait = AGAIN
            except Exception as error:  # no process could be started, say: the next may be
                log.error("no epoch", exc_info=error)
                wait = AGAIN
            wait = min(wait, AGAIN)  # clocks are set

    def _once(self) -> bool:
        """Run an epoch in its own process, and return whether it was published."""
        words = [sys.executable, "-c", "from voronym_location.scheduler import main; main()"]
        # A session of its own: Ctrl-C is for the service, which then ends the process.
        process = subprocess.Popen(words, stdin=subprocess.PIPE, start_new_session=True, text=True)  # noqa: S603
        assert process.stdin is not None  # noqa: S101 - it is a pipe
        # The pipe stays open: where this process is killed it ends, and the other one with it.
        with process.stdin as out, contextlib.suppress(BrokenPipeError):
            out.write(self._service.settings.to_json() + "\n")
            out.flush()
            while process.poll() is None:
                if self._stop.wait(0.2):
                    process.terminate()
                    process.wait()
        return process.returncode == 0


def _end_with_parent() -> None:
    """End this process when its parent has ended, so that its locks are released."""

    def listen() -> None:
        sys.stdin.read()
        os._exit(1)

    threading.Thread(target=listen, name="voronym-parent", daemon=True).start()


def main() -> None:
    """Make an epoch in this process, by the settings on stdin; exit with a code."""
    from voronym_location.logs import start

    start()
    settings = ServiceSettings.from_json(sys.stdin.readline())
    _end_with_parent()
    with contextlib.suppress(OSError):
        os.nice(5)  # requests have priority
    try:
        with Service(settings) as service:
            service.run_epoch()
    except VoronymError as error:
        log.error("no epoch", extra={"reason": str(error)})
        raise SystemExit(1) from None
    except Exception as error:  # the error text may quote values: log only type and line
        log.error("no epoch: a defect of the service", exc_info=error)
        raise SystemExit(1) from None
