"""Random recipes give the same rows wherever they are run; one part gives what memory gives."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import voronym as vr
from pairs.cases import TREE, merged, people
from voronym.errors import GuaranteeError, InputError

pytestmark = pytest.mark.slow

STEPS, PEOPLE = ("top", "recode", "after"), ("person", "household", "pseudonyms")
MODELS, SPACES = ("t-closeness", "l-diversity"), ("ranges", "interval", "by-hierarchy", "mixed", "median")
# Noise and PRAM are no part of it: they are drawn from the system, never twice alike.
OTHER = ("weights", "publish-weights", "strata", "suppress", "importance", "mdav", "pairs", "locations")


def recipe(seed: int) -> dict[str, Any] | None:
    """Return a random recipe with a step, people or weights, a model, and ranges more often than not."""
    rng = random.Random(seed)
    names = {rng.choice(STEPS), rng.choice(PEOPLE), rng.choice(MODELS), rng.choice(SPACES), rng.choice(OTHER)}
    kept = tuple(name for name in sorted(names) if rng.random() < 0.8)
    return merged(kept)


def _random_recipes(many: int) -> Iterator[int]:
    seeds = (seed for seed in range(10_000) if recipe(seed))
    return (seed for seed, _ in zip(seeds, range(many), strict=False))


def _source(asked: dict[str, Any], folder: Path) -> tuple[pl.DataFrame, dict[str, Any]]:
    frame, choices = people(), {"k": 4, "seed": 5, **asked}
    if "hierarchies" in choices:
        (folder / "town.csv").write_text(TREE, encoding="utf-8")
        choices["hierarchies"] = {"town": str(folder / "town.csv")}
    if "person" in choices:
        about = ["sex", "town", "region", "household", "school"]
        frame = frame.with_columns(pl.col(name).first().over("person") for name in about)
    choices["other"] = [*choices.get("other", ()), "row"]
    choices |= {"confidential": ["ill", "cost"], "identifiers": ["name"], "drop_undeclared": True}
    data = folder / "data"
    data.mkdir()
    for part in range(3):
        frame[part::3].write_parquet(data / f"{part}.parquet")
    return pl.concat([frame[part::3] for part in range(3)]), choices


def _rows(table: pl.DataFrame) -> pl.DataFrame:
    named = [name for name in ("person", "household") if name in table.columns]  # pseudonyms are drawn afresh
    return table.drop(named).sort("row")


def _written(folder: Path) -> pl.DataFrame:
    return _rows(pl.read_parquet(folder / "*.parquet"))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=() if at < 2 else pytest.mark.slow)
             for at, seed in enumerate(_random_recipes(20))],
)  # fmt: skip
def test_a_random_recipe_gives_the_same_rows_everywhere(seed: int, tmp_path: Path) -> None:
    asked = recipe(seed)
    assert asked is not None
    frame, choices = _source(asked, tmp_path)
    try:
        memory = vr.anonymize(frame, **choices)
    except (InputError, GuaranteeError) as error:
        with pytest.raises(type(error)):
            vr.anonymize(tmp_path / "data", output=tmp_path / "one", workers=1, **choices)
        return
    vr.anonymize(tmp_path / "data", output=tmp_path / "one", workers=1, **choices)
    assert _written(tmp_path / "one").equals(_rows(memory.table))
    engines: dict[str, dict[str, Any]] = {f"local{n}": {"workers": n} for n in (1, 2, 3)}
    with ExitStack() as stack:
        from distributed import Client, LocalCluster

        threads = {"processes": False, "dashboard_address": None, "threads_per_worker": 1}
        client = stack.enter_context(Client(stack.enter_context(LocalCluster(n_workers=2, **threads))))
        engines["dask"] = {"engine": "dask", "address": client.scheduler.address}
        if shutil.which("java"):
            try:
                import pyspark  # noqa: F401
            except ImportError:
                pass
            else:
                engines["spark"] = {"engine": "spark", "workers": 2}
        for name, where in engines.items():
            vr.anonymize(tmp_path / "data", output=tmp_path / name, leaf=200, **choices, **where)
    first = _written(tmp_path / "local1")
    if "suppress" in choices:  # other people are far from all others in smaller leaves
        assert (1.0 - choices["suppress"]) * len(frame) <= len(first) < len(frame)
    else:
        assert len(first) == len(memory.table)
    for name in engines:
        assert _written(tmp_path / name).equals(first), name
