"""The plan's model, and a simulated cluster that the real lead of a run drives over tasks of clocks."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from benchmarks.cluster import Trouble, draw, simulate, template

from voronym.run.parts.cost import foresee, span, stages_of


def test_the_span_is_that_of_workers_who_take_the_next_task() -> None:
    rng = np.random.default_rng(0)
    for tasks, workers in itertools.product(range(1, 7), range(1, 5)):
        seconds = rng.integers(1, 9, tasks).astype(float).tolist()
        free = [0.0] * workers
        for task in seconds:
            first = free.index(min(free))
            free[first] += task
        assert span(seconds, workers) == max(free)


def test_more_workers_are_faster_until_the_serial_part_is_left() -> None:
    stages = stages_of(1_000_000_000, 250_000, 3, buckets=1000)
    times = [foresee(stages, workers, 45.0) for workers in (1, 8, 64, 4096)]
    assert all(more.total < fewer.total for fewer, more in itertools.pairwise(times))
    assert {round(time.serial, 6) for time in times} == {round(times[0].serial, 6)}
    assert times[-1].total > times[-1].serial > 0
    assert foresee(stages, 64, 45.0, cores=2).total > times[2].total


@pytest.mark.parametrize(
    ("rows", "workers"),
    [(20_000_000, 8), pytest.param(1_000_000_000, 64, marks=pytest.mark.slow)],
)
def test_a_simulated_cluster_loses_machines_and_no_rows(tmp_path: Path, rows: int, workers: int) -> None:
    small = template(tmp_path)
    quiet = Trouble(0.0, 0.0, 0.0, 0.0)
    calm = simulate(tmp_path, rows, workers, 250_000, quiet, small=small)
    losses = 4.0 if rows < 10**8 else 2.0
    lead, cluster = simulate(tmp_path, rows, workers, 250_000, Trouble(losses=losses), small=small)
    assert cluster.lost
    assert lead.course.rows == rows == sum(answer["rows"] for answer in lead.course.answers["published"])
    assert sum(answer["rows"] for answer in lead.course.answers["count"]) == rows
    assert len(cluster.spans) - len(cluster.lost) == len(calm[1].spans)
    assert cluster.clock > calm[1].clock
    busy = sum(stop - start for _, start, stop in cluster.spans)
    assert cluster.clock > busy / workers
    draw(cluster, tmp_path / "picture.svg", "a run")
    assert (tmp_path / "picture.svg").read_text(encoding="utf-8").count("<polygon") == len(
        lead.course.seconds
    )
