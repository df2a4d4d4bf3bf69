from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import voronym as vr


def table(n=60):
    rng = np.random.default_rng(0)
    return pl.DataFrame(
        {"a": rng.standard_normal(n), "b": rng.standard_normal(n), "c": ["x", "y"] * (n // 2)}
    )


def test_every_method_and_k_once_with_loss_and_linkage():
    found = vr.compare(table(), keys=["a", "b"], k=[3, 5])
    methods = {name for name, method in vr.algorithms().items() if name != "auto" and not method.univariate}
    assert {(row.method, row.k) for row in found.rows} == {(m, k) for m in methods for k in (3, 5)}
    assert all(
        0 < row.loss < 100 and row.linkage_low <= row.linkage <= row.linkage_high for row in found.rows
    )
    assert all(row.linkage <= 1 / row.k + 1e-12 for row in found.rows)
    assert found.best(3).loss == min(row.loss for row in found.rows if row.k == 3)


def test_one_column_has_the_exact_method_and_none_beats_it():
    found = vr.compare(table(), keys=["a"], k=4)
    assert found.best(4).loss == pytest.approx(
        min(row.loss for row in found.rows if row.method == "univariate")
    )


def test_methods_that_take_long_are_left_out_unless_named():
    found = vr.compare(table(6000), keys=["a", "b"], k=50, methods=None)
    assert "icsm" in found.skipped
    assert "icsm" not in {row.method for row in found.rows}


def test_a_figure_is_that_of_the_partition():
    found = vr.compare(table(), keys=["a", "b"], k=3, methods=["mdav"])
    X = vr.standardize(table().select("a", "b").to_numpy())
    part = vr.microaggregate(X, 3, method="mdav")
    assert found.rows[0].loss == pytest.approx(vr.information_loss(X, part))
    assert found.rows[0].cells == part.n_cells


def test_wrong_uses():
    with pytest.raises(vr.InputError, match="at least one key"):
        vr.compare(table(), keys=[])
    with pytest.raises(vr.InputError, match="no method"):
        vr.compare(table(), keys=["a"], methods=["magic"])
    with pytest.raises(vr.InputError, match="more than the 60 records"):
        vr.compare(table(), keys=["a"], k=61)
