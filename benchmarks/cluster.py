"""A billion rows on 64 machines, simulated: the lead of a real run, over tasks that only take their time.

``python -m benchmarks.cluster`` has `voronym.run.parts.engine.Engine` lead a job of that size through all its
stages: it finds the parts, joins leaves, waits for answers, adds them up and checks that no row was lost. The
runner is a cluster of clocks. Its tasks take what the fitted model says (`voronym.run.parts.cost`), with
noise; some are stragglers, each waits for the scheduler, and machines are lost with what they were doing and
come back later. ``--picture FILE`` draws who was busy with what.
"""

from __future__ import annotations

import argparse
import heapq
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.scale import KEYS, make
from voronym.core.context import Context
from voronym.request.request import Request
from voronym.run.parts import cost, spill
from voronym.run.parts.door import job_of
from voronym.run.parts.engine import Engine, buckets_of
from voronym.run.parts.job import Job
from voronym.run.parts.runners.base import Runner
from voronym.run.parts.runners.local import Local
from voronym.run.parts.source import PART, Dataset, Part, find

DECIDED = ("recipe", "layout", "summaries", "cuts", "rounds")
"""What a small run of the same kind decides for the large one."""
CHOICES = {"keys": KEYS, "confidential": ["illness"], "drop_undeclared": True, "k": 5}


@dataclass
class Trouble:
    """What goes wrong on a cluster."""

    delay: float = 0.2
    """Seconds until the scheduler gives a task to a worker, on average."""
    noise: float = 0.15
    """Spread of the time of a task, as a share."""
    stragglers: float = 0.01
    """Share of tasks that take five times as long."""
    losses: float = 2.0
    """Machines lost in an hour, for each machine."""
    away: float = 300.0
    """Seconds until a lost machine is back."""


