"""One record changes groups by one record each, sums by what is claimed, and nothing else."""

import itertools

import numpy as np
import pytest

from dp.oracle import Oracle, answered_by, cost, swapped
from voronym.dp import GROUPINGS, BoundedRecords, Budget
from voronym.dp.order import by_rank, total_order

pytestmark = pytest.mark.slow

PAIRS = 10_000


def table(rng, n, d, e):
    """BoundedRecords with many ties and values at the ends, where orders are hardest."""
    ordered = rng.choice([0.0, 0.25, 0.5, 1.0], (n, d)) if rng.random() < 0.5 else rng.random((n, d))
    sizes = tuple(int(size) for size in rng.integers(1, 4, e))
    nominal = np.stack([rng.integers(0, size, n) for size in sizes], axis=1) if e else np.empty((n, 0), int)
    return BoundedRecords(ordered, nominal.astype(np.int64), sizes)


def neighbour(rng, records, row):
    ordered, nominal = records.ordered.copy(), records.nominal.copy()
    ordered[row] = (
        rng.choice([0.0, 0.25, 0.5, 1.0], records.d) if rng.random() < 0.5 else rng.random(records.d)
    )
    nominal[row] = [rng.integers(0, size) for size in records.sizes]
    return BoundedRecords(ordered, nominal, records.sizes)


def attack(monkeypatch, name, first, second, k, budget, seed):
    both = []
    for records in (first, second):
        with answered_by(Oracle(seed), monkeypatch) as oracle:
            both.append((GROUPINGS[name].function(records, k, budget), oracle))
    (a, asked), (b, other) = both
    for what in ("ordered", "nominal", "counts"):
        np.testing.assert_array_equal(getattr(a, what), getattr(b, what))
    assert int(a.counts.sum()) == first.n
    assert a.facts == b.facts
    assert sum(a.spent.values()) <= budget.share * (1 + 1e-9)
    assert cost(asked, other) <= budget.share * (1 + 1e-9)
    rows = [np.column_stack([records.ordered, records.nominal]) for records in (first, second)]
    assert swapped(a.of, rows[0], b.of, rows[1]) <= 1


@pytest.mark.parametrize("name", sorted(GROUPINGS))
def test_random_neighbours(name, monkeypatch):
    rng = np.random.default_rng(29)
    for pair in range(PAIRS // 10):
        n, d, e = int(rng.integers(2, 13)), int(rng.integers(0, 4)), int(rng.integers(0, 3))
        if d + e == 0:
            d = 1
        first = table(rng, n, d, e)
        second = neighbour(rng, first, int(rng.integers(n)))
        budget = Budget(float(rng.choice([0.1, 1.0, 100.0])), 0.0 if rng.random() < 0.6 else 1e-6)
        attack(monkeypatch, name, first, second, int(rng.integers(1, max(n // 2, 2))), budget, pair)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(GROUPINGS))
def test_many_random_neighbours(name, monkeypatch):
    rng = np.random.default_rng(2900)
    for pair in range(PAIRS):
        n, d, e = int(rng.integers(2, 40)), int(rng.integers(1, 5)), int(rng.integers(0, 3))
        first = table(rng, n, d, e)
        second = neighbour(rng, first, int(rng.integers(n)))
        budget = Budget(float(rng.choice([0.1, 1.0, 1000.0])), 0.0 if rng.random() < 0.6 else 1e-6)
        attack(monkeypatch, name, first, second, int(rng.integers(1, max(n // 2, 2))), budget, pair)


def test_ranks_of_random_neighbours():
    """Groups by rank alone, 10,000 pairs: each differs by one record at most."""
    rng = np.random.default_rng(1)
    for _ in range(PAIRS):
        n, d = int(rng.integers(2, 12)), int(rng.integers(1, 3))
        first = table(rng, n, d, 1)
        second = neighbour(rng, first, int(rng.integers(n)))
        k = int(rng.integers(1, n + 1))
        rows = [np.column_stack([records.ordered, records.nominal]) for records in (first, second)]
        labels = [by_rank(total_order(records), k) for records in (first, second)]
        assert np.array_equal(np.bincount(labels[0]), np.bincount(labels[1]))
        assert swapped(labels[0], rows[0], labels[1], rows[1]) <= 1


@pytest.mark.parametrize("name", sorted(GROUPINGS))
def test_every_tiny_table(name, monkeypatch):
    """All tables of four records on three places, with all their neighbours."""
    places = (0.0, 0.5, 1.0)
    for values in itertools.combinations_with_replacement(places, 4):
        first = BoundedRecords(np.array(values)[:, None], np.empty((4, 0), np.int64))
        for row, new in itertools.product(range(4), places):
            ordered = first.ordered.copy()
            ordered[row] = new
            second = BoundedRecords(ordered, first.nominal)
            for k in (1, 2):
                attack(monkeypatch, name, first, second, k, Budget(1.0), 7)


def test_sums_of_ranks_telescope():
    """In a column by itself all groups together change by the range at most: the noise is for that."""
    from voronym.dp.cells import STEPS
    from voronym.dp.individual import ranked_sums

    rng = np.random.default_rng(3)
    for _ in range(2000):
        n = int(rng.integers(4, 20))
        first = table(rng, n, 1, 0)
        second = neighbour(rng, first, int(rng.integers(n)))
        a, b = ranked_sums(first, 4 if n % 4 == 0 else 2)[0], ranked_sums(second, 4 if n % 4 == 0 else 2)[0]
        assert np.abs(a - b).sum() <= 2 * STEPS


def test_columns_side_by_side_are_not_private():
    """Why counts of the grid get noise: which row is in which groups tells neighbours apart."""
    first = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0], [4.0, 4.0]]) / 4
    second = first.copy()
    second[3, 1] = 0.25
    pairs = []
    for table_ in (first, second):
        labels = [by_rank(np.argsort(table_[:, column], kind="stable"), 2) for column in (0, 1)]
        pairs.append(len(set(zip(*map(np.ndarray.tolist, labels), strict=True))))
    assert pairs == [2, 4]  # without any noise on this, ε is infinite


@pytest.mark.parametrize("name", sorted(GROUPINGS))
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_sums_of_many_records_are_whole(name, delta):
    """Sums go far beyond 32 bits: centres of many records are hardly moved."""
    n = 300_000
    records = BoundedRecords(np.full((n, 1), 0.9), np.empty((n, 0), np.int64))
    cells = GROUPINGS[name].function(records, n, Budget(1.0, delta))
    assert abs(float(cells.ordered[np.argmax(cells.counts), 0]) - 0.9) < 0.01
