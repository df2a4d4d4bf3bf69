"""Demands on codes of places, and on values that few people have."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from voronym.core.options import option, whole
from voronym.errors import InputError, hint
from voronym.policy.base import Item, demand, text
from voronym.policy.cells import Cell
from voronym.policy.columns import ColumnDemand, quoted
from voronym.policy.recognise import Seen

if TYPE_CHECKING:
    from voronym.policy.case import Case
    from voronym.policy.complete import Draft


@demand("columns", "digits", needed=("digits",))
@dataclass(frozen=True)
class Digits(ColumnDemand):
    """Demand that codes of places show only their first digits, shared by enough people."""

    digits: int = option(3, "the number of leading characters that may be published", check=whole(1))
    people: int | None = option(None, "more people than this must share these characters", check=whole(1))
    facts: str = option("", "the name of the table with the number of people for each code", check=text)
    instead: str = option("000", "the text that replaces codes of too few people", check=text)

    def check(self) -> None:
        """Refuse a number of people without the table of such numbers, and the reverse."""
        super().check()
        if (self.people is None) != (not self.facts):
            raise InputError(
                "give people and facts together: the number of people, and the table that holds such numbers"
            )

    def shown(self, cell: Cell) -> str:
        """Return the visible characters of a code in a cell."""
        if cell.sort == "code":
            return cell.text
        if cell.sort == "number" and not cell.single:
            return _common(f"{cell.low}", f"{cell.high}")
        return cell.text.replace(" ", "")

    def reason(self, cell: Cell, case: Any) -> str:
        """Return why a cell breaks the demand; empty if it does not."""
        result = self.shown(cell)
        if set(result) <= {"0"} and len(result) >= min(self.digits, len(self.instead)):
            return ""
        if len(result) > self.digits:
            return "long"
        if self.people is None or len(result) < self.digits:
            return ""
        living = case.people(self.facts)
        return "" if living.get(result, 0) > self.people else "small"

    def broken(self, cell: Cell, case: Any) -> bool:
        """Whether a cell shows too many digits, or the digits of a place with too few people."""
        return bool(self.reason(cell, case))

    def judge(self, case: Case) -> Item:
        """Count the codes with too many digits, and the codes of places with too few people."""
        few = (
            ""
            if self.people is None
            else f", or {self.digits} under which {self.people:,} people or fewer live"
        )
        change = f"recode: {hint('steps', 'recode COLUMN level=N')} leaves {self.digits} digits"
        if self.facts:
            table = hint("facts", {self.facts: "FILE"})
            change += f"; publish small ones as {self.instead}; give the table: {table}"
        item = self._judge(case, f"with more than {self.digits} digits{few}", change)
        if self.facts and item.verdict == "fails" and not case.people(self.facts):
            return self.item(
                "fails", f"{item.figure}; the table {self.facts} was not given: every place counts as small",
                evidence=item.evidence, change=change, value=item.value,
            )  # fmt: skip
        return item

    def complete(self, draft: Draft) -> None:
        """Mask the last digits, and all digits of small places; drop the column if the table is missing."""
        for item in self.mine(draft.seen):
            if not draft.has(item.name) or draft.touched(item.name) or not self.count(item, draft):
                continue
            if self.facts and not draft.people(self.facts):
                draft.drop(
                    item.name, self,
                    f"the table {self.facts} that tells how many people live there was not given "
                    f"({hint('facts', {self.facts: 'FILE'})})",
                )  # fmt: skip
                continue
            self._recode(item, draft)

    def _recode(self, seen: Seen, draft: Draft) -> None:
        texts = [c.cell.text for c in seen.cells if c.cell.sort != "gone"]
        longest = max(map(len, texts))
        if any(len(code) != longest for code in texts) and all(code.isdecimal() for code in texts):
            draft.refuse(
                self, f"codes of {seen.name!r} have different lengths",
                "write them as texts with their leading zeros, or leave the column out "
                f"({hint('identifiers', [seen.name])})",
            )  # fmt: skip
        name = quoted(seen.name)
        if draft.kind(seen.name) not in ("nominal", "text"):
            draft.declare(seen.name, "nominal", self, "its values are codes")
        if longest > self.digits:
            draft.step(
                f"recode {name} level={longest - self.digits}", self, f"{self.digits} digits may be published"
            )
        if self.people is None:
            return
        living = draft.people(self.facts)
        tail = "*" * max(longest - self.digits, 0)
        heads = sorted({code[: self.digits] for code in texts})
        small = [head for head in heads if living.get(head, 0) <= self.people and set(head) != {"0"}]
        if small:
            values = ",".join(quoted(head + tail) for head in small)
            unknown = sum(head not in living for head in small)
            few = len(small) - unknown
            reasons = {
                f"{self.people:,} people or fewer live under {few} of them": few,
                f"{unknown} of them {'is' if unknown == 1 else 'are'} missing from the table": unknown,
            }
            draft.step(
                f"recode {name} values={values} to={quoted(self.instead + tail)}", self,
                ", ".join(reason for reason, many in reasons.items() if many),
            )  # fmt: skip


@demand("columns", "extremes", needed=("least",))
@dataclass(frozen=True)
class Extremes(ColumnDemand):
    """Demand that enough records share the highest value, so that nobody stands out."""

    least: int = option(5, "records that share the highest value", check=whole(2))

    def judge(self, case: Case) -> Item:
        """Count the records that have the highest value of each column."""
        return _rarest(
            self,
            case,
            self._highest,
            "{rows:,} records have the highest value of {name!r}",
            lambda name: f"top-code: {hint('steps', f'top {name}=1%')}",
        )

    def _highest(self, seen: Seen) -> int:
        tops: dict[float, int] = {}
        for cell in seen.cells:
            if cell.cell.sort == "number":
                tops[cell.cell.top] = tops.get(cell.cell.top, 0) + cell.rows
        return tops[max(tops)] if tops else self.least

    def complete(self, draft: Draft) -> None:
        """Top-code columns whose highest value is rare."""
        for item in self.mine(draft.seen):
            if not draft.has(item.name) or draft.touched(item.name) or self._highest(item) >= self.least:
                continue
            if draft.kind(item.name) != "numeric":
                continue
            share = max(1.0, math.ceil(1000.0 * self.least / draft.rows) / 10.0)
            if share >= 50.0:
                draft.refuse(
                    self,
                    f"{draft.rows} records are too few",
                    f"leave {item.name} out ({hint('identifiers', [item.name])})",
                )
            draft.step(
                f"top {quoted(item.name)}={share:g}%", self,
                f"the highest value must be that of {self.least} records or more",
            )  # fmt: skip


@demand("columns", "frequent", needed=("least",))
@dataclass(frozen=True)
class Frequent(ColumnDemand):
    """Every value that is published belongs to enough records."""

    least: int = option(5, "records that share every value", check=whole(2))

    def judge(self, case: Case) -> Item:
        """Count the records of the rarest value."""
        return _rarest(
            self,
            case,
            _fewest,
            "the rarest value of {name!r} has {rows:,} records",
            lambda name: f"recode it, or {hint('steps', f'suppress {name} rare={self.least}')}",
        )

    def complete(self, draft: Draft) -> None:
        """Suppress rare values of unmasked columns; keys share theirs by k."""
        for item in self.mine(draft.seen):
            if not draft.has(item.name) or draft.touched(item.name) or draft.role(item.name) == "key":
                continue
            if not item.empty and _fewest(item) < self.least:
                draft.step(
                    f"suppress {quoted(item.name)} rare={self.least}", self,
                    f"every value must be that of {self.least} records or more",
                )  # fmt: skip


def _fewest(seen: Seen) -> int:
    """Return the records of the rarest value of a column."""
    return min(cell.rows for cell in seen.cells if cell.cell.sort != "gone")


def _rarest(
    demand: Extremes | Frequent,
    case: Case,
    count: Callable[[Seen], int],
    sentence: str,
    change: Callable[[str], str],
) -> Item:
    """Judge the column with the fewest counted records."""
    counts = {entry.name: count(entry) for entry in demand.mine(case.seen) if not entry.empty}
    if not counts:
        return demand.item("nothing", "no such column", evidence=f"looked for {demand.sought}")
    name = min(counts, key=lambda key: counts[key])
    holds = counts[name] >= demand.least
    return demand.item(
        "holds" if holds else "fails",
        sentence.format(rows=counts[name], name=name),
        evidence=f"counted in {', '.join(counts)}",
        change="" if holds else change(name),
        value=float(counts[name]),
        required=float(demand.least),
    )


def _common(first: str, second: str) -> str:
    same = 0
    while same < min(len(first), len(second)) and first[same] == second[same]:
        same += 1
    return first[:same]
