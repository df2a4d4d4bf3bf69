"""Values whose form identifies people: e-mail addresses, telephone numbers, names, national numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from voronym.errors import hint
from voronym.table.doubts.base import DOUBTS, Doubt, Seen, plain
from voronym.table.doubts.numbers import national_form
from voronym.table.doubts.repeats import looks_like_unit

_SHARE, _FEWEST, _SPREAD = 0.9, 10, 0.5
_WORD = r"[A-ZÀ-ÖØ-ÞŁŚŠŽ][\w'’.-]*"
_SHAPES = {
    "e-mail addresses": re.compile(r"^[^@\s]+@[^@\s]+\.[A-Za-z]{2,}$"),
    "US social security numbers": re.compile(r"^\d{3}-\d{2}-\d{4}$"),
    "network addresses": re.compile(r"^(\d{1,3}\.){3}\d{1,3}$|^([0-9a-f]{2}:){5}[0-9a-f]{2}$", re.IGNORECASE),
    "telephone numbers": re.compile(r"^(\+|00?[1-9]|\()[\d\s()/.-]{6,20}$|^\d{3}[-. ]\d{3}[-. ]\d{4}$"),
    "names of people": re.compile(rf"^{_WORD}(,? (?:(?:van|von|de|del|der|da|la|le|y|i) )*{_WORD}){{1,3}}$"),
}
_NAMES = re.compile(r"(^|_)(name|surname|forename|firstname|lastname|fullname|tel|telephone|fax)($|_)")
_TOLD_BY_SPREAD = ("telephone numbers", "names of people")
"""Patterns that also fit towns and firms; these are shared by many records, unlike names of people."""


def named_for_people(name: str) -> bool:
    """Whether a column's name suggests that it names people."""
    return looks_like_unit(name) or _NAMES.search(plain(name)) is not None


def shape_of(seen: Seen) -> str | None:
    """Return the form of a column's values if it identifies people; otherwise None."""
    texts = seen.texts
    if len(texts) < _FEWEST:
        return None
    if not seen.whole:
        spread = len(seen.levels) >= _SPREAD * seen.values.observed or named_for_people(seen.name)
        for what, shape in _SHAPES.items():
            if what in _TOLD_BY_SPREAD and not spread:
                continue
            if sum(bool(shape.match(text)) for text in texts) >= _SHARE * len(texts):
                return what
    return national_form(texts)


@DOUBTS.register("patterns")
def names_people(seen: Seen) -> Iterator[Doubt]:
    """Warn of a published column that seems to name people."""
    if seen.role == "key" and seen.whole:  # their means are published
        return
    what = shape_of(seen)
    if what is None:
        return
    kept = "masked, which does not hide them" if seen.role == "key" else "kept as it is"
    text = (
        f"the values of {seen.whose} look like {what} ({len(seen.levels)} different ones), and it is "
        f"{kept}: they name people. Make it an identifier ({hint('identifiers', [seen.name])}), which "
        "drops it"
    )
    yield Doubt("patterns", seen.name, text)
