"""Section 5 over leaves: outliers pushed back and values shuffled in parts, and the whole attacked."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np
import polars as pl

import voronym as vr
from voronym import datasets
from voronym.core.context import Context
from voronym_papers.base import at
from voronym_papers.items import Floats, Item, Table
from voronym_papers.marks import Mark

KEYS = ("age", "sex", "nationality", "admitted")
M = 4
TARGETS = 1000
FILES = 8


def over_leaves(n: int, leaf: int, ctx: Context) -> Iterator[Item]:
    """Mask a hospital of several files leaf by leaf; link its records before and after, over all leaves.

    A column of distinct numbers identifies the original of each released record. A person linked at
    random among several nearest records counts one over their number.
    """
    at(ctx, f"leaves: {n:,} patients", 0.0)
    table = datasets.hospital(n, outliers=6, seed=1).select(*KEYS, "diagnosis")
    table = table.with_columns(pl.Series("was", np.arange(n, dtype=float)))
    with TemporaryDirectory() as place:
        source, target = Path(place) / "in", Path(place) / "out"
        source.mkdir()
        step = -(-n // FILES)
        for part in range(FILES):
            table[part * step : (part + 1) * step].write_parquet(source / f"{part}.parquet")
        spawn = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(1, spawn) as alone:  # whose memory is that of the run
            seconds, memory = alone.submit(masked, str(source), str(target), leaf).result()
        released = pl.read_parquet(str(target / "*.parquet"))
    at(ctx, f"leaves: {n:,} patients, attacked", 0.8)
    own = np.random.default_rng(3).choice(n, min(TARGETS, n), replace=False)
    first, last = (100 * linked(table, some, own) for some in (table, released))
    what = f"found again of {n:,} in leaves of {leaf:,} (1/(m+1) = 20 % at most)"
    yield Mark("Section 5", what, None, last, ".1f", " %", alone=True)
    what = f"memory for {n:,} in leaves of {leaf:,}"
    yield Mark("Section 5", what, None, memory, ",.0f", " MB", alone=True)
    yield Mark("Section 5", f"records of {n:,} that come out", None, float(len(released)), ",.0f", alone=True)
    yield Table(
        "Pushed back and shuffled leaf by leaf",
        ("patients", "leaf", "found before, %", "after, %", "seconds", "MB"),
        ((n, leaf, first, last, seconds, memory),),
        f"m = {M}. Linked: the nearest of all released records, of every leaf, for {len(own):,} people.",
        "Section 5: over leaves",
        (",", ",", ".1f", ".1f", ".1f", ",.0f"),
    )


def masked(source: str, target: str, leaf: int) -> tuple[float, float]:
    """Mask the files of a folder in a separate process; return the seconds and its peak memory in MB."""
    import resource  # not on every system, and loaded where it is needed

    before = perf_counter()
    vr.anonymize(
        source, keys=list(KEYS), confidential=["diagnosis", "was"], method="records", leaf=leaf,
        options={"m": M, "despite_loss": True}, output=target, overwrite=True,
    )  # fmt: skip
    seconds = perf_counter() - before
    most = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return seconds, most / 1024.0


def linked(table: pl.DataFrame, released: pl.DataFrame, own: np.ndarray) -> float:
    """Return the mean chance that a person's nearest released record is the person's own."""
    X, Y = (_coordinates(some, table) for some in (table, released))
    who = released["was"].to_numpy()
    hits = 0.0
    for row in own.tolist():
        away = np.abs(Y - X[row]).sum(axis=1)
        near = np.flatnonzero(away <= away.min() + 1e-9)
        hits += float((who[near] == row).sum()) / len(near)
    return hits / len(own)


def _coordinates(some: pl.DataFrame, table: pl.DataFrame) -> Floats:
    """Return keys as numbers, every column with span 1; each category has its own axis."""
    out = []
    for name in KEYS:
        if table[name].dtype == pl.String:
            out += [
                (some[name] == level).fill_null(False).to_numpy() / 2.0
                for level in table[name].unique().sort()
            ]
        else:
            low, span = (float(value) for value in (_number(table[name]).min(), np.ptp(_number(table[name]))))
            out.append((_number(some[name]) - low) / span)
    return np.stack(out, axis=1)


def _number(column: pl.Series) -> Floats:
    return column.to_physical().cast(pl.Float64).to_numpy()
