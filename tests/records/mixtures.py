"""Random tables of every kind of column, for hypothesis."""

from __future__ import annotations

from typing import Any

import polars as pl
from hypothesis import strategies as st

from records.checks import GRADES, TREE, day
from voronym.records import Circular, Taxonomy
from voronym.table import Schema

VALUES: dict[str, Any] = {
    "numeric": st.one_of(st.integers(0, 6), st.integers(0, 1000)),
    "date": st.integers(0, 40).map(day),
    "nominal": st.sampled_from("abcd"),
    "ordinal": st.sampled_from(GRADES),
    "hour": st.integers(0, 23),
    "tree": st.sampled_from([*TREE, "gout", "scurvy"]),
    "place": st.tuples(st.integers(-80, 80), st.integers(-170, 170)),
}
DTYPES = {"numeric": pl.Int64, "hour": pl.Int64, "date": pl.Date, "place": None}
METRICS = {"hour": Circular(24), "tree": Taxonomy(TREE, unseen="root")}


@st.composite
def mixtures(draw: Any, most: int = 24) -> tuple[pl.DataFrame, Schema, dict[str, Any], dict[str, Any]]:
    """Draw (table, schema, metrics, columns by name as (kind, values))."""
    n = draw(st.integers(2, most))
    kinds = draw(st.lists(st.sampled_from(sorted(VALUES)), min_size=1, max_size=4))
    data: dict[str, pl.Series] = {}
    columns: dict[str, Any] = {}
    metrics: dict[str, Any] = {}
    locations = []
    for at, kind in enumerate(kinds):
        name = f"{kind}{at}"
        some = st.none() | VALUES[kind] if draw(st.booleans()) else VALUES[kind]
        if draw(st.integers(0, 5)) == 0:
            some = st.just(draw(VALUES[kind]))  # a column of one value
        values = draw(st.lists(some, min_size=n, max_size=n))
        columns[name] = (kind, values)
        if kind == "place":
            lat, lon = f"lat{at}", f"lon{at}"
            data[lat] = pl.Series(lat, [None if v is None else float(v[0]) for v in values], dtype=pl.Float64)
            data[lon] = pl.Series(lon, [None if v is None else float(v[1]) for v in values], dtype=pl.Float64)
            locations.append((lat, lon))
            columns[f"{lat}, {lon}"] = columns.pop(name)
            continue
        data[name] = pl.Series(name, values, dtype=DTYPES.get(kind, pl.String))
        if kind in METRICS:
            metrics[name] = METRICS[kind]
    table = pl.DataFrame(list(data.values()))
    keys = list(table.columns)
    table = table.with_columns(secret=pl.Series([f"s{i % 3}" for i in range(n)]))
    orders = {name: GRADES for name in keys if name.startswith("ordinal")}
    kinds_ = {name: "nominal" for name in keys if name.startswith(("nominal", "tree"))}
    schema = Schema.build(
        table, keys=keys, confidential=["secret"], kinds=kinds_, orders=orders, locations=locations
    )
    return table, schema, metrics, columns
