"""Encode the original and the release as points of one space."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from voronym.errors import SchemaError
from voronym.evaluate.pair import Pair
from voronym.generalize.sets import ValueSets
from voronym.table.codec import Block, Codec

Floats = NDArray[np.float64]


_ROWS = 65_536


def encode(pair: Pair, known: Floats | None = None) -> tuple[Floats, Floats, Codec, str | None]:
    """Return the keys of both tables as points in one encoding.

    The encoding is learned from the original. If a key had no gaps, a missing released value is placed at
    the mean of the key. If the release has values that the original lacks (merged categories), the
    encoding is learned from both, and the note says so. ``known`` are points of the original that were made
    before: they are returned if they are right.

    Raises
    ------
    SchemaError
        A key cannot be encoded: free text, too many categories, mixed types.
    """
    keys = list(pair.schema.keys)
    original, released = pair.original.select(keys), pair.released.select(keys)
    codec = Codec.fit(original, pair.schema)
    masked = [name for name in keys if name in pair.sets and name not in pair.texts]
    kept = released.select(masked)
    released = released.with_columns(_placeholder(released[name], original[name]) for name in masked)
    try:
        X = _encoded(codec, original, known)
        new = [c for c in keys if released[c].null_count() and not original[c].null_count()]
        Y = codec.encode(released.with_columns(released[c].fill_null(original[c][0]) for c in new))
        for block in codec.blocks:
            for name in set(block.columns) & set(new):
                Y[released[name].is_null().to_numpy(), block.start : block.stop] = _mean(X, block)
            if set(block.columns) & set(masked):
                (name,) = block.columns
                _place_sets(Y, X, block, original[name], kept[name], pair.sets[name])
        return X, Y, codec, None
    except SchemaError:
        codec = Codec.fit(pl.concat([original, released]), pair.schema)
        note = "the table has key values that the original lacks, so the encoding was learned from both"
        return codec.encode(original), codec.encode(released), codec, note


def _encoded(codec: Codec, frame: pl.DataFrame, known: Floats | None) -> Floats:
    """Return a table as points: the known ones, if they are the same, so that none are held twice."""
    if known is not None and known.shape == (len(frame), codec.width):
        blocks = [slice(start, start + _ROWS) for start in range(0, len(frame), _ROWS)]
        if all(np.array_equal(codec.encode(frame[rows]), known[rows]) for rows in blocks):
            return known
    return codec.encode(frame)


def _placeholder(after: pl.Series, before: pl.Series) -> pl.Series:
    """Return a column with a value of the original in place of texts that stand for several."""
    known = before.drop_nulls().unique()
    return after.set(~after.is_in(known.implode()) & after.is_not_null(), before.drop_nulls()[0])


def _place_sets(
    Y: Floats, X: Floats, block: Block, before: pl.Series, after: pl.Series, sets: ValueSets
) -> None:
    """Place texts that stand for several values at the mean of the originals with these values.

    A text that cannot be read stands for all values.
    """
    here = slice(block.start, block.stop)
    values = before.cast(pl.String)
    place = {value: at for at, value in enumerate(sets.values)}
    own = np.array([place.get(value, -1) for value in values.to_list()])
    there = own >= 0
    sums = np.zeros((len(sets.values), block.stop - block.start))
    np.add.at(sums, own[there], X[there, here])
    often = np.bincount(own[there], minlength=len(sets.values))
    member = np.where(sets.understood[:, None], sets.member, True).astype(np.float64)
    points = (member @ sums) / np.maximum(member @ often, 1)[:, None]
    row = {text: at for at, text in enumerate(sets.texts)}
    shown = np.array([-1 if text is None else row[text] for text in after.to_list()])
    known = np.isin(np.array(sets.texts, dtype=object), np.array(sets.values, dtype=object))
    rows = (shown >= 0) & ~known[shown]
    Y[rows, here] = points[shown[rows]]


def without_gaps(pair: Pair, X: Floats, Y: Floats, rows: NDArray[np.int64], codec: Codec) -> Floats:
    """Return the released points, with the mean of a key in place of blanked values.

    So a blanked value loses as much as publishing the overall mean. Otherwise the coordinate for
    "missing" would dominate the loss, the more so the fewer values are missing.
    """
    made = Y
    for block in codec.blocks:
        gone = np.zeros(len(Y), bool)
        for name in block.columns:
            before, after = pair.original[name], pair.released[name]
            gone |= after.is_null().to_numpy() & ~before.is_null().to_numpy()[rows]
        if gone.any():
            made = Y.copy() if made is Y else made
            made[gone, block.start : block.stop] = _mean(X, block)
    return made


def _mean(X: Floats, block: Block) -> Floats:
    return np.asarray(X[:, block.start : block.stop].mean(axis=0))
