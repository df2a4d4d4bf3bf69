"""Identify the people behind the rows of a table by keyed fingerprints, which hold no value."""

from __future__ import annotations

import hmac
import math
import re
import unicodedata
from collections.abc import Callable, Sequence
from datetime import date, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voronym.errors import InputError, hint
from voronym.table.frame import Frame
from voronym.table.schema import Schema

Prints = NDArray[np.bytes_]

SIZE = 16
"""Bytes of a fingerprint; a collision is expected only among 10^19 people."""

NOBODY = (
    "a ledger has to know who is who from one release to the next: declare the column that names a person "
    f"({hint('person', 'patient_id')}, or {hint('identifiers', ['patient_id'])}); it is dropped from the "
    "release, and the ledger keeps "
    "keyed fingerprints of it only"
)


def naming_columns(
    schema: Schema | None, frame: Frame, declared: Sequence[str] = (), bound: Sequence[str] = ()
) -> list[str]:
    """Return the columns that identify people: the person column, or else the identifiers.

    Parameters
    ----------
    schema : Schema
        Schema of the table.
    frame : narwhals DataFrame
        The table as it came, identifiers included.
    declared : sequence of str
        The identifiers that somebody named; others are columns that are dropped for having no role.
    bound : sequence of str
        The columns by which the ledger knows people already: others would make strangers of them.
    """
    if bound:
        lacking = [name for name in bound if name not in frame.columns]
        if lacking:
            raise InputError(
                f"the ledger knows people by {', '.join(bound)}, and the table has no column "
                f"{', '.join(lacking)}: give the columns these names, or begin another ledger"
            )
        return list(bound)
    person = getattr(schema, "person", None)
    known = () if schema is None else schema.identifiers
    names = [person] if person is not None else [item for item in known if item in declared]
    if not names:
        raise InputError(NOBODY)
    return names


def fingerprints(frame: Frame, columns: Sequence[str], key: bytes) -> Prints:
    """Return HMAC-SHA256 of the columns' values in each row, cut to `SIZE` bytes.

    Numbers have one spelling for all types, and texts one Unicode form without outer spaces. So two
    departments with the same key get the same fingerprints.
    """
    texts = [[spelled(value) for value in frame[name].to_list()] for name in columns]
    rows = list(zip(*texts, strict=True))
    unknown = sum(not any(row) for row in rows)
    if unknown:
        raise InputError(
            f"{unknown} records have nothing in {', '.join(columns)}: the ledger cannot identify them. "
            f"Complete them, or leave them out"
        )
    return _prints(rows, key)


def loose_fingerprints(frame: Frame, columns: Sequence[str], key: bytes) -> Prints:
    """Return fingerprints that ignore differences in spelling.

    Ignored: letter case, full-width forms, dashes, spaces, invisible characters, and leading zeros. Two
    people may share a fingerprint, so it serves only for a warning.
    """
    texts = [_each(frame[name].to_list(), lambda value: loosely(spelled(value))) for name in columns]
    return _prints(list(zip(*texts, strict=True)), key, b"loose")


def loosely(text: str) -> str:
    """Return a text without details that systems spell differently.

    Examples
    --------
    >>> loosely("P-0007") == loosely("p7") == loosely("\uff307\u200b")
    True
    """
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    kept = "".join(sign for sign in plain if unicodedata.category(sign)[0] in "LNM")
    return _ZEROS.sub("", kept) or text


_ZEROS = re.compile(r"(?<!\d)0+(?=\d)")


def _each(values: Sequence[Any], spell: Callable[[Any], str]) -> list[str]:
    """Spell every value; equal values are spelled once."""
    known: dict[tuple[type, Any], str] = {}
    out = []
    for value in values:
        what = (type(value), value)
        if what not in known:
            known[what] = spell(value)
        out.append(known[what])
    return out


def _prints(rows: Sequence[tuple[str, ...]], key: bytes, purpose: bytes = b"") -> Prints:
    made = [hmac.digest(key, purpose + _packed(row), "sha256")[:SIZE] for row in rows]
    return np.array(made, f"S{SIZE}")


def _packed(row: Sequence[str]) -> bytes:
    """Return texts as bytes with their lengths, so that ("ab", "c") differs from ("a", "bc")."""
    parts = [text.encode() for text in row]
    return b"".join(len(part).to_bytes(4, "big") + part for part in parts)


def spelled(value: Any) -> str:
    """Return a value as text: numbers with one spelling for all types, texts in one Unicode form."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if (
        isinstance(value, datetime)
        and (value.hour, value.minute, value.second, value.microsecond) == (0,) * 4
    ):
        return value.date().isoformat()
    if isinstance(value, (date, datetime)):
        return value.isoformat()
    return unicodedata.normalize("NFC", str(value)).strip()
