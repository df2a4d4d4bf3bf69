"""What must work with the lowest versions of all dependencies, and without extras: the straight line."""

from __future__ import annotations

import csv
from collections import Counter
from contextlib import suppress
from pathlib import Path

import voronym as vr
from voronym.cli import main


def test_a_table_becomes_a_release(tmp_path: Path) -> None:
    patients = vr.datasets.hospital(120, seed=2)
    release = vr.anonymize(
        patients,
        keys=["age", "sex"],
        confidential=["diagnosis"],
        drop_undeclared=True,
        k=4,
        models=["p-sensitive=2"],
    )
    release.write(tmp_path / "release.csv")
    release.report(tmp_path / "report.html")
    with (tmp_path / "release.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    sizes = Counter((row["age"], row["sex"]) for row in rows)
    assert len(rows) == 120
    assert min(sizes.values()) >= 4
    assert "<html" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_the_command_line(tmp_path: Path, monkeypatch) -> None:
    source, release = tmp_path / "patients.csv", tmp_path / "release.parquet"
    vr.datasets.hospital(120, seed=2).write_csv(source)
    roles = "--key age,zip --confidential diagnosis --drop-undeclared"
    monkeypatch.setattr("sys.argv", f"voronym anonymize {source} -o {release} {roles} -k 3".split())
    with suppress(SystemExit):
        main()
    assert vr.measure(release, keys=["age", "zip"]).risk.k >= 3
