"""Independent checks and tables: no code of the library's records room is used for them."""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter
from itertools import combinations
from typing import Any

import polars as pl

TREE = {
    "flu": ("lung", "chest", "*"),
    "asthma": ("lung", "chest", "*"),
    "angina": ("heart", "chest", "*"),
    "stroke": ("brain", "head", "*"),
}
GRADES = ["low", "middle", "high"]


def apart(kind: str, a: Any, b: Any, *, span: float = 1.0) -> float:
    """Return the distance of two values by a formula of its own; None is missing."""
    if a is None and b is None:
        return 0.0
    if a is None or b is None:
        return span
    if kind == "numeric":
        return abs(a - b)
    if kind == "date":
        return abs((a - b).days)
    if kind == "nominal":
        return float(a != b)
    if kind == "ordinal":
        return abs(GRADES.index(a) - GRADES.index(b))
    if kind == "hour":
        return min((a - b) % 24, (b - a) % 24)
    if kind == "tree":
        if a == b:
            return 0.0
        first, second = ((x, *TREE[x]) if x in TREE else (x, f"?{x}", f"?{x}", "*") for x in (a, b))
        return next(i for i in range(4) if first[i] == second[i]) / 3
    assert kind == "place"
    if None in a or None in b:
        return 0.0 if None in a and None in b else span
    p, q = (tuple(map(math.radians, x)) for x in (a, b))
    half = (
        math.sin((p[0] - q[0]) / 2) ** 2 + math.cos(p[0]) * math.cos(q[0]) * math.sin((p[1] - q[1]) / 2) ** 2
    )
    return 2 * 6371.0088 * math.asin(math.sqrt(half))


def assert_within(
    columns: dict[str, tuple[str, list[Any]]], labels: list[int], epsilon: dict[str, float]
) -> None:
    """Raise unless every pair of a cluster is within epsilon in every column: equation 2, word for word."""
    for cluster in set(labels):
        rows = [i for i, label in enumerate(labels) if label == cluster]
        for name, (kind, values) in columns.items():
            for i, j in combinations(rows, 2):
                away = apart(kind, values[i], values[j], span=math.inf)
                if values[i] is None or values[j] is None:
                    away = 0.0 if values[i] is values[j] else math.inf
                assert away <= epsilon[name] + 1e-6 * (kind == "place"), (name, away, epsilon[name])


def assert_more_than(labels: list[int], m: int) -> None:
    assert min(Counter(labels).values()) > m


def table_1() -> pl.DataFrame:
    """Return the paper's example: five records of a medical institution."""
    return pl.DataFrame(
        {
            "zip": [13053, 13068, 13068, 13053, 14853],
            "age": [28, 29, 21, 23, 50],
            "nationality": ["Russian", "American", "Japanese", "American", "Indian"],
            "condition": ["Heart disease", "Heart disease", "Viral infection", "Viral infection", "Cancer"],
        }
    )


def day(i: int) -> dt.date:
    return dt.date(2024, 1, 1) + dt.timedelta(days=i)
