"""Demands on attacks, on the loss, and on people's duties."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from voronym.attacks import ATTACKS
from voronym.core.options import entry_of, number, one_of, option
from voronym.core.percent import percent
from voronym.core.promise import meets
from voronym.errors import hint
from voronym.policy.base import Demand, Item, demand, text
from voronym.policy.groups import _chance

if TYPE_CHECKING:
    from voronym.policy.case import Case


@demand("attacks", "attack", needed=("attack", "most"))
@dataclass(frozen=True)
class Attacked(Demand):
    """An attack stays below a limit."""

    attack: str = option("", "the name of the attack", check=entry_of("attack"))
    most: float = option(0.0, "the largest share", check=_chance)
    figure: str = option(
        "excess", "beyond a guess without the release, or all successes", check=one_of("excess", "success")
    )

    def about(self) -> tuple[Any, ...]:
        """Return the subject of the demand."""
        return (self.section, self.name, self.attack, self.figure)

    def judge(self, case: Case) -> Item:
        """Run the attack, if the original is available."""
        what = ATTACKS[self.attack].knows
        if not case.keys:
            return self.item(
                "open", "no keys are named", change=f"name them: {hint('keys')}", decide=case.keys_decide
            )
        if case.counted is not None:
            return self.item(
                "open",
                "not made",
                evidence="attacks compare records with all others, and the release is in many files",
                change="attack a part of it: voronym attack",
            )
        exposure = case.exposure
        outcome = next((item for item in exposure.outcomes if item.attack == self.attack), None)
        if outcome is None:
            why = exposure.skipped.get(self.attack, "")
            if case.original is None:
                return self.item(
                    "open", "not made", evidence=why, change=f"give the original: {hint('original', 'FILE')}"
                )
            return self.item("nothing", "could not be made", evidence=why)
        result = outcome.excess if self.figure == "excess" else outcome.success
        fine = bool(meets(result, self.most))
        low, high = outcome.interval
        most = "at most " if outcome.kind == "at most" else ""
        return self.item(
            "holds" if fine else "fails",
            f"{self.figure} {most}{result:.4f}",
            evidence=f"{outcome.people:,} people attacked by somebody who knows {what}: right in "
            f"{percent(outcome.success)}, {percent(outcome.control)} {outcome.instead}; "
            f"excess from {percent(low)} to {percent(high)}",
            change="" if fine else "take a larger k, coarser keys or fewer columns",
            value=float(result),
            required=self.most,
            decide=case.keys_decide,
        )


@demand("loss", "information-loss", needed=("most",))
@dataclass(frozen=True)
class InformationLoss(Demand):
    """The table stays useful: the loss of the keys' variance is limited."""

    most: float = option(100.0, "percent of the keys' variance", check=number(0.0))

    def judge(self, case: Case) -> Item:
        """Compare the loss with the limit, if it is known."""
        loss = case.loss
        if loss is None:
            return self.item(
                "open",
                "not known",
                change=f"it is measured when a release is made: {hint('policy')}",
            )
        fine = bool(meets(loss, self.most))
        return self.item(
            "holds" if fine else "fails",
            f"{loss:.1f} % of the keys' variance",
            evidence="measured against the original",
            change="" if fine else f"take fewer keys, or leave records out: {hint('suppress', '1%')}",
            value=loss,
            required=self.most,
        )


@demand("loss", "records-lost", needed=("most",))
@dataclass(frozen=True)
class RecordsLost(Demand):
    """The number of records left out is limited."""

    most: float = option(0.05, "share of the records", check=_chance)

    def judge(self, case: Case) -> Item:
        """Compare the numbers of records."""
        if case.original_rows is None:
            return self.item("open", "not known", change=f"give the original: {hint('original', 'FILE')}")
        share = max(0.0, 1.0 - case.rows / case.original_rows)
        fine = bool(meets(share, self.most))
        return self.item(
            "holds" if fine else "fails",
            f"{percent(share)} of the records",
            evidence=f"{case.rows:,} of {case.original_rows:,} records are in the release",
            change="" if fine else f"leave fewer out: {hint('suppress')}",
            value=share,
            required=self.most,
        )


@demand("loss", "cells-suppressed", needed=("most",))
@dataclass(frozen=True)
class CellsSuppressed(Demand):
    """The number of suppressed or missing cells of the keys is limited."""

    most: float = option(0.1, "share of the cells of the keys", check=_chance)

    def judge(self, case: Case) -> Item:
        """Count the empty cells."""
        if not case.keys or not case.rows:
            return self.item(
                "open", "no keys are named", change=f"name them: {hint('keys')}", decide=case.keys_decide
            )
        gone = sum(
            cell.rows for name in case.keys for cell in case.seen[name].cells if cell.cell.sort == "gone"
        )
        share = gone / (len(case.keys) * case.rows)
        fine = bool(meets(share, self.most))
        return self.item(
            "holds" if fine else "fails",
            f"{percent(share)} of the cells of the keys",
            evidence=f"{gone:,} cells are suppressed or missing",
            change="" if fine else "suppress less: groups of a method such as auto suppress no cells",
            value=share,
            required=self.most,
        )


@demand("process", "ledger")
@dataclass(frozen=True)
class WithLedger(Demand):
    """Demand a ledger, so that several releases together expose nobody."""

    def judge(self, case: Case) -> Item:
        """Check whether the run has a ledger; for a file alone, a person decides."""
        if case.ledger is None:
            return self.item("person", decide="whether the release is in the ledger of its table")
        if case.ledger:
            return self.item(
                "holds", "a ledger is given", evidence="the release is entered when it is written"
            )
        return self.item("fails", "no ledger is given", change=f"give one: {hint('ledger', 'FILE')}")


@demand("process", "public-report")
@dataclass(frozen=True)
class PublicReport(Demand):
    """Demand a public report about the making of the release."""

    def judge(self, case: Case) -> Item:
        """Leave the demand to a person: the report is a separate file."""
        return self.item(
            "person",
            decide=f"that a report for readers goes with the release ({hint('public_report', 'FILE')})",
        )


@demand("process", "signature", needed=("by",))
@dataclass(frozen=True)
class Signature(Demand):
    """Demand a signature."""

    by: str = option("", "who signs", check=text)

    def about(self) -> tuple[Any, ...]:
        """Return the subject of the demand."""
        return (self.section, self.name, self.by)

    def judge(self, case: Case) -> Item:
        """Leave it to a person."""
        return self.item("person", f"signature of {self.by}", decide=f"signed by {self.by}")


@demand("process", "decision", needed=("question",))
@dataclass(frozen=True)
class Decision(Demand):
    """Demand a decision that only a person can take."""

    question: str = option("", "the decision to take", check=text)

    def about(self) -> tuple[Any, ...]:
        """Return the subject of the demand."""
        return (self.section, self.name, self.question)

    def judge(self, case: Case) -> Item:
        """Leave it to a person."""
        return self.item("person", decide=self.question)
