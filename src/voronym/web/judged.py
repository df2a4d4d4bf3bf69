"""What the page shows of the attacks on a release."""

from __future__ import annotations

from typing import Any

from voronym.attacks import Exposure
from voronym.dossier import ladder_of
from voronym.errors import worded
from voronym.evaluate.risk import Risk
from voronym.report.rungs import rungs


def told_of(exposure: Exposure, risk: Risk, keys: list[str]) -> dict[str, Any]:
    """Return what is shown of the attacks on a release."""
    ladder = ladder_of(exposure, keys)
    return {
        "sentence": "No attack could be made: give the table that it was made from."
        if ladder is None
        else ladder.worded("page"),
        "ladder": "" if ladder is None else str(rungs(ladder, title="What an intruder finds")),
        "outcomes": [outcome.to_dict() for outcome in exposure.outcomes],
        "skipped": {name: worded(why, "page") for name, why in exposure.skipped.items()},
        "smallest": risk.k,
        "unique": risk.unique,
        "groups": risk.n_classes,
    }
