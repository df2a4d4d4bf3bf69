from __future__ import annotations

import math
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from records.checks import TREE, apart
from voronym import Hierarchy
from voronym.errors import InputError, MissingExtraError, ReadError
from voronym.space.metrics import (
    TABLE_LEVELS,
    Absolute,
    Circular,
    Edit,
    Function,
    Geographic,
    Matrix,
    Nominal,
    Overlap,
    Rank,
    Taxonomy,
    metric,
    metrics,
    pairwise,
)


def table(made):
    at = np.arange(made.levels)
    return pairwise(made, at[:, None], at[None, :])


def test_lines_ranks_labels_and_circles_by_hand():
    assert table(Absolute().geometry(np.array([1, 4]), "x")).tolist() == [[0, 3], [3, 0]]
    assert table(Rank(["b", "c", "a"]).geometry(["a", "b"], "x")).tolist() == [[0, 2], [2, 0]]
    assert table(Rank().geometry([3, 5, 9], "x"))[0].tolist() == [0, 1, 2]
    assert table(Nominal().geometry(["a", "b"], "x")).tolist() == [[0, 1], [1, 0]]
    week = ["mo", "tu", "we", "th", "fr", "sa", "su"]
    assert table(Circular(order=week).geometry(["mo", "su", "we"], "x"))[0].tolist() == [0, 1, 2]
    assert table(Circular(360).geometry(np.array([10.0, 350.0, 730.0]), "x"))[0].tolist() == [0, 20, 0]


def test_large_whole_numbers_keep_their_digits():
    made = Absolute().geometry(np.array([2**62, 2**62 + 1]), "x")
    assert table(made)[0, 1] == 1.0


def test_places_on_the_globe_agree_with_the_haversine_formula():
    places = [(41.4, 2.2), (41.1, 1.2), (-33.9, 151.2), (41.4, 2.2001)]
    result = table(Geographic().geometry(np.array(places), "home"))
    expected = [[apart("place", a, b) for b in places] for a in places]
    np.testing.assert_allclose(result, expected, rtol=1e-7, atol=1e-4)
    with pytest.raises(InputError, match=r"1 distinct values outside -90\.\.90"):
        Geographic().geometry(np.array([[100.0, 0.0]]), "home")


def test_sets_overlap():
    made = Overlap().geometry(["a;b", "b; a", "a;b;c;d", ""], "signs")
    assert table(made)[0].tolist() == [0.0, 0.0, 0.5, 1.0]
    assert table(Overlap().geometry([{1, 2}, (2,)], "signs"))[0, 1] == 0.5


def test_taxonomy_from_a_file_a_mapping_and_rows(tmp_path):
    lines = "\n".join(";".join((value, *above)) for value, above in TREE.items())
    (tmp_path / "tree.csv").write_text(lines + "\n", encoding="utf-8")
    values = ["angina", "asthma", "flu", "stroke"]
    expected = [[apart("tree", a, b) for b in values] for a in values]
    for tree in (
        tmp_path / "tree.csv",
        str(tmp_path / "tree.csv"),
        TREE,
        Hierarchy((v, *a) for v, a in TREE.items()),
    ):
        np.testing.assert_allclose(table(Taxonomy(tree).geometry(values, "d")), expected)
    with pytest.raises(ReadError, match=r"cannot read the hierarchy 'none\.csv'"):
        Hierarchy.read(tmp_path / "none.csv")


def test_values_that_a_hierarchy_lacks():
    with pytest.raises(InputError, match="1 of 2 distinct values of column 'd' are not in its hierarchy"):
        Taxonomy(TREE).geometry(["flu", "gout"], "d")
    made = Taxonomy(TREE, unseen="root").geometry(["asthma", "flu", "gout", "scurvy"], "d")
    assert table(made)[2].tolist() == [1.0, 1.0, 0.0, 1.0]
    assert "2 distinct values of 'd'" in made.notes[0]
    with pytest.raises(InputError, match="'refuse' or 'root'"):
        Taxonomy(TREE, unseen="drop")


def levenshtein(a: str, b: str) -> int:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        new = [i]
        for j, y in enumerate(b, 1):
            new.append(min(row[j] + 1, new[-1] + 1, row[j - 1] + (x != y)))
        row = new
    return row[-1]


@given(st.lists(st.text("abc", max_size=5), min_size=1, max_size=5, unique=True))
def test_edit_distance_against_the_recurrence(words):
    result = table(Edit().geometry(words, "name"))
    assert result.tolist() == [[levenshtein(a, b) for b in words] for a in words]


