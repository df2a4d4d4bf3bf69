"""Cohorts over time, followed by a bookkeeper of its own who knows sets and nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voronym.core.context import Context
from voronym.errors import InputError
from voronym.history import Policy, advance, shared, smallest_history
from voronym.space import Euclidean


class Bookkeeper:
    """What an intruder writes down who knows everybody's group in every round."""

    def __init__(self) -> None:
        self.rounds: list[dict[int, int]] = []
        self.start: dict[int, int] = {}

    def note(self, people, groups, began) -> None:
        self.rounds.append({p: g for p, g in zip(people, groups, strict=True) if g >= 0})
        for person, new in zip(people, began, strict=True):
            if new:
                self.start[person] = len(self.rounds) - 1

    def sets(self, *, from_start=True) -> list[int]:
        last, out = self.rounds[-1], []
        for person in last:
            alike = set(last)
            for at, seen in enumerate(self.rounds):
                if person in seen and (not from_start or at >= self.start[person]):
                    alike &= {other for other, group in seen.items() if group == seen[person]}
            out.append(len(alike))
        return out


def town(n, seed=0):
    return np.random.default_rng(seed).normal(size=(n, 2))


def months(policy, *, n=120, k=4, rounds=8, churn=0.1, seed=0):
    """Yield (people, round, bookkeeper) over some months of coming and going."""
    rng = np.random.default_rng(seed)
    homes, book = town(n + rounds * n, seed), Bookkeeper()
    people, fresh, number = np.arange(n), n, 0
    last, waited = {}, {}
    for month in range(rounds):
        if month:
            stay = rng.random(len(people)) >= churn
            new = np.arange(fresh, fresh + int((~stay).sum()))
            people, fresh = np.concatenate([people[stay], new]), fresh + len(new)
        result = advance(
            Euclidean().records(homes[people]),
            [last.get(p, -1) for p in people.tolist()],
            k,
            Context(seed=seed),
            policy=policy,
            waited=[waited.get(p, 0) for p in people.tolist()],
            number=number,
        )
        number = max(number, int(result.groups.max()) + 1)
        for p, g, w in zip(people.tolist(), result.groups.tolist(), result.waited.tolist(), strict=True):
            if policy.dissolved != "retire" or g >= 0:
                last[p] = g  # who retires keeps the group that fell below k
            waited[p] = w
        book.note(people.tolist(), result.groups.tolist(), result.began.tolist())
        yield people, result, book


@pytest.mark.parametrize(
    "policy",
    [Policy(), Policy(neighbours=0, waiting=0.0), Policy(headroom=2), Policy(neighbours=3, renewed=1.0)],
    ids=str,
)
def test_every_history_is_shared_by_k_who_are_still_there(policy):
    for _, result, book in months(policy):
        assert min(book.sets()) >= 4
        assert (
            np.bincount(result.groups[result.published])[np.unique(result.groups[result.published])].min()
            >= 4
        )


def test_who_retires_is_not_published_again_and_then_no_history_ever_ends():
    gone: set[int] = set()
    for people, result, book in months(Policy(dissolved="retire", headroom=3), churn=0.15, rounds=6):
        assert min(book.sets(from_start=False)) >= 4
        before = {p for seen in book.rounds[:-1] for p in seen}
        missing = {p for p, g in zip(people.tolist(), result.groups.tolist(), strict=True) if g < 0}
        assert not gone & set(book.rounds[-1])
        gone |= missing & before
    assert gone  # somebody did


def test_without_cohorts_people_are_singled_out():
    """The danger is real: the same months, grouped afresh, leave somebody alone."""
    rng, book = np.random.default_rng(1), Bookkeeper()
    homes, people = town(400, 1), np.arange(120)
    for month in range(6):
        new = np.arange(120 + 20 * month, 140 + 20 * month)
        people = np.concatenate([people[rng.random(len(people)) > 0.1], new])
        result = advance(Euclidean().records(homes[people]), np.full(len(people), -1), 4, Context())
        book.note(people.tolist(), (result.groups + 1000 * month).tolist(), [month == 0] * len(people))
        book.start = dict.fromkeys(book.rounds[-1] | book.start, 0)
    assert min(book.sets()) == 1


def test_nobody_joins_a_group_that_lives_and_no_number_is_used_twice():
    seen: dict[int, set[int]] = {}
    for people, result, _ in months(Policy(), rounds=10):
        now: dict[int, set[int]] = {}
        for p, g in zip(people.tolist(), result.groups.tolist(), strict=True):
            if g >= 0:
                now.setdefault(g, set()).add(p)
        for number, members in now.items():
            if number in seen:
                assert members <= seen[number]
        seen.update(now)


