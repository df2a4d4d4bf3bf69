"""Codes and labels of statistical files (0 = "no", 1 = "yes"), kept from reading to writing.

A release shows the labels, but users' programs expect the codes, so both must be restored. Polars cannot
store codes next to a column. The dtype of unordered categories has a name that leads to the codes. Codes of
ordered categories are found by the column's name and levels. Labels of single numbers and of variables belong
to the whole table, see `labels_of`.
"""

from __future__ import annotations

import hashlib
import weakref
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import narwhals as nw
import polars as pl

Code = float | str
Book = Mapping[str, tuple[Code, str]]  # name of a category -> its code and its label in the file


@dataclass(frozen=True)
class Labels:
    """A file's labels of variables, and of values by column and code.

    Parameters
    ----------
    variables : mapping
        Label of each column.
    values : mapping
        Labels of values, by column and code.
    measures : mapping
        "nominal", "ordinal" or "scale", by column.
    missing : mapping
        Ranges of codes that mean that there is no value, by column, as pyreadstat has them.
    title : str
        Label of the file.
    """

    variables: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Mapping[Code, str]] = field(default_factory=dict)
    measures: Mapping[str, str] = field(default_factory=dict)
    missing: Mapping[str, Any] = field(default_factory=dict)
    title: str = ""

    def only(self, columns: Collection[str]) -> Labels:
        """Return the labels of some columns."""
        parts: dict[str, Any] = {
            part: {name: item for name, item in getattr(self, part).items() if name in columns}
            for part in ("variables", "values", "measures", "missing")
        }
        return replace(self, **parts)


def declared_labels(name: str, known: Labels) -> dict[Code, str]:
    """Return the labels of codes that are declared missing; they reveal nothing about a record."""
    ranges = known.missing.get(name, [])
    return {
        code: text
        for code, text in known.values.get(name, {}).items()
        if any(isinstance(code, str) == isinstance(item["lo"], str) and item["lo"] <= code <= item["hi"]
               for item in ranges)
    }  # fmt: skip


_BOOKS: dict[str, Book] = {}
_ORDERED: dict[str, list[Book]] = {}
_TABLES: dict[int, Labels] = {}


def make_book(labels: Mapping[Code, str]) -> Book:
    """Return the codes by category; a label of several codes is extended by the code."""
    texts = list(labels.values())
    book: dict[str, tuple[Code, str]] = {}
    for code in sorted(labels):
        text = labels[code]
        shown = f"{code:g}" if isinstance(code, (int, float)) else str(code)
        book[text if texts.count(text) == 1 else f"{text} ({shown})"] = (code, text)
    return book


def dtype_of(name: str, book: Book, *, ordered: bool) -> Any:
    """Return the dtype of a column of these categories, and remember their codes."""
    if ordered:
        known = _ORDERED.setdefault(name, [])
        known[:] = [old for old in known if old != book] + [book]
        return pl.Enum(list(book))
    # The same codes give the same dtype, so that tables of one questionnaire can be put together.
    digest = hashlib.sha256(repr(sorted(book.items())).encode()).hexdigest()[:16]
    _BOOKS[digest] = book
    return pl.Categorical(pl.Categories(digest, namespace="voronym"))


def book_of(column: pl.Series) -> Book | None:
    """Return the original codes of a categorical column; None if it has none."""
    used = set(column.drop_nulls().unique().to_list())
    if isinstance(column.dtype, pl.Enum):
        known = _ORDERED.get(column.name, [])
    else:
        book = _BOOKS.get(column.dtype.categories.name())  # type: ignore[attr-defined]
        known = [] if book is None else [book]
    return next((book for book in reversed(known) if used <= set(book)), None)


def attach(frame: pl.DataFrame, labels: Labels | None) -> None:
    """Store the labels of a table while the table exists."""
    if labels is not None:
        _TABLES[id(frame)] = labels
        weakref.finalize(frame, _TABLES.pop, id(frame), None)


def labels_of(frame: Any) -> Labels | None:
    """Return the labels from a table's file; None for any other table."""
    return _TABLES.get(id(nw.to_native(frame, pass_through=True)))