def test_edit_distance_without_its_library(monkeypatch):
    monkeypatch.setitem(sys.modules, "rapidfuzz.distance", None)
    with pytest.raises(MissingExtraError, match=r"voronym\[text\]"):
        Edit().geometry(["a"], "name")


def test_too_many_values_for_a_table():
    with pytest.raises(InputError, match="column 'name' has 2049 distinct values"):
        Edit().geometry([str(i) for i in range(TABLE_LEVELS + 1)], "name")


def lopsided(a, b):
    return float(a > b)


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (lopsided, "the metric 'lopsided' of column 'x' is not symmetric"),
        (lambda a, b: abs(a - b) + 1, "is not 0 between a value and itself, for 3 of 3 values"),
        (lambda a, b: -abs(a - b), "is negative for 6 pairs"),
        (lambda a, b: math.nan if a != b else 0.0, "is NaN or infinite for 6 pairs"),
        (lambda a, b: math.inf if a != b else 0.0, "is NaN or infinite"),
        (lambda *_: "far", "failed on a pair of values: ValueError"),
        (lambda *_: 1 / 0, "failed on a pair of values: ZeroDivisionError"),
    ],
)
def test_functions_that_are_no_distances_are_refused_by_name(function, sentence):
    with pytest.raises(InputError, match=sentence) as caught:
        Function(function).geometry([1, 2, 3], "x")
    assert "'x'" in str(caught.value)


def test_a_lopsided_function_is_found_among_many_values_too():
    with pytest.raises(InputError, match="not symmetric"):
        Function(lopsided).geometry(list(range(300)), "x")
    assert Function(lambda a, b: abs(a - b)).geometry(list(range(300)), "x").table[0, 299] == 299


@pytest.mark.parametrize(
    ("matrix", "sentence"),
    [
        ([[0, 1], [2, 0]], "not symmetric"),
        ([[1, 1], [1, 0]], "not 0 between a value and itself, for 1 of 2"),
        ([[0, -1], [-1, 0]], "negative"),
        ([[0, math.nan], [math.nan, 0]], "NaN"),
        ([[0, 1, 2], [1, 0, 2]], "needs a row and a column"),
        ([["a", "b"], ["b", "a"]], "must hold numbers"),
    ],
)
def test_matrices_that_are_no_distances_are_refused(matrix, sentence):
    with pytest.raises(InputError, match=sentence):
        Matrix(["a", "b"], matrix).geometry(["a"], "x")


def test_a_matrix_serves_the_values_in_use():
    made = Matrix(["a", "b", "c"], [[0, 1, 2], [1, 0, 3], [2, 3, 0]]).geometry(["c", "a"], "x")
    assert table(made).tolist() == [[0, 2], [2, 0]]
    with pytest.raises(InputError, match="1 distinct values of column 'x' are not among the labels"):
        Matrix(["a"], [[0]]).geometry(["a", "z"], "x")


def test_metrics_are_registered():
    assert {"absolute", "circular", "rank", "nominal", "taxonomy", "edit", "elapsed"} < set(metrics())
    with pytest.raises(InputError, match="registered already"):
        metric("absolute")(Absolute)


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (lambda: Circular(0), "period above 0"),
        (lambda: Circular(), "period above 0"),
        (lambda: Circular(24).geometry(["a"], "x"), "needs finite numbers"),
        (lambda: Absolute().geometry(["a"], "x"), "needs numbers or times"),
        (lambda: Absolute().geometry(np.array([1.0, np.inf]), "x"), "1 infinite values"),
        (lambda: Rank(["a"]).geometry(["b"], "x"), "1 distinct values that its order of 1 levels lacks"),
        (lambda: Rank(["a", "a"]).geometry(["a"], "x"), "different levels"),
        (lambda: Overlap(""), "separator"),
        (lambda: Function(3), "must be a function"),
        (lambda: Edit().geometry([1], "x"), "needs texts"),
    ],
)
def test_what_cannot_be_is_said(build, sentence):
    with pytest.raises(InputError, match=sentence):
        build()


@given(
    st.lists(st.integers(0, 40), min_size=1, max_size=8, unique=True),
    st.sampled_from([Absolute(), Nominal(), Circular(24), Rank(), Function(lambda a, b: abs(a - b) ** 0.5)]),
)
def test_every_metric_is_one(values, chosen):
    made = chosen.geometry(np.array(sorted(values)), "x")
    result = table(made)
    assert (np.diagonal(result) == 0).all()
    np.testing.assert_array_equal(result, result.T)
    assert (result <= made.far + 1e-9).all()
    assert made.far > 0
    through = (result[:, :, None] + result[None, :, :]).min(axis=1)  # the triangle inequality
    assert (result <= through + 1e-9).all()
