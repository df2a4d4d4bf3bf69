"""The live line: a command's progress on stderr, and the key that asks for the best so far."""

from __future__ import annotations

import json
import os
import select
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING, Any, TextIO

from voronym.cli import signals
from voronym.core.progress import FinishEarly, Progress, ProgressCallback

if TYPE_CHECKING:
    from rich.console import Console

FINISH, YES = "f", "y"
"""The key that asks for the best so far, and the key that confirms it: text typed ahead for the next command
may contain an f.
"""


class Bar:
    """The progress bar of a whole command; each call inside the command fills a part of it.

    The bar never moves backwards, even if a part reports less. It also raises requests to stop.
    """

    def __init__(self, show: ProgressCallback | None) -> None:
        self._show, self._done = show, 0.0

    def __call__(self, step: Progress) -> None:
        """Show the command's progress."""
        signals.check()
        self._done = max(self._done, step.done)
        if self._show is not None:
            self._show(replace(step, done=self._done))

    def part(self, start: float, stop: float, *, search: bool = False) -> ProgressCallback:
        """Return the progress callback for a call that fills the bar from ``start`` to ``stop``.

        Parameters
        ----------
        start, stop : float
            The shares.
        search : bool
            Whether the call can finish with the best so far.
        """

        def tell(step: Progress) -> None:
            self(replace(step, done=start + step.done * (stop - start)))
            if search and signals.finishing():
                raise FinishEarly

        return tell

    def begin(self, stage: str, done: float) -> None:
        """Announce the next stage."""
        self(Progress(stage, done))


class Line:
    """A line of progress that appears after a second."""

    def __init__(self, out: Console) -> None:
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Shown

        from voronym.core.clock import on_compiling

        columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
        self._bar = Shown(*columns, console=out, transient=True)
        self._task = self._bar.add_task("reading", total=1.0)
        self._timer = threading.Timer(1.0, self._bar.start)
        self._timer.daemon = True
        self._timer.start()
        self.keys, self._said = False, "reading"
        on_compiling(self._compiling)

    def tell(self, step: Progress) -> None:
        """Show progress."""
        result = "" if step.loss is None else f"  loss {step.loss:.3f} %"
        if step.loss is not None and step.bound:
            result += f"  bound {step.bound:.3f} %  gap {100 * (step.loss / step.bound - 1):.2f} %"
        if step.loss is not None and self.keys:
            result += f"  ({FINISH} {YES}: take this)"
        self._said = step.stage + result
        self._bar.update(self._task, description=self._said, completed=step.done)

    def _compiling(self, going_on: bool) -> None:
        self._bar.update(self._task, description="compiling (first run)" if going_on else self._said)

    def close(self) -> None:
        """Remove the line."""
        from voronym.core.clock import on_compiling

        on_compiling(None)
        self._timer.cancel()
        self._timer.join()
        self._bar.stop()


class JsonLines:
    """Print progress as lines of JSON: one at every new stage, and two a second within a stage."""

    EVERY = 0.5

    def __init__(self, out: TextIO) -> None:
        self._out, self._start, self._shown, self._stage = out, monotonic(), 0.0, ""

    def tell(self, step: Progress) -> None:
        """Write progress; the time left is estimated from the share done."""
        seconds = monotonic() - self._start
        if step.stage == self._stage and seconds - self._shown < self.EVERY:
            return
        self._stage, self._shown = step.stage, seconds
        left = round(seconds * (1 - step.done) / step.done, 1) if step.done > 0 else None
        line = {"stage": step.stage, "done": round(step.done, 4), "seconds": round(seconds, 1), "left": left}
        best = {"loss": step.loss, "bound": step.bound}
        line |= {name: value for name, value in best.items() if value is not None}
        self._out.write(json.dumps(line) + "\n")
        self._out.flush()


@contextmanager
def keys() -> Iterator[bool]:
    """Watch for the key that asks for the best so far; yield whether there is a keyboard."""
    try:
        import termios
        import tty

        place = sys.stdin.fileno()
        ours = sys.stdin.isatty() and os.tcgetpgrp(place) == os.getpgrp()
        before = termios.tcgetattr(place) if ours else None
    except (ImportError, OSError, ValueError, AttributeError):  # no terminal, or another system
        before = None
    if before is None:
        yield False
        return
    over, other = threading.Event(), list[bytes]()
    watcher = threading.Thread(target=_watch, args=(place, over, other), daemon=True)
    tty.setcbreak(place)  # keys come without Enter; Ctrl-C keeps its meaning
    watcher.start()
    try:
        yield True
    finally:
        over.set()
        watcher.join()
        termios.tcsetattr(place, termios.TCSADRAIN, before)
        _give_back(place, b"".join(other))


def _watch(place: int, over: Any, other: list[bytes]) -> None:
    asked = False
    while not over.is_set():
        ready, _, _ = select.select([place], [], [], 0.1)
        if ready and os.tcgetpgrp(place) == os.getpgrp():  # in the background reading would stop the process
            pressed = os.read(place, 64)
            if not pressed:
                return
            for key in (bytes([byte]) for byte in pressed):
                if asked and key.lower() == YES.encode():
                    signals.wish_to_finish()
                    other.pop()
                else:
                    other.append(key)
                asked = key.lower() == FINISH.encode() and other[-2:-1] in ([], [b"\n"], [b"\r"])


def _give_back(place: int, typed: bytes) -> None:
    """Return text typed ahead to the terminal for the next reader, if the system allows it."""
    import fcntl
    import termios

    with suppress(OSError, AttributeError):
        for key in typed:
            fcntl.ioctl(place, termios.TIOCSTI, bytes([key]))
