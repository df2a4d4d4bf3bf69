"""The kind of a column: suggested by dtype and values, and whether a declared kind fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import polars as pl

from voronym.core.sentence import numbered
from voronym.errors import SchemaError
from voronym.table import spelling
from voronym.table.conform import as_kind, doubt
from voronym.table.frame import NUMBERS, Form, Series, is_object, object_types
from voronym.table.values import Values

if TYPE_CHECKING:
    from voronym.table.schema import Column, Kind, Role

MAX_CATEGORIES = 10_000
TEXT_WORDS = 4  # values of this many words on average, hardly repeated, are sentences rather than labels


@dataclass(frozen=True)
class ChosenKind:
    """A kind, the order of an ordinal column, and the reason."""

    kind: Kind
    categories: tuple[str, ...] | None
    note: str


def find_kind(
    column: Values,
    *,
    wanted: Kind | None = None,
    order: Sequence[Any] | None = None,
    role: Role = "key",
) -> ChosenKind:
    """Return the declared kind, or the kind that the dtype suggests."""
    if role == "identifier" and wanted is None:  # dropped: nothing to check
        return ChosenKind("text", None, "dropped")
    if wanted is None:
        kind, note = _guess(column)
    else:
        kind, note = wanted, "declared"
    if kind != "ordinal":
        if order is not None:
            raise SchemaError(f"column {column.name!r} has an order but its kind is {kind}, not ordinal")
        return ChosenKind(kind, None, note)
    if order is not None:
        levels = tuple(str(level) for level in order)
        if isinstance(order, str) or len(set(levels)) != len(levels):
            raise SchemaError(f"the order of column {column.name!r} must be a list of different levels")
        return ChosenKind(kind, levels, note)
    return ChosenKind(kind, _own_order(column), note)


def _guess(column: Values) -> tuple[Kind, str]:
    held = column.form
    if held in NUMBERS:
        return "numeric", f"holds {held} numbers"
    if held in ("date", "datetime"):
        return "datetime", f"holds a {held}"
    if held == "boolean":
        return "nominal", "holds true and false"
    if held == "category":
        if _is_ordered(column.series):
            return "ordinal", "holds ordered categories"
        return "nominal", "holds categories"
    if held == "string":
        if looks_like_text(column):
            return "text", "long and hardly repeated strings"
        return "nominal", "holds strings"
    if held == "empty":
        return "nominal", "all values are missing"
    return "text", "holds no plain values"


def looks_like_text(column: Values) -> bool:
    """Whether a column of strings holds sentences rather than labels: many words, hardly a value twice."""
    distinct = column.levels
    if not distinct or len(distinct) < max(3, 0.5 * column.observed):
        return False
    sample = distinct[:: max(1, len(distinct) // 1000)]
    words = float(np.mean([len(value.split()) for value in sample]))
    return words >= TEXT_WORDS


def _is_ordered(series: Series) -> bool:
    native = series.to_native()
    if series.implementation.is_pandas_like():
        return bool(native.cat.ordered) if hasattr(native, "cat") else False
    if series.implementation.is_pyarrow():
        return bool(native.type.ordered)
    return series.dtype == nw.Enum  # what ordered categories of the others become in Polars


def _own_order(column: Values) -> tuple[str, ...] | None:
    """Return the column's own order; None for numbers, which need none."""
    series, held = column.series, column.form
    if held == "category":
        native = series.to_native()
        if series.dtype == nw.Enum:
            return tuple(str(level) for level in series.dtype.categories)  # type: ignore[attr-defined]
        if series.implementation.is_pandas_like() and native.cat.ordered:
            return tuple(str(level) for level in native.cat.categories)
        if series.implementation.is_pyarrow() and native.type.ordered:
            return tuple(str(level) for level in native.unify_dictionaries().chunk(0).dictionary.to_pylist())
    if held in ("integer", "float", "boolean", "empty", "date", "datetime"):
        return None
    raise SchemaError(f"ordinal column {series.name!r} has no known order; give its levels, lowest first")


