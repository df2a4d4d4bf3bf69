"""Progress for programs: lines of JSON on stderr, without a value of anybody."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from voronym.cli import main

MARK = "Zwiebelschneider"


def test_progress_as_json_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{30 + i},{MARK}{i % 2}\n" for i in range(12))
    Path("people.csv").write_text("age,job\n" + rows, encoding="utf-8")
    words = ["voronym", "anonymize", "people.csv", "-o", "out.csv", "--key", "age", "--confidential", "job"]
    monkeypatch.setattr("sys.argv", [*words, "--progress", "json", "--json"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    errors = capsys.readouterr().err
    steps = [json.loads(line) for line in errors.splitlines()]
    assert MARK not in errors
    assert steps[0]["stage"] == "reading"
    assert {"writing", "drawing"} <= {step["stage"] for step in steps}
    shares = [step["done"] for step in steps]
    assert shares == sorted(shares)
    assert all(step["left"] is None or step["left"] >= 0 for step in steps)
    monkeypatch.setattr("sys.argv", [*words, "--progress", "xml"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code
    assert "--progress takes auto, json or none, not 'xml'" in capsys.readouterr().err


@pytest.mark.parametrize("verb", ["measure", "attack"])
def test_other_verbs_tell_it_likewise(
    verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{30 + i // 4},{MARK}{i % 2}\n" for i in range(12))
    Path("release.csv").write_text("age,job\n" + rows, encoding="utf-8")
    words = ["voronym", verb, "release.csv", "--key", "age", "--confidential", "job", "--json"]
    monkeypatch.setattr("sys.argv", [*words, "--progress", "json"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    errors = capsys.readouterr().err
    steps = [json.loads(line) for line in errors.splitlines()]
    assert steps
    assert MARK not in errors
    assert {"stage", "done", "left"} <= set(steps[-1])
