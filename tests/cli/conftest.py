"""Commands as people type them."""

from __future__ import annotations

import pytest

import voronym as vr
from commands import runner


@pytest.fixture
def voronym(monkeypatch, capsys, tmp_path):
    """Run a command in a fresh folder; give back (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)
    vr.datasets.hospital(120, seed=4).write_csv("patients.csv")
    return runner(monkeypatch, capsys)
