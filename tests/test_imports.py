"""Optional libraries are loaded where they are used, and nowhere else."""

from __future__ import annotations

import subprocess
import sys

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


def test_help_does_not_load_the_numerical_libraries():
    code = "import sys, voronym.cli.common; print([m for m in ('rich.table',) if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
