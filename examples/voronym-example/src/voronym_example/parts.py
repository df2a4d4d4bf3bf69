"""A method, a privacy model, a step and an attack; importing them registers them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from voronym import plugins


@dataclass(frozen=True)
class ShellOptions(plugins.Options):
    """Options of the method."""

    far: bool = plugins.option(False, "whether groups are made from the outside in")


@plugins.algorithm(
    "shells",
    guarantee="every group has k to 2k-1 records",
    cost="O(n log n)",
    reference="docs/plugins.md",
    options=ShellOptions,
    max_size=lambda k: 2 * k - 1,
)
def shells(problem: plugins.Problem, ctx: plugins.Context, options: ShellOptions) -> plugins.Partition:
    """Group records that are equally far from the centre of all."""
    away = np.square(problem.points - problem.points.mean(axis=0)).sum(axis=1)
    labels = np.empty(problem.n, np.int64)
    order = np.argsort(-away if options.far else away, kind="stable")
    labels[order] = np.minimum(np.arange(problem.n) // problem.k, problem.n // problem.k - 1)
    ctx.tell(1.0)
    return plugins.Partition(labels, k=problem.k)


@plugins.model("no-majority")
@dataclass(frozen=True)
class NoMajority(plugins.ConfidentialModel):
    """No value is that of more than a share of any group."""

    share: float | None = None
    column: str | None = None

    def __post_init__(self) -> None:
        """Refuse what is no share; from the command line it comes as a text."""
        super().__post_init__()
        if self.share is not None:
            given = plugins.read_value(self.share) if isinstance(self.share, str) else self.share
            self._set(share=plugins.number(most=1.0, above=0.0)(f"{self.name}: share", given))

    def judge(self, levels: Any) -> plugins.Judge:
        """Measure the most frequent value of each group."""
        return plugins.Judge(levels, _largest, self.share, name=self.name)


def _largest(runs: Any, _: Any) -> np.ndarray:
    if not len(runs.cell):
        return np.zeros(len(runs.sizes))
    most = np.maximum.reduceat(runs.count, runs.start)
    return np.asarray(runs.spread(most / runs.sizes[runs.occupied], 0.0))


@plugins.step("lower-case", guarantee="no value has a capital")
@dataclass(frozen=True)
class LowerCase(plugins.ColumnStep):
    """Write texts without capitals, so that spellings of a town become one."""

    def apply(self, table: plugins.Table, rng: np.random.Generator, least: int) -> dict[str, Any]:
        """Return the columns without capitals."""
        return {name: table.frame[name].str.to_lowercase() for name in self.columns}

    def says(self) -> str:
        """Return what it does."""
        return f"{', '.join(self.columns)}: written without capitals"


@plugins.attack(
    "first-key",
    level=1,
    knows="the first key of the people they look for",
    needs=("original", "links"),
    cost="instant",
)
def first_key(scene: plugins.Scene, ctx: plugins.Context) -> plugins.Found:
    """Claim a row, by lot, of those with the same value of the first key."""
    people = np.flatnonzero(scene.links >= 0)
    before, after = scene.joint_codes(scene.keys[:1])
    alike = np.bincount(after, minlength=before.max() + 1)[before[people]]
    right = after[scene.links[people]] == before[people]
    ctx.tell(1.0)

    def says(success: float, control: float) -> str:
        right, lot = 100 * success, 100 * control
        return f"{right:.1f} % of the claims are right, {lot:.1f} % would be by lot among all."

    return plugins.judge(
        right / np.maximum(alike, 1),
        1.0 / len(scene.released),
        says,
        clusters=before[people],
        confidence=scene.confidence,
    )
