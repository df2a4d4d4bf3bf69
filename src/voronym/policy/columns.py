"""Demands on columns: contents to remove, and the coarseness of the other columns."""

from __future__ import annotations

import calendar
import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from voronym.core.options import number, one_of, option
from voronym.errors import InputError, hint
from voronym.policy.base import Demand, Item, demand, rows, text
from voronym.policy.cells import Cell
from voronym.policy.recognise import WHAT, Seen, check_word, strays

if TYPE_CHECKING:
    from voronym.policy.case import Case
    from voronym.policy.complete import Draft


def _word(name: str, value: Any) -> str:
    if not isinstance(value, str) or value not in WHAT:
        raise InputError(f"{name} must be what columns hold ({', '.join(WHAT)}), not {value!r}")
    return check_word(value)


@dataclass(frozen=True)
class ColumnDemand(Demand):
    """A demand on columns with a content, or on a column by its name."""

    holds: str = option("", "the content of the columns", check=_word)
    column: str = option("", "the name of a column, instead", check=text)

    def check(self) -> None:
        """Refuse a demand with both, or with neither."""
        if bool(self.holds) == bool(self.column):
            raise InputError(
                f"the demand {self.name!r} needs either holds (a content of columns) or column (a name)"
            )

    def about(self) -> tuple[Any, ...]:
        """Return the subject of the demand."""
        return (self.section, self.name, self.holds, self.column)

    @property
    def whose(self) -> tuple[str, str]:
        """The content of the demanded columns, or the name of one column."""
        return self.holds, self.column

    def mine(self, seen: Mapping[str, Seen]) -> list[Seen]:
        """Return the columns it applies to; a named column must exist."""
        if self.column:
            if self.column not in seen:
                raise InputError(
                    f"line {self.line} of the policy: the table has no column {self.column!r}, for which "
                    f"{self.name!r} is demanded"
                )
            return [seen[self.column]]
        return [item for item in seen.values() if item.what == self.holds]

    def broken(self, cell: Cell, case: Case) -> bool:
        """Whether a cell breaks the demand."""
        raise NotImplementedError

    def count(self, seen: Seen, case: Any) -> int:
        """Count the rows of a column whose cells break the demand."""
        return sum(
            cell.rows for cell in seen.cells if cell.cell.sort != "gone" and self.broken(cell.cell, case)
        )

    def _judge(self, case: Case, what: str, change: str) -> Item:
        """Count the violations in its columns."""
        mine = [item for item in self.mine(case.seen) if not item.empty]
        if not mine:
            return self.item("nothing", "no such column", evidence=f"looked for {self.sought}")
        counts = {entry.name: self.count(entry, case) for entry in mine}
        bad = {name: count for name, count in counts.items() if count}
        where = ", ".join(f"{element.name} ({element.why})" for element in mine)
        if not bad:
            return self.item("holds", f"0 cells {what}", evidence=f"counted in {where}", value=0.0)
        result = ", ".join(f"{rows(count)} of {name!r}" for name, count in bad.items())
        return self.item(
            "fails",
            f"{result} {what}",
            evidence=f"counted in {where}",
            change=change,
            value=float(sum(bad.values())),
        )

    @property
    def sought(self) -> str:
        """The subject of the search, in words."""
        return WHAT[self.holds][0] if self.holds else f"the column {self.column!r}"


