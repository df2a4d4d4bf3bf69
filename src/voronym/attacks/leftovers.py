"""Leftovers: original values in the bytes of a file that its table does not show.

Formats keep more than cells: unused categories, statistics of columns, names of authors, hidden sheets,
earlier contents. The intruder reads the bytes, unpacked as far as possible.
"""

from __future__ import annotations

import gzip
import re
import zipfile
from io import BytesIO
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from voronym.attacks.base import Found, Inapplicable, attack
from voronym.attacks.interval import judge
from voronym.attacks.scene import Floats, Ints, Scene
from voronym.core.context import Context
from voronym.core.sentence import Sentence
from voronym.evaluate.pair import numbers

_WORD = re.compile(rb"[0-9A-Za-z\x80-\xff._+-]{3,}")
_MOST_BYTES = 200_000_000
Flags = NDArray[np.bool_]


@attack(
    "leftovers",
    level=0,
    knows="nothing but the bytes of the published file",
    needs=("original", "file"),
    cost="seconds",
    instead="of made-up values",
)
def leftovers(scene: Scene, ctx: Context) -> Found:
    """Search the bytes of the file for original values that the published table does not show.

    The control searches for invented values with the same letters and digits.
    """
    if scene.file is None or not scene.file.is_file():
        raise Inapplicable("the published file does not exist")
    content = unpacked(scene.file)
    words = {word for part in content for word in _WORD.findall(part)}
    people = scene.people.select(scene.keys)
    if scene.hidden is not None:
        people = people.hstack(scene.hidden)
    targets = scene.sample(ctx.rng)
    result = np.zeros(len(targets), bool)
    decoys = np.zeros(len(targets), bool)
    where: dict[str, int] = {}
    for name in people.columns:
        column = people[name]
        shown = scene.released[name] if name in scene.released.columns else None
        real, fake = _search(column, shown, targets, words, content, ctx.rng)
        result |= real
        decoys |= fake
        if real.any():
            where[name] = int(real.sum())

    def says(success: float, control: float) -> str:
        del success, control
        if not where:
            return Sentence("The file holds no original value that its table does not show.")
        named = ", ".join(f"{name!r} ({count:,})" for name, count in where.items())
        return Sentence(
            "The bytes of the file hold original values that the table does not show; by column, with the "
            "number of people: {columns}.",
            columns=named,
        )

    return judge(result, decoys, says, confidence=scene.confidence, details={"columns": where})


def unpacked(path: Path) -> list[bytes]:
    """Return the bytes of a file and of everything packed in it."""
    raw = path.read_bytes()[:_MOST_BYTES]
    out = [raw]
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            out += [archive.read(name)[:_MOST_BYTES] for name in archive.namelist()]
    elif raw[:2] == b"\x1f\x8b":
        out.append(gzip.GzipFile(fileobj=BytesIO(raw)).read(_MOST_BYTES))
    elif raw[:4] == b"PAR1":
        out += _parquet(path)
    return out


def _parquet(path: Path) -> list[bytes]:
    """Return the dictionaries and metadata of a Parquet file, if pyarrow is installed."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        return []
    file = pq.ParquetFile(path)
    names = file.schema_arrow.names
    texts = [str(file.metadata.metadata)]
    for group in range(file.metadata.num_row_groups):
        for column in range(len(names)):
            result = file.metadata.row_group(group).column(column)
            if result.statistics is not None and result.statistics.has_min_max:
                texts += [str(result.statistics.min), str(result.statistics.max)]
    table = pq.read_table(path, read_dictionary=names)
    for column in table.columns:
        if pa.types.is_dictionary(column.type):
            texts += [str(value) for chunk in column.chunks for value in chunk.dictionary.to_pylist()]
    return ["\n".join(texts).encode()]


def _search(
    column: pl.Series,
    shown: pl.Series | None,
    targets: Ints,
    words: set[bytes],
    content: list[bytes],
    rng: np.random.Generator,
) -> tuple[Flags, Flags]:
    """Return for each target whether their value is in the bytes, and whether an invented value is."""
    nothing = np.zeros(len(targets), bool)
    as_numbers = numbers(column)
    if as_numbers is not None and column.dtype.is_float():
        return _search_floats(as_numbers, shown, targets, content), nothing
    texts = column.cast(pl.String).to_list()
    published = set() if shown is None else {str(v) for v in shown.cast(pl.String).unique().to_list()}
    letters = np.array(list("".join(v for v in texts[:1000] if v) or "x"))
    real, fake = nothing.copy(), nothing.copy()
    for at, person in enumerate(targets):
        value = texts[int(person)]
        if value is None or value in published or len(value) < 5:  # shorter ones are anywhere by chance
            continue
        parts = _WORD.findall(value.encode())
        real[at] = bool(parts) and all(part in words for part in parts)
        made = "".join(rng.choice(letters, len(value)))
        fake[at] = made not in texts and made.encode() in words
    return real, fake


def _search_floats(values: Floats, shown: pl.Series | None, targets: Ints, content: list[bytes]) -> Flags:
    """Return for each target whether their number is in the bytes as an eight-byte float, at any offset."""
    own = values[targets]
    seen = None if shown is None else numbers(shown)
    open_ = np.isfinite(own) & (own != np.round(own, 1))  # round numbers are anywhere by chance
    if seen is not None:
        open_ &= ~np.isin(own, seen)
    flags = np.zeros(len(own), bool)
    if not open_.any():
        return flags
    for part in content:
        for offset in range(8):
            stop = offset + (len(part) - offset) // 8 * 8
            flags |= open_ & np.isin(own, np.frombuffer(part[offset:stop], np.float64))
    return flags
