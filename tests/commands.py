"""Commands as people type them, in this process."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from voronym import cli


def runner(monkeypatch, capsys) -> Callable[..., tuple[int, str, str]]:
    """Return a function that runs a command and returns (exit code, stdout, stderr)."""

    def run(*words: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["voronym", *map(str, words)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            cli.main()
        out, err = capsys.readouterr()
        return ended.value.code or 0, out, err

    return run
