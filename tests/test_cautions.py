"""What is said of a release that keeps its guarantee and is of little use."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import voronym as vr
from voronym.errors import SchemaError


def test_a_release_of_no_use_says_so():
    rng = np.random.default_rng(0)
    table = pl.DataFrame({f"c{i}": rng.choice(list("abcdefgh"), 60) for i in range(40)})
    with pytest.raises(SchemaError, match=r"nearly nothing is left.*allow_loss=\['c\d+'\]"):
        vr.anonymize(table, keys=table.columns, k=20, method="mdav")
    with pytest.warns(UserWarning, match="of little use"):
        vr.anonymize(table, keys=table.columns, k=20, method="mdav", allow_loss=table.columns)
    with pytest.warns(UserWarning, match="of little use"):
        vr.anonymize(table, keys=table.columns, k=5, method="mdav")


def test_a_model_that_leaves_one_group_says_so():
    asked = {"keys": ["age", "sex"], "confidential": ["diagnosis"], "drop_undeclared": True, "k": 5}
    table = vr.datasets.hospital(60, seed=1)
    with pytest.warns(UserWarning, match=r"all 60 records are in one group.*nothing is left.*weaker model"):
        made = vr.anonymize(table, method="mdav", models=["t-closeness=0.001"], **asked)
    assert made.table["age"].n_unique() == 1
    vr.anonymize(table, method="mdav", **asked)  # several groups: not a word
    same = table.with_columns(age=pl.lit(40), sex=pl.lit("f"))  # nothing was there to lose
    vr.anonymize(same, method="mdav", models=["t-closeness=0.001"], **asked)