def test_waiting_stays_within_its_share_and_patience():
    policy = Policy(waiting=0.1, patience=2)
    for month, (people, result, _) in enumerate(months(policy, rounds=12)):
        assert result.waiting <= max(0.1 * len(people), 3)
        assert month == 0 or result.waited.max() <= policy.patience + 1


def test_figures_say_what_happened():
    records = Euclidean().records(np.arange(12.0)[:, None])
    result = advance(
        records,
        [0, 0, 0, 1, 1, 2, 2, 2, 2, -1, -1, -1],
        3,
        Context(),
        policy=Policy(neighbours=0, waiting=0.0),
    )
    assert (result.kept, result.dissolved, result.formed, result.waiting, result.renewed) == (2, 1, 1, 0, 0)
    assert result.groups.tolist() == [0, 0, 0, 3, 3, 2, 2, 2, 2, 3, 3, 3]
    assert "12 of 12 people" in repr(result)


def test_too_few_people_wait():
    result = advance(Euclidean().records(np.zeros((2, 1))), [-1, -1], 3, Context())
    assert result.groups.tolist() == [-1, -1]
    assert result.waiting == 2


def test_neighbours_are_dissolved_within_their_budget():
    records = Euclidean().records(np.arange(40.0)[:, None])
    old = np.repeat(np.arange(10), 4)
    old[:2] = -1  # two of the first group left, two are new
    some = advance(records, old, 4, Context(), policy=Policy(neighbours=2, renewed=0.1, waiting=0.0))
    assert some.renewed == 4
    assert set(np.flatnonzero(some.began).tolist()) == set(range(8))  # the nearest group, and only that
    none = advance(records, old, 4, Context(), policy=Policy(neighbours=2, renewed=0.05, waiting=0.0))
    assert none.renewed == 0


def test_the_same_seed_gives_the_same_groups():
    records = Euclidean().records(town(300))
    old = np.repeat(np.arange(60), 5)
    old[::7] = -1
    first, second = (advance(records, old, 5, Context(seed=3)).groups for _ in range(2))
    assert (first == second).all()


@pytest.mark.parametrize(("groups", "k"), [([0, 0], 2), ([0, 0, 0], 1), ([0, 0, 0], 2.5), ([0, 0, 0], True)])
def test_what_cannot_be_is_refused(groups, k):
    with pytest.raises(InputError):
        advance(Euclidean().records(np.zeros((3, 1))), groups, k, Context())


histories = st.integers(1, 4).flatmap(
    lambda width: st.lists(
        st.tuples(*[st.integers(-1, 2)] * (width - 1), st.integers(0, 2)).flatmap(
            lambda row: st.tuples(st.just(row), st.integers(0, width - 1))
        ),
        min_size=1,
        max_size=12,
    )
)


@given(histories)
def test_shared_counts_as_sets_do(rows):
    history, begun = [row for row, _ in rows], [at for _, at in rows]
    for first in (begun, None):
        expected = []
        for mine, start in rows:
            counted = [t for t, g in enumerate(mine) if g >= 0 and (first is None or t >= start)]
            expected.append(sum(all(other[t] == mine[t] for t in counted) for other, _ in rows))
        assert shared(history, first).tolist() == expected
        assert smallest_history(history, first) == min(expected)


def test_shared_in_many_pieces(monkeypatch):
    rng = np.random.default_rng(0)
    history = np.column_stack([rng.integers(-1, 3, (500, 5)), rng.integers(0, 4, 500)])
    whole = shared(history)
    monkeypatch.setattr("voronym.history.sets.PAIRS", 100)
    assert (shared(history) == whole).all()


@pytest.mark.parametrize("history", [[1, 2], [[0, -1]], np.zeros((2, 0))])
def test_histories_that_are_none(history):
    with pytest.raises(InputError):
        shared(history)


def test_a_hundred_thousand_people():
    rng = np.random.default_rng(0)
    n = 100_000
    old = rng.permutation(np.repeat(np.arange(n // 10), 10))
    old[rng.random(n) < 0.01] = -1
    result = advance(
        Euclidean().records(rng.normal(size=(n, 2))), old, 10, Context(), policy=Policy(method="mdav")
    )
    history = np.column_stack([old, result.groups])[result.published]
    assert smallest_history(history, np.where(result.began[result.published], 1, 0)) >= 10
    assert result.waiting <= 0.04 * n
