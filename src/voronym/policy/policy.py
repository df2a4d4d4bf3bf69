"""A policy: a file of demands, with its source and date. The reader is strict and names the line."""

from __future__ import annotations

import datetime as dt
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import Any

from voronym.core.formats import check_format
from voronym.core.registry import meant
from voronym.errors import InputError
from voronym.policy import codes, columns, groups, others  # noqa: F401 - importing registers
from voronym.policy.base import SECTIONS, Demand, demand_of, text
from voronym.policy.columns import ColumnDemand
from voronym.policy.recognise import check_word

__all__ = ["Policy", "shipped"]

FORMAT = 1
_ENTRIES = ("format", "name", "title", "version", "date", "source", "source_date", "link", "summary", "note",
            "facts", "recognise", *SECTIONS)  # fmt: skip
_NEEDED = ("format", "name", "title", "version", "date", "source", "note")


@dataclass(frozen=True)
class Policy:
    """The demands of an official guidance on a release.

    Read a policy with `Policy.load`: a shipped one by its name, or a file.

    Parameters
    ----------
    name, title, version : str
        Name, title, and edition of the file.
    date : date
        When the file was written.
    source : str
        The text that it puts into demands.
    note : str
        The statement that it is no legal advice.
    demands : tuple of Demand
        The demands, in the order of the sections.
    source_date, link, summary :
        Date, address and subject of the guidance.
    facts : mapping
        Tables that it needs, by name, in words: which one to give.
    recognise : mapping
        The content of columns that their names do not reveal.
    """

    name: str
    title: str
    version: str
    date: dt.date
    source: str
    note: str
    demands: tuple[Demand, ...]
    source_date: dt.date | None = None
    link: str = ""
    summary: str = ""
    facts: Mapping[str, str] = field(default_factory=dict)
    recognise: Mapping[str, str] = field(default_factory=dict)
    text: str = field(default="", repr=False)

    @classmethod
    def load(cls, given: str | Path | Policy) -> Policy:
        """Read a policy: a shipped one by its name, or a file.

        Examples
        --------
        >>> Policy.load("ema-0070").title
        'EMA Policy 0070: clinical data published for everybody'
        """
        if isinstance(given, Policy):
            return given
        known = shipped()
        if str(given) in known:
            return cls.parse(known[str(given)], str(given))
        path = Path(given)
        try:
            if not path.is_file():
                raise InputError(
                    f"there is no policy {str(given)!r}: name a file, or one of {', '.join(known)}"
                    f"{meant(str(given), known)}"
                )
            return cls.parse(path.read_text(encoding="utf-8"), path.name)
        except (OSError, UnicodeDecodeError) as error:
            why = getattr(error, "strerror", None) or "it is not UTF-8 text"
            raise InputError(f"cannot read the policy {path.name!r}: {why}") from None

    @classmethod
    def parse(cls, source: str, label: str = "policy.toml") -> Policy:
        """Read a policy from its text; ``label`` names the file in messages."""
        try:
            data = tomllib.loads(source)
        except tomllib.TOMLDecodeError as error:
            result, _, place = str(error).rpartition(" (at ")
            line = re.search(r"line (\d+)", place)
            where = f", line {line[1]}" if line else ", last line" if "end of document" in place else ""
            raise InputError(f"policy {label}{where}: {(result or str(error)).lower()}") from None
        return _Reader(data, _Lines(source), label, source).policy()

    def of(self, section: str) -> tuple[Demand, ...]:
        """Return the demands of a section."""
        return tuple(demand for demand in self.demands if demand.section == section)

    def __str__(self) -> str:
        return f"{self.title} ({self.name} {self.version}, {self.date})"


def shipped() -> dict[str, str]:
    """Return the policies that come with voronym: their texts by name."""
    folder = resources.files("voronym.policy") / "shipped"
    files = sorted(
        (path for path in folder.iterdir() if path.name.endswith(".toml")), key=lambda item: item.name
    )
    return {file.name.removesuffix(".toml"): file.read_text(encoding="utf-8") for file in files}


