"""Neighbours by adding or removing a record: a noisy count, and tables of that size that differ by one."""

import itertools
from collections import Counter

import numpy as np
import pytest

from dp.oracle import Oracle, answered_by, cost
from dp.test_sensitivity import neighbour, table
from voronym.dp import GROUPINGS, BoundedRecords, Budget
from voronym.dp import presence as presence_room
from voronym.dp.presence import counted, resized
from voronym.methods.differential import cells_of
from voronym.privacy import DifferentialPrivacy


def without(records, row):
    return BoundedRecords(
        np.delete(records.ordered, row, axis=0), np.delete(records.nominal, row, axis=0), records.sizes
    )


def lists(records):
    return sorted(map(tuple, np.column_stack([records.ordered, records.nominal]).tolist()))


def replaced(first, second):
    """How many records of one table are not in the other."""
    a, b = Counter(lists(first)), Counter(lists(second))
    return sum((a - b).values()), sum((b - a).values())


def attack_presence(monkeypatch, name, first, second, k, budget, rows, seed):
    """A record more: answered alike, both tables publish the same, for less than is promised."""
    asked = []

    def count(values, total, length, share, *, pure):
        asked.append((int(values[0]), total, length, share))
        return np.array([rows]), 1.0

    both = []
    model = DifferentialPrivacy(budget.epsilon, budget.delta, neighbours="add-remove")
    for records in (first, second):
        with answered_by(Oracle(seed), monkeypatch) as oracle, monkeypatch.context() as patch:
            patch.setattr(presence_room, "noisy", count)
            patch.setattr(presence_room.secrets, "randbits", lambda _: seed)
            both.append((*cells_of(records, model, budget, name, k), oracle))
    (a, size, _, single), (b, other_size, _, other) = both
    assert size == other_size
    for what in ("ordered", "nominal", "counts"):
        np.testing.assert_array_equal(getattr(a, what), getattr(b, what))
    assert int(a.counts.sum()) == max(rows, 1)
    assert a.facts == b.facts
    (n, total, length, share), (m, *_) = asked
    assert abs(n - m) <= min(total, length)
    spent = share * abs(n - m) ** (1 if budget.pure else 2)
    assert spent + cost(single, other) <= budget.share * (1 + 1e-9)
    assert sum(a.spent.values()) <= budget.share * (1 + 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(GROUPINGS))
def test_a_record_more_of_every_tiny_table(name, monkeypatch):
    """All tables of up to three records on three places, with all that have one more, and every count."""
    places = [(place, value) for place in (0.0, 0.5, 1.0) for value in (0, 1)]
    for many in (1, 2, 3):
        for chosen in itertools.combinations_with_replacement(places, many + 1):
            second = BoundedRecords(
                np.array([[place] for place, _ in chosen]), np.array([[value] for _, value in chosen]), (2,)
            )
            for row, rows in itertools.product(range(many + 1), range(many + 3)):
                first = without(second, row)
                for salt in (1, 7):
                    pair = [resized(records, max(rows, 1), salt)[0] for records in (first, second)]
                    assert max(replaced(*pair)) <= 1
                attack_presence(monkeypatch, name, first, second, 1 + rows % 2, Budget(1.0), rows, 5)


@pytest.mark.parametrize("pairs", [100, pytest.param(10_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", sorted(GROUPINGS))
def test_a_record_more_of_random_tables(name, pairs, monkeypatch):
    rng = np.random.default_rng(31)
    for pair in range(pairs):
        n, d, e = int(rng.integers(2, 20)), int(rng.integers(1, 4)), int(rng.integers(0, 3))
        second = table(rng, n, d, e)
        first = without(second, int(rng.integers(n)))
        rows = max(n + int(rng.integers(-6, 7)), 1)
        salt = int(rng.integers(2**40))
        assert max(replaced(*(resized(records, rows, salt)[0] for records in (first, second)))) <= 1
        budget = Budget(float(rng.choice([0.1, 1.0, 100.0])), 0.0 if rng.random() < 0.6 else 1e-6)
        attack_presence(
            monkeypatch, name, first, second, int(rng.integers(1, max(n // 2, 2))), budget, rows, pair
        )


def test_a_record_replaced_is_one_replaced_at_every_size():
    """The same release hides values, too: tables of one size differ by one record once they are resized."""
    rng = np.random.default_rng(32)
    for _ in range(2000):
        n = int(rng.integers(2, 12))
        first = table(rng, n, 2, 1)
        second = neighbour(rng, first, int(rng.integers(n)))
        rows, salt = int(rng.integers(1, n + 4)), int(rng.integers(2**40))
        assert max(replaced(*(resized(records, rows, salt)[0] for records in (first, second)))) <= 1


def test_the_count_is_noise_around_the_truth():
    drawn = [counted(1000, Budget(1.0))[0] for _ in range(400)]
    assert abs(np.mean(drawn) - 1000) < 6  # deviation 28, of 400 draws 1.4
    assert 15 < np.std(drawn) < 45
