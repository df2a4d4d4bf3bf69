from __future__ import annotations

import runpy

import numpy as np
import pytest

base = pytest.importorskip("benchmarks.base", reason="the benchmarks are run from the root of the checkout")
from benchmarks.limits import Limits  # noqa: E402
from benchmarks.plane import best_pairs  # noqa: E402
from benchmarks.quantize import OURS, THEIRS, Quantize, equal  # noqa: E402
from benchmarks.speed import CASES, Speed  # noqa: E402


def result(n, path, seconds, cells="a"):
    return {
        "method": "mdav", "n": n, "d": 3, "k": 10, "path": path, "seconds": seconds,
        "memory": 1.0, "added": 1.0, "data_memory": 1.0, "cells": cells,
    }  # fmt: skip


def test_plain_stands_beside_fast_and_sizes_give_the_growth():
    rows = Speed().rows([result(100, "fast", 1.0), result(100, "plain", 30.0), result(1000, "fast", 10.0)])
    assert [row["n"] for row in rows] == [100, 1000]
    assert rows[0]["ratio"] == pytest.approx(30.0)
    assert rows[0]["same"] is True
    assert rows[1]["exponent"] == pytest.approx(1.0)
    assert "ratio" not in rows[1]


def test_other_cells_are_noticed():
    rows = Speed().rows([result(100, "fast", 1.0, "a"), result(100, "plain", 30.0, "b")])
    assert rows[0]["same"] is False


def test_a_case_is_measured_with_memory_and_cells():
    fast, plain = (Speed.measure(method="mdav", n=400, d=2, k=5, path=path) for path in ("fast", "plain"))
    assert fast["cells"] == plain["cells"]
    assert fast["seconds"] > 0
    assert fast["memory"] > 10


def test_the_plain_baseline_of_a_hundred_thousand_records_is_in_the_same_run():
    assert ("mdav", 100_000, 3, True) in CASES
    assert ("mdav", 100_000, 10, True) in CASES


def test_a_design_is_measured_and_again_up_to_a_loss():
    whole = Quantize.measure(data="gaussian", n=600, k=60, method=OURS)
    assert whole["exact"] is True
    assert whole["cells"] == 10
    assert whole["loss"] < whole["start"]
    again = Quantize.measure(
        data="gaussian", n=600, k=60, method=OURS, target=(whole["loss"] + whole["start"]) / 2
    )
    assert again["same_loss"] <= (whole["loss"] + whole["start"]) / 2
    assert equal(11, 3).tolist() == [4, 4, 3]


def test_ours_stands_beside_the_baseline():
    case = {"data": "gaussian", "n": 100, "k": 10}
    theirs = case | {"method": THEIRS, "seconds": 30.0, "loss": 2.0}
    ours = case | {"method": OURS, "seconds": 0.2, "loss": 2.1, "same_seconds": 0.1}
    _, row = Quantize().rows([theirs, ours])
    assert (row["ratio"], row["same_ratio"], row["no_worse"]) == (
        pytest.approx(150),
        pytest.approx(300),
        False,
    )


def test_answers_to_limits_and_wishes_are_timed(monkeypatch):
    cases = list(Limits().cases(quick=True))
    assert {case["asked"] for case in cases} == {"limit", "cancel", "finish"}
    assert {case["method"] for case in cases if case["asked"] == "cancel"} > {"mdav", "records", "channel"}
    row = Limits.measure(method="anneal", n=300, asked="limit", granted=0.5)
    assert row["seconds"] >= 0.5
    assert row["answer"] == "result"
    monkeypatch.setattr("benchmarks.limits.WAIT", 60.0)  # a busy machine may take a second for anything
    early = Limits.measure(method="mst", n=50, asked="finish", granted=2.0)
    assert (early["answer"], early["kept"]) == ("done before", True)


def test_the_bound_of_pairs_is_the_best_of_all_ways():
    def least(left):  # the first of them with each of the others
        first, *others = left
        ways = ((other, [item for item in others if item != other]) for other in others)
        return min(
            ((X[first] - X[other]) ** 2).sum() / 2 + (least(rest) if rest else 0.0) for other, rest in ways
        )

    for seed in range(3):
        X = np.random.default_rng(seed).standard_normal((10, 2)) ** 3
        for near in (5, 9):
            assert best_pairs(X, near=near) == pytest.approx(least(list(range(10))), rel=1e-5)


def test_a_module_that_does_nothing_by_itself_says_how_to_run_it():
    with pytest.raises(SystemExit, match="run python -m benchmarks loss"):
        runpy.run_module("benchmarks.loss", run_name="__main__")