def check_kind(values: Values, column: Column) -> None:
    """Refuse a column whose values do not fit its kind; the error gives counts."""
    if column.role == "identifier":
        return
    series, held, name = values.series, values.form, column.name
    if held == "mixed":
        counts = ", ".join(f"{count} {kind.__name__}" for kind, count in object_types(series).most_common())
        raise SchemaError(
            f"column {name!r} mixes types ({counts}); make it one type, or an identifier, which drops it"
        )
    if held == "other" and (column.role == "key" or series.dtype.is_nested() or is_object(series)):
        raise SchemaError(
            f"column {name!r} holds {_what(series)}, which cannot be {_part(column)}; "
            "convert it to numbers, dates or strings, or make it an identifier, which drops it"
        )
    if column.role != "key":
        return
    if column.kind == "text":
        raise SchemaError(
            f"key {name!r} is free text ({len(values.levels)} distinct values in {len(values)} rows), "
            "which has no centroid; make it an identifier, or declare it nominal if its values are labels"
        )
    if as_kind(values, column.kind) is not None:  # texts that can be converted to their declared kind
        return
    if column.kind in ("numeric", "location") and held not in (*NUMBERS, "empty"):
        raise SchemaError(f"column {name!r} is declared {column.kind}, but {_not_numbers(values)}")
    if column.kind == "datetime" and held not in ("date", "datetime", "empty"):
        raise SchemaError(
            f"column {name!r} is declared datetime, but holds {_noun(held)} that do not all read as dates in "
            "one certain way; write them as year-month-day"
            if held in ("string", "category")
            else f"column {name!r} is declared datetime, but holds {_noun(held)}; convert it to dates first"
        )
    if column.kind in ("nominal", "ordinal"):
        _check_categories(values, column)


def _check_categories(values: Values, column: Column) -> None:
    codes, distinct = values.codes, values.levels
    if len(distinct) > MAX_CATEGORIES:
        raise SchemaError(
            f"key {column.name!r} has {len(distinct)} distinct values in {len(values)} rows, more than "
            f"the {MAX_CATEGORIES} that a {column.kind} key may have; "
            + (doubt(values) or "group them, or make it an identifier")
        )
    if column.categories is not None:
        known = set(column.categories)
        strange = np.array([str(level) not in known for level in distinct], dtype=bool)
        if strange.any():
            rows = int(strange[codes[codes >= 0]].sum())
            raise SchemaError(
                f"ordinal key {column.name!r} has {numbered(int(strange.sum()), 'level')}, in "
                f"{numbered(rows, 'row')}, that its order of {numbered(len(known), 'level')} lacks; add what "
                "is missing to the order"
            )


def _not_numbers(values: Values) -> str:
    held = values.form
    if held not in ("string", "category"):
        return f"holds {_noun(held)}"
    codes = values.codes
    plain = spelling.gaps(pl.Series(values.levels, dtype=pl.String))
    reads = plain.str.contains(spelling.NUMBER).fill_null(True).to_numpy()
    total = int((codes >= 0).sum())
    bad = total - int(reads[codes[codes >= 0]].sum())
    if bad == 0:  # whole numbers past 64 bits, or nothing but gaps
        return f"its {total} texts are not numbers of a size that can be used; convert it to numbers first"
    return f"{bad} of its {total} values do not read as numbers; correct or empty those"


def _noun(held: Form) -> str:
    return {
        "string": "strings",
        "category": "categories",
        "boolean": "true and false",
        "empty": "nothing",
    }.get(held, f"{held} values")


def _what(series: Series) -> str:
    if is_object(series):
        types = set(object_types(series))
        if types & {int, Decimal}:
            return "decimals of more than 38 digits" if Decimal in types else "integers of more than 64 bits"
        return f"Python objects of type {next(iter(object_types(series))).__name__}"
    if series.dtype.is_nested():
        return f"nested values ({type(series.dtype).__name__})"
    if series.dtype == nw.Unknown:
        return "values of an unusual dtype"
    return f"{type(series.dtype).__name__} values"


def _part(column: Column) -> str:
    return "a key" if column.role == "key" else "released as it is"
