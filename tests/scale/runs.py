"""Runs as processes of their own, which tests disturb."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import voronym as vr
from scale.conftest import ROLES, people, write

ASKED: dict[str, Any] = {**ROLES, "k": 4, "leaf": 300}
WORDS = ["--key", ",".join(ROLES["keys"]), "--confidential", "ill", "--identifier", "name", "-k", "4"]
WORDS += ["--order", "grade=low<mid<high", "--leaf", "300"]
TIMES = 10


def prepared(folder: Path) -> Path:
    """Write two files of people, and their release `whole` by a run that nobody disturbs."""
    write(people(900), folder / "data", 2)
    vr.anonymize(folder / "data", output=folder / "whole", workers=1, **ASKED)
    (folder / "passing").mkdir()
    return folder / "data"


def start(
    data: Path, output: str, *words: str, source: str | None = None, **environment: str
) -> subprocess.Popen[str]:
    """Start a run as a process of its own."""
    command = [
        sys.executable,
        "-m",
        "voronym",
        "anonymize",
        source or str(data),
        "-o",
        output,
        *WORDS,
        *words,
    ]
    place = {"TMPDIR": str(data.parent / "passing"), **environment}
    return subprocess.Popen(command, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                            env={**os.environ, **place})  # fmt: skip


def length_of(data: Path, *words: str, output: str = "", **environment: str) -> float:
    """Return the seconds that a run takes which nobody disturbs."""
    began = time.monotonic()
    with start(data, output or str(data.parent / "timed"), *words, **environment) as run:
        run.communicate()
    assert run.returncode == 0
    return time.monotonic() - began


def disturbed(run: subprocess.Popen[str], seconds: float, how: Callable[[], bool]) -> tuple[bool, str]:
    """Disturb a run after some seconds; return whether it was, and what it printed."""
    try:
        _, printed = run.communicate(timeout=seconds)
        return False, printed
    except subprocess.TimeoutExpired:
        done = how()
    return done, run.communicate(timeout=120)[1]
