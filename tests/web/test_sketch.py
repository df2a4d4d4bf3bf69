"""The sketch of the losses at several k looks quickly: only the release itself spends its time limit."""

from __future__ import annotations

from typing import Any

import pytest

from voronym import datasets
from voronym.web import preview as module
from voronym.web.preview import LOOK, preview
from voronym.web.settings import Settings


@pytest.mark.parametrize(("method", "looks"), [("auto", {None}), ("pairs", {LOOK})])
def test_only_the_release_spends_the_time_limit(monkeypatch, method: str, looks: set[float | None]) -> None:
    table = datasets.hospital(60, seed=1).select("age", "weight")
    limits: list[float | None] = []
    made = module.anonymize

    def noting(frame: Any, **given: Any) -> Any:
        limits.append(given.pop("time_limit", None))
        return made(frame, **given)

    monkeypatch.setattr(module, "anonymize", noting)
    chosen = {"keys": ["age", "weight"], "k": 5, "method": method, "time_limit": 600.0, "seed": 1}
    events: list[dict[str, Any]] = []
    preview(table, Settings().having(**chosen), events.append, lambda: None)
    assert limits.count(600.0) == 1
    assert {seconds for seconds in limits if seconds != 600.0} == looks
    points = [event["point"] for event in events if "point" in event]
    assert {point["k"] for point in points} == {3, 5, 10, 20}
    # With a limit, the release of another k could still lose less than its point says.
    assert {point["k"] for point in points if point["exact"]} == {5}
