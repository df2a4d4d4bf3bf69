"""Measure the loss and risk of a method without groups, to compare it with methods with groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voronym.channel.measured import cells_of
from voronym.core.context import Context
from voronym.core.options import Options
from voronym.core.rate import Rate
from voronym.evaluate.attacks import record_linkage
from voronym.evaluate.tradeoff import class_information
from voronym.keyspaces import Coordinates
from voronym.method import METHODS
from voronym.privacy.information import Estimate
from voronym.privacy.level import Levels
from voronym.problem import Problem
from voronym.table.table import Table

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class MaskPoint:
    """The result for a table: loss in percent, linked records, information, groups and seconds."""

    loss: float
    linkage: Rate
    information: Estimate | None
    groups: int
    largest: int
    seconds: float

    @property
    def figures(self) -> tuple[Any, ...]:
        """The figures of a row of a comparison, in order."""
        rate = self.linkage
        counts = (self.groups, self.largest, self.seconds)
        return (self.loss, rate.value, rate.low, rate.high, *counts, self.information)


def own_options(
    method: str, problem: Problem, given: Mapping[str, Any], loss: float | None, ctx: Context
) -> Options:
    """Return options that correspond to a k: clusters of at least k, and the distortion of groups of k.

    Given options take precedence. Without a given loss, MDAV's is used.
    """
    kind = METHODS[method].options
    if loss is None:
        loss = problem.loss(METHODS["mdav"].partition(problem, ctx.quiet()))
    wanted = {"m": problem.k - 1, "despite_loss": True, "max_distortion": min(1.0, loss / 100)}
    if {"max_risk", "max_t", "max_delta"} & given.keys():
        del wanted["max_distortion"]
    own = {name: value for name, value in wanted.items() if name in kind.names()}
    return kind.of(method, own | dict(given))


def mask_point(table: Table, method: str, options: Any, ctx: Context, levels: Levels | None) -> MaskPoint:
    """Mask a table by a method without groups, and measure it.

    The information is that of clusters if the method makes any. Otherwise it is that of cells of
    published keys, with 5 records per level on average, without a model: unique combinations would reveal
    everything by chance.
    """
    start = perf_counter()
    masked = METHODS[method].run(table, ctx.part(0.0, 0.8), options)
    seconds = perf_counter() - start
    made, coordinates = table.like(masked.frame), Coordinates.of(table)
    after = coordinates.codec.encode(made)
    rate = record_linkage(coordinates.X, after, truth=np.arange(table.n), ctx=ctx.part(0.8, 1.0)).rate
    result = getattr(masked, "after", None)
    labels = made.classes.labels if result is None else result.partition.labels
    sizes = np.bincount(labels)
    information = None
    if levels is not None:
        information = class_information(levels, cells_of(made, levels) if result is None else labels)
    return MaskPoint(coordinates.loss(made), rate, information, len(sizes), int(sizes.max()), seconds)