@dataclass
class Cluster(Runner):
    """Machines that are clocks: a heap of when each is free."""

    workers: int
    take: Callable[[str], float]
    answer: Callable[[str, int], Any]
    trouble: Trouble
    seed: int = 0
    name = "simulated"
    memory: int = 2**60
    address: str | None = None
    notes: list[str] = field(default_factory=list)
    clock: float = 0.0
    lost: list[float] = field(default_factory=list)
    spans: list[tuple[str, float, float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)

    def run(
        self, work: str, stage: str, tasks: Sequence[int], wait: Callable[[], None]
    ) -> Iterator[tuple[int, Any]]:
        """Do tasks in the order in which they would end; those of a lost machine again."""
        del work
        each, trouble, rng = self.take(stage), self.trouble, self.rng
        free = [(self.clock, worker) for worker in range(self.workers)]
        heapq.heapify(free)
        ended: list[tuple[float, int]] = []
        left = list(reversed(tasks))
        while left:
            number = left.pop()
            start, worker = heapq.heappop(free)
            start += rng.exponential(trouble.delay)
            long = (
                each * rng.lognormal(0.0, trouble.noise) * (5.0 if rng.random() < trouble.stragglers else 1.0)
            )
            dies = rng.exponential(3600.0 / trouble.losses) if trouble.losses else np.inf
            if dies < long:
                self.lost.append(start + dies)
                self.spans.append((stage, start, start + dies))
                left.insert(0, number)  # somebody else does it again, at the end
                heapq.heappush(free, (start + dies + trouble.away, worker))
                continue
            self.spans.append((stage, start, start + long))
            heapq.heappush(ended, (start + long, number))
            heapq.heappush(free, (start + long, worker))
        while ended:
            self.clock, number = heapq.heappop(ended)
            wait()
            yield number, self.answer(stage, number)


class Fake:
    """The answers that tasks of a job of some size would give, from those of a small one."""

    def __init__(self, lead: Engine, rows: int, leaf: int) -> None:
        self.work = lead.job.work
        self.rows, self.leaves = rows, -(-rows // leaf)
        self.parts = -(-rows // PART)
        self.files, self.buckets = max(1, -(-rows // 1_000_000)), buckets_of(rows, leaf)

    @staticmethod
    def share(total: int, among: int, number: int) -> int:
        """Return how many of a total one of several gets."""
        return total // among + (number < total % among)

    def spread(self, many: int, number: int) -> Any:
        """Return how many rows of a task go to each leaf, a few of them to every one."""
        counts = np.full(self.leaves, many // self.leaves, np.int32)
        counts[np.arange(number, number + many % self.leaves) % self.leaves] += 1
        return counts

    def kept(self, stage: str) -> Any:
        """Return the answer of a task of the small job."""
        return spill.recall(self.work / f"{stage}-000000.done")

    def __call__(self, stage: str, number: int) -> Any:
        """Return the answer of a task."""
        base = stage.partition("@")[0]
        if base in ("look", "cut"):
            return self.kept(stage)
        if base == "scan":
            return {"rows": self.share(self.rows, self.parts, number)}
        if base == "spread":
            return self.spread(self.share(self.rows, self.parts, number), number)
        if base == "round":
            rows, answer = self.share(self.rows, self.leaves, number), self.kept(stage)
            scale = rows / max(answer["rows"], 1)
            made = {
                **answer,
                "rows": rows,
                "spread": answer["spread"] * scale,
                "error": answer["error"] * scale,
            }
            if "counts" in answer and not isinstance(answer["counts"], dict):
                made["counts"] = self.spread(rows, number)
            return {name: item for name, item in made.items() if name != "published"}
        if base == "write":
            rows = self.share(self.rows, self.files, number)
            return {"rows": rows, "bytes": 40 * rows, "guarded": 0}
        if base == "sort":
            return {**self.kept(stage), "sealed": {f"{number}": ""}}
        answer = self.kept(stage)
        return {**answer, "rows": self.share(self.rows, self.buckets, number)}


def template(folder: Path, rows: int = 6_000) -> Engine:
    """Do a small run of the same kind."""
    folder.mkdir(exist_ok=True)
    make(folder / "people", rows)
    (folder / "work").mkdir(mode=0o700)
    (folder / "release").mkdir()
    request = Request.of({**CHOICES, "leaf": 1_500})
    job = job_of(find(folder / "people"), folder / "work", folder / "release", request)
    spill.keep(job.work / spill.JOB, job)
    lead = Engine(job, Local(workers=1, memory=2**40), Context())
    lead.run()
    return lead


def simulate(
    folder: Path,
    rows: int,
    workers: int,
    leaf: int,
    trouble: Trouble,
    *,
    grouping: float = 60.0,
    small: Engine | None = None,
    seed: int = 0,
) -> tuple[Engine, Cluster]:
    """Lead a job of a size over machines that are clocks; return the lead and the machines."""
    small = template(folder) if small is None else small
    work = Path(tempfile.mkdtemp(dir=folder))
    job: Job = replace(small.job, work=work, leaf=leaf)
    spill.keep(work / spill.JOB, job)
    for name in DECIDED:
        spill.keep(work / f"{name}.json", small.job.recall(name))
    parts = -(-rows // PART)
    types = small.job.dataset.types
    names = [f"part-{number:06d}" for number in range(parts)]
    job.decide(
        "dataset",
        Dataset(
            tuple(Part(i, names[i], names[i], (0,), Fake.share(rows, parts, i)) for i in range(parts)),
            types,
            40 * rows,
        ),
    )
    fake = Fake(small, rows, leaf)
    stages = {
        stage.name: stage
        for stage in cost.stages_of(rows, leaf, small.job.rounds, parts=parts, buckets=fake.buckets)
    }

    def take(stage: str) -> float:
        return cost.seconds_of(stages[stage], small.job.rounds, grouping, 1.0) if stage in stages else 1.0

    cluster = Cluster(workers, take, fake, trouble, seed)
    lead = Engine(job, cluster, Context())
    lead.run()
    return lead, cluster


COLOURS = (
    "#4477aa",
    "#66ccee",
    "#228833",
    "#ccbb44",
    "#ee6677",
    "#aa3377",
    "#bbbbbb",
    "#222255",
    "#225555",
    "#ee7733",
)


def _label(stage: str) -> str:
    base, _, turn = stage.partition("@")
    return f"{base} {int(turn) + 1}" if turn else base


def draw(cluster: Cluster, path: Path, title: str) -> None:
    """Draw how many machines were busy with which stage, minute by minute, and where some were lost."""
    wide, high, left, top = 760, 300, 50, 40
    end = cluster.clock
    names = list(dict.fromkeys(stage for stage, _, _ in cluster.spans))
    bins = 380
    edges = np.linspace(0.0, end, bins + 1)
    busy = np.zeros((len(names), bins))
    for stage, start, stop in cluster.spans:
        first, last = np.searchsorted(edges, [start, stop]) - 1
        for bin_ in range(max(first, 0), min(last, bins - 1) + 1):
            inside = min(stop, edges[bin_ + 1]) - max(start, edges[bin_])
            busy[names.index(stage), bin_] += max(inside, 0.0) / (edges[1] - edges[0])
    low = np.zeros(bins)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide + 2 * left + 70} {high + top + 60}" '
        'font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="{left}" y="20" font-size="14">{title}</text>',
    ]
    for row, name in enumerate(names):
        top_ = low + busy[row]
        xs = left + wide * (edges[:-1] + edges[1:]) / 2 / end
        points = [(x, top + high * (1 - y / cluster.workers)) for x, y in zip(xs, top_, strict=True)]
        back = [(x, top + high * (1 - y / cluster.workers)) for x, y in zip(xs, low, strict=True)][::-1]
        text = " ".join(f"{x:.0f},{y:.1f}" for x, y in points + back)
        colour = COLOURS[row % len(COLOURS)]
        out.append(f'<polygon points="{text}" fill="{colour}"/>')
        y = top + 16 * row
        out.append(f'<rect x="{left + wide + 12}" y="{y}" width="10" height="10" fill="{colour}"/>')
        out.append(f'<text x="{left + wide + 27}" y="{y + 10}">{_label(name)}</text>')
        low = top_
    for moment in cluster.lost:
        x = left + wide * moment / end
        out.append(f'<path d="M{x:.0f} {top - 8} l3 6 h-6 z" fill="#cc0000"/>')
    y = top + 16 * len(names) + 6
    out.append(f'<path d="M{left + wide + 17} {y} l4 9 h-8 z" fill="#cc0000"/>')
    out.append(f'<text x="{left + wide + 27}" y="{y + 9}">machine lost</text>')
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        x, minutes = left + wide * share, end * share / 60
        out.append(f'<text x="{x:.0f}" y="{top + high + 18}" text-anchor="middle">{minutes:.0f}</text>')
        y = top + high * (1 - share)
        out.append(
            f'<text x="{left - 8}" y="{y + 4:.0f}" text-anchor="end">{cluster.workers * share:.0f}</text>'
        )
    out.append(f'<text x="{left + wide / 2}" y="{top + high + 40}" text-anchor="middle">minutes</text>')
    label = f'x="14" y="{top + high / 2}" transform="rotate(-90 14 {top + high / 2})" text-anchor="middle"'
    out.append(f"<text {label}>machines at work</text>")
    path.write_text("\n".join([*out, "</svg>", ""]), encoding="utf-8")


def main() -> None:
    """Simulate, and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000_000)
    parser.add_argument("--workers", type=int, default=64)
    parser.add_argument("--leaf", type=int, default=250_000)
    parser.add_argument(
        "--grouping", type=float, default=20.0, help="microseconds a row, as the plan's probe"
    )
    parser.add_argument("--picture", type=Path)
    given = parser.parse_args()
    for name, trouble in (("calm", Trouble(0.0, 0.0, 0.0, 0.0)), ("as it is", Trouble())):
        with tempfile.TemporaryDirectory() as folder:
            lead, cluster = simulate(
                Path(folder), given.rows, given.workers, given.leaf, trouble, grouping=given.grouping
            )
        alone = sum(stop - start for stage, start, stop in cluster.spans if stage in ("look", "cut"))
        tasks = len(cluster.spans) - len(cluster.lost)
        print(
            f"{name}: {lead.course.rows:,} rows, {tasks:,} tasks, {cluster.clock / 60:.0f} minutes, one "
            f"machine alone {alone:.0f} s, {len(cluster.lost)} machines lost, smallest class "
            f"{min(lead.course.sizes)}"
        )
    if given.picture is not None:
        draw(cluster, given.picture, f"{given.rows:,} rows on {given.workers} machines (simulated)")


if __name__ == "__main__":
    main()
