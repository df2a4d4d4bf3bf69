"""A proposal of roles and kinds, with reasons, for a person to confirm."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from voronym.errors import Hint, SchemaError, hint, hints_in, worded
from voronym.table import spelling
from voronym.table.conform import as_kind, check_kinds, doubt
from voronym.table.doubts.base import Doubt, Seen, about_columns, about_table
from voronym.table.doubts.base import plain as _plain
from voronym.table.doubts.codes import code_reason, counts_something, few_codes
from voronym.table.doubts.repeats import looks_like_unit
from voronym.table.doubts.sentinels import declared, hidden, last_codes
from voronym.table.doubts.unique import NEAR_UNIQUE
from voronym.table.frame import NUMBERS, listing
from voronym.table.kinds import MAX_CATEGORIES, ChosenKind, find_kind, looks_like_text
from voronym.table.proposal import CODES, DATES, NUMBERS_AS_TEXTS, WEIGHT, Proposal
from voronym.table.schema import Column, Role, Schema
from voronym.table.values import Columns, Values

_IDENTIFIERS = re.compile(
    r"(^|_)(id|uuid|guid|name|surname|forename|firstname|lastname|email|e_mail|mail|phone|mobile|tel|telephone|fax|ssn|nhs|mrn|"
    r"passport|iban|account|login|user|username|url|ip|address|street|plate|dni|nie|"
    r"vorname|nachname|familienname|telefon|handy|strasse|stra_e|adresse|anschrift|kontonummer|"
    r"nombre|apellidos?|telefono|direccion|correo|nom|prenom)($|_)"
)
_CONFIDENTIAL = re.compile(
    r"(disease|diag|illness|(^|_)ill($|_)|condition|symptom|hiv|cancer|drug|medication|treatment|icd|income|salary|wage|earning|debt|"
    r"religion|politic|vote|orientation|crime|offen[cs]e|score|grade|result|"
    r"krankheit|befund|gesundheit|einkommen|gehalt$|lohn|konfession|enfermedad|salud|ingresos|salario|sueldo|"
    r"maladie|sante$|revenu|salaire)"
)
_WEIGHTS = re.compile(
    r"((sampl(e|ing)|survey|design|final|person|pers|hh|house_?hold|indiv(idual)?|pop(ulation)?)_?(weights?|wt|wgt)$|"
    r"^(weights|wgt|pweights?|hweights?|pwgt|hwgt|hochrechnungsfaktor|gewichtung|hochrechnung|ponderacion|"
    r"factor_(de_)?(expansion|elevacion|ponderacion)|expansion_factor|ponderation|poids_(individu|menage)|hrf|"
    r"(per|hh|psp|p|d|an)(wt|wgt|wght|weight))$)"
)
_HEAVY = {"weight", "gewicht", "gew", "peso", "poids", "factor", "faktor", "pond", "wt"}
"""Words in the names of weight columns, of a survey or of a body."""
_BODY = (2.0, 250.0)
"""Kilograms that bodies have, newborn children among them: survey weights are larger, or near 1."""
_TEXTS = re.compile(
    r"(^|_)(comments?|remarks?|notes|free_?text|bemerk(ung(en)?)?|kommentare?|freitext|observacion(es)?|"
    r"comentarios?|commentaires?|remarques?)($|_)"
)
_LAT, _LON = {"lat", "latitude"}, {"lon", "lng", "long", "longitude"}


def infer(frame: Any) -> Proposal:
    """Propose roles and kinds; see `Schema.infer`."""
    table = Columns.at_door(frame)
    if len(table) == 0 or not table.columns:
        raise SchemaError("the table has no rows or no columns; there is nothing to look at")
    reasons: dict[str, str] = {}
    columns: dict[str, Column] = {}
    for name in table.columns:
        dates = as_kind(table[name], "datetime") is not None and table[name].form in ("string", "category")
        values = _as_numbers(table[name])
        role, reason = _role(values, dates=dates)
        kind = find_kind(table[name], role=role)
        if dates and role != "identifier":
            kind = ChosenKind("datetime", None, DATES)
        elif role != "identifier" and values is not table[name]:
            kind = ChosenKind("numeric", None, NUMBERS_AS_TEXTS)
        reasons[name] = f"{reason}; {kind.note}" if role != "identifier" else reason
        if kind.kind == "nominal" and (odd := doubt(table[name])) is not None:
            reasons[name] = f"{reason}; {odd}"
        columns[name] = Column(name, role, kind.kind, kind.categories, note=kind.note)
        _find_codes(Seen(values, columns[name], table), columns, reasons)
    _find_location(table, columns, reasons)
    warnings = []
    if not any(column.role == "key" for column in columns.values()):
        promoted = _promote(columns)
        reasons[promoted] = "no other column is fit to be a key; please choose"
        warnings.append(f"no column looks like a key; {promoted!r} is proposed only because one is needed")
    schema = Schema(tuple(columns.values()))
    early = about_table(table, schema)
    schema = _with_units(schema, early, reasons)
    several = {item: _unit(item) for item in early if item.name in ("repeats", "namesakes")}
    doubts = [
        entry for entry in early if several.get(entry) not in schema.units
    ]  # advice that was taken is none
    doubts += _joined(table, schema, [name for name, why in reasons.items() if why.startswith(WEIGHT)])
    endless = list(_find_infinite(table, schema))
    warnings += [*check_kinds(table, schema), *(member for _, _, member in endless), *map(str, doubts)]
    shapes = {name: shape(table[name]) for name in table.columns}
    distinct, missing = {}, {}
    for name in table.columns:
        if table[name].form not in ("mixed", "other"):
            distinct[name] = len(table[name].levels)
            missing[name] = len(table) - int(table[name].observed)
    infinite = {name: codes for name, codes, _ in endless}
    advice = tuple((what, str(element)) for element, what in several.items())
    gaps = {name: codes for name in schema.names if (codes := _gap_codes(table[name], schema[name]))}
    reasons = {name: worded(reason) for name, reason in reasons.items()}
    sentences = tuple(map(worded, warnings))
    return Proposal(schema, reasons, sentences, shapes, distinct, missing, infinite, gaps, advice)


def _find_infinite(table: Columns, schema: Schema) -> Iterator[tuple[str, tuple[str, ...], str]]:
    """Yield keys with infinite values, which have no mean: the column, the values, the advice."""
    for name in schema.keys:
        if table[name].form != "float" or schema[name].kind not in ("numeric", "location"):
            continue
        values = table[name].numbers
        signs = {"inf": int(np.isposinf(values).sum()), "-inf": int(np.isneginf(values).sum())}
        codes = tuple(sign for sign, count in signs.items() if count)
        if codes:
            sentence = (
                f"key {name!r} has {sum(signs.values())} infinite values, which have no mean: let them "
                f"count as missing ({hint('missing', declared(name, codes))}), or write what they stand for"
            )
            yield name, codes, sentence


def _gap_codes(column: Values, described: Column) -> tuple[str, ...]:
    """Return the numbers of a column that mean "missing"."""
    seen = Seen(column, described, Columns.at_door(column.series.to_frame()))
    return tuple(f"{value:g}" for value in hidden(seen))


def _find_codes(seen: Seen, columns: dict[str, Column], reasons: dict[str, str]) -> None:
    """Propose another kind, or role, for whole numbers that look like codes."""
    column, name = seen.column, seen.name
    if column.role == "identifier" or column.kind != "numeric":
        return
    result = code_reason(seen)
    if result is None and column.role == "key" and few_codes(seen) and not _counts(seen):
        result = f"{len(seen.levels)} different whole numbers", "nominal"
    if result is None:
        return
    why, kind = result
    reasons[name] = f"{reasons[name].split(';')[0]}; {CODES}: {why}"
    if kind == "identifier":
        columns[name] = replace(column, role="identifier", kind="text", note="dropped")
    elif kind in ("nominal", "ordinal", "datetime"):
        columns[name] = replace(column, kind=kind, note=f"{CODES}: {why}")  # type: ignore[arg-type]


def _counts(seen: Seen) -> bool:
    """Whether few whole numbers are counts: by their name, or many consecutive ones with 97 for none."""
    return counts_something(seen.plain_name) or (bool(hidden(seen)) and len(seen.levels) > _MANY)


_MANY = 8


def _with_units(schema: Schema, early: Sequence[Doubt], reasons: dict[str, str]) -> Schema:
    """Propose the first identifier that repeats as the column of people, or of households."""
    for item in early:
        if item.name == "repeats" and schema[item.column].role == "identifier":
            what = _unit(item)
            reasons[item.column] += f"; it repeats: a {what} may have several rows"
            return replace(schema, **{what: item.column})  # type: ignore[arg-type]
    return schema


def _joined(table: Columns, schema: Schema, averaged: Collection[str]) -> list[Doubt]:
    """Return doubts about columns; similar ones are joined into one line that can be pasted.

    Weights in ``averaged`` are skipped, because groups publish their mean.
    """
    doubts = [item for item in about_columns(table, schema) if item.column not in averaged]
    few, last = (
        [doubt.column for doubt in doubts if doubt.name == name and "," not in doubt.column]
        for name in ("few-numbers", "coded-gaps")
    )
    asked = {"few-numbers": few, "coded-gaps": last}
    out = [item for item in doubts if item.column not in asked.get(item.name, [])]
    if few:
        text = (
            f"{listing(few)} {'holds' if len(few) == 1 else 'hold'} few different whole numbers; if these "
            f"are codes, such as 1 = married, say {hint('kinds', dict.fromkeys(few, 'nominal'))}"
        )
        out.append(Doubt("few-numbers", few[0], text, "hint"))
    if last:
        codes = ",".join(declared(name, last_codes(Seen(table[name], schema[name], table))) for name in last)
        text = (
            f"the last codes of {listing(last)} follow after a jump; those that mean 'missing' are declared "
            f"by {hint('missing', codes)}"
        )
        out.append(Doubt("coded-gaps", last[0], text, "hint"))
    return out


def _as_numbers(column: Values) -> Values:
    """Return texts, as from a database without types, as numbers if all can be read; 08001 is a code."""
    if column.form not in ("string", "category"):
        return column
    levels = [str(level).strip() for level in column.levels]
    if not levels or any(re.match(spelling.CODE, level) for level in levels):
        return column
    numbers = as_kind(column, "numeric")
    return column if numbers is None else Values(numbers)


def _unit(doubt: Doubt) -> str:
    """Return the unit of a repeating column: a person, or a household."""
    return "household" if Hint("household", doubt.column) in hints_in(doubt.text) else "person"


def shape(column: Values) -> str:
    """Return the usual form of a column's values without a value: digits as 9, letters as A and a.

    Examples
    --------
    >>> import polars as pl
    >>> table = Columns.at_door(pl.DataFrame({"ssn": ["737-42-6874", "960-69-5080"], "n": [3.5, 12.25]}))
    >>> shape(table["ssn"]), shape(table["n"])
    ('999-99-9999', '9.9')
    """
    if column.form in ("mixed", "other", "empty"):
        return ""
    taken = column.series.drop_nulls().head(_SHAPES)
    if column.form in ("date", "datetime"):
        return "a date" if column.form == "date" else "a time"
    counter = Counter(_shape(str(value)) for value in taken.to_list())
    return counter.most_common(1)[0][0] if counter else ""


_SHAPES, _WIDE = 1_000, 18


def _shape(text: str) -> str:
    text = re.sub(r"[\x00-\x1f\x7f]+", "␤", text)  # a line break would break the table that is printed
    plain = re.sub(r"[^\W\d_]", lambda sign: "A" if sign[0].isupper() else "a", text)
    plain = re.sub(r"a{3,}", "a…", re.sub(r"\d", "9", plain))
    plain = re.sub(r"9{9,}", "9…", plain)
    return plain if len(plain) <= _WIDE else plain[: _WIDE - 1] + "…"


def _promote(columns: dict[str, Column]) -> str:
    ranked = sorted(columns.values(), key=lambda c: (c.role == "identifier", c.kind == "text"))
    chosen = ranked[0]
    columns[chosen.name] = Column(chosen.name, "key", chosen.kind, chosen.categories, note=chosen.note)
    return chosen.name


def _role(column: Values, *, dates: bool) -> tuple[Role, str]:
    """Propose a role; texts that are dates count as dates, which may all differ."""
    held, name = "date" if dates else column.form, _plain(column.name)
    if held in ("mixed", "other"):
        return "identifier", "holds values that cannot be masked, so it is dropped"
    if _IDENTIFIERS.search(name):
        return "identifier", "named like an identifier"
    distinct, observed = len(column.levels), column.observed
    if looks_like_unit(column.name) and distinct >= 10 and held in ("integer", "string", "category"):
        return "identifier", "named like a person or a household"
    if held == "string" and (looks_like_text(column) or _TEXTS.search(name)):
        return "identifier", "looks like free text, which may say anything about a person"
    unique = observed >= 20 and distinct >= NEAR_UNIQUE * observed
    if unique and (held in ("string", "category") or (held == "integer" and not _is_measure(column))):
        return "identifier", f"near-unique: {distinct} distinct values in {observed}"
    if held in ("string", "category") and distinct > MAX_CATEGORIES:
        return "identifier", f"{distinct} distinct values, too many for a key"
    if _is_weight(column):
        return "other", WEIGHT
    if distinct == 1 and observed == len(column):
        return "other", "one value for everybody: it distinguishes nobody"
    if _CONFIDENTIAL.search(name):
        return "confidential", "named like a confidential attribute"
    return "key", "nothing suggests another role"


def _is_weight(column: Values) -> bool:
    """Whether a column is a survey weight, by its name; bodies have a weight, too."""
    name = _plain(column.name)
    if column.form not in ("integer", "float") or not column.observed:
        return False
    if _WEIGHTS.search(name):
        return True
    middle = float(np.median(column.numbers))
    light = 0.0 < middle < _BODY[0] and column.form == "float" and float(column.numbers.min()) >= 0.0
    words = set(name.split("_"))
    return (light and not words.isdisjoint(_HEAVY - {"factor", "faktor"})) or (
        middle > _BODY[1] and not words.isdisjoint(_HEAVY)
    )


def _is_measure(column: Values) -> bool:
    """Whether near-unique integers spread like a measurement, not like consecutive numbers."""
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
