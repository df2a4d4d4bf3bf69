"""Every test that the threat model names is there."""

from __future__ import annotations

import re

from docs.pages import ROOT


def test_every_sentence_about_privacy_names_a_test_that_is_there() -> None:
    text = (ROOT / "docs" / "location-threats.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(test_\w+)`", text))
    files = (ROOT / "tests" / "location").glob("test_*.py")
    there = {
        name for file in files for name in re.findall(r"^def (test_\w+)", file.read_text(), re.MULTILINE)
    }
    assert len(named) > 25
    assert named - there == set()
    rows = [line for line in text.splitlines() if line.startswith("| ") and "attack |" not in line]
    assert all("`test_" in row for row in rows)
