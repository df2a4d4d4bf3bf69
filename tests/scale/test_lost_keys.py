"""A key of which next to nothing is left is refused over several leaves as it is in one table."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import voronym as vr
from scale.conftest import write
from voronym.errors import SchemaError


def towns(n: int = 1200) -> pl.DataFrame:
    """Make people of 400 towns, which have nothing to do with the other keys."""
    rng = np.random.default_rng(3)
    town = [f"t{i}" for i in rng.integers(0, 400, n)]
    return pl.DataFrame({"town": town, "age": rng.normal(50, 9, n), "size": rng.normal(170, 9, n)})


def release(folder: Path, out: str, **more: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return vr.anonymize(
            folder, output=folder.parent / out, keys=["town", "age", "size"], k=25, method="kd", rounds=1,
            leaf=500, workers=1, **more,
        )  # fmt: skip


def test_a_key_that_is_gone_is_refused_unless_that_is_allowed(tmp_path: Path) -> None:
    folder = write(towns(), tmp_path / "data", 3)
    with pytest.raises(SchemaError, match=r"key 'town' would lose 1\d\d\.\d % .*allow_loss=\['town'\]"):
        release(folder, "out")
    assert sorted(item.name for item in tmp_path.iterdir()) == ["data"]
    made = release(folder, "out", allow_loss=["town"])
    assert made.rows == 1200
    assert made.folder.key_losses["town"] > 150.0
