"""Send a signal to the command line at a moment, and look at what is left."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

SCRIPT = "from voronym.cli import main\nmain()\n"
"""What an installed ``voronym`` does; its name is what makes it the command line."""

OUTPUTS = ["out.csv", "report.html", "public.html", "recipe.toml"]


@dataclass(frozen=True)
class Outcome:
    """What came of a run."""

    code: int
    seconds: float
    err: str
    left: list[str]
    """Names of all files beside those that were there."""


def command(folder: Path) -> list[str]:
    """Return how the command line is started, from a script in a folder of its own."""
    script = folder / "bin" / "voronym"
    script.parent.mkdir(exist_ok=True)
    script.write_text(SCRIPT)
    return [sys.executable, str(script)]


def words(*more: str) -> list[str]:
    """Return a command that reads, groups, enforces, writes and reports."""
    roles = ["--key", "age,sex,zip,weight", "--confidential", "diagnosis", "--drop-undeclared", "-k", "5"]
    outputs = ["-o", "out.csv", "--report", "report.html", "--public-report", "public.html"]
    return ["anonymize", "patients.csv", *roles, *outputs, "--save-recipe", "recipe.toml", *more]


def importing(process: int) -> None:
    """Wait until a process has begun to import the numerical libraries."""
    loaded = Path(f"/proc/{process}/maps")
    while loaded.exists() and "numpy" not in loaded.read_text():
        time.sleep(0.01)
    if not loaded.exists():  # not on Linux
        time.sleep(0.5)


def run(
    folder: Path,
    words: list[str],
    after: float | Callable[[int], None] | None = None,
    number: int = signal.SIGINT,
) -> Outcome:
    """Run a command in a folder; after so many seconds, or a wait for the process, send it a signal."""
    before = set(folder.rglob("*"))
    started = time.monotonic()
    with subprocess.Popen(
        [*command(folder), *words],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        if callable(after):
            after(process.pid)
        elif after is not None:
            time.sleep(max(0.0, started + after - time.monotonic()))
        if after is not None:
            process.send_signal(number)
        try:
            _, err = process.communicate(timeout=240)  # a busy machine
        finally:
            process.kill()
    left = sorted(
        str(path.relative_to(folder))
        for path in set(folder.rglob("*")) - before
        if path.is_file() and "bin" not in path.parts
    )
    return Outcome(process.returncode, time.monotonic() - started, err, left)
