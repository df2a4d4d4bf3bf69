"""Compile the kernels of the everyday commands ahead of the first run: ``python -m voronym._kernels.warm``.

A wheel has their machine code; a checkout gets it here, next to the sources: `make install` ends with it.
That needs a C linker. Without one the everyday commands are run on small made-up tables, and Numba keeps what
it compiled. ``--record`` runs them, too, and lists which loops they call with what (`signatures.txt`): for
when a loop gets other arguments.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

RECORDS, MANY = 300, 6_500
"""Numbers of records of the tables: with 6,000 or more, other searches run."""

NUMBERS = ("age", "weight", "days", "cost")
MODEL = ("--confidential", "diagnosis", "--model", "l-diversity=2")
MIXED = ("age", "sex", "zip", "nationality", "admitted", "weight")


def commands(folder: Path) -> tuple[tuple[tuple[str, ...], ...], ...]:
    """Return the commands: each row in sequence, the rows in parallel."""
    few, many = str(folder / "few.csv"), str(folder / "many.csv")

    def anonymize(table: str, keys: tuple[str, ...], name: str, *more: str) -> tuple[str, ...]:
        words = ("anonymize", table, "-o", str(folder / name), "--key", ",".join(keys), "--drop-undeclared")
        return (*words, *more)

    release = str(folder / "release.csv")
    return (
        (
            ("demo", "--folder", str(folder / "demo"), "--records", str(RECORDS)),
            anonymize(many, MIXED, "many-mixed.csv", "-k", "5"),
        ),
        (
            ("inspect", few),
            anonymize(few, NUMBERS, "release.csv", "-k", "10", "--report", str(folder / "report.html")),
            ("measure", release, "--key", ",".join(NUMBERS), "--original", few),
            anonymize(
                few, MIXED, "model.csv", "-k", "3", "--confidential", "diagnosis", "--model", "l-diversity=2"
            ),
            anonymize(many, NUMBERS, "many-numbers.csv", "-k", "5"),
            anonymize(few, NUMBERS, "small-groups.csv", "-k", "4"),
            anonymize(few, MIXED, "mdav.csv", "-k", "5", "--method", "mdav"),
            anonymize(few, ("age",), "single.csv", "-k", "5"),
            anonymize(few, MIXED, "ranges.csv", "-k", "5", "--publish", "interval"),
            ("attack", str(folder / "mdav.csv"), "--original", few, "--key", ",".join(MIXED)),
        ),
    )


def build() -> bool:
    """Compile next to the sources; return whether that worked."""
    from voronym._kernels import _build, _native

    if _build.linker() is None or not os.access(_native.FOLDER, os.W_OK):
        return False
    command = [sys.executable, "-m", "voronym._kernels._build", str(_native.FOLDER)]
    return subprocess.run(command, check=False).returncode == 0  # noqa: S603


def record() -> None:
    """List the loops that the commands call."""
    from voronym._kernels import _native

    with TemporaryDirectory() as name:
        lines = Path(name) / "lines"
        warm({"VORONYM_KERNELS": "record", "VORONYM_RECORD": str(lines)})
        text = "".join(sorted(set(lines.read_text(encoding="utf-8").splitlines(keepends=True))))
    (_native.FOLDER / "signatures.txt").write_text(text, encoding="utf-8")


def warm(more: Mapping[str, str] | None = None) -> float:
    """Run the commands with additional environment variables; return the seconds that they took.

    Raises
    ------
    RuntimeError
        A command failed.
    """
    from voronym import datasets

    begun = perf_counter()
    with TemporaryDirectory() as name:
        folder = Path(name)
        datasets.hospital(RECORDS).write_csv(folder / "few.csv")
        datasets.hospital(MANY, seed=1).write_csv(folder / "many.csv")

        def run(row: tuple[tuple[str, ...], ...]) -> None:
            for words in row:
                command = [sys.executable, "-m", "voronym", *words]
                done = subprocess.run(  # noqa: S603
                    command, capture_output=True, text=True, check=False, env={**os.environ, **(more or {})}
                )
                if done.returncode:
                    raise RuntimeError(f"voronym {' '.join(words)} failed: {done.stderr.strip()}")

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(run, commands(folder)))
    return perf_counter() - begun


if __name__ == "__main__":
    if sys.argv[1:] == ["--record"]:
        record()
    else:
        sys.stdout.write("compiling the loops of everyday commands, once\n")
        if not build():
            warm()
