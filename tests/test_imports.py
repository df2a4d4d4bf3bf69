"""Optional libraries are loaded where they are used, and nowhere else."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from voronym.method import METHODS

EXTRAS = [
    "scipy.stats",  # no extra, but half a second
    "fastapi",
    "sqlalchemy",
    "starlette",
    "uvicorn",
    "dask",
    "distributed",
    "pyspark",
    "pandas",
    "pyarrow",
    "pyreadstat",
    "duckdb",
    "psycopg",
    "matplotlib",
    "sklearn",
]


def test_no_extra_is_imported():
    modules = "sys, voronym, voronym.cli, voronym.report"
    code = f"import {modules}; print([m for m in {EXTRAS!r} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


@pytest.mark.parametrize("words", [["--version"], ["anonymize", "--help"], ["anonymize", "--no-such-option"]])
def test_help_does_not_load_the_numerical_libraries(words):
    """Nor does a mistake: reading a command takes a tenth of the time that they take to load."""
    command = [sys.executable, "-X", "importtime", "-m", "voronym", *words]
    out = subprocess.run(command, capture_output=True, text=True, check=False)
    assert out.returncode == (2 if "--no-such-option" in words else 0)
    loaded = {line.rpartition("|")[2].strip() for line in out.stderr.splitlines() if "|" in line}
    assert "voronym.cli.anonymize" in loaded
    assert loaded.isdisjoint(["numpy", "scipy", "numba", "polars", "narwhals", "rich.table", "voronym.table"])


def test_a_command_and_its_workers_have_every_method():
    """The command line loads the rest when it begins; a worker that has its arguments loads it at once."""
    told = "import sys; sys.argv[0] = 'voronym'; from voronym.method import METHODS; print(len(METHODS))"
    for command in (["-c", told], ["-m", "voronym", "methods", "--json"]):
        out = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=True).stdout
        assert (int(out) if command[0] == "-c" else len(json.loads(out))) == len(METHODS)
