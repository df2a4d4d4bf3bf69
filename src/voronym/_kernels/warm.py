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
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

RECORDS, MANY, HOMES = 300, 6_500, 120
"""Numbers of records of the tables (with 6,000 or more, other searches run) and households of the survey."""

NUMBERS = "age,weight,days,cost"
MIXED = "age,sex,zip,nationality,admitted,weight"
CODES = "sex,zip,nationality"
ANSWERS = ("--confidential", "income,answer", "-k", "3")
ILL = ("--confidential", "diagnosis", "--drop-undeclared")
SHOWN = "age,sex,region,school"

Words = tuple[str, ...]


def commands(folder: Path) -> tuple[tuple[Words, ...], ...]:
    """Return the commands: each row in sequence, the rows in parallel."""
    few, many, survey, june = (str(folder / f"{name}.csv") for name in ("few", "many", "survey", "june"))
    release, ledger, parts = (str(folder / name) for name in ("release.csv", "book.ledger", "parts"))

    def anonymize(table: str, keys: str, name: str, *more: str) -> Words:
        return ("anonymize", table, "-o", str(folder / f"{name}.csv"), "--key", keys, *more)

    def plain(table: str, keys: str, name: str, *more: str) -> Words:
        return anonymize(table, keys, name, "--drop-undeclared", *more)

    def report(name: str) -> Words:
        return ("--report", str(folder / f"{name}.html"))

    leaves = ("anonymize", parts, "-o", f"{parts}-release", "--key", MIXED, *ILL, "--leaf", "2000")
    weighted = ("--weights", "weight", *ANSWERS)
    booked = ("--person", "patient_id", "-k", "5", "--ledger", ledger)
    return (
        (
            ("demo", "--folder", str(folder / "demo"), "--records", str(RECORDS)),
            plain(many, MIXED, "many-mixed", "-k", "5"),
            *([leaves] if find_spec("pyarrow") else []),  # data sets of many parts need it
            ("compare", few, "--key", MIXED, "-k", "5", "--all"),
            ("compare", few, "--key", NUMBERS, "-k", "5", "--all"),
            plain(few, NUMBERS, "variable", "--method", "vmdav", "--gamma", "best"),
            anonymize(few, MIXED, "spaced", *ILL, "-k", "5", "--space", "mixed", *report("spaced")),
            anonymize(many, MIXED, "many-spaced", *ILL, "-k", "5", "--space", "mixed"),
            anonymize(few, CODES, "uniform", *ILL, "-k", "5", "--method", "lattice", "--suppress", "5%"),
            anonymize(few, CODES, "gaps", *ILL, "-k", "3", "--method", "local-suppression", *report("gaps")),
            anonymize(few, MIXED, "stirred", *ILL, "--method", "records", "--despite-loss", "true"),
        ),
        (
            ("inspect", few),
            plain(few, NUMBERS, "release", "-k", "10", *report("report")),
            ("measure", release, "--key", NUMBERS, "--original", few),
            anonymize(few, MIXED, "diverse", *ILL, "-k", "3", "--model", "l-diversity=2"),
            anonymize(few, MIXED, "close", *ILL, "-k", "5", "--model", "t-closeness=0.4"),
            anonymize(few, MIXED, "both", *ILL, "--model", "p-sensitive=3", "--model", "t-closeness=0.4"),
            plain(many, NUMBERS, "many-numbers", "-k", "5"),
            plain(few, NUMBERS, "small-groups", "-k", "4"),
            plain(few, MIXED, "mdav", "-k", "5", "--method", "mdav"),
            plain(few, "age", "single", "-k", "5"),
            plain(few, MIXED, "tens", "-k", "10"),
            plain(few, MIXED, "ranges", "-k", "5", "--publish", "interval"),
            ("attack", str(folder / "mdav.csv"), "--original", few, "--key", MIXED),
            anonymize(survey, SHOWN, "homes", "--household", "hid", "--other", "weight", *ANSWERS),
            anonymize(survey, SHOWN, "asked", "--household", "hid", *weighted, *report("asked")),
            anonymize(survey, SHOWN, "people", "--person", "hid", "--strata", "region", *weighted),
            plain(survey, "age,income", "weighted", "--weights", "weight", "-k", "3", "--suppress", "1%"),
            ("measure", survey, "--key", SHOWN, "--weights", "weight", "--household", "hid", "--suda", "3"),
            ("ledger", "new", ledger),
            plain(june, "age,sex,zip", "june-release", *booked),
            plain(few, "age,sex,zip", "july-release", *booked, "--keep-groups"),
        ),
    )


def survey(homes: int = HOMES, seed: int = 0) -> Any:
    """Make up a survey: households of one to four people, with weights."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(seed)
    members = rng.integers(1, 5, homes)
    n = int(members.sum())
    return pl.DataFrame({
        "hid": np.repeat(np.arange(homes), members),
        "region": np.repeat(rng.choice(["north", "south", "coast"], homes), members),
        "age": rng.integers(1, 95, n),
        "sex": rng.choice(["f", "m"], n),
        "school": rng.choice(["none", "first", "second", "third"], n),
        "income": np.round(rng.lognormal(10, 0.5, n)).astype(int),
        "answer": rng.choice(["yes", "no", "do not know"], n),
        "weight": np.round(rng.uniform(200, 900, n), 1),
    })  # fmt: skip


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
        datasets.hospital(RECORDS).head(RECORDS - 20).write_csv(folder / "june.csv")
        (folder / "parts").mkdir()
        for name in ("many.csv", "parts/all.csv"):
            datasets.hospital(MANY, seed=1).write_csv(folder / name)
        survey().write_csv(folder / "survey.csv")

        def run(row: tuple[Words, ...]) -> None:
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
