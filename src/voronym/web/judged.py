"""The page's view of the attacks on a release."""

from __future__ import annotations

from typing import Any

from voronym.attacks import Exposure
from voronym.dossier import ladder_of
from voronym.errors import worded
from voronym.evaluate.risk import Risk
from voronym.policy.checklist import Checklist
from voronym.report.rungs import rungs


def told_of(exposure: Exposure, risk: Risk, keys: list[str]) -> dict[str, Any]:
    """Return the page's view of the attacks on a release."""
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


def verdicts(made: Checklist | None) -> dict[str, Any]:
    """Return the page's view of a checklist: its summary, and each demand with verdict and figure."""
    if made is None:
        return {}
    shown = ("says", "source", "verdict", "spoken", "figure", "change", "decide")
    return {
        "title": made.title,
        "summary": made.summary,
        "passes": made.passes,
        "note": made.note,
        "items": [{name: worded(getattr(item, name), "page") for name in shown} for item in made.items],
        "added": [worded(str(item), "page") for item in made.added],
    }
