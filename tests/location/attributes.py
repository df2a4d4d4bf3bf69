"""Declared attributes and made-up people who have them, for the tests of attributes."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np

from location.town_hall import scattered
from voronym_location.directory import Entry

ASKED: dict[str, Any] = {
    "born": {"kind": "numeric", "low": 1900, "high": 2026},
    "schooling": {"kind": "ordinal", "values": ["none", "school", "university"]},
    "sex": {"kind": "nominal", "values": ["f", "m", "x"]},
}
PERSON = {"born": 1980, "schooling": "school", "sex": "f"}


def facts(n: int, seed: int = 5) -> np.ndarray:
    """Return made-up attributes of n people."""
    rng = np.random.default_rng(seed)
    columns = (
        rng.integers(1935, 2009, n),
        rng.choice(ASKED["schooling"]["values"], n),
        rng.choice(["f", "m"], n),
    )
    out = np.empty((n, 3), object)
    for at, column in enumerate(columns):
        out[:, at] = column.tolist()
    return out


def entries(n: int, *, first: int = 0) -> list[Entry]:
    """Return a directory of people with attributes."""
    return [
        replace(row, attributes=json.dumps(dict(zip(ASKED, values, strict=True))))
        for row, values in zip(scattered(n, first, first=first), facts(n, first).tolist(), strict=True)
    ]
