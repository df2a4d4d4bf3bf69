"""The loss by ranges, in the measures of ARX: certainty penalty, entropy, sizes of classes.

Everything is measured on the published texts of any tool, compared with the originals.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from voronym.core.jsonable import Plain
from voronym.evaluate.pair import common, numbers, plain
from voronym.generalize.forms import read_ranges
from voronym.generalize.hierarchy import Hierarchy
from voronym.generalize.spans import ANY, Ends, ends, ends_of_levels
from voronym.table.classes import Classes, equivalence_classes
from voronym.table.frame import as_frame
from voronym.table.schema import Schema
from voronym.table.source import source_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Penalty(Plain):
    """The loss because values became ranges. Contains figures of the original: not for publication.

    Parameters
    ----------
    certainty : float
        Normalised certainty penalty in percent, the mean over records and keys: the width of a range as a
        share of the column's range, or the values below a category beyond one as a share of all of them. A
        key that is published as a point counts with the range of the originals in its class.
    by_key : dict of str to float
        The same for each key.
    entropy : float
        Non-uniform entropy in percent: the bits that a reader lacks to know each original value from its
        range, as a share of the bits of a table that hides everything.
    discernibility : int
        Sum of the squared sizes of classes; a record that was left out counts as large as the table.
    average_class : float
        Records in a class, on average.
    classes_per_k : float or None
        The same as a multiple of k, if k is known; the least possible is 1.

    References
    ----------
    J. Xu et al., "Utility-based anonymization using local recoding", KDD 2006 (certainty penalty).
    A. Gionis and T. Tassa, "k-Anonymization with minimal loss of information", TKDE 21 (2009) (entropy).
    R. Bayardo and R. Agrawal, "Data privacy through optimal k-anonymization", ICDE 2005 (discernibility).
    """

    certainty: float
    by_key: dict[str, float] = field(default_factory=dict)
    entropy: float = 0.0
    discernibility: int = 0
    average_class: float = 0.0
    classes_per_k: float | None = None

    def __str__(self) -> str:
        per = "" if self.classes_per_k is None else f" ({self.classes_per_k:.2f} k)"
        return (
            f"certainty penalty {self.certainty:.2f} %, non-uniform entropy {self.entropy:.2f} %, "
            f"{self.average_class:.1f} records in a class{per}, discernibility {self.discernibility:,}"
        )


def penalty(
    original: Any,
    released: Any,
    schema: Schema,
    rows: NDArray[Any],
    *,
    hierarchies: Mapping[str, Any] | None = None,
    k: int | None = None,
    classes: Classes | None = None,
) -> Penalty:
    """Measure the loss in ranges.

    Parameters
    ----------
    original, released : DataFrame
        pandas, Polars, PyArrow or narwhals.
    schema : Schema
        Roles and kinds of the original's columns.
    rows : array of int
        The original row of each released one.
    hierarchies : mapping, optional
        For each column, an argument of `voronym.Hierarchy.of`. Without one, a category covers the originals
        published under it.
    k : int, optional
        The required smallest size of a class.
    classes : Classes, optional
        The released records that share all keys, if already counted.

    Examples
    --------
    >>> before = pl.DataFrame({"age": [20, 30, 60, 70]})
    >>> after = pl.DataFrame({"age": ["20–30", "20–30", "60–70", "60–70"]})
    >>> found = penalty(before, after, Schema.build(before, keys=["age"]), np.arange(4), k=2)
    >>> round(found.certainty, 1), round(found.entropy, 1), found.discernibility, found.classes_per_k
    (20.0, 50.0, 8, 1.0)
    """
    before, after = as_frame(original), as_frame(released)
    trees = {name: Hierarchy.of(item) for name, item in (hierarchies or {}).items()}
    files = {"original": source_of(before), "released": source_of(after)}
    keys = list(schema.keys)
    if classes is None:
        classes = equivalence_classes(after, keys)
    by_key: dict[str, float] = {}
    lacking, there = 0.0, 0.0
    for name in keys:
        first, second = plain(before[name]), plain(after[name])
        if second.dtype == pl.String and name not in trees and numbers(first) is not None:
            second = read_ranges(second, times=first.dtype in (pl.Date, pl.Datetime), **files)
        codes, values = _codes(first, _order(schema, name))
        order = _order(schema, name)
        shown = _covers(first, second, codes, rows, classes.labels, values, trees.get(name), order)
        often = np.bincount(codes, minlength=len(values) + 1)
        by_key[name] = 100.0 * float(shown.penalty[shown.cover].mean())
        share = np.maximum(shown.held[shown.cover] / often[codes[rows]], 1.0)
        lacking += float(np.log2(share).sum())
        there += float(np.log2(len(codes) / often[codes[rows]]).sum())
    gone = len(before) - len(after)
    sizes = classes.sizes.astype(np.int64)
    mean = float(sizes.mean())
    return Penalty(
        sum(by_key.values()) / len(by_key),
        by_key,
        100.0 * lacking / there if there > 0.0 else 0.0,
        int((sizes**2).sum()) + gone * len(before),
        mean,
        None if k is None else mean / k,
    )


@dataclass(frozen=True)
class _Shown:
    """The published values of a column: the cover of each row, and the penalty and count of each cover."""

    cover: Ints
    penalty: Floats
    held: Floats
    """Originals that have one of the covered values."""


def _order(schema: Schema, name: str) -> tuple[str, ...] | None:
    return schema[name].categories if schema[name].kind == "ordinal" else None


def _codes(column: pl.Series, order: Sequence[str] | None) -> tuple[Ints, list[Any]]:
    """Return the position of each value among the sorted distinct values; missing values come last."""
    if order is not None:
        place = {level: at for at, level in enumerate(order)}
        texts = column.cast(pl.String)
        codes = texts.replace_strict(
            list(place), list(place.values()), default=len(order), return_dtype=pl.Int64
        )
        return codes.fill_null(len(order)).to_numpy().astype(np.int64), list(order)
    levels = column.drop_nulls().unique().sort()
    at = levels.search_sorted(column).to_numpy() if len(levels) else np.zeros(len(column))
    return np.where(column.is_null().to_numpy(), len(levels), at).astype(np.int64), levels.to_list()


def _covers(
    before: pl.Series,
    after: pl.Series,
    codes: Ints,
    rows: NDArray[Any],
    classes: Ints,
    values: list[Any],
    tree: Hierarchy | None,
    order: Sequence[str] | None,
) -> _Shown:
    """Find the values that each published text covers, by its form."""
    often = np.bincount(codes, minlength=len(values) + 1)
    line = None if numbers(before, order) is None else _scaled(before, values, order)
    if line is not None and after.dtype == pl.String and tree is None:
        result = _intervals(_reader(before, order), after, often, line)
        if result is not None:
            return result
    if tree is not None and after.dtype == pl.String:
        return _below(after, often, values, tree)
    own = codes[rows]
    if (
        after.dtype == pl.String and common(before, after)[2]
    ):  # categories: the values published under each name
        cover = after.fill_null("\0").rank("dense").to_numpy().astype(np.int64) - 1
        return _seen(cover, own, often, None)
    return _seen(classes, own, often, line)


def _scaled(before: pl.Series, values: list[Any], order: Sequence[str] | None) -> Floats:
    if order is not None:
        return np.arange(len(order), dtype=np.float64)
    result = numbers(pl.Series(values, dtype=before.dtype))
    return np.zeros(0) if result is None else result


def _reader(before: pl.Series, order: Sequence[str] | None) -> Callable[[str], Ends | None]:
    """Return a reader for the ends of a range: numbers, times in seconds, or ranks of levels."""
    if order is None:
        return partial(ends, times=before.dtype in (pl.Date, pl.Datetime))
    rank = {level: at for at, level in enumerate(order)}

    def read(text: str) -> Ends | None:
        if text in rank:
            return rank[text], rank[text]
        return (None, None) if text == ANY else ends_of_levels(text, rank)

    return read


def _intervals(
    reader: Callable[[str], Ends | None], after: pl.Series, often: Ints, line: Floats
) -> _Shown | None:
    """Read intervals; None if a text is no interval."""
    texts = after.unique().to_list()
    read = [None if text is None else reader(text) for text in texts]
    if any(item is None and text is not None for item, text in zip(read, texts, strict=True)):
        return None
    there = np.flatnonzero(often[:-1])
    least, most = (line[there[0]], line[there[-1]]) if len(there) else (0.0, 0.0)
    span = float(most - least)
    sums = np.concatenate([[0], np.cumsum(often[:-1])])
    cost, held = np.zeros(len(texts)), np.zeros(len(texts))
    times = isinstance(reader, partial) and reader.keywords["times"]
    slack = 86_400.0 if times else 0.0  # the last day counts in full
    for at, (text, entry) in enumerate(zip(texts, read, strict=True)):
        if entry is None:  # missing
            held[at] = often[-1]
        elif text is not None and text.strip() == ANY:
            cost[at], held[at] = 1.0, often.sum()
        else:
            low = least if entry[0] is None else max(entry[0], least)
            high = most if entry[1] is None else min(entry[1], most)
            cost[at] = (high - low) / span if span > 0.0 else 0.0
            inside = np.searchsorted(line, [low, high + slack], side="left")
            inside[1] = max(inside[1], np.searchsorted(line, high, side="right"))
            held[at] = sums[inside[1]] - sums[inside[0]]
    place = {text: at for at, text in enumerate(texts)}
    return _Shown(np.array([place[text] for text in after.to_list()], np.int64), cost, held)


def _below(after: pl.Series, often: Ints, values: list[Any], tree: Hierarchy) -> _Shown:
    """Return the covers of categories, by their hierarchy."""
    texts = after.unique().to_list()
    place = {text: at for at, text in enumerate(texts)}
    held, leaves = np.zeros(len(texts)), np.zeros(len(texts))
    for path in tree.paths.values():
        for label in set(path) & place.keys():
            leaves[place[label]] += 1
    for value, count in zip(values, often[:-1], strict=True):
        for label in set(tree.path(str(value))) & place.keys():
            held[place[label]] += count
    cost = np.maximum(leaves - 1, 0) / max(len(tree) - 1, 1)
    for text in (tree.root, ANY):
        if text in place:
            cost[place[text]], held[place[text]] = 1.0, often.sum()
    if None in place:
        cost[place[None]], held[place[None]] = 0.0, often[-1]
    return _Shown(np.array([place[text] for text in after.to_list()], np.int64), cost, held)


def _seen(cover: Ints, own: Ints, often: Ints, line: Floats | None) -> _Shown:
    """Let each cover hold the originals published under it; on a line, all values between them."""
    m, gone = int(cover.max()) + 1, len(often) - 1
    both = np.sort(cover * len(often) + own)  # as whole numbers: pairs take ten times as long to sort
    pairs = np.divmod(both[np.flatnonzero(np.diff(both, prepend=-1))], len(often))
    count = np.bincount(pairs[0], minlength=m)
    if line is None:
        held = np.bincount(pairs[0], weights=often[pairs[1]], minlength=m).astype(np.float64)
        kinds = int((often > 0).sum())
        return _Shown(cover, (count - 1) / max(kinds - 1, 1), held)
    low, high = np.full(m, gone), np.full(m, -1)
    there = pairs[1] < gone
    np.minimum.at(low, pairs[0][there], pairs[1][there])
    np.maximum.at(high, pairs[0][there], pairs[1][there])
    absent = np.zeros(m, bool)
    absent[pairs[0][~there]] = True
    seen = np.flatnonzero(often[:-1])
    span = float(line[seen[-1]] - line[seen[0]]) if len(seen) else 0.0
    some = high >= 0
    width = np.zeros(m)
    width[some] = (line[high[some]] - line[low[some]]) / span if span > 0.0 else 0.0
    sums = np.concatenate([[0], np.cumsum(often[:-1])])
    held = np.where(some, 1.0 * sums[np.maximum(high, -1) + 1] - sums[np.minimum(low, gone)], often[-1])
    mixed = absent & some
    return _Shown(cover, np.where(mixed, 1.0, width), np.where(mixed, often.sum(), held).astype(np.float64))