@demand("columns", "absent")
@dataclass(frozen=True)
class Absent(ColumnDemand):
    """Demand that columns of a kind are removed, and that no other column contains such cells."""

    def judge(self, case: Case) -> Item:
        """Search for such columns, and for such cells in all other columns."""
        if self.column:
            mine = [case.seen[self.column]] if self.column in case.seen else []
        else:
            mine = self.mine(case.seen)
        there = [item for item in mine if not item.empty and item.name not in case.units]
        bad = [f"column {entry.name!r} is in the table ({entry.why})" for entry in there]
        names = {element.name for element in mine}
        counts = {
            member.name: strays(member, self.holds)
            for member in case.seen.values()
            if member.name not in names
        }
        bad += [f"{rows(count)} of {name!r} by the look of it" for name, count in counts.items() if count]
        decide = ""
        if kept := [result.name for result in mine if result.name in case.units]:
            decide = (
                f"that the codes in {', '.join(map(repr, kept))} are random and say nothing about a person"
            )
        looked = f"looked at the names and cells of {len(case.seen)} columns"
        if bad:
            drop = hint("identifiers", [result.name for result in there])
            change = f"leave it out: {drop}" if there else "empty or recode these cells"
            return self.item("fails", "; ".join(bad), evidence=looked, change=change, value=float(len(bad)))
        return self.item("holds", "none", evidence=looked, value=0.0, decide=decide)

    def complete(self, draft: Draft) -> None:
        """Drop such columns."""
        for item in draft.seen.values():
            if item.name == self.column or (self.holds and item.what == self.holds):
                draft.drop(item.name, self, f"it holds {self.sought}")


@demand("columns", "top", needed=("most",))
@dataclass(frozen=True)
class Top(ColumnDemand):
    """Demand that no value is above a limit; one open category may begin right above it.

    For dates and years of birth, the limit is an age in years.
    """

    most: float = option(0.0, "the largest value that may be published", check=number(above=0.0))

    def broken(self, cell: Cell, case: Case) -> bool:
        """Whether a cell shows a value above the limit."""
        if self.holds == "birth":
            first, last = years(cell)
            oldest = case.year - self.most  # people born before this year are older, or will be this year
            if first is None:
                return last is not None and last < oldest - 1
            return first < oldest
        if cell.sort != "number":
            return False
        if cell.high is None:
            return cell.bottom > self.most + 1
        return cell.top > self.most

    def judge(self, case: Case) -> Item:
        """Count the cells above the limit."""
        above = (
            f"with an age above {self.most:g}" if self.holds in ("age", "birth") else f"above {self.most:g}"
        )
        if self.holds == "birth":
            change = (
                f"publish years of birth before {case.year - self.most:g} as one: "
                f"{hint('steps', 'bottom COLUMN=...')}"
            )
        else:
            change = f"top-code: {hint('steps', f'top COLUMN={self.most:g}')}, or publish one open category"
        return self._judge(case, above, change)

    def complete(self, draft: Draft) -> None:
        """Top-code columns that have larger values."""
        for item in self.mine(draft.seen):
            if not draft.has(item.name) or not self.count(item, draft) or draft.touched(item.name):
                continue
            kind, why = draft.kind(item.name), f"{self.sought} above {self.most:g} must not be published"
            if self.holds == "birth":
                born = int(draft.year - self.most)
                draft.oldest[item.name] = born
                if kind == "numeric":
                    draft.step(f"bottom {quoted(item.name)}={born}", self, why)
            elif kind == "numeric":
                draft.step(f"top {quoted(item.name)}={self.most:g}", self, why)
            else:
                draft.refuse(
                    self, f"{rows(self.count(item, draft))} of {item.name!r} above {self.most:g}",
                    f"recode them by hand: {item.name!r} is {kind}, not a number",
                )  # fmt: skip


