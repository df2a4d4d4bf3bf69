"""Ctrl-C, and being told to end: what the command line does when somebody wants it to stop.

A signal raises `Stopped` in the main thread, wherever it is; what is half done is removed on the way out,
and the exit code is 128 and the signal's number, as shells have it. Foreign code may swallow an exception
that comes from nowhere, so the wish is remembered, too, and raised again when the work next tells how far it
is. With ``--on-interrupt best`` the first Ctrl-C asks for the best so far, and a second one stops. Once the
outputs get their names, it is too late for either: the work is done.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

from voronym.core import startup

NAMES = ("SIGINT", "SIGTERM", "SIGHUP")
"""SIGHUP is what a closed terminal sends; there is none on Windows."""
PATIENCE = 1.0
"""Seconds after a signal in which others are ignored, so that what is half done can be removed."""


class Stopped(SystemExit):
    """The wish to stop; its code is 128 and the signal's number."""


class _Wishes:
    """What was asked of the command that runs."""

    def __init__(self) -> None:
        self.best = self.late = self.finish = False
        self.stop: int | None = None
        self.since = 0.0


_now = _Wishes()


@contextmanager
def obeyed() -> Iterator[None]:
    """Answer signals while a command runs. Those that were ignored from the start stay so, as under nohup."""
    global _now
    _now = _Wishes()
    before = {}
    try:
        for number in (getattr(signal, name) for name in NAMES if hasattr(signal, name)):
            handler = signal.getsignal(number)
            if handler is not signal.SIG_IGN:
                signal.signal(number, _answer)
                before[number] = handler
    except ValueError:  # not in the main thread: somebody else answers signals here
        pass
    try:
        yield
    except Exception as error:
        if _now.stop is None:
            raise
        # What was interrupted, such as numba while it compiles, may fail in a way of its own.
        raise Stopped(128 + _now.stop) from error
    finally:
        _now = _Wishes()  # what was asked of this command is not asked of the next
        for number, handler in before.items():
            # All is said and done: where the process ends now, a late signal must not change its exit code.
            signal.signal(number, signal.SIG_IGN if startup.COMMAND_LINE else handler)


@contextmanager
def leaving() -> Iterator[None]:
    """Answer signals by ending at once, where nothing has begun that must be cleaned up."""
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
        return
    if number == signal.SIGINT and _now.best and not _now.finish:
        _now.finish = True
        return
    if _now.stop is not None and monotonic() - _now.since < PATIENCE:
        return
    _now.stop, _now.since = number, monotonic()
    raise Stopped(128 + number)


def check() -> None:
    """Raise `Stopped` where somebody wanted that."""
    if _now.stop is not None:
        raise Stopped(128 + _now.stop)


def close() -> None:
    """Begin with what is not to be broken off: giving the outputs their names."""
    check()
    _now.late = True


def reopen() -> None:
    """Obey requests to stop again: the outputs have their names, and the command goes on."""
    _now.late = False


def take_best(wanted: bool = True) -> None:
    """Have the first Ctrl-C ask for the best so far."""
    _now.best = wanted


def wish_to_finish() -> None:
    """Ask for the best so far."""
    _now.finish = True


def finishing() -> bool:
    """Whether somebody asked for the best so far."""
    return _now.finish
