"""From nothing to a release: new processes that import voronym and anonymize 1,000 patients.

``import`` ends when the door of the package is open, ``release`` when the file is written and counted, with
neither report nor gap. ``summary`` is the command until its summary is printed, ``command`` all of it, with
the proof of the gap. Each figure is the least of several processes, in seconds; the first, which may compile,
does not count. ``VORONYM_BEFORE`` names an earlier checkout, as for `minute`; both take turns. It needs
compiled loops of its own: ``python -m voronym._kernels.warm`` with its ``src`` in PYTHONPATH.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from time import perf_counter
from typing import ClassVar

from benchmarks.base import Benchmark, Case, Row
from voronym import datasets

HERE = Path(__file__).parents[1]
OPEN = "import voronym as vr; vr.read, vr.anonymize"
RELEASE = (
    "import voronym as vr; vr.anonymize(vr.read('patients.csv'), keys=['age', 'sex', 'zip', 'weight'], "
    "confidential=['diagnosis'], drop_undeclared=True, k=5).write('release.csv', overwrite=True)"
)
COMMAND = (
    "anonymize patients.csv -o release.csv --key age,sex,zip,weight --confidential diagnosis "
    "--drop-undeclared -k 5 --overwrite"
)
LAST = "written"
"""The first word of the last line of the summary."""


def timed(checkout: Path, folder: Path) -> Row:
    """Return the seconds of each kind of process, run once."""
    known = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    known["PYTHONPATH"] = str(checkout / "src")
    row: Row = {}
    for name, code in (("import", OPEN), ("release", RELEASE)):
        begun = perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True, cwd=folder, env=known)
        row[name] = perf_counter() - begun
    begun = perf_counter()
    command = [sys.executable, "-m", "voronym", *COMMAND.split()]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=folder, env=known) as process:
        assert process.stderr is not None  # noqa: S101 - for the type checker
        for line in process.stderr:
            if line.startswith(LAST):
                row["summary"] = perf_counter() - begun
    row["command"] = perf_counter() - begun
    return row


class Start(Benchmark):
    """The time of a small release, imports included."""

    name = "start"
    title = "from nothing to a release of 1,000 patients: least seconds of new processes"
    columns: ClassVar[dict[str, str]] = {
        "before_import": "before: import",
        "before_release": "release",
        "before_summary": "summary",
        "before_command": "command",
        "import": "now: import",
        "release": "release",
        "summary": "summary",
        "command": "command",
        "share": "release, now / before",
    }

    def cases(self, *, quick: bool) -> Iterable[Case]:
        """Return the number of processes of each kind."""
        yield {"rounds": 2 if quick else 8}

    @staticmethod
    def measure(*, rounds: int) -> Row:
        """Start processes of both checkouts in turns."""
        earlier = os.environ.get("VORONYM_BEFORE")
        checkouts = {"before_": Path(earlier).resolve()} if earlier else {}
        checkouts[""] = HERE
        row: Row = {}
        with tempfile.TemporaryDirectory() as folder:
            datasets.hospital(1000).write_csv(Path(folder) / "patients.csv")
            for turn in range(rounds + 1):
                for prefix, checkout in checkouts.items():
                    for name, seconds in timed(checkout, Path(folder)).items():
                        if turn:
                            row[prefix + name] = min(row.get(prefix + name, seconds), seconds)
        if earlier:
            row["share"] = row["release"] / row["before_release"]
        return row
