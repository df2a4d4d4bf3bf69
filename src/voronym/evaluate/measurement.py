"""The results of `voronym.measure`, and how they are printed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from voronym.core.jsonable import Plain
from voronym.core.percent import percent
from voronym.evaluate import attacks
from voronym.evaluate.interval import Interval
from voronym.evaluate.penalty import Penalty
from voronym.evaluate.population import PopulationRisk, Suda
from voronym.evaluate.risk import Risk
from voronym.evaluate.utility import Utility
from voronym.privacy import Finding


@dataclass(frozen=True)
class Measurement(Plain):
    """The results of `measure`. With an original they hold figures of it: not for publication.

    Parameters
    ----------
    keys, confidential : tuple of str
        The columns by role.
    findings : tuple of Finding
        One per privacy model.
    risk : Risk
        Sizes of classes, and the risks that follow from them.
    population_risk : PopulationRisk or None
        The success, in the population, of an intruder who does not know who is in the table.
    suda : Suda or None
        Records that few keys single out.
    original_risk : Risk or None
        The same for the original.
    utility : Utility or None
        The loss, if the original was given.
    linkage : Linkage or None
        Record linkage of the originals to the table.
    penalty : Penalty or None
        The loss by ranges, if it is known which rows correspond.
    intervals : tuple of Interval
        Interval disclosure of each numeric key.
    basis : {"aligned", "nearest", None}
        The released record that an original is compared with: its own, or the nearest one if its own is
        unknown.
    notes : tuple of str
        Omitted figures, with reasons.
    seed : int
        Seed of all samples.
    """

    keys: tuple[str, ...]
    confidential: tuple[str, ...]
    findings: tuple[Finding, ...]
    risk: Risk
    population_risk: PopulationRisk | None = None
    suda: Suda | None = None
    original_risk: Risk | None = None
    utility: Utility | None = None
    linkage: attacks.Linkage | None = None
    penalty: Penalty | None = None
    intervals: tuple[Interval, ...] = ()
    basis: str | None = None
    notes: tuple[str, ...] = ()
    seed: int = 0

    @property
    def holds(self) -> bool:
        """Whether every required model holds."""
        return all(finding.holds for finding in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """Return plain, JSON-able types."""
        return {**super().to_dict(), "holds": self.holds}

    def __str__(self) -> str:
        parts = ["Privacy", *(f"  {line}" for finding in self.findings for line in _lines(finding))]
        parts += ["", "Risk from the table alone"]
        parts += [f"  {line}" for line in str(self.risk).splitlines()]
        if self.original_risk is not None:
            parts.append(
                f"  (the original: k = {self.original_risk.k}, "
                f"{percent(self.original_risk.uniqueness)} unique)"
            )
        for title, item in (
            ("Risk in the population", self.population_risk),
            ("Special uniques", self.suda),
        ):
            if item is not None:
                parts += ["", title, *(f"  {line}" for line in str(item).splitlines())]
        if self.linkage is not None:
            parts += ["", "Risk against the original", f"  record linkage: {self.linkage}"]
            whose = "its own" if self.basis == "aligned" else "the nearest"
            parts += [
                f"  {i.column}: for {percent(i.sd.value)} of the people {whose} record is within "
                f"{i.percent:g} % of a standard deviation, for {percent(i.rank.value)} within "
                f"{i.percent:g} % of the ranks"
                for i in self.intervals
            ]
        if self.utility is not None:
            parts += ["", "Utility", *(f"  {line}" for line in str(self.utility).splitlines())]
        if self.penalty is not None:
            parts.append(f"  in ranges: {self.penalty}")
        if self.notes:
            parts += ["", "Notes", *(f"  {note}" for note in self.notes)]
        return "\n".join(parts)

    def __repr__(self) -> str:
        n, k = self.risk.records, self.risk.k
        beside = "" if self.utility is None else ", compared with its original"
        return f"Measurement({n} records, k={k}, keys {', '.join(self.keys)}{beside})"


def _lines(finding: Finding) -> list[str]:
    """Return a finding as lines: a summary, one line per column if there are several, and estimates."""
    lines = [str(finding)]
    columns = finding.columns or {}
    for name, figures in columns.items():
        result = []
        if len(columns) > 1:
            value = figures["value"]
            result.append("infinite" if np.isinf(value) else f"{value:g}")
        if "corrected" in figures:
            low, high = figures["interval"]
            result.append(f"corrected {figures['corrected']:.4g} ({low:.4g} to {high:.4g})")
            result.append(
                f"random groups would tell {figures['chance']:.4g} of {figures['entropy']:.4g} nats"
            )
        if result:
            lines.append(f"  {name}: {', '.join(result)}")
    return lines
