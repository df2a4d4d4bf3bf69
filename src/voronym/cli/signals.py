"""Handle Ctrl-C and signals to end.

A signal raises `Stopped` in the main thread. Unfinished files are removed on the way out, and the exit code
is 128 plus the signal's number, as in shells. Foreign code may swallow the exception, so the request is
stored and raised again at the next progress report. With ``--on-interrupt best`` the first Ctrl-C asks for
the best release so far, and a second one stops. Once output files get their names, signals have no effect:
the work is done.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

from voronym.core import startup

NAMES = ("SIGINT", "SIGTERM", "SIGHUP")
"""Signals that end the program; a closed terminal sends SIGHUP, which Windows lacks."""
PATIENCE = 1.0
"""Seconds after a signal in which further signals are ignored, while unfinished files are removed."""


class Stopped(SystemExit):
    """A request to stop; its exit code is 128 plus the signal's number."""


class _Wishes:
    """The requests to the running command."""

    def __init__(self) -> None:
        self.best = self.late = self.finish = self.ignored = False
        self.stop: int | None = None
        self.since = 0.0


_now = _Wishes()


@contextmanager
def obeyed() -> Iterator[None]:
    """Handle signals while a command runs. Signals ignored from the start stay ignored, as under nohup."""
    global _now
    _now = _Wishes()
    before = {}
    try:
        for number in (getattr(signal, name) for name in NAMES if hasattr(signal, name)):
            handler = signal.getsignal(number)
            if handler is not signal.SIG_IGN:
                signal.signal(number, _answer)
                before[number] = handler
    except ValueError:  # not in the main thread: other code handles signals here
        pass
    try:
        yield
    except Exception as error:
        if _now.stop is None:
            raise
        # Interrupted code, such as numba while it compiles, may fail with another error.
        raise Stopped(128 + _now.stop) from error
    finally:
        _now = _Wishes()  # a request to this command must not reach the next
        for number, handler in before.items():
            # The work is done: if the process ends now, a late signal must not change its exit code.
            signal.signal(number, signal.SIG_IGN if startup.COMMAND_LINE else handler)


@contextmanager
def leaving() -> Iterator[None]:
    """End at once on a signal, while there is nothing to clean up."""
    ours = [number for number in signal.valid_signals() if signal.getsignal(number) is _answer]
    for number in ours:
        signal.signal(number, startup.leave)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, _answer)


def _answer(number: int, _: object) -> None:
    if _now.late:
        _now.ignored = True
        return
    if number == signal.SIGINT and _now.best and not _now.finish:
        _now.finish = True
        return
    if _now.stop is not None and monotonic() - _now.since < PATIENCE:
        return
    _now.stop, _now.since = number, monotonic()
    raise Stopped(128 + number)


def check() -> None:
    """Raise `Stopped` if a request to stop came."""
    if _now.stop is not None:
        raise Stopped(128 + _now.stop)


def close() -> None:
    """Enter the part that must not be interrupted: the outputs get their names."""
    check()
    _now.late = True


def reopen() -> None:
    """Obey requests to stop again, after the outputs got their names."""
    _now.late = False


def ends(work: Callable[[], None]) -> bool:
    """Do something after the outputs got their names; return whether it ended, and was not interrupted.

    A signal ends it, or keeps it from beginning, and leaves the exit code at 0, like any other that comes too
    late: everything that the command was asked to write is written.
    """
    _now.late = _now.best = False
    if _now.ignored:  # it came while the summary was printed
        return False
    try:
        work()
    except (Stopped, Exception):  # interrupted code may fail with another error
        if _now.stop is None:
            raise
    finally:
        _now.late = True  # a second Ctrl-C must not change the exit code
    return _now.stop is None


def take_best(wanted: bool = True) -> None:
    """Let the first Ctrl-C request the best release so far."""
    _now.best = wanted


def wish_to_finish() -> None:
    """Request the best release so far."""
    _now.finish = True


def finishing() -> bool:
    """Whether the user requested the best release so far."""
    return _now.finish
