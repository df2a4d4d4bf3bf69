"""Handle Ctrl-C while the package is imported; the command line does this first.

Importing the numerical libraries takes a second or two, and an exception in the middle would print a page of
text. There is nothing to clean up, so the process ends at once with the exit code of Ctrl-C. In a notebook or
a script the signals are left alone.
"""

from __future__ import annotations

import os
import signal
import sys


def leave(number: int = signal.SIGINT, _: object = None) -> None:
    """End the process before any work begins."""
    os.write(2, b"stopped: nothing was written\n")
    os._exit(128 + number)


def is_command_line() -> bool:
    """Whether this process was started as ``voronym`` or ``python -m voronym``."""
    name = os.path.splitext(os.path.basename(sys.argv[0]))[0] if sys.argv else ""  # noqa: PTH119, PTH122
    started = sys.orig_argv[1:]
    by_module = "-m" in started and started[started.index("-m") + 1 :][:1] in (["voronym"], ["voronym.cli"])
    return name == "voronym" or by_module


COMMAND_LINE = is_command_line()

LATER = COMMAND_LINE and (sys.argv[0] in sys.orig_argv or "-m" in sys.orig_argv)
"""Whether numerical libraries are loaded only when a command begins: true if this process is the command line
itself, and false in its workers.
"""

if COMMAND_LINE and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, leave)