class _Lines:
    """Line numbers of the entries in a TOML text, because tomllib does not report them."""

    def __init__(self, source: str) -> None:
        self._at: dict[tuple[str, int, str], int] = {}
        self._heads: dict[tuple[str, int], int] = {}
        table, counts, quotes = ("", 0), {}, ""  # type: ignore[var-annotated]
        for number, line in enumerate(source.splitlines(), 1):
            if quotes:  # within a text of several lines
                quotes = "" if quotes in line else quotes
                continue
            if match := re.match(r"\s*\[\[\s*\"?([\w.-]+)\"?\s*\]\]", line):
                counts[match[1]] = counts.get(match[1], -1) + 1
                table = (match[1], counts[match[1]])
                self._heads[table] = number
            elif match := re.match(r"\s*\[\s*\"?([\w.-]+)\"?\s*\]", line):
                table = (match[1], 0)
                self._heads[table] = number
            elif match := re.match(r"\s*(?:\"([^\"]+)\"|'([^']+)'|([\w.-]+))\s*=", line):
                self._at.setdefault((*table, match[1] or match[2] or match[3]), number)
                rest = line[match.end() :]
                quotes = next((q for q in ('"""', "'''") if rest.count(q) == 1), "")

    def of(self, entry: str = "", table: str = "", number: int = 0) -> int:
        """Return the line of an entry or of its table; 1 if neither is known."""
        here = self._at.get((table, number, entry))
        return here or self._heads.get((table, number)) or self._heads.get((entry, 0)) or 1


