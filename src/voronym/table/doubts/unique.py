"""Columns in which nearly every value is unique."""

from __future__ import annotations

import re
from collections.abc import Iterator

from voronym.errors import hint
from voronym.table.doubts.base import DOUBTS, Doubt, Seen
from voronym.table.kinds import looks_like_text

NEAR_UNIQUE = 0.9
"""A column is near-unique if more than this share of its observed values is distinct."""
LEAST_OBSERVED = 10
"""Smallest number of observed values with enough evidence."""
_AMOUNT = re.compile(r"^[€$£]?\s?-?\d{1,3}([.,'’ ]\d{3})*([.,]\d+)?\s?([€$£%]|EUR|USD|CHF)?$")


@DOUBTS.register("near-unique")
def near_unique(seen: Seen) -> Iterator[Doubt]:
    """Refuse a category that hardly anybody shares as a key; warn about such a kept column."""
    values, kept = seen.values, seen.role in ("other", "confidential")
    if not kept and not seen.published_as_text:
        return
    if kept and (seen.column.kind == "text" or (values.form == "string" and looks_like_text(values))):
        text = f"{seen.whose} looks like free text and is kept as it is: it may name people"
        yield Doubt("near-unique", seen.name, text, public=True)
        return
    distinct, observed = len(values.levels), values.observed
    if observed < LEAST_OBSERVED or distinct < NEAR_UNIQUE * observed:
        return
    rows = f"{observed} rows" if observed == len(values) else f"{observed} rows with a value"
    if kept:
        text = (
            f"{seen.whose} has {distinct} distinct values in {rows} and is kept as it is: "
            "it may single people out"
        )
        yield Doubt("near-unique", seen.name, text, public=True)
        return
    text = (
        f"key {seen.name!r} has {distinct} distinct values in {rows}, and a group would publish one of "
        f"them, which belongs to one person. {ways_out(seen)}"
    )
    yield Doubt("near-unique", seen.name, text, "refuse")


def ways_out(seen: Seen) -> str:
    """Return advice for a key that would publish a value only one person has."""
    name = seen.name
    sentence = f"Make it an identifier ({hint('identifiers', [name])}), which drops it"
    if seen.texts and sum(bool(_AMOUNT.match(text)) for text in seen.texts) >= NEAR_UNIQUE * len(seen.texts):
        sentence += (
            f"; its values look like amounts: say how they are written ({hint('decimal')} and "
            f"{hint('thousands')}), so that "
            f"they are read as numbers ({hint('kinds', {name: 'numeric'})})"
        )
    else:
        sentence += (
            f"; or, where its values are numbers or dates, say so ({hint('kinds', {name: 'numeric'})} or "
            f"{hint('kinds', {name: 'datetime'})}); or group them into broader categories"
        )
    return f"{sentence}; or allow it: {hint('allow_near_unique', [name])}"
