"""Commands as people type them."""

from __future__ import annotations

import sys

import pytest

import voronym as vr
from voronym import cli


@pytest.fixture
def voronym(monkeypatch, capsys, tmp_path):
    """Run a command in a fresh folder; give back (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)
    vr.datasets.hospital(120, seed=4).write_csv("patients.csv")

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["voronym", *map(str, words)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            cli.main()
        out, err = capsys.readouterr()
        return ended.value.code or 0, out, err

    return run
