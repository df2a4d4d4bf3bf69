"""A proposed schema: the output of `voronym inspect`, and the matching command."""

from __future__ import annotations

import shlex
import textwrap
from dataclasses import dataclass, field

from voronym.errors import hint, worded
from voronym.table.doubts.sentinels import declared
from voronym.table.schema import Column, Schema

CODES = "looks like codes"
DATES = "texts that all read as dates in one way"
NUMBERS_AS_TEXTS = "texts that all read as numbers"
WEIGHT = "looks like a survey weight"


@dataclass(frozen=True)
class Proposal:
    """A proposed schema, the reason for each role, and remarks that deserve a second look."""

    schema: Schema
    reasons: dict[str, str]
    warnings: tuple[str, ...]
    shapes: dict[str, str] = field(default_factory=dict)
    """The form of each column's values: digits as 9, letters as A and a."""

    distinct: dict[str, int] = field(default_factory=dict)
    """Number of distinct values of each column."""
    missing: dict[str, int] = field(default_factory=dict)
    """Number of rows without a value, if there are any."""
    infinite: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Keys with infinite values, and the codes that declare these missing: "inf", "-inf"."""
    codes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Columns with numbers that mean "missing", far from all others: "-999"."""
    several: tuple[tuple[str, str], ...] = ()
    """"person" or "household", and the advice to name its column; a warning if none is named."""

    def __str__(self) -> str:
        return self.text()

    def text(self, width: int = 1_000) -> str:
        """Return the proposal as lines that break between words.

        Parameters
        ----------
        width : int
            Columns of the terminal. If the reasons do not fit next to the rest, they stand below it.
        """
        rows = [("column", "role", "kind", "distinct", "such as", "why")]
        rows += [self._row(column) for column in self.schema]
        widths = [max(len(row[i]) for row in rows) for i in range(5)]
        room = sum(widths) + 10
        below = width - room < 24
        lines = []
        for row in rows:
            start = "  ".join(
                row[i].rjust(widths[i]) if i == 3 else row[i].ljust(widths[i]) for i in range(5)
            )
            if below:
                lines += [start.rstrip(), *_lines(row[5], width, "    ")][: 1 if row is rows[0] else None]
            else:
                first, *more = _lines(row[5], width - room, "") or [""]
                lines += [f"{start}  {first}".rstrip(), *(" " * room + item for item in more)]
        lines.append("A proposal only: check every role before you release anything.")
        for warning in self.warnings:
            lines += _lines(warning, width, "  ", "! ")
        return "\n".join(lines)

    def _row(self, column: Column) -> tuple[str, str, str, str, str, str]:
        name, none = column.name, self.missing.get(column.name, 0)
        role = "weight" if name == self.weights else column.role
        why = self.reasons[name] + (f"; {none:,} missing" if none else "")
        distinct = f"{self.distinct[name]:,}" if name in self.distinct else ""
        return name, role, column.kind, distinct, self.shapes.get(name, ""), why

    @property
    def weights(self) -> str | None:
        """The column that looks like survey weights and varies; None without one."""
        for column in self.schema:
            if self.reasons.get(column.name, "").startswith(WEIGHT) and self.distinct.get(column.name, 0) > 1:
                return column.name
        return None

    def command(self, source: str) -> str:
        """Return the command line for the proposal.

        Examples
        --------
        >>> import polars as pl
        >>> table = pl.DataFrame({"name": ["Ann", "Bob", "Eve"], "age": [30, 40, 50]})
        >>> print(Schema.infer(table).command("people.csv"))
        voronym anonymize people.csv -o release.csv --identifier name --key age -k 5
        """
        schema = self.schema
        units = set(schema.units.values())
        heavy = self.weights
        other = tuple(column.name for column in schema if column.role == "other" and column.name != heavy)
        roles = {
            "identifiers": schema.identifiers,
            "keys": schema.keys,
            "confidential": schema.confidential,
            "other": other,
        }
        listed = {role: [name for name in names if name not in units] for role, names in roles.items()}
        hints = [hint(role, names) for role, names in listed.items() if names]
        hints += [hint(what, name) for what, name in schema.units.items()]
        if heavy is not None:
            hints.append(hint("weights", heavy))
        done: set[str] = set()
        kinds: dict[str, list[str]] = {}
        for column in schema:
            if column.role == "identifier" or column.name in done:
                continue
            if column.kind == "location" and column.partner is not None:
                lat, lon = schema.location(column.name, schema.keys)
                hints.append(hint("locations", [(lat, lon)]))
                done |= {lat, lon}
            elif column.note.startswith((CODES, DATES, NUMBERS_AS_TEXTS)):
                kinds.setdefault(column.kind, []).append(column.name)
        hints += [hint("kinds", {",".join(alike): kind}) for kind, alike in kinds.items()]
        for name, codes in (*self.infinite.items(), *self.codes.items()):
            hints.append(hint("missing", declared(name, codes)))
        words = shlex.join(["voronym", "anonymize", source, "-o", "release.csv"])
        return worded(" ".join([words, *hints, hint("k", 5)]), "command")


def _lines(text: str, width: int, indent: str, first: str | None = None) -> list[str]:
    return textwrap.wrap(
        text,
        max(width, 20),
        initial_indent=indent if first is None else first,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
