"""What the tests of the papers share."""

from __future__ import annotations

import sys

import pytest

from voronym import cli


@pytest.fixture
def voronym(monkeypatch, capsys):
    """Run a command; give back (exit code, stdout, stderr)."""

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["voronym", *words])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        out, err = capsys.readouterr()
        return ended.value.code or 0, out, err

    return run
