"""Releases of which it is known how much they give away: drawn again and again, with a dial from 0 to 1."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from voronym.attacks import Scene
from voronym.attacks.scene import Matrix
from voronym.table.schema import Schema
from voronym.table.table import Table

TOWNS = ("north", "south", "west")
RULE = Matrix(
    ("town",), tuple((town,) for town in TOWNS), np.array([[0.6, 0.2, 0.2]] + [[0.3, 0.4, 0.3]] * 2)
)
ILL = np.array(["flu", "ulcer", "asthma", "cancer"])


def people(rng: np.random.Generator, n: int) -> pl.DataFrame:
    """Draw people: age and weight go together; illness depends on age a little."""
    age = rng.integers(20, 90, n)
    return pl.DataFrame(
        {
            "name": [f"Person{i:06d}" for i in rng.choice(1_000_000, n, replace=False)],
            "age": age,
            "weight": np.round(60 + 0.2 * age + rng.normal(0, 10, n), 1),
            "town": rng.choice(TOWNS, n, p=[0.7, 0.2, 0.1]),
            "ill": ILL[(rng.random(n) * 4 * (0.5 + age / 180)).astype(int).clip(0, 3)],
            "cost": np.round(rng.gamma(2.0, 500.0, n), 2),
        }
    )


def release(rng: np.random.Generator, original: pl.DataFrame, size: int, dial: float) -> pl.DataFrame:
    """Publish means of groups by age; the dial says how much of the order of confidential values is kept.

    At 0 the confidential columns are shuffled over all people: nothing beside the keys is true of anybody.
    """
    n = len(original)
    order = np.argsort(original["age"].to_numpy() + rng.random(n))
    group = np.empty(n, np.int64)
    group[order] = np.minimum(np.arange(n) // size, max(0, n // size - 1))
    mean = {
        name: np.round(np.bincount(group, original[name].to_numpy()) / np.bincount(group), 6)[group]
        for name in ("age", "weight")
    }
    first = np.unique(group, return_index=True)[1]
    moved = np.flatnonzero(rng.random(n) >= dial)
    whose = np.arange(n)
    whose[moved] = rng.permutation(moved)
    return pl.DataFrame(
        {
            "age": mean["age"],
            "weight": mean["weight"],
            "town": original["town"].to_numpy()[first][group],
            "ill": original["ill"].to_numpy()[whose],
            "cost": original["cost"].to_numpy()[whose],
        }
    )


def scene(
    rng: np.random.Generator,
    *,
    n: int = 240,
    size: int = 5,
    dial: float = 1.0,
    noisy: bool = False,
    folder: Path | None = None,
) -> Scene:
    """Draw people and publish them; everything that an attack may need lies beside."""
    original = people(rng, n)
    made = release(rng, original, size, dial)
    before = release(rng, original, size + 2, dial)
    keep = rng.random(n) >= 0.9 * dial if n > 8 else np.ones(n, bool)
    place = np.arange(n)
    loose = np.flatnonzero(keep)
    place[loose] = rng.permutation(loose)  # rows that were not shuffled stay where they were
    if noisy:  # towns by the published rule
        rows = RULE.rows[[TOWNS.index(town) for town in original["town"]]].cumsum(axis=1)
        drawn = (rng.random((n, 1)) > rows).sum(axis=1)
        made = made.with_columns(town=pl.Series([TOWNS[i] for i in drawn.clip(0, 2)]))
    shown = made[np.argsort(place).tolist()]
    roles = {"keys": ["age", "weight", "town"], "confidential": ["ill", "cost"], "identifiers": ["name"]}
    schema = Schema.build(original, **roles)
    facts = {}
    if folder is not None:
        path = folder / "release.csv"
        shown.write_csv(path)
        left = [name for name in original["name"] if rng.random() < 0.3 * dial]
        with path.open("a") as file:
            file.write("\n".join(f"note,{value},," for value in left))
        facts["file"] = path
    return Scene.of(
        shown,
        schema,
        original=original,
        own=place,
        earlier=(before[rng.permutation(n)[: n - n // 12].tolist()],),
        table=Table.of(original, schema),
        matrices=(RULE,),
        **facts,
    )
