"""A proposal of roles and kinds, with reasons, for a person to confirm."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from voronym.errors import SchemaError
from voronym.table.conform import check_kinds, doubt
from voronym.table.frame import NUMBERS
from voronym.table.kinds import MAX_CATEGORIES, find_kind, looks_like_text
from voronym.table.schema import Column, Role, Schema
from voronym.table.values import Columns, Values

NEAR_UNIQUE = 0.9  # of the observed values being distinct
_IDENTIFIERS = re.compile(
    r"(^|_)(id|uuid|guid|name|surname|forename|firstname|lastname|email|e_mail|mail|phone|mobile|tel|telephone|fax|ssn|nhs|mrn|"
    r"passport|iban|account|login|user|username|url|ip|address|street|plate|dni|nie)($|_)"
)
_CONFIDENTIAL = re.compile(
    r"(disease|diagnos|illness|condition|symptom|hiv|cancer|drug|medication|treatment|icd|income|salary|wage|earning|debt|"
    r"religion|politic|vote|orientation|crime|offen[cs]e|score|grade|result)"
)
_LAT, _LON = {"lat", "latitude"}, {"lon", "lng", "long", "longitude"}


@dataclass(frozen=True)
class Proposal:
    """A proposed schema, why each column got its role, and what deserves a second look."""

    schema: Schema
    reasons: dict[str, str]
    warnings: tuple[str, ...]

    def __str__(self) -> str:
        rows = [("column", "role", "kind", "why")]
        rows += [(c.name, c.role, c.kind, self.reasons[c.name]) for c in self.schema]
        widths = [max(len(row[i]) for row in rows) for i in range(3)]
        lines = ["  ".join([*(row[i].ljust(widths[i]) for i in range(3)), row[3]]) for row in rows]
        lines.append("A proposal only: check every role before you release anything.")
        lines += [f"! {warning}" for warning in self.warnings]
        return "\n".join(lines)


def infer(frame: Any) -> Proposal:
    """Propose roles and kinds; see `Schema.infer`."""
    table = Columns.at_door(frame)
    if len(table) == 0 or not table.columns:
        raise SchemaError("the table has no rows or no columns; there is nothing to look at")
    reasons: dict[str, str] = {}
    columns: dict[str, Column] = {}
    for name in table.columns:
        role, reason = _role(table[name])
        found = find_kind(table[name], role=role)
        reasons[name] = f"{reason}; {found.note}" if role != "identifier" else reason
        if found.kind == "nominal" and (odd := doubt(table[name])) is not None:
            reasons[name] = f"{reason}; {odd}"
        columns[name] = Column(name, role, found.kind, found.categories, note=found.note)
    _find_location(table, columns, reasons)
    warnings = []
    if not any(column.role == "key" for column in columns.values()):
        promoted = _promote(columns)
        reasons[promoted] = "no other column is fit to be a key; please choose"
        warnings.append(f"no column looks like a key; {promoted!r} is proposed only because one is needed")
    schema = Schema(tuple(columns.values()))
    return Proposal(schema, reasons, (*warnings, *check_kinds(table, schema), *check_other(table, schema)))


def _promote(columns: dict[str, Column]) -> str:
    ranked = sorted(columns.values(), key=lambda c: (c.role == "identifier", c.kind == "text"))
    chosen = ranked[0]
    columns[chosen.name] = Column(chosen.name, "key", chosen.kind, chosen.categories, note=chosen.note)
    return chosen.name


def _plain(name: str) -> str:
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return re.sub(r"[^a-z0-9]+", "_", spaced.lower()).strip("_")


def _role(column: Values) -> tuple[Role, str]:
    held, name = column.form, _plain(column.name)
    if held in ("mixed", "other"):
        return "identifier", "holds values that cannot be masked, so it is dropped"
    if _IDENTIFIERS.search(name):
        return "identifier", "its name is that of an identifier"
    distinct, observed = len(column.levels), column.observed
    if held == "string" and looks_like_text(column):
        return "identifier", "looks like free text, which may say anything about a person"
    unique = observed >= 20 and distinct >= NEAR_UNIQUE * observed
    if unique and (held in ("string", "category") or (held == "integer" and not _is_measure(column))):
        return "identifier", f"near-unique: {distinct} distinct values in {observed}"
    if held in ("string", "category") and distinct > MAX_CATEGORIES:
        return "identifier", f"{distinct} distinct values, too many for a key"
    if _CONFIDENTIAL.search(name):
        return "confidential", "its name is that of a confidential attribute"
    return "key", "an intruder might know it"


def _is_measure(column: Values) -> bool:
    """Whether near-unique integers spread like a measurement, not like numbers given in turn."""
    low, high = column.levels[0], column.levels[-1]
    return bool(high - low > 10 * column.observed and high < 10**9)


def _find_location(table: Columns, columns: dict[str, Column], reasons: dict[str, str]) -> None:
    lats = [n for n in columns if _plain(n) in _LAT and table[n].form in NUMBERS]
    lons = [n for n in columns if _plain(n) in _LON and table[n].form in NUMBERS]
    if len(lats) != 1 or len(lons) != 1:
        return
    for name, partner, axis, most in ((lats[0], lons[0], "lat", 90), (lons[0], lats[0], "lon", 360)):
        present = table[name].numbers
        if len(present) and float(np.abs(present.astype(np.float64)).max()) > most:
            return
        columns[name] = Column(name, "key", "location", None, partner, axis, "a coordinate")  # type: ignore[arg-type]
        reasons[name] = "where a person is can single them out; a coordinate, with its partner"


def check_other(frame: Any, schema: Schema) -> tuple[str, ...]:
    """Return warnings on kept columns that could single people out: near-unique values and free text.

    Only "other" and "confidential" columns of the frame are looked at.

    Examples
    --------
    >>> import polars as pl
    >>> table = pl.DataFrame({"age": [30, 40] * 10, "badge": [f"b{i}" for i in range(20)]})
    >>> check_other(table, Schema.build(table, keys=["age"], other=["badge"]))[0]
    "other column 'badge' has 20 distinct values in 20 rows and is kept as it is: it may single people out"
    """
    table = Columns.at_door(frame)
    warnings = []
    for column in schema:
        if column.role not in ("other", "confidential") or column.name not in table:
            continue
        values = table[column.name]
        if values.form in ("mixed", "other"):
            continue
        distinct, observed = len(values.levels), values.observed
        subject = f"{column.role} column {column.name!r}"
        if column.kind == "text" or (values.form == "string" and looks_like_text(values)):
            warnings.append(f"{subject} looks like free text and is kept as it is: it may name people")
        elif observed >= 10 and distinct >= NEAR_UNIQUE * observed:
            rows = f"{observed} rows" if observed == len(values) else f"{observed} rows where it is present"
            warnings.append(
                f"{subject} has {distinct} distinct values in {rows} and is kept as it is: "
                "it may single people out"
            )
    return tuple(warnings)
