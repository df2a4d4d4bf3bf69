from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from partitioners import oracles
from partitioners.points import records
from voronym._kernels import search
from voronym._kernels import tree as trees


def fill(tree, X, k, i):
    leaf = search.ask(tree, i)
    distances, members = np.empty(k), np.empty(k, np.int64)
    result = search.nearest(tree, leaf, k, distances, members)
    return members[:result], distances[:result]


@given(records(most=1200), st.one_of(st.integers(1, 12), st.integers(60, 130)), st.data())
def test_searches_are_those_of_a_scan_while_records_leave(X, k, data):
    tree = trees.grow(X, X.mean(axis=0))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    rest = np.arange(len(X))
    while len(rest):
        i = int(rng.choice(rest))
        members, distances = fill(tree, X, k, i)
        wanted = oracles.nearest(X, rest, X[i], k)
        assert members.tolist() == wanted.tolist()
        assert np.array_equal(distances, oracles.squared(X[wanted], X[i]))
        far, distance = search.farthest(tree)
        assert far == oracles.farthest(X, rest, X[i])
        assert distance == oracles.squared(X[[far]], X[i])[0]
        leaving = rng.permutation(rest)[: max(1, len(rest) // 3)]
        trees.remove(tree, leaving, len(leaving))
        rest = np.setdiff1d(rest, leaving)
    assert (tree.living == 0).all()
    assert (tree.first == trees.NOBODY).all()


@given(records(most=1200))
def test_boxes_fit_their_records(X):
    tree = trees.grow(X, X.mean(axis=0))
    leaving = np.random.default_rng(0).permutation(len(X))[: len(X) // 2]
    trees.remove(tree, leaving, len(leaving))
    rest = np.setdiff1d(np.arange(len(X)), leaving)
    leaf, place = np.divmod(tree.where[rest], trees.ROOM)
    assert np.array_equal(tree.record[leaf, place], rest)
    assert np.array_equal(tree.points[leaf, :-1, place], X[rest])
    node, lane = np.divmod(leaf, trees.LANES)
    while True:
        for group, at in {*zip(node.tolist(), lane.tolist(), strict=True)}:
            inside = rest[(node == group) & (lane == at)]
            assert np.array_equal(tree.box[group, 0, :, at], X[inside].min(axis=0))
            assert np.array_equal(tree.box[group, 1, :, at], X[inside].max(axis=0))
            assert tree.first[group, at] == inside.min()
        if tree.parent[node[0]] < 0:
            break
        node, lane = np.divmod(tree.parent[node], trees.LANES)


@given(records(most=400))
def test_all_distances_are_those_of_the_living(X):
    tree = trees.grow(X, X.mean(axis=0))
    trees.remove(tree, np.arange(0, len(X), 2), len(X[::2]))
    tree.query[:] = X[0]
    distances, indices = np.empty(len(X) // 2), np.empty(len(X) // 2, np.int64)
    assert search.all_distances(tree, distances, indices) == len(X) // 2
    assert sorted(indices.tolist()) == list(range(1, len(X), 2))
    assert np.array_equal(distances, oracles.squared(X[indices], X[0]))
