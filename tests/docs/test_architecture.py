"""The map of the code is true: every room is on it, and a release takes the way that the page describes."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import FrameType

import voronym as vr
from docs.pages import ROOT

PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
SOURCE = ROOT / "src" / "voronym"


def test_every_room_is_on_the_map() -> None:
    rooms = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    listed = re.findall(r"^\|[a-z ]*\| `(\w+)` \|", PAGE, flags=re.MULTILINE)
    assert len(listed) == len(set(listed))
    assert set(listed) == rooms


def test_a_release_takes_this_way(tmp_path: Path) -> None:
    described = re.findall(r"^\d+\. `([\w.]+:[\w.]+)`", PAGE, flags=re.MULTILINE)
    calls: list[str] = []

    def record(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(str(SOURCE)):
            module = Path(frame.f_code.co_filename).relative_to(SOURCE).with_suffix("")
            calls.append(f"{'.'.join(module.parts)}:{frame.f_code.co_qualname}")

    patients = vr.datasets.hospital(60, seed=1)
    sys.setprofile(record)
    try:
        release = vr.anonymize(
            patients, keys=["age", "sex"], confidential=["diagnosis"], drop_undeclared=True, k=5
        )
        release.write(tmp_path / "release.csv")
    finally:
        sys.setprofile(None)
    assert not set(described) - set(calls)
    first = [calls.index(name) for name in described]
    assert first == sorted(first), [name for _, name in sorted(zip(first, described, strict=True))]
