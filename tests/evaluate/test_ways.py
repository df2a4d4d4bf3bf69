"""Metres by which places were moved, against the haversine formula."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import voronym as vr
from voronym.evaluate.utility import utility


def haversine(lat, lon, lat_2, lon_2):
    lat, lon, lat_2, lon_2 = (np.radians(item) for item in (lat, lon, lat_2, lon_2))
    inner = np.sin((lat - lat_2) / 2) ** 2 + np.cos(lat) * np.cos(lat_2) * np.sin((lon - lon_2) / 2) ** 2
    return 2 * 6_371_008.8 * np.arcsin(np.sqrt(inner))


def test_a_release_says_how_far_places_were_moved():
    rng = np.random.default_rng(2)
    table = pl.DataFrame(
        {
            "age": rng.integers(20, 80, 60),
            "lat": 52.5 + 0.1 * rng.standard_normal(60),
            "lon": 13.4 + 0.2 * rng.standard_normal(60),
        }
    )
    schema = vr.Schema.build(table, keys=["age", "lat", "lon"], locations=[("lat", "lon")])
    moved = table.with_columns(pl.col("lat") + 0.01, pl.col("lon") - 0.02)
    moved = moved.with_columns(lat=pl.when(pl.int_range(pl.len()) == 0).then(None).otherwise("lat"))
    order = rng.permutation(60)
    (way,) = utility(table, moved[order], schema, aligned=order).ways
    lat, lon = (table[name].to_numpy()[1:] for name in ("lat", "lon"))  # one has no place any more
    far = haversine(lat, lon, lat + 0.01, lon - 0.02)
    assert (way.mean, way.largest) == pytest.approx((far.mean(), far.max()), rel=1e-9)
    assert way.location == "lat,lon"
    assert "m on average" in str(utility(table, moved, schema, aligned=True))
    assert utility(table, moved, schema).ways == ()  # nobody knows who is who
    release = vr.anonymize(table, keys=["age", "lat", "lon"], locations=[("lat", "lon")], k=5, method="mdav")
    assert 0.0 < release.utility.ways[0].mean < release.utility.ways[0].largest < 50_000.0
