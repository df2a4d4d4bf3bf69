"""What `transport` refuses, in words."""

from __future__ import annotations

import numpy as np
import pytest

import voronym as vr
from voronym.quantize.costs import transport
from voronym.quantize.costs.base import round_sizes


@pytest.mark.parametrize(
    ("sizes", "says"),
    [
        ([2, 2], "sum to 4, there are 5"),
        ([3, 3], "sum to 6, there are 5"),
        ([-1, 6], "1 of 2 sizes are negative"),
        ([2.5, 2.5], "whole numbers"),
        ([np.nan, 5], "whole numbers"),
        ([5], "2 whole numbers, one per cell"),
        ([[2, 3]], "one per cell"),
        (["a", "b"], "whole numbers"),
        (([3, 1], [2, 4]), "1 of 2 cells have a lower bound above"),
        (([3, 3], [4, 4]), "ask for 6 points in all, there are 5"),
        (([0, 0], [2, 2]), "allow 4 points in all, there are 5"),
        (([0, 0], [2, 2, 2]), "2 whole numbers"),
    ],
)
def test_sizes_that_cannot_be(sizes, says):
    with pytest.raises(vr.InputError, match=says):
        transport(np.arange(5.0), [[0.0], [1.0]], sizes)


@pytest.mark.parametrize(
    ("X", "C", "start", "says"),
    [
        ([[np.nan], [1.0]], [[0.0]], None, "missing or infinite"),
        ([[0.0], [1.0]], [[np.inf]], None, "1 of 1 centroids"),
        ([[0.0], [1.0]], [[0.0, 1.0]], None, "shape"),
        ([[0.0], [1.0]], [], None, "shape"),
        ([[0.0], [1.0]], [["a"]], None, "numbers"),
        ([[0.0], [1.0]], [[0.0]], [1.0, 2.0], "1 finite costs"),
        ([[0.0], [1.0]], [[0.0]], [np.nan], "1 finite costs"),
    ],
)
def test_input_that_cannot_be(X, C, start, says):
    with pytest.raises(vr.InputError, match=says):
        transport(X, C, [2], start=start)


def test_sizes_from_probabilities():
    assert round_sizes([1 / 3, 1 / 3, 1 / 3], 10).tolist() == [4, 3, 3]
    assert round_sizes([0.1, 0.9], 10).tolist() == [1, 9]
    for bad, says in (
        ([0.5, 0.6], "sum to 1.1"),
        ([-0.5, 1.5], "negative"),
        ([np.nan, 1.0], "finite"),
        ([], "vector"),
    ):
        with pytest.raises(vr.InputError, match=says):
            round_sizes(bad, 10)


@pytest.mark.parametrize(
    "options", [{"start": "abc"}, {"start": ["a", "b"]}, {"space": "manhattan"}, {"tolerance": float("nan")}]
)
def test_options_that_cannot_be(options):
    with pytest.raises(vr.InputError, match=next(iter(options))):
        transport(np.arange(4.0), [[0.0], [1.0]], [2, 2], **options)
