"""Histories that k - 1 people share are told, and those that k share are not: by groups written down here."""

from __future__ import annotations

import numpy as np
import pytest

from voronym.history.check import leavers, standing
from voronym.history.ledger import Entry

K = 3


def first(*groups: int) -> Entry:
    """Return a first release with these groups: the person of each place is a number."""
    many = len(groups)
    none = np.zeros(many, np.int64)
    return Entry(1, "", K, {}, np.arange(many, dtype=np.uint64), np.array(groups), none + 1, none)


@pytest.mark.parametrize("together", [K - 1, K])
def test_a_history_that_fewer_than_k_share_counts_as_below(together: int) -> None:
    """Of a group of 2k, some are in a group with strangers now: their history is shared by these alone."""
    before = first(*[0] * (2 * K), *[1] * (2 * K))
    groups = np.array([0] * together + [1] * (2 * K - together) + [0] * (2 * K))
    result = standing([before], before.people, groups, np.ones(4 * K, np.int64), K)
    assert result.smallest == together
    assert result.below == result.recognised_below == (together if together < K else 0)


@pytest.mark.parametrize("gone", [K - 1, K])
def test_leavers_of_one_history_who_are_fewer_than_k_are_below(gone: int) -> None:
    before = first(*[0] * (2 * K), *[1] * (2 * K))
    rest = before.people[gone:]
    assert leavers([before], rest, K).sum() == (gone if gone < K else 0)
    groups = before.groups[gone:]
    result = standing([before], rest, groups, np.ones(len(rest), np.int64), K)
    assert result.leavers_below == (gone if gone < K else 0)
