"""What every single feature released before request and run became one, held fixed in `golden_releases.json`.

Each recipe asks for one feature on a small made-up table. The hash of the released rows is kept, whatever
their order. A deliberate change is a commit of its own that says why, made after

    python tests/test_golden_releases.py

which records everything again.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import voronym as vr

GOLDEN = Path(__file__).with_name("golden_releases.json")
KEYS = ["age", "income", "sex", "town"]


def draws(start: int, n: int, low: int, high: int) -> np.ndarray:
    """Return integers from low to high that look random, the same for ever."""
    state, out = start, []
    for _ in range(n):
        state = (6364136223846793005 * state + 1442695040888963407) % 2**64
        out.append(low + (state >> 33) % (high - low + 1))
    return np.array(out, np.int64)


def people(n: int = 180) -> pl.DataFrame:
    """Return a table about people; numbers are multiples of 16, so that no mean falls half-way."""
    age = draws(1, n, 20, 90)
    towns, ills, schools = ("Ulm", "Bonn", "Jena", "Köln"), ("no", "no", "flu", "cold", "gout"), "abcd"
    return pl.DataFrame({
        "age": 16 * age,
        "income": 16 * (5 * age + draws(2, n, 0, 600)),
        "sex": [("f", "m")[i] for i in draws(3, n, 0, 1)],
        "town": [towns[i] for i in draws(4, n, 0, 3)],
        "region": [("north", "south")[i] for i in draws(5, n, 0, 1)],
        "school": [schools[i] for i in draws(6, n, 0, 3)],
        "born": pl.Series([16 * int(d) for d in draws(7, n, 0, 500)]).cast(pl.Int32).cast(pl.Date),
        "lat": (41.0 + draws(8, n, 0, 15) / 16).tolist(),
        "lon": (2.0 + draws(9, n, 0, 15) / 16).tolist(),
        "weight": (4.0 * draws(10, n, 1, 3)).tolist(),
        "heavy": (4.0 * draws(11, n, 1, 300)).tolist(),
        "ill": [ills[i] for i in draws(12, n, 0, 4)],
        "cost": 16 * draws(13, n, 0, 200),
        "person": [f"p{i}" for i in draws(14, n, 0, 89)],
        "household": [f"h{i}" for i in draws(15, n, 0, 69)],
        "row": [f"r{i * 7 % n}" for i in range(n)],
    })  # fmt: skip


def gaps(frame: pl.DataFrame) -> pl.DataFrame:
    """Take some values away."""
    every = {"age": 9, "town": 7, "ill": 11}
    at = pl.int_range(pl.len()) + 1
    return frame.with_columns(
        pl.when(at % step == 0).then(None).otherwise(pl.col(name)).alias(name) for name, step in every.items()
    )


TREE = "\n".join(["Ulm;south;*", "Bonn;west;*", "Jena;east;*", "Köln;west;*"])
PLAIN: dict[str, Any] = {"keys": KEYS, "confidential": ["ill"], "k": 5, "method": "mdav"}
FEATURES: dict[str, dict[str, Any]] = {
    "plain": {},
    "k of 9": {"k": 9},
    "vmdav": {"method": "vmdav", "options": {"gamma": 0.2}},
    "mondrian": {"method": "mondrian"},
    "median": {"publish": "median"},
    "interval": {"publish": "interval"},
    "interval of age": {"publish": {"age": "interval"}, "widths": {"age": 160}},
    "exact ends": {"publish": "interval", "ends": "exact"},
    "hierarchy": {"publish": {"town": "hierarchy"}, "hierarchies": {"town": "TREE"}},
    "suppress": {"suppress": 0.05},
    "strata": {"keys": [*KEYS, "region"], "strata": ["region"]},
    "strata and model": {"keys": [*KEYS, "region"], "strata": ["region"], "models": ["p-sensitive=2"]},
    "weights": {"weights": "weight", "other": ["weight"]},
    "mean weights": {"weights": "heavy", "other": ["heavy"]},
    "own weights": {"weights": "heavy", "other": ["heavy"], "publish_weights": "own"},
    "importance": {"importance": {"age": 4}},
    "person": {"person": "person"},
    "household": {"household": "household"},
    "person and household": {"person": "person", "household": "household"},
    "ordinal": {"keys": ["age", "school"], "orders": {"school": ["a", "b", "c", "d"]}},
    "dates": {"keys": ["age", "born"]},
    "places": {"keys": ["age", "lat", "lon"], "locations": [("lat", "lon")]},
    "missing": {"gaps": True},
    "t-closeness": {"models": ["t-closeness=0.4"]},
    "l-diversity": {"models": ["l-diversity=2"]},
    "entropy": {"models": ["l-diversity=entropy:1.5"]},
    "p-sensitive": {"models": ["p-sensitive=3"]},
    "delta-disclosure": {"models": ["delta-disclosure=3"]},
    "beta-likeness": {"models": ["beta-likeness=3"]},
    "alpha-k": {"models": ["alpha-k=0.7"]},
    "mutual-information": {"models": ["mutual-information=0.3"]},
    "cost t-closeness": {"confidential": ["cost"], "models": ["t-closeness=0.3"]},
    "model of people": {"person": "person", "models": ["p-sensitive=2"]},
    "model and gaps": {"gaps": True, "models": ["t-closeness=0.4"]},
    "merge": {"models": ["p-sensitive=3"], "enforce": "merge"},
    "swap": {"models": ["p-sensitive=3"], "enforce": "swap"},
    "confidential-first": {"models": ["t-closeness=0.4"], "enforce": "confidential-first"},
    "intruder method": {"models": ["p-sensitive=2"], "intruder": "method"},
    "top": {"steps": ["top income=12000"]},
    "share": {"steps": ["top income=10%", "bottom age=5%"]},
    "tail mean": {"steps": ["top income=20% publish=mean"]},
    "round": {"steps": ["round income=1000"]},
    "recode": {"steps": ["recode town values=Ulm,Jena to=small"]},
    "cuts": {"steps": ["recode age cuts=500,900,1200"]},
    "hierarchy step": {"steps": ["recode town level=1"], "hierarchies": {"town": "TREE"}},
    "suppress values": {"steps": ["suppress town=Jena"]},
    "after": {"steps": ["after round income=1000"]},
    "mixed": {"space": "mixed"},
    "mixed metrics": {
        "space": "mixed", "metrics": {"age": "nominal"}, "importance": {"income": 2.0},
    },
    "ranges": {"space": "ranges"},
    "ranges and hierarchy": {
        "space": "ranges", "hierarchies": {"town": "TREE"}, "publish": {"town": "hierarchy"},
    },
    "lattice": {"method": "lattice", "keys": ["sex", "town", "school"], "hierarchies": {"town": "TREE"}},
    "lattice and model": {"method": "lattice", "keys": ["sex", "town"], "models": ["p-sensitive=2"]},
    "local-suppression": {
        "method": "local-suppression", "seed": 0, "keys": ["sex", "town", "school", "region"],
    },
    "local-suppression and model": {
        "method": "local-suppression", "seed": 0, "keys": ["sex", "town", "school"],
        "models": ["p-sensitive=2"],
    },
    "channel": {"method": "channel", "seed": 3, "k": None, "options": {"max_distortion": 0.3}},
    "records": {"method": "records", "seed": 3, "k": None, "options": {"despite_loss": True}},
    "kept groups": {"keep_groups": True, "months": 2},
    "retired": {"keep_groups": True, "months": 2, "dissolved": "retire"},
    "headroom": {"keep_groups": True, "months": 2, "headroom": 2},
}  # fmt: skip


def digest(table: pl.DataFrame) -> str:
    """Return the hash of the rows, whatever their order."""

    def text(value: object) -> str:
        return f"{value + 0.0:.9g}" if isinstance(value, float) else repr(value)

    rows = sorted("|".join(map(text, row)) for row in table.rows())
    return hashlib.sha256("\n".join([*table.columns, *rows]).encode()).hexdigest()


def released(asked: dict[str, Any], folder: Path) -> str:
    """Make the release of a recipe, in as many months as it says; return the hash of the last."""
    choices = {**PLAIN, **asked}
    months, frame = choices.pop("months", 0), people()
    if choices.pop("gaps", False):
        frame = gaps(frame)
    if "hierarchies" in choices:
        (folder / "town.csv").write_text(TREE, encoding="utf-8")
        choices["hierarchies"] = {"town": str(folder / "town.csv")}
    if months:
        choices |= {"ledger": folder / "people.ledger", "identifiers": ["row"]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if not months:
            return digest(vr.anonymize(frame, drop_undeclared=True, **choices).table)
        for month in range(months):
            some = frame.filter(pl.Series(draws(50 + month, len(frame), 0, 9) > 0))
            release = vr.anonymize(some, drop_undeclared=True, **choices)
            release.write(folder / f"{month}.parquet")
        return digest(release.table)


RECORDED: dict[str, str] = json.loads(GOLDEN.read_text("utf-8")) if GOLDEN.exists() else {}


@pytest.mark.parametrize("name", RECORDED)
def test_same_release(name, tmp_path):
    assert released(FEATURES[name], tmp_path) == RECORDED[name]


def test_every_feature_was_recorded():
    assert set(RECORDED) == set(FEATURES)


if __name__ == "__main__":
    made = {}
    for name, asked in FEATURES.items():
        with tempfile.TemporaryDirectory() as folder:
            made[name] = released(asked, Path(folder))
    GOLDEN.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", "utf-8")
    sys.stdout.write(f"{len(made)} releases\n")
