"""Codes that look like numbers: their mean is another code with another meaning."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from voronym.errors import hint
from voronym.table.doubts.base import DOUBTS, Doubt, Seen
from voronym.table.doubts.numbers import national_form

_WORDS = re.compile(
    r"zip(code)?|plz|post(al)?(code)?|codigopostal|cp|insee|fips|nuts|lau|ags|nace|noga|naics|sic|isic|isco|soc|"
    r"icd(9|10)?|atc|drg|cpt|region|county|municipality|canton|district|province|country|state|nationality|"
    r"citizenship|marst(at)?|marital(status)?|eth?ni(c|city)?|race|religion|konfession|confesion|gender|sex|occupation|profession|"
    r"industry|sector|branch|beruf|branche|bundesland|kreis|gemeinde|familienstand|staatsangehoerigkeit|"
    r"ocupacion|profesion|provincia|municipio|nacionalidad|departement|commune|nationalite|[a-z]*(code|codigo|kode)s?|(zip|icd|nace)[a-z]*\d*"
)
_DOTTED = re.compile(r"nace|noga|icd(9|10)?|(icd|nace)[a-z]*\d*")
"""Names of codes that may contain a point: 47.10."""
_IDENTIFIERS = re.compile(r"id|uuid|ssn|nhs|mrn|dni|nie|bsn|pesel|passport|account|iban|phone|mobile")
_COUNTS = re.compile(
    r"n|nr|num(ber)?|anzahl|count|size|hhsize|famsize|age|year|years|month|months|day|days|week|weeks|hour|hours|"
    r"child|children|kids|kinder|hijos|enfants|members?|persons?|people|rooms?|cars?|visits?|stays?|births?|"
    r"siblings?|jobs?|score|points?|rank|rating|level|stage|grade|dose|distance|height|weight|income|salary|price"
)
"""Names of columns that count or measure something, even with few values."""
_FEWEST, _FEW = 3, 12
"""Fewest and most distinct whole numbers that may be codes; of two, a mean rounds to the more frequent one.
"""
_TWO = 2
_SURE = 20
_YEARS = (1800, 2100)


def code_reason(seen: Seen) -> tuple[str, str] | None:
    """Return the reason why numbers look like codes, and their probable kind; None if they do not."""
    values, words = seen.values, seen.plain_name.split("_")
    if values.form == "float" and not seen.whole:
        named = list(filter(_DOTTED.fullmatch, words))
        return (f"{named[0]!r} is a name of codes", "nominal") if named else None
    if not seen.whole or len(seen.levels) < _FEWEST:
        return None
    levels = np.asarray(seen.levels, dtype=object)
    if _are_days(levels):
        return f"its {len(levels)} different values read as days, year first: 20251231", "datetime"
    if _are_months(levels):
        return f"its {len(levels)} different values read as months, year first: 202512", "ordinal"
    national = national_form(seen.texts)
    if national is not None:
        return f"its values have the check digits of {national}", "identifier"
    if any(map(_IDENTIFIERS.fullmatch, words)) and len(levels) >= 0.5 * len(values.numbers) >= _SURE / 2:
        return "named like an identifier", "identifier"
    named = list(filter(_WORDS.fullmatch, words))
    if named:
        return f"{named[0]!r} is a name of codes", "nominal"
    return None


def few_codes(seen: Seen) -> bool:
    """Whether a key holds few distinct whole numbers, which may be codes."""
    return seen.whole and _TWO <= len(seen.levels) <= _FEW < len(seen.values) / 4


def counts_something(name: str) -> bool:
    """Whether the name of a column suggests that its numbers count something, such as children."""
    return any(map(_COUNTS.fullmatch, name.split("_")))


@DOUBTS.register("codes")
def averaged_codes(seen: Seen) -> Iterator[Doubt]:
    """Refuse to average codes unless the user declares them as numbers."""
    if seen.role != "key" or seen.column.kind != "numeric" or seen.column.declared:
        return
    result = code_reason(seen)
    if result is not None:
        why, kind = result
        name = seen.name
        better = (
            f"make it an identifier ({hint('identifiers', [name])}), which drops it"
            if kind == "identifier"
            else f"say {hint('kinds', {name: kind})} if they are"
        )
        text = (
            f"key {name!r} holds numbers that look like codes ({why}), and the mean of codes means "
            f"nothing: {better}, or {hint('kinds', {name: 'numeric'})} to average them all the same"
        )
        yield Doubt("codes", name, text, "refuse")
        return
    if few_codes(seen):
        text = (
            f"key {seen.name!r} holds {len(seen.levels)} different whole numbers; if they are codes, such as "
            f"1 = married, say {hint('kinds', {seen.name: 'nominal'})}"
        )
        yield Doubt("few-numbers", seen.name, text, "hint")


def _are_days(levels: np.ndarray[tuple[int], np.dtype[np.object_]]) -> bool:
    """Whether all whole numbers are days, written year, month, day."""
    if len(levels) < _FEWEST or not all(10**7 <= value < 10**8 for value in levels[[0, -1]]):
        return False
    days = levels.astype(np.int64)
    year, month, day = days // 10_000, days // 100 % 100, days % 100
    good = (year >= _YEARS[0]) & (year <= _YEARS[1]) & (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)
    return bool(good.all())


def _are_months(levels: np.ndarray[tuple[int], np.dtype[np.object_]]) -> bool:
    """Whether many whole numbers are all months, written year, month."""
    if len(levels) < _SURE or not all(10**5 <= value < 10**6 for value in levels[[0, -1]]):
        return False
    months = levels.astype(np.int64)
    year, month = months // 100, months % 100
    return bool(((year >= _YEARS[0]) & (year <= _YEARS[1]) & (month >= 1) & (month <= 12)).all())
