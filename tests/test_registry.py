"""Every registered method keeps the contract; the contract catches methods that do not."""

from __future__ import annotations

import numpy as np
import pytest

import voronym as vr
from voronym.method import METHODS, Method, Registry
from voronym.partition import Partition
from voronym.partitioners.front import OneGroupWarning
from voronym.testing import check_method

NAMES = sorted(vr.algorithms())


SLOW = ("anneal", "noisy-pcl", "pcl")
"""They take seconds on each table; `auto` anneals, and `pcl-variable` is of one kind with the others."""


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow) if n in SLOW else n for n in NAMES])
def test_contract(name):
    check_method(vr.algorithms()[name])


@pytest.mark.parametrize("name", NAMES)
def test_every_method_says_what_it_is(name):
    method = vr.algorithms()[name]
    assert method.summary.endswith(".")
    assert method.guarantee
    assert method.cost
    assert method.reference


@pytest.mark.parametrize("name", NAMES)
def test_progress_may_stop_the_work(name):
    class StopError(Exception):
        pass

    def stop(step):
        raise StopError

    X = np.random.default_rng(0).standard_normal((4000, 1))
    try:
        part = vr.microaggregate(X, 3, method=name, progress=stop)
    except StopError:
        return
    assert part.sizes.min() >= 3  # a method may be done before its first word


def _broken(labels):
    def function(problem, ctx):
        return labels(problem.points, problem.k)

    return Method("broken", function, "none", "none", "none", max_size=lambda k: 2 * k - 1)


def test_the_contract_catches_a_small_group():
    with pytest.raises(vr.GuaranteeError, match="the smallest has 1"):
        check_method(_broken(lambda X, _: Partition(np.r_[0, np.ones(len(X) - 1, int)])))


def test_the_contract_catches_a_large_group():
    with pytest.raises(AssertionError, match="more than"):
        check_method(_broken(lambda X, _: Partition(np.zeros(len(X), int))))


def test_the_contract_catches_a_changed_input():
    def change(X, k):
        X += 1
        return Partition(np.arange(len(X)) // k * k // k)

    with pytest.raises(AssertionError, match="changed its input"):
        check_method(_broken(change))


def test_the_contract_catches_hidden_randomness():
    def shuffle(X, k):
        labels = np.minimum(np.arange(len(X)) // k, len(X) // k - 1)
        return Partition(np.random.default_rng().permutation(labels))

    with pytest.raises(AssertionError, match="another partition"):
        check_method(_broken(shuffle))


@pytest.mark.parametrize(
    ("X", "k", "says"),
    [
        (np.zeros((5, 2)), 1, "hides nobody"),
        (np.zeros((5, 2)), 0, "hides nobody"),
        (np.zeros((5, 2)), 2.5, "whole number"),
        (np.zeros((5, 2)), "3", "whole number"),
        (np.zeros((5, 2)), True, "whole number"),
        (np.zeros((5, 2)), 6, "more than the 5 records"),
        (np.zeros((0, 2)), 2, "empty"),
        (np.zeros((5, 0)), 2, "empty"),
        (np.zeros((5, 2, 2)), 2, "dimensions"),
        ([["a"], ["b"]], 2, "array of numbers"),
        ([[1.0], [2.0, 3.0]], 2, "array of numbers"),
        ([[1.0], [np.nan], [2.0]], 2, "1 missing or infinite values, in columns \\[0\\]"),
        ([[1e200], [-1e200], [2.0]], 2, "too large"),
    ],
)
def test_bad_input_gets_one_sentence(X, k, says):
    with pytest.raises(vr.InputError, match=says):
        vr.microaggregate(X, k)


@pytest.mark.parametrize("seed", [-1, 1.5, "a", True])
def test_seeds_that_are_none(seed):
    with pytest.raises(vr.InputError, match=r"a seed is|seed must be a whole number"):
        vr.microaggregate(np.zeros((9, 2)), 3, seed=seed)


def test_a_space_that_is_none():
    with pytest.raises(vr.InputError, match="must be a Space"):
        vr.microaggregate(np.zeros((9, 2)), 3, space="euclid")


def test_fewer_than_2k_is_one_group_with_a_warning():
    with pytest.warns(OneGroupWarning, match="single group"):
        part = vr.microaggregate(np.arange(5.0), 3)
    assert part.n_cells == 1


def test_unknown_method_and_option():
    with pytest.raises(vr.InputError, match="mdav"):
        vr.microaggregate(np.zeros((9, 2)), 3, method="magic")
    with pytest.raises(vr.InputError, match="has no option 'gama'"):
        vr.microaggregate(np.zeros((9, 2)), 3, method="vmdav", gama=1)
    with pytest.raises(vr.InputError, match="one column"):
        vr.microaggregate(np.zeros((9, 2)), 3, method="univariate")


def test_a_name_is_registered_once():
    with pytest.raises(vr.InputError, match="already"):
        vr.algorithm("mdav", guarantee="", cost="", reference="")(lambda: None)


def test_a_registry_is_a_sorted_mapping_that_explains_itself():
    fruit = Registry("fruit")
    fruit.add("pear", 2)
    fruit.add("apple", 1)
    assert dict(fruit) == {"apple": 1, "pear": 2}
    assert list(fruit) == ["apple", "pear"]
    for unknown in ("plum", ["pear"]):
        with pytest.raises(vr.InputError, match=r"no fruit is called .*; there are: apple, pear"):
            fruit[unknown]
    fruit.remove("pear")
    assert "pear" not in fruit


def test_methods_that_mask_tables_make_no_groups():
    wide = {"blocks", "channel", "dp", "lattice", "local-suppression", "records"}
    assert set(METHODS) - set(NAMES) == wide
    for name in sorted(wide):
        with pytest.raises(vr.InputError, match="makes no groups"):
            vr.microaggregate(np.zeros((9, 2)), 3, method=name)
