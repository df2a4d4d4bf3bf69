"""The kernels' figures against the judges', and exchanges against plain recounting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from repeats import examples
from voronym._kernels import enforce as kernels
from voronym._kernels import kernel, verdict
from voronym.core.context import Context
from voronym.privacy import DeltaDisclosure, LDiversity, MutualInformation, PSensitive, TCloseness
from voronym.privacy.enforce.rules import Requirements
from voronym.privacy.enforce.search import Search
from voronym.privacy.level import Levels
from voronym.problem import Problem


@kernel
def tried(cells, watch, p, out, new):
    kernels.tried(cells, watch, p, out, new, 0)


MODELS = [
    TCloseness(0.3, distance="ordered"),
    TCloseness(0.3, distance="equal"),
    TCloseness(0.4, distance="kl"),
    PSensitive(3),
    LDiversity(2.5, kind="entropy"),
    LDiversity(2, kind="recursive", c=1.5),
    DeltaDisclosure(0.8),
    MutualInformation(0.2),
    MutualInformation(0.2, unit="bits"),
]


def column(rng: np.random.Generator, n: int, m: int) -> Levels:
    codes = np.unique(rng.integers(0, m, n), return_inverse=True)[1].reshape(-1)
    size = int(codes.max()) + 1
    return Levels("c", codes.astype(np.int64), True, tuple(range(size)))


@pytest.mark.parametrize("model", MODELS, ids=str)
@examples(12, 100)
@given(seed=st.integers(0, 10_000), m=st.integers(2, 9), cells=st.integers(1, 6))
def test_a_rule_holds_where_its_judge_does(model, seed, m, cells):
    rng = np.random.default_rng(seed)
    levels = column(rng, 40, m)
    judge = model.judge(levels)
    asked = Requirements([judge])
    labels = rng.integers(0, cells, 40)
    labels = np.unique(labels, return_inverse=True)[1].reshape(-1)
    values = judge.values(labels, int(labels.max()) + 1)
    sums = 0.0
    for cell, value in enumerate(values):
        codes = np.sort(levels.codes[labels == cell])
        far = verdict.violation(asked.rules, 0, codes, len(codes))
        if judge.additive:
            sums += far
        else:
            assert (far == 0.0) == bool(judge.holds(value))
    if judge.additive:
        assert sums <= asked.rules.need[0] / asked.rules.scale[0] or not judge.holds(values)
        assert sums * asked.rules.scale[0] == pytest.approx(
            values.sum() * (np.log(2) if model.unit == "bits" else 1.0), abs=1e-12
        )


@pytest.mark.parametrize("model", MODELS[:3], ids=str)
def test_distances_are_those_of_the_judges(model):
    rng = np.random.default_rng(3)
    levels = column(rng, 500, 60)
    judge = model.judge(levels)
    rules = Requirements([judge]).rules
    for _ in range(30):
        codes = np.sort(rng.choice(levels.codes, int(rng.integers(1, 40))))
        assert verdict.measure(rules, 0, codes, len(codes)) == pytest.approx(judge.value(codes), abs=1e-12)


def test_every_model_but_the_taxonomy_is_known_to_the_kernels():
    levels = column(np.random.default_rng(0), 30, 4)
    for model in MODELS:
        assert Requirements([model.judge(levels)]).foreign == (False,)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_an_exchange_is_judged_as_a_recount_would(model):
    rng = np.random.default_rng(5)
    levels = column(rng, 60, 6)
    asked = Requirements([model.judge(levels)])
    search = Search(Problem.of(rng.normal(size=(60, 2)), 3), rng.permutation(60) // 10, asked, Context())
    labels = search.cells.labels
    for _ in range(200):
        i, j = rng.integers(0, 60, 2)
        if labels[i] == labels[j]:
            continue
        tried(search.cells, search.watch, labels[i], i, j)
        result = search.watch.pair[0]
        members = np.append(np.setdiff1d(np.flatnonzero(labels == labels[i]), [i]), j)
        codes = np.sort(levels.codes[members])
        assert result[0] == pytest.approx(verdict.violation(asked.rules, 0, codes, len(codes)), abs=1e-12)


def test_moves_keep_books():
    """After a search, members, codes, centroids and figures are those of the labels."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 3))
    levels = column(rng, 200, 5)
    asked = Requirements([TCloseness(0.35, distance="equal").judge(levels)])
    search = Search(Problem.of(X, 5), np.arange(200) % 25, asked, Context())
    before = search.cost
    search.run(passes=3, weight=1.0, hard=False, donors=True)
    groups, watch = search.cells, search.watch
    assert search.cost < before
    assert groups.sizes.min() >= 5
    for cell in range(25):
        own = groups.members[groups.start[cell] : groups.start[cell] + groups.sizes[cell]]
        assert sorted(own) == np.flatnonzero(groups.labels == cell).tolist()
        codes = watch.ordered[0, groups.start[cell] : groups.start[cell] + groups.sizes[cell]]
        assert codes.tolist() == sorted(levels.codes[own])
        assert search.model.centroids[cell] == pytest.approx(search.records.points[own].mean(axis=0))
    assert watch.totals[0] == pytest.approx(watch.violated.sum())
