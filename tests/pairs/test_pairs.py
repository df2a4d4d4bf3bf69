"""All pairs of declared choices: they work and keep their promises, or are refused with a sentence.

A sample runs always; all pairs, and triples, run among the slow tests, which also make the documentation's
table.
"""

from __future__ import annotations

import random

import pytest

from pairs import table
from pairs.cases import CASES, EXEMPT, tuples
from pairs.run import DEFECT, LEAF, REFUSED, WORKS, outcome
from voronym.request.wording import DECLARED

SAMPLE = random.Random(25).sample(tuples(2), 32)


def test_every_declared_choice_is_tried_or_exempt():
    tried = {case.choice for case in CASES.values()}
    assert tried | set(EXEMPT) == set(DECLARED)
    assert not tried & set(EXEMPT)


@pytest.mark.parametrize("names", SAMPLE[:20], ids="+".join)
def test_a_pair_in_memory(names):
    state, reason = outcome(names)
    assert state != DEFECT, reason
    assert (state == REFUSED) == (names in table.refused()["in memory"]), reason


@pytest.mark.parametrize("names", SAMPLE[20:], ids="+".join)
def test_a_pair_over_leaves(names):
    state, reason = outcome(names, leaf=LEAF)
    assert state != DEFECT, reason
    assert (state == REFUSED) == (names in table.refused()["over leaves"]), reason


@pytest.mark.slow
def test_all_pairs_make_the_table_of_the_documentation():
    memory, parts = table.all_outcomes()
    assert not [names for names, (state, _) in [*memory.items(), *parts.items()] if state == DEFECT]
    assert table.text(memory, parts) in table.PAGE.read_text(encoding="utf-8")
    for outcomes in (memory, parts):
        assert sum(state == WORKS for state, _ in outcomes.values()) >= 0.94 * len(outcomes)


@pytest.mark.slow
@pytest.mark.parametrize("names", table.TRIPLES, ids="+".join)
def test_a_triple_in_memory(names):
    state, reason = outcome(names)
    assert state != DEFECT, reason
