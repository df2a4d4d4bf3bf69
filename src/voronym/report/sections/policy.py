"""The demands of a policy on the release, and its choices."""

from __future__ import annotations

from voronym.dossier import Dossier
from voronym.policy.checklist import Checklist
from voronym.report.section import Data, section
from voronym.report.write import Table


@section(
    "policy",
    "What the policy demands",
    needs=("inside.checklist",),
    audience="internal",
    place=22,
    shape="text",
)
def policy(_: Dossier, made: Checklist) -> Data:
    """Show each demand with its figure, and the choices that the policy made."""
    demands = [(item.says, item.spoken, item.figure, item.source) for item in made.items]
    added = [(entry.choice, entry.value, entry.reason) for entry in made.added]
    return {
        "made": made,
        "table": Table.of(("demand", "verdict", "figure", "source"), demands, numeric=False),
        "added": Table.of(("choice", "value", "reason"), added, numeric=False) if added else None,
    }
