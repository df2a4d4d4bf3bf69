"""What a policy demanded of the release, and what it chose."""

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
    """Show each demand with its figure, and the choices that nobody else made."""
    demands = [(one.says, one.spoken, one.figure, one.source) for one in made.items]
    added = [(one.choice, one.value, one.reason) for one in made.added]
    return {
        "made": made,
        "table": Table.of(("demand", "verdict", "figure", "source"), demands, numeric=False),
        "added": Table.of(("choice", "value", "reason"), added, numeric=False) if added else None,
    }
