"""A release made by hand: real schema, codec and risk, cells by median cuts."""

from types import SimpleNamespace

import narwhals as nw
import numpy as np
import polars as pl
import pytest

from voronym.evaluate.risk import risk
from voronym.evaluate.utility import utility
from voronym.partition import Partition
from voronym.privacy import KAnonymity
from voronym.recipe import Recipe
from voronym.table.codec import Codec
from voronym.table.schema import Schema
from voronym.table.table import Table


def cut(X, rows, k, out):
    """Halve the records at the median of their widest coordinate until a half would be too small."""
    if len(rows) < 2 * k:
        out.append(rows)
        return
    j = int(np.argmax(np.ptp(X[rows], axis=0)))
    order = rows[np.argsort(X[rows, j], kind="stable")]
    half = len(rows) // 2
    cut(X, order[:half], k, out)
    cut(X, order[half:], k, out)


def fake_release(frame, *, k=5, **roles):
    table = nw.from_native(frame, eager_only=True)
    schema = Schema.build(table, **roles)
    codec = Codec.fit(table, schema)
    X = codec.encode(table)
    cells = []
    cut(X, np.arange(len(X)), k, cells)
    labels = np.empty(len(X), np.int64)
    for i, rows in enumerate(cells):
        labels[rows] = i
    part = Partition(labels, k=k)
    centroids = part.centroids(X)
    order = np.random.default_rng(3).permutation(len(X))
    keys = codec.decode(centroids)[part.labels[order]]
    rest = table[order]
    kept = [name for name in table.columns if name not in schema.identifiers]
    released = nw.from_dict({name: (keys if name in schema.keys else rest)[name] for name in kept})
    total = float(np.square(X - X.mean(axis=0)).sum())
    return SimpleNamespace(
        table=released.to_native(),
        schema=schema,
        recipe=Recipe(schema, k=k, method="mdav"),
        findings=(KAnonymity(k).measure(Table.of(released, schema)),),
        risk=risk(released, schema.keys),
        information_loss=100 * part.sse(X) / total if total else 0.0,
        published_loss=100 * part.sse(X) / total if total else 0.0,
        utility=utility(table, released, schema, aligned=order),
        gap=None,
        costs=(),
        warnings=(),
        _evidence=SimpleNamespace(
            original=table,
            X=X,
            partition=part,
            centroids=centroids,
            codec=codec,
            order=order,
            seconds={"encode": 0.01, "partition": 0.2},
        ),
    )


@pytest.fixture
def patients():
    """A small hospital: numbers, categories, dates, missing values, a long tail."""
    rng = np.random.default_rng(7)
    n = 300
    ages = rng.integers(18, 95, n)
    days = rng.integers(0, 700, n)
    return pl.DataFrame(
        {
            "name": [f"Person {i}" for i in range(n)],
            "age": ages,
            "sex": rng.choice(["f", "m"], n),
            "weight (kg)": np.where(rng.random(n) < 0.05, np.nan, np.round(rng.normal(72, 12, n), 1)),
            "admitted": pl.Series(days).cast(pl.Int32) + 18600,
            "ward": rng.choice(["surgery", "medicine", "eyes", None], n, p=[0.4, 0.4, 0.1, 0.1]),
            "cost": np.round(rng.lognormal(7, 1.2, n), 2),
            "diagnosis": rng.choice(["A", "B", "C"], n),
        }
    ).with_columns(pl.col("admitted").cast(pl.Date))


@pytest.fixture
def release(patients):
    return fake_release(
        patients,
        keys=["age", "sex", "weight (kg)", "admitted", "ward", "cost"],
        confidential=["diagnosis"],
        identifiers=["name"],
    )


@pytest.fixture
def make_release():
    return fake_release
