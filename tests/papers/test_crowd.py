"""The paper on mixed records: table 1, its equations counted, and its pictures."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from voronym import datasets
from voronym.core.context import Context
from voronym.records.divergence import divergence, edges, histogram
from voronym_papers import PAPERS, Mark, Picture, Table, reproduce
from voronym_papers.crowd import example, hospital, leaves, pictures


def test_every_equation_holds_on_a_table_worked_by_hand():
    (outcome,) = reproduce("crowd", item="example")
    marks = {(mark.exhibit, mark.what): mark for mark in outcome.marks}
    assert marks["Table 1", "the one that does"].ours == 5
    for number in range(2, 11):
        mark = marks[f"Equation {number}", "cases that contradict it"]
        assert (mark.ours, mark.verdict) == (0, "ours alone")
    counted = next(item for item in outcome.items if isinstance(item, Table) and "counted" in item.title)
    assert all(cases > 20 for _, cases, _ in counted.rows)  # there was something to contradict
    assert {mark.exhibit for mark in outcome.marks} >= {f"Equation {number}" for number in range(1, 11)}
    assert len(PAPERS["crowd"].exhibits) == 14


@pytest.mark.parametrize(
    ("number", "spoil"),
    [
        (2, lambda worked: worked.labels.__setitem__(slice(None), [0] * 80)),
        (3, lambda worked: worked.centres.__setitem__(0, [0, 0, "Nobody"])),
    ],
)
def test_the_count_sees_what_is_wrong(number, spoil):
    worked = example.Worked(example.drawn(80, 0), m=3)
    assert {n: wrong for n, wrong, _ in example._clusters(worked)}[number] == 0
    worked.values[0].append(0)
    worked.values[1].append(0)
    worked.values[2].append("Nobody")
    spoil(worked)
    first = next(wrong for n, wrong, _ in example._clusters(worked) if n == number)
    assert first > 0


def test_moving_a_value_within_the_radius_contradicts_equation_5(monkeypatch):
    true = example.blend

    def careless(space, result, options, ctx=None):
        made = true(space, result, options, ctx)
        codes = made.codes.copy()
        codes[:, 2] = 0
        return replace(made, codes=codes)

    monkeypatch.setattr(example, "blend", careless)
    worked = example.Worked(example.drawn(80, 0), m=3)
    assert {n: wrong for n, wrong, _ in example._blended(worked, 0)}[5] > 0


@pytest.mark.parametrize("seed", range(20))
def test_the_divergence_is_counted_as_the_method_counts_it(seed):
    rng = np.random.default_rng(seed)
    before = np.round(rng.gamma(2.0, 1.0, 40), 1)
    after = rng.permutation(np.round(before + rng.normal(0, 0.3, 40), 1).clip(0))
    borders = edges(before)
    theirs = divergence(histogram(before, borders), histogram(after, borders))
    assert example.kl(before.tolist(), after.tolist()) == pytest.approx(theirs)


def test_flattening_breaks_the_distances_and_shuffling_keeps_them():
    items = list(pictures.figures_1_2(Context()))
    flat, shuffled = (mark.ours for mark in items if isinstance(mark, Mark) and "gap" in mark.what)
    assert flat > 0.3 > 0.2 > shuffled
    single, two = (item for item in items if isinstance(item, Picture))
    centre = single.panels[1].centroids
    assert set(single.panels[1].points[:, 1]) <= set(centre[:, 1])
    for panel in two.panels:
        for cell in (0, 1):
            np.testing.assert_array_equal(
                np.sort(panel.points[panel.labels == cell], axis=0),
                np.sort(two.panels[0].points[two.panels[0].labels == cell], axis=0),
            )


def test_the_hospital_keeps_its_promise_at_every_size():
    items = list(hospital.sizes((100, 200), Context()))
    for mark in (item for item in items if isinstance(item, Mark)):
        assert mark.verdict == "ours alone"
        assert mark.ours <= 100 / (hospital.M + 1)
    (table,) = (item for item in items if isinstance(item, Table))
    assert [row[0] for row in table.rows] == [100, 200]
    assert all(row[3] > row[4] for row in table.rows)


def test_linkage_counts_the_chance_to_name_the_own_record_among_the_nearest():
    table = datasets.hospital(40, seed=2).select(*leaves.KEYS)
    table = table.with_columns(pl.Series("was", np.arange(40.0)))
    unique = table.unique(list(leaves.KEYS), keep="none").height
    assert unique >= 38
    own = np.arange(40)
    assert leaves.linked(table, table, own) >= unique / 40
    alike = table.with_columns(pl.lit(table[name][0]).alias(name) for name in leaves.KEYS)
    assert leaves.linked(table, alike, own) == pytest.approx(1 / 40)
    others = table.with_columns(pl.Series("was", np.roll(np.arange(40.0), 1)))
    assert leaves.linked(table, others, own) <= 1 - unique / 40


@pytest.mark.slow
def test_linkage_over_leaves_keeps_the_bound_of_one_leaf():
    """At most 1/(m+1) of people are found, over all leaves: tried with room for chance, 1,500 people."""
    (outcome,) = reproduce("crowd", item="leaves")
    result, memory, out = (mark.ours for mark in outcome.marks)
    assert result <= 20.0 + 3 * 100 * np.sqrt(0.2 * 0.8 / 1000)
    assert (out, memory > 0) == (1500, True)
    table = next(item for item in outcome.items if isinstance(item, Table))
    assert table.rows[0][2] > 50.0  # without masking most are found
