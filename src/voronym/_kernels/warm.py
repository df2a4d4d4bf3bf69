"""Compile the kernels of the everyday commands ahead of the first run: ``python -m voronym._kernels.warm``.

Kernels are compiled on their first call, and the machine code is kept beside their source, or in a cache of
the user where that cannot be written to. This module runs the everyday commands on small made-up tables, so
that nobody waits for it later: `make install` ends with it. What is there already is loaded, not compiled
again.
"""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

RECORDS, MANY = 300, 6_500
"""Records of the tables: from 6,000 on other searches are used."""

NUMBERS = ("age", "weight", "days", "cost")
MODEL = ("--confidential", "diagnosis", "--model", "l-diversity=2")
MIXED = ("age", "sex", "zip", "nationality", "admitted", "weight")


def commands(folder: Path) -> tuple[tuple[tuple[str, ...], ...], ...]:
    """Return the commands, those of each row after one another, the rows side by side."""
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
        ),
    )


def warm() -> float:
    """Run the commands; return the seconds that they took.

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
                done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
                if done.returncode:
                    raise RuntimeError(f"voronym {' '.join(words)} failed: {done.stderr.strip()}")

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(run, commands(folder)))
    return perf_counter() - begun


if __name__ == "__main__":
    sys.stdout.write("compiling what the everyday commands need, once\n")
    sys.stdout.write(f"done in {warm():.0f} s\n")
