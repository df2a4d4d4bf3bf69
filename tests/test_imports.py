"""Optional libraries are loaded where they are used, and nowhere else."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import voronym as vr
from voronym._kernels import _native
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
    "fsspec",
    "psycopg",
    "matplotlib",
    "sklearn",
]


def test_no_extra_is_imported():
    modules = "sys, voronym, voronym.cli, voronym.report"
    code = f"import {modules}; print([m for m in {EXTRAS!r} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "words", [["--version"], ["anonymize", "--help"], ["measure", "x.csv", "--sampling-fraction"]]
)
def test_help_does_not_load_the_numerical_libraries(words):
    """Nor does a mistake: reading a command takes a tenth of the time that they take to load."""
    command = [sys.executable, "-X", "importtime", "-m", "voronym", *words]
    out = subprocess.run(command, capture_output=True, text=True, check=False)
    assert out.returncode == (2 if "x.csv" in words else 0)
    loaded = {line.rpartition("|")[2].strip() for line in out.stderr.splitlines() if "|" in line}
    assert "voronym.cli" in loaded
    assert loaded.isdisjoint(["numpy", "scipy", "numba", "polars", "narwhals", "rich.table", "voronym.table"])


UNUSED = [
    *("scipy", "numba", "llvmlite", "jinja2", "typer", "highspy", "voronym._public", "voronym.attacks"),
    *("voronym.policy", "voronym.report", "voronym.channel", "voronym.quantize", "voronym.records"),
    *("voronym.evaluate.measure", "voronym.methods.lattice", "voronym.methods.local_suppression"),
    *("voronym.history", "voronym.methods.leaving"),
]


def test_a_small_release_loads_nothing_that_it_does_not_use(tmp_path):
    """Neither SciPy nor integer programmes, nor the rooms of attacks, policies, reports and other methods.

    Without machine code Numba is loaded, and loads SciPy itself.
    """
    code = (
        "import sys; import voronym as vr; "
        "release = vr.anonymize(vr.datasets.hospital(40), keys=['age', 'sex'], k=3, drop_undeclared=True, "
        "method='mdav'); "
        f"release.write({str(tmp_path / 'r.csv')!r}); "
        f"print([m for m in {UNUSED!r} if m in sys.modules and (m not in ('numba', 'llvmlite', 'scipy') or "
        "__import__('voronym._kernels._native', fromlist=['x'])._library()[0])])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_the_command_of_a_small_release_loads_no_more(tmp_path):
    """What the command prints of a release needs neither its dossier nor the rooms of other methods.

    It needs typer, and it shows the proof, which solves linear programmes.
    """
    vr.datasets.hospital(40).write_csv(tmp_path / "p.csv")
    words = ["anonymize", "p.csv", "-o", "r.csv", "--key", "age,sex", "--drop-undeclared", "-k", "3"]
    command = [sys.executable, "-X", "importtime", "-m", "voronym", *words]
    out = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    loaded = {line.rpartition("|")[2].strip() for line in out.stderr.splitlines() if "|" in line}
    assert "voronym.run.door" in loaded
    allowed = {"typer", "highspy"} | (set() if _native._library()[0] else {"numba", "llvmlite", "scipy"})
    assert not {*UNUSED, "voronym.dossier"} & loaded - allowed


def test_a_command_and_its_workers_have_every_method():
    """The command line loads the rest when it begins; a worker that has its arguments loads it at once."""
    output = "import sys; sys.argv[0] = 'voronym'; from voronym.method import METHODS; print(len(METHODS))"
    for command in (["-c", output], ["-m", "voronym", "methods", "--json"]):
        out = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=True).stdout
        assert (int(out) if command[0] == "-c" else len(json.loads(out))) == len(METHODS)


HEAVY = ["numpy", "scipy", "numba", "llvmlite", "polars", "narwhals", "highspy", "rich", "jinja2", "typer"]


def test_importing_loads_nothing_heavy():
    """Names are loaded with their rooms when they are used."""
    command = [sys.executable, "-X", "importtime", "-c", "import voronym; dir(voronym)"]
    out = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded = {line.rpartition("|")[2].strip() for line in out.stderr.splitlines() if "|" in line}
    assert "voronym" in loaded
    assert not [name for name in loaded if name.split(".")[0] in HEAVY]


def test_every_public_name_is_there_whether_loaded_or_not():
    code = (
        "import voronym as vr; names = dir(vr); missing = [n for n in names if not hasattr(vr, n)]; "
        "from voronym import _public; "
        "print(missing, sorted({*_public.__all__} ^ ({*vr.__all__})), vr.anonymize is _public.anonymize)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.split() == ["[]", "[]", "True"]


def test_a_registry_asked_first_has_every_entry():
    """Whoever asks a registry before any room is loaded gets all that there is."""
    code = "from voronym.method import METHODS; print('noisy' in METHODS or len(METHODS))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() in ("True", str(len(METHODS)))
