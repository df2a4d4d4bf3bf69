"""A table and its original: linkage by the original keys, and a comparison."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voronym.core.context import Context
from voronym.errors import SchemaError
from voronym.evaluate import attacks
from voronym.evaluate.encode import encode
from voronym.evaluate.interval import Interval, interval_disclosure
from voronym.evaluate.matching import matcher
from voronym.evaluate.pair import Pair, numbers, scaled
from voronym.evaluate.risk import Risk
from voronym.evaluate.utility import compare

_WORK = 1e10  # coordinates compared at most in a search that a k-d tree cannot shorten


@dataclass(frozen=True)
class Attacks:
    """The settings for attacking a table.

    Parameters
    ----------
    threshold : float
        Risk above which a record counts as at risk.
    percent : float
        Half width of the disclosure intervals, in percent of a standard deviation and of the ranks.
    targets : int
        Originals that are attacked at most.
    confidence : float
        Coverage of the confidence intervals.
    """

    threshold: float = 0.2
    percent: float = 10.0
    targets: int = attacks.TARGETS
    confidence: float = 0.95


def compare_with_original(
    pair: Pair,
    rows: NDArray[np.int64] | None,
    counted: Risk,
    attack: Attacks,
    ctx: Context,
    notes: list[str],
) -> dict[str, Any]:
    """Attack the originals and measure the loss; returns the fields of a `Measurement` that need them."""
    made: dict[str, Any] = {}
    points = None
    try:
        X, Y, codec, note = encode(pair)
        points = (X, Y, codec)
        notes += [] if note is None else [note]
    except SchemaError as error:
        notes.append(f"no record linkage: {error}")
    if points is not None:
        attack = replace(attack, targets=_affordable(attack.targets, counted.n_classes, X.shape[1]))
        truth = None if rows is None else _inverse(rows, len(X))
        made["linkage"] = attacks.record_linkage(
            X,
            Y,
            truth=truth,
            matcher=matcher(pair, points),
            targets=attack.targets,
            confidence=attack.confidence,
            ctx=ctx.part(0.2, 0.6, stage="attacking"),
        )
        made["basis"] = "nearest" if truth is None else "aligned"
        made["intervals"] = _intervals(pair, (X, Y), truth, attack, ctx.part(0.6, 0.7, stage="attacking"))
    made["utility"] = compare(pair, rows, ctx.part(0.7, 1.0, stage="comparing"), points)
    notes += [note for note in made["utility"].notes if note not in notes]
    return made


def _affordable(targets: int, classes: int, width: int) -> int:
    """Return the number of targets to attack; above about ten dimensions a k-d tree visits every point."""
    if width <= 10:
        return targets
    return int(min(targets, max(1000, _WORK // (classes * width))))


def _inverse(rows: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """Invert a mapping from released rows to original rows."""
    truth = np.full(n, -1, np.int64)
    truth[rows] = np.arange(len(rows))
    return truth


def _intervals(
    pair: Pair,
    points: tuple[NDArray[np.float64], NDArray[np.float64]],
    truth: NDArray[np.int64] | None,
    attack: Attacks,
    ctx: Context,
) -> tuple[Interval, ...]:
    X, Y = points
    some = np.arange(len(X))
    if truth is not None:
        linked = truth
    else:
        if len(X) > attack.targets:
            some = np.sort(ctx.rng.choice(len(X), attack.targets, replace=False))
        linked = attacks.nearest_released(X[some], Y, ctx)
    result = []
    for name in pair.schema.keys:
        if pair.schema[name].kind not in ("numeric", "location", "datetime"):
            continue
        x, y = numbers(pair.original[name]), numbers(pair.released[name])
        if x is None or y is None:
            continue
        (x, y), _ = scaled(x, y)
        x = x[some]
        # An original without a released record is no target: nothing about it was published.
        there = linked >= 0
        outcome = interval_disclosure(
            x[there],
            y[linked[there]],
            column=name,
            percent=attack.percent,
            published=y,
            population=len(X) if truth is None else int(there.sum()),
            confidence=attack.confidence,
        )
        result += [] if outcome is None else [outcome]
    return tuple(result)
