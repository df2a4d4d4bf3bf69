"""Quantizers against their definition, their files and their pictures."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import voronym as vr
from voronym.errors import InputError, ReadError, WriteError
from voronym.quantize import _assign
from voronym.quantize.quantizer import Quantizer
from voronym.space import Euclidean, Mahalanobis, Manhattan, Sphere


def oracle(X, quantizer):
    return np.argmin(quantizer.space.cost(X, quantizer.centroids) + quantizer.costs, axis=1)


def some(rng, n, m, d, *, grid=False):
    if grid:  # ties everywhere
        return rng.integers(0, 4, (n, d)) * 1.0, rng.integers(0, 4, (m, d)) * 1.0, rng.integers(0, 3, m) * 1.0
    return rng.standard_normal((n, d)), rng.standard_normal((m, d)), rng.random(m) - 0.5


@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.integers(1, 40), st.booleans())
def test_assign_is_the_definition_bit_by_bit(seed, d, m, grid):
    X, C, c = some(np.random.default_rng(seed), 60, m, d, grid=grid)
    quantizer = Quantizer(C, c)
    np.testing.assert_array_equal(quantizer.assign(X), oracle(X, quantizer))


@pytest.mark.parametrize("grid", [False, True])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_tree_and_the_scan_agree(d, grid):
    rng = np.random.default_rng(d)
    X, C, c = some(rng, 3000, 300, d, grid=grid)
    c = c * 0.01 + 1e3  # a common constant must not spoil the tree's bounds
    np.testing.assert_array_equal(_assign.by_tree(X, C, c), _assign.scan(X, C, c))
    few = _assign.by_tree(X, C[:3].copy(), c[:3].copy())
    np.testing.assert_array_equal(few, oracle(X, Quantizer(C[:3], c[:3])))


def test_more_ties_than_the_tree_proposes():
    grid = np.stack(np.meshgrid(np.arange(5.0), np.arange(5.0)), axis=-1).reshape(-1, 2)
    C = np.tile(grid, (6, 1))[np.random.default_rng(0).permutation(150)]
    X = grid + 0.5  # in the middle between four places with six cells each
    labels = _assign.by_tree(X, C, np.full(150, 0.25))
    np.testing.assert_array_equal(labels, oracle(X, Quantizer(C)))


def test_many_cells_go_through_the_tree(monkeypatch):
    rng = np.random.default_rng(0)
    X, C, c = some(rng, 2000, 800, 2)
    seen = []
    tree = _assign.by_tree
    monkeypatch.setattr(_assign, "by_tree", lambda *args: seen.append(1) or tree(*args))
    quantizer = Quantizer(C, c * 1e-3)
    np.testing.assert_array_equal(quantizer.assign(X), oracle(X, quantizer))
    assert seen


def test_other_spaces():
    rng = np.random.default_rng(5)
    X, C, c = some(rng, 200, 7, 3)
    for space in (Manhattan(), Mahalanobis(np.diag([1.0, 2.0, 3.0]))):
        quantizer = Quantizer(C, c, space)
        labels = quantizer.assign(X)
        np.testing.assert_array_equal(labels, oracle(X, quantizer))
        expected = np.mean([space.cost(X[i : i + 1], C[q : q + 1])[0, 0] for i, q in enumerate(labels)])
        assert quantizer.distortion(X) == pytest.approx(expected)


def test_a_common_constant_changes_nothing_and_a_higher_cost_takes_points_away():
    rng = np.random.default_rng(6)
    X, C, c = some(rng, 500, 6, 2)
    sizes = Quantizer(C, c).sizes(X)
    np.testing.assert_array_equal(Quantizer(C, c + 0.25).sizes(X), sizes)
    raised = c.copy()
    raised[int(sizes.argmax())] += 0.3
    assert Quantizer(C, raised).sizes(X)[sizes.argmax()] < sizes.max()


def test_decode_distortion_and_shares_by_hand():
    quantizer = Quantizer([0.0, 10.0])
    X = [1.0, 2.0, 9.0]
    assert quantizer.assign(X).tolist() == [0, 0, 1]
    assert quantizer.distortion(X) == pytest.approx((1 + 4 + 1) / 3)
    assert quantizer.sizes(X).tolist() == [2, 1]
    np.testing.assert_allclose(quantizer.probabilities(X), [2 / 3, 1 / 3])
    assert quantizer.decode(np.array([1, 1])).tolist() == [[10.0], [10.0]]
    assert quantizer.costs.tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (lambda: Quantizer([[np.nan]]), "1 missing"),
        (lambda: Quantizer([["a"]]), "numbers"),
        (lambda: Quantizer(np.zeros((0, 2))), "cells by columns"),
        (lambda: Quantizer([[1.0]], [1.0, 2.0]), "1 centroids"),
        (lambda: Quantizer([[1.0]], [np.inf]), "costs have 1"),
        (lambda: Quantizer([[1.0]], [0.0], "euclid"), "must be a Space"),
        (lambda: Quantizer([[1.0]]).assign([[1.0, 2.0]]), "2 columns, the quantizer 1"),
        (lambda: Quantizer([[1.0]]).assign([[np.nan]]), "missing"),
        (lambda: Quantizer([[1.0]]).decode([1]), "1 of 1 labels"),
        (lambda: Quantizer([[1.0]]).decode([-1, 0]), "1 of 2 labels"),
        (lambda: Quantizer([[1.0]]).decode([0.5]), "integers"),
        (lambda: Quantizer([[1.0]]).diagram((0, 0, 1, 1)), "plane"),
        (lambda: Quantizer([[1.0, 2.0]]).diagram((1, 0, 0, 1)), "left < right"),
        (lambda: Quantizer([[1.0, 2.0]]).diagram((0, 0, 1)), "left < right"),
        (lambda: Quantizer([[1.0, 2.0]]).diagram("abcd"), "left < right"),
        (lambda: Quantizer([[1.0, 2.0]]).diagram(None), "left < right"),
        (lambda: Quantizer([[1.0, 2.0]]).diagram((0, 0, np.inf, 1)), "left < right"),
        (lambda: Quantizer([[1.0, 2.0]], None, Manhattan()).diagram((0, 0, 1, 1)), "straight"),
    ],
)
def test_bad_input_gets_one_sentence(build, says):
    with pytest.raises(InputError, match=says):
        build()


def test_arrays_are_frozen_and_belong_to_the_quantizer():
    C = np.zeros((2, 1))
    quantizer = Quantizer(C)
    C[0] = 5.0
    assert quantizer.centroids[0, 0] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        quantizer.costs[0] = 1.0


SPACES = [
    Euclidean(),
    Manhattan(),
    Sphere(),
    Mahalanobis([[2.0, 1 / 3, 0.0], [1 / 3, 1.0, 0.0], [0.0, 0.0, 0.1]]),
]


@pytest.mark.parametrize("space", SPACES, ids=lambda space: space.name)
def test_files_give_back_the_same_quantizer(tmp_path, space):
    rng = np.random.default_rng(9)
    C = rng.standard_normal((5, 3)) * 10.0 ** rng.integers(-300, 100, (5, 1))
    if space.name == "sphere":
        C = rng.standard_normal((5, 3))
        C /= np.linalg.norm(C, axis=1, keepdims=True)
    quantizer = Quantizer(C, rng.standard_normal(5) / 3, space)
    path = tmp_path / "q.json"
    quantizer.save(path)
    again = Quantizer.load(path)
    assert again == quantizer
    assert hash(again) == hash(quantizer)
    assert again.centroids.tobytes() == quantizer.centroids.tobytes()
    assert [file.name for file in tmp_path.iterdir()] == ["q.json"]


def test_differences_are_seen():
    a = Quantizer([[1.0], [2.0]], [0.0, 1.0])
    assert a != Quantizer([[1.0], [2.0]], [0.0, 2.0])
    assert a != Quantizer([[1.0], [3.0]], [0.0, 1.0])
    assert a != Quantizer([[1.0], [2.0]], [0.0, 1.0], Manhattan())
    assert a != "a"
    assert Quantizer([1.0], None, Mahalanobis([[1.0]])) != Quantizer([1.0], None, Mahalanobis([[2.0]]))


GOOD = {
    "format": "voronym-quantizer",
    "version": 1,
    "space": {"name": "euclidean"},
    "centroids": [[0.0, 1.0], [2.0, 3.0]],
    "costs": [0.0, 1.0],
}


def test_the_file_is_what_the_documentation_says(tmp_path):
    path = tmp_path / "q.json"
    path.write_text(json.dumps(GOOD), encoding="utf-8")
    quantizer = Quantizer.load(path)
    assert quantizer == Quantizer([[0.0, 1.0], [2.0, 3.0]], [0.0, 1.0])
    quantizer.save(path)
    assert json.loads(path.read_text(encoding="utf-8")) == {**GOOD, "voronym": vr.__version__}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"format": "something"}, "format is not"),
        ({"version": 2}, "made by a newer voronym"),
        ({"version": "1"}, "needs a format number .*, not '1'"),
        ({"version": True}, "needs a format number .*, not True"),
        ({"extra": 1}, r"unknown: 'extra'$"),
        ({"costs": [0.0]}, "2 centroids, 1 costs"),
        ({"costs": [0.0, float("nan")]}, "NaN or infinity"),
        ({"costs": [0.0, None]}, "must be numbers"),
        ({"costs": [0.0, "1"]}, "must be numbers"),
        ({"costs": [0.0, True]}, "must be numbers"),
        ({"costs": [0.0, 10**400]}, "must be finite"),
        ({"costs": 5}, "must be a list"),
        ({"centroids": [[0.0, 1.0], [2.0]]}, "differ in length"),
        ({"centroids": [0.0, 1.0]}, "list of lists"),
        ({"centroids": []}, "list of lists"),
        ({"centroids": [[], []]}, "list of lists"),
        ({"space": {"name": "hyperbolic"}}, "not known here, 'hyperbolic'"),
        ({"space": "euclidean"}, "has no name"),
        ({"space": {"name": "mahalanobis"}}, "parameters of its space"),
        ({"space": {"name": "mahalanobis", "matrix": [[1.0]]}}, "parameters of its space"),
        ({"space": {"name": "mahalanobis", "matrix": "x"}}, "matrix of its space must be a list of lists"),
        ({"space": {"name": "mahalanobis", "matrix": [[10**400]]}}, "matrix of its space must be finite"),
        ({"space": {"name": "mahalanobis", "matrix": [["1", "0"], ["0", "1"]]}}, "must be numbers"),
        ({"space": {"name": "mahalanobis", "matrix": [[True, False], [False, True]]}}, "must be numbers"),
        ({"space": {"name": "mahalanobis", "matrix": [[1.0, 0.0], [0.0]]}}, "differ in length"),
        (
            {"space": {"name": "sphere"}, "centroids": [[5.0, 5.0], [1.0, 0.0]]},
            "do not fit its space: 1 of 2",
        ),
        ({"space": {"name": "euclidean", "power": 3}}, "parameters of its space"),
    ],
)
def test_what_is_no_quantizer_is_refused(tmp_path, change, says):
    path = tmp_path / "q.json"
    path.write_text(json.dumps({**GOOD, **change}), encoding="utf-8")
    with pytest.raises(InputError, match=says):
        Quantizer.load(path)


@pytest.mark.parametrize("content", [b"", b"[1, 2", b"[]", b"\xff\xfe", b"[" * 100_000, b"Infinity"])
def test_what_is_no_json_is_refused(tmp_path, content):
    path = tmp_path / "q.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match="no quantizer"):
        Quantizer.load(path)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        (json.dumps(GOOD)[:-1] + ', "costs": [0.0, 5.0]}', "'costs'"),
        (json.dumps(GOOD).replace('"name":', '"name": "sphere", "name":'), "'name'"),
    ],
)
def test_a_key_that_is_there_twice_is_refused(tmp_path, text, key):
    path = tmp_path / "q.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=f"the key {key} is there twice"):
        Quantizer.load(path)


def test_unknown_keys_are_quoted_and_cut(tmp_path):
    path = tmp_path / "q.json"
    odd = {f"\x1b[31m{i}" + "x" * 1000: 0 for i in range(9)}
    path.write_text(json.dumps({**GOOD, **odd}), encoding="utf-8")
    with pytest.raises(InputError, match=r"and 4 more$") as caught:
        Quantizer.load(path)
    text = str(caught.value).removeprefix(str(path))
    assert "\x1b" not in text
    assert len(text) < 300


def test_a_mark_before_the_text_does_no_harm(tmp_path):
    path = tmp_path / "q.json"
    path.write_text(json.dumps(GOOD), encoding="utf-8-sig")
    assert path.read_bytes().startswith(b"\xef\xbb\xbf")
    assert Quantizer.load(path).n_cells == 2


def test_a_missing_key_is_named(tmp_path):
    path = tmp_path / "q.json"
    path.write_text(json.dumps({key: GOOD[key] for key in GOOD if key != "costs"}), encoding="utf-8")
    with pytest.raises(InputError, match=r"missing or unknown: 'costs'$"):
        Quantizer.load(path)


def test_files_that_cannot_be_read_or_written(tmp_path):
    with pytest.raises(ReadError, match="no quantizer can be read"):
        Quantizer.load(tmp_path / "nowhere.json")
    with pytest.raises(WriteError, match="could not be written"):
        Quantizer([1.0]).save(tmp_path / "no folder" / "q.json")

    class Mine(Euclidean):
        pass

    with pytest.raises(InputError, match="cannot be saved"):
        Quantizer([1.0], None, Mine()).save(tmp_path / "q.json")
    assert list(tmp_path.iterdir()) == []


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "q.json"
    Quantizer([1.0]).save(path)

    def full(*_):
        raise OSError(28, "disk full")

    monkeypatch.setattr("pathlib.Path.replace", full)
    with pytest.raises(WriteError, match="disk full"):
        Quantizer([2.0]).save(path)
    assert Quantizer.load(path) == Quantizer([1.0])
    assert [file.name for file in tmp_path.iterdir()] == ["q.json"]


def area(polygon):
    x, y = polygon.T
    return 0.5 * float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y)) if len(polygon) else 0.0


def inside(points, polygon, margin):
    edges = np.roll(polygon, -1, axis=0) - polygon
    relative = points[:, None] - polygon[None]
    return (edges[None, :, 0] * relative[..., 1] - edges[None, :, 1] * relative[..., 0] >= -margin).all(
        axis=1
    )


@given(st.integers(0, 2**32 - 1), st.integers(1, 30), st.booleans())
@settings(max_examples=30, deadline=None)
def test_the_diagram_is_the_raster(seed, m, oblique):
    rng = np.random.default_rng(seed)
    C = rng.random((m, 2))
    c = rng.random(m) * 0.2
    if m > 3:  # a coincident centroid with the same cost, and one with another
        C[1], c[1] = C[0], c[0]
        C[2] = C[0]
    space = Mahalanobis([[2.0, 0.5], [0.5, 1.0]]) if oblique else Euclidean()
    quantizer = Quantizer(C, c, space)
    polygons = quantizer.diagram((-0.2, -0.1, 1.1, 1.2))
    assert len(polygons) == m
    assert sum(area(p) for p in polygons) == pytest.approx(1.3 * 1.3)
    assert all(area(p) >= 0 for p in polygons)
    X = np.column_stack([rng.uniform(-0.2, 1.1, 300), rng.uniform(-0.1, 1.2, 300)])
    labels = quantizer.assign(X)
    for q, polygon in enumerate(polygons):
        mine = X[labels == q]
        if len(mine):
            assert inside(mine, polygon, 1e-9).all()


def test_a_thousand_cells_are_drawn():
    rng = np.random.default_rng(0)
    polygons = Quantizer(rng.random((1000, 2)), rng.random(1000) * 1e-3).diagram((0, 0, 1, 1))
    assert sum(area(p) for p in polygons) == pytest.approx(1.0)


def test_repr_says_what_it_is():
    assert (
        repr(Quantizer(np.zeros((3, 2))))
        == "Quantizer(3 cells in 2 dimensions, euclidean, costs spread over 0)"
    )