@demand("columns", "period", needed=("unit",))
@dataclass(frozen=True)
class Period(ColumnDemand):
    """Demand that dates show only their year, quarter or month."""

    unit: str = option(
        "year", "the finest period that may be published", check=one_of("year", "quarter", "month")
    )

    def broken(self, cell: Cell, case: Case) -> bool:
        """Whether a cell shows more than the period."""
        if cell.sort == "number":
            return not _is_year(cell) and _is_day(cell)
        if cell.sort != "date":
            return False
        low, high = cell.low, cell.high
        begins = low is None or self._begins(low)
        if high is None:
            return not begins
        after = high if cell.excludes else high + dt.timedelta(days=1)
        # a range may name the first day that is no longer in it
        ends = self._begins(after) or (low != high and self._begins(high))
        return not (begins and ends) or (low is not None and low == high)

    def _begins(self, day: dt.date) -> bool:
        return day.day == 1 and (day.month - 1) % MONTHS[self.unit] == 0

    def judge(self, case: Case) -> Item:
        """Count the dates that are too fine, in columns of other content, too."""
        change = (
            f"recode dates: {hint('steps', 'recode COLUMN cuts=...')} at the first day of each {self.unit}"
        )
        result = self._judge(case, f"finer than the {self.unit}", change)
        if self.holds != "date":
            return result
        dated = {item.name for item in case.seen.values() if item.what in ("date", "birth")}
        others = {
            entry.name: strays(entry, "date") for entry in case.seen.values() if entry.name not in dated
        }
        bad = {name: count for name, count in others.items() if count}
        if not bad:
            return result
        outcome = ", ".join(f"{rows(count)} of {name!r}" for name, count in bad.items())
        figure = f"{outcome} with a date and its day"
        total = float(sum(bad.values()))
        if result.verdict == "fails":
            figure, total = f"{result.figure}; {figure}", total + (result.value or 0.0)
        return self.item("fails", figure, evidence="looked at every cell", change=change, value=total)

    def complete(self, draft: Draft) -> None:
        """Recode dates to periods."""
        for item in self.mine(draft.seen):
            if not draft.has(item.name) or draft.touched(item.name):
                continue
            finer = self.count(item, draft)
            if not finer and item.name not in draft.oldest:
                continue
            if draft.kind(item.name) != "datetime":
                if finer:
                    draft.refuse(
                        self, f"{rows(finer)} of {item.name!r} finer than the {self.unit}",
                        f"declare its kind ({hint('kinds', {item.name: 'datetime'})}), or leave it out "
                        f"({hint('identifiers', [item.name])})",
                    )  # fmt: skip
                continue
            days = [c.cell for c in item.cells if c.cell.sort == "date"]
            first = min(day.low for day in days if day.low)
            last = max(day.high for day in days if day.high)
            floor = draft.oldest.get(item.name)
            if floor is not None and first.year < floor:
                first = dt.date(floor, 1, 1)
            cuts = ",".join(day.isoformat() for day in self._starts(first, max(first, last)))
            draft.step(
                f"recode {quoted(item.name)} cuts={cuts}",
                self,
                f"{self.sought} must be published by the {self.unit}",
            )

    def _starts(self, first: dt.date, last: dt.date) -> Iterator[dt.date]:
        """Yield the first day of each period, from the period of ``first`` to the period after ``last``."""
        size = MONTHS[self.unit]
        month = first.year * 12 + (first.month - 1) // size * size
        while True:
            day = dt.date(month // 12, month % 12 + 1, 1)
            yield day
            if day > last:
                return
            month += size


MONTHS = {"year": 12, "quarter": 3, "month": 1}


def quoted(name: str) -> str:
    """Return a name as it is written in a step."""
    from voronym.core.grammar import quoted as written

    return written(name)


def years(cell: Cell) -> tuple[int | None, int | None]:
    """Return the first and the last year of a date or year in a cell; None for an open end."""
    if cell.sort == "date":
        last = cell.high
        if last is not None and cell.excludes:
            last -= dt.timedelta(days=1)
        return (None if cell.low is None else cell.low.year), (None if last is None else last.year)
    if cell.sort == "number":
        low = None if cell.low is None else int(cell.low)
        return low, None if cell.high is None else int(cell.top)
    return dt.MAXYEAR, dt.MAXYEAR


def _is_year(cell: Cell) -> bool:
    return cell.bottom >= 1000 and cell.top <= 2999


def _is_day(cell: Cell) -> bool:
    """Whether a number is a day written as eight digits: 20240131."""
    digits = f"{cell.low}" if cell.single else ""
    if len(digits) != 8 or not digits.isdecimal():
        return False
    year, month, day = int(digits[:4]), int(digits[4:6]), int(digits[6:])
    return 1850 <= year <= 2150 and 1 <= month <= 12 and 1 <= day <= calendar.monthrange(year, month)[1]
