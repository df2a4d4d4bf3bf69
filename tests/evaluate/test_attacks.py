"""Linkage against a brute-force attacker; interval disclosure by hand."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voronym.core.context import Context
from voronym.errors import InputError
from voronym.evaluate import attacks, interval_disclosure, record_linkage


def brute(X, Y, truth):
    """Look at every pair, count ties, average."""
    credit, near, bound = [], [], []
    for i, x in enumerate(X):
        d = np.sqrt(((Y - x) ** 2).sum(axis=1))
        best = np.flatnonzero(d <= d.min() * (1 + 1e-9))
        bound.append(1 / len(best))
        near.append(float(truth[i] in best))
        credit.append(near[-1] / len(best))
    return np.mean(credit), np.mean(near), np.mean(bound)


@st.composite
def releases(draw):
    n, m, d = draw(st.integers(1, 20)), draw(st.integers(1, 20)), draw(st.integers(1, 3))
    grid = st.integers(-3, 3)  # a coarse grid: many equal records and many ties between different ones
    X = np.array(draw(st.lists(st.lists(grid, min_size=d, max_size=d), min_size=n, max_size=n)), float)
    Y = np.array(draw(st.lists(st.lists(grid, min_size=d, max_size=d), min_size=m, max_size=m)), float)
    truth = np.array(draw(st.lists(st.integers(-1, m - 1), min_size=n, max_size=n)))
    return X, Y, truth


@given(releases(), st.randoms())
def test_linkage_equals_brute_force_in_any_order(release, random):
    X, Y, truth = release
    credit, near, bound = brute(X, Y, truth)
    result = record_linkage(X, Y, truth=truth)
    assert result.rate.value == pytest.approx(credit)
    assert result.nearest.value == pytest.approx(near)
    assert result.rate.low <= result.rate.value <= result.rate.high
    blind = record_linkage(X, Y)
    assert blind.kind == "upper bound"
    assert blind.rate.value == pytest.approx(bound)
    assert blind.rate.value >= result.rate.value - 1e-12
    people, rows = list(range(len(X))), list(range(len(Y)))
    random.shuffle(people)
    random.shuffle(rows)
    place = np.append(np.argsort(rows), -1)  # where each released row went; -1 stays -1
    again = record_linkage(X[people], Y[rows], truth=place[truth[people]])
    assert again.rate.value == result.rate.value


def test_blocks_change_nothing(monkeypatch):
    rng = np.random.default_rng(1)
    X, Y = rng.standard_normal((101, 4)), rng.standard_normal((60, 4))
    truth = rng.integers(0, 60, 101)
    whole = record_linkage(X, Y, truth=truth)
    monkeypatch.setattr(attacks, "_BLOCK", 7)
    messages = []
    assert record_linkage(X, Y, truth=truth, ctx=Context(progress=messages.append)) == whole
    assert [step.done for step in messages] == sorted(step.done for step in messages)
    assert messages[-1].done > 0.99


@given(releases())
def test_released_points_in_blocks_change_nothing(release):
    """Ties between points of different blocks count as ties."""
    X, Y, truth = release
    whole = record_linkage(X, Y, truth=truth)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(attacks, "_ROWS", 3)
        assert record_linkage(X, Y, truth=truth) == whole


def test_a_copy_is_linked_and_a_k_anonymous_table_at_most_one_in_k():
    X = np.random.default_rng(2).standard_normal((60, 3))
    assert record_linkage(X, X, truth=np.arange(60)).rate.value == 1.0
    cells = np.repeat(X[:12], 5, axis=0)
    assert record_linkage(X, cells, truth=np.arange(60)).rate.value <= 1 / 5
    blind = record_linkage(X, cells).rate
    assert blind.value == pytest.approx(1 / 5)
    assert blind.ceiling == 1 / 5
    assert blind.high == pytest.approx(1 / 5)  # what k-anonymity promises, no interval may exceed


def test_sampling_is_seeded_and_covers_the_truth():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((3000, 2))
    Y = X + 0.05 * rng.standard_normal(X.shape)
    truth = np.arange(3000)
    whole = record_linkage(X, Y, truth=truth).rate
    assert whole.exact
    some = [record_linkage(X, Y, truth=truth, targets=300, ctx=Context(seed=s)) for s in range(20)]
    assert some[0] == record_linkage(X, Y, truth=truth, targets=300, ctx=Context(seed=0))
    assert {s.rate.n for s in some} == {300}
    assert not some[0].rate.exact
    assert len({s.rate.value for s in some}) > 1
    assert sum(s.rate.low <= whole.value <= s.rate.high for s in some) >= 18


def test_results_are_json():
    result = record_linkage([[0.0], [1.0]], [[0.0], [1.0]])
    assert json.loads(json.dumps(result.to_dict()))["kind"] == "upper bound"
    assert str(result).startswith("at most 100 %")


@pytest.mark.parametrize(
    ("X", "Y", "options", "message"),
    [
        ([[1.0]], [[1.0, 2.0]], {}, "coordinates"),
        ([[np.nan]], [[1.0]], {}, "NaN"),
        ([], [[1.0]], {}, "shape"),
        ([[1.0]], [[1.0]], {"truth": [0, 1]}, "one released row"),
        ([[1.0]], [[1.0]], {"truth": [1]}, "rows 0 to 0"),
        ([[1.0]], [[1.0]], {"truth": [0.0]}, "one released row"),
        ([[1.0]], [[1.0]], {"targets": 0}, "targets"),
    ],
)
def test_bad_input(X, Y, options, message):
    with pytest.raises(InputError, match=message):
        record_linkage(X, Y, **options)


def test_sd_intervals_by_hand():
    # sd of 0, 0, 10, 10 is 5; ten percent of it is 0.5. Distances 0.5, 0.6, 0, and a missing release.
    result = interval_disclosure([0.0, 0.0, 10.0, 10.0], [0.5, 0.6, 10.0, np.nan], percent=10)
    assert result.sd.value == 0.5


def test_rank_intervals_by_hand():
    # Ten published values 0..9; ten percent is one rank. The linked value 5 spans 4..6.
    published = np.arange(10.0)
    for original, inside in [(3.9, 0), (4.0, 1), (6.0, 1), (6.1, 0)]:
        result = interval_disclosure([original], [5.0], percent=10, published=published)
        assert result.rank.value == inside
    # At the end of the ranks the interval stops: 9 spans 8..9.
    assert interval_disclosure([9.5], [9.0], percent=10, published=published).rank.value == 0
    # Equal published values share the rank: a cell of four 5s among ten spans one rank beyond either end.
    tied = np.array([1.0, 2.0, 5.0, 5.0, 5.0, 5.0, 7.0, 8.0, 9.0, 9.5])
    assert interval_disclosure([2.0, 7.0, 1.9, 7.1], [5.0] * 4, percent=10, published=tied).rank.value == 0.5


def test_missing_originals_are_no_targets():
    result = interval_disclosure([np.nan, 1.0, 3.0], [1.0, 1.0, 3.0], percent=1)
    assert (result.sd.value, result.sd.n) == (1.0, 2)
    assert interval_disclosure([np.nan], [1.0]) is None
    with pytest.raises(InputError, match="percent"):
        interval_disclosure([1.0], [1.0], percent=0)
    with pytest.raises(InputError, match="shapes"):
        interval_disclosure([1.0], [1.0, 2.0])