class _Reader:
    """Builds a policy from a file's content; errors name the line."""

    def __init__(self, data: Mapping[str, Any], lines: _Lines, label: str, source: str) -> None:
        self.data, self.lines, self.label, self.source = data, lines, label, source

    def refuse(self, line: int, why: str) -> InputError:
        return InputError(f"policy {self.label}, line {line}: {why}")

    def policy(self) -> Policy:
        data = self.data
        for entry in data:
            if entry not in _ENTRIES:
                known = f"; there are: {', '.join(_ENTRIES)}{meant(entry, _ENTRIES)}"
                raise self.refuse(self.lines.of(entry), f"a policy has no entry {entry!r}{known}")
        lacking = [entry for entry in _NEEDED if entry not in data]
        if lacking:
            raise self.refuse(1, f"the policy has no {lacking[0]}; it needs: {', '.join(_NEEDED)}")
        try:
            check_format("the policy", data["format"], FORMAT)
        except InputError as error:
            raise self.refuse(self.lines.of("format"), str(error)) from None
        given: dict[str, Any] = {
            name: self.text(name) for name in ("name", "title", "version", "source", "note")
        }
        given |= {name: self.text(name) for name in ("link", "summary") if name in data}
        given |= {name: self.date(name) for name in ("date", "source_date") if name in data}
        demands = self.demands()
        if not demands:
            raise self.refuse(1, f"the policy demands nothing: it has none of {', '.join(SECTIONS)}")
        facts, recognised = self.table("facts"), self.table("recognise")
        for column, what in recognised.items():
            try:
                check_word(what)
            except InputError as error:
                raise self.refuse(self.lines.of(column, "recognise"), str(error)) from None
        self.contradictions(demands)
        for demand in demands:
            named = getattr(demand, "facts", "")
            if named and named not in facts:
                raise self.refuse(
                    self.lines.of("facts", demand.section, self.place[demand]),
                    f"the table {named!r} is not described: say which one to give, under [facts]",
                )
        return Policy(**given, demands=demands, facts=facts, recognise=recognised, text=self.source)

    def text(self, entry: str) -> str:
        try:
            return text(entry, self.data[entry])
        except InputError as error:
            raise self.refuse(self.lines.of(entry), str(error)) from None

    def date(self, entry: str) -> dt.date:
        value = self.data[entry]
        if not isinstance(value, dt.date) or isinstance(value, dt.datetime):
            raise self.refuse(
                self.lines.of(entry),
                f"{entry} must be a date such as 2024-05-31, without quotes, not {value!r}",
            )
        return value

    def table(self, entry: str) -> dict[str, str]:
        given = self.data.get(entry, {})
        if not isinstance(given, Mapping):
            raise self.refuse(self.lines.of(entry), f"{entry} must be a table of names and texts")
        for name, value in given.items():
            if not isinstance(value, str) or not value.strip():
                raise self.refuse(self.lines.of(name, entry), f"{name} must be a text, not {value!r}")
        return dict(given)

    def demands(self) -> tuple[Demand, ...]:
        made: list[Demand] = []
        self.place: dict[Demand, int] = {}
        for section in SECTIONS:
            listed = self.data.get(section, [])
            if not isinstance(listed, list) or not all(isinstance(item, Mapping) for item in listed):
                raise self.refuse(
                    self.lines.of(section), f"{section} is a list of demands: begin each with [[{section}]]"
                )
            for number, entries in enumerate(listed):
                result = self.demand(section, number, entries)
                self.place[result] = number
                made.append(result)
        return tuple(made)

    def demand(self, section: str, number: int, entries: Mapping[str, Any]) -> Demand:
        head = self.lines.of("", section, number)
        if "demand" not in entries:
            raise self.refuse(head, f"[[{section}]] does not name its demand: add demand = ...")
        try:
            cls = demand_of(section, entries["demand"])
        except InputError as error:
            raise self.refuse(self.lines.of("demand", section, number), str(error)) from None
        for entry in entries:
            if entry != "demand" and entry not in cls.names():
                raise self.refuse(
                    self.lines.of(entry, section, number),
                    f"the demand {cls.name!r} has no entry {entry!r}; there are: {', '.join(cls.names())}"
                    f"{meant(entry, cls.names())}",
                )
        lacking = [entry for entry in ("says", *cls.needed) if entry not in entries]
        if lacking:
            raise self.refuse(head, f"the demand {cls.name!r} lacks {lacking[0]}")
        declared = cls.declared()
        given: dict[str, Any] = {}
        for entry, value in entries.items():
            if entry == "demand":
                continue
            check = declared[entry].check
            try:
                given[entry] = value if check is None else check(entry, value)
            except InputError as error:
                raise self.refuse(self.lines.of(entry, section, number), str(error)) from None
        try:
            made = replace(cls(**given), line=head)
            made.check()
        except InputError as error:
            raise self.refuse(head, str(error)) from None
        return made

    def contradictions(self, demands: tuple[Demand, ...]) -> None:
        """Refuse demands that repeat or exclude each other."""
        known: dict[tuple[Any, ...], Demand] = {}
        gone: dict[tuple[str, str], Demand] = {}
        for element in demands:
            first = known.setdefault(element.about(), element)
            if first is not element:
                raise self.refuse(
                    element.line, f"the demand {element.name!r} is already in line {first.line}"
                )
            if isinstance(element, ColumnDemand) and element.name == "absent":
                gone[element.whose] = element
        for entry in demands:
            if isinstance(entry, ColumnDemand) and entry.name != "absent" and entry.whose in gone:
                which, line = entry.holds or entry.column, gone[entry.whose].line
                raise self.refuse(
                    entry.line,
                    f"{entry.name!r} is demanded of {which!r}, which must be absent by line {line}",
                )
        mean = {
            demand.intruder: demand
            for demand in demands
            if isinstance(demand, groups.GroupRisk) and demand.figure == "mean"
        }
        for item in demands:
            if isinstance(item, groups.GroupRisk) and item.figure == "max" and item.intruder in mean:
                other = mean[item.intruder]
                if other.most > item.most:
                    raise self.refuse(
                        other.line,
                        f"the mean risk may be {other.most:g} and the largest, by line {item.line}, no more "
                        f"than {item.most:g}: a mean is never above the largest",
                    )
