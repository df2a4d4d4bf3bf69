"""Figures 8 and 9: microaggregation of one key, its risk counted; and the effect of several keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voronym.channel import GaussianSource, curve, gaussian_bound, gaussian_channel, scalar_risk
from voronym.core.context import Context
from voronym.method import algorithms
from voronym.partition import Partition
from voronym.partitioners import microaggregate
from voronym_papers.base import at
from voronym_papers.items import Cell, Chart, Curve, Floats, Item, Table
from voronym_papers.marks import Mark
from voronym_papers.t_closeness.function import AXES
from voronym_papers.t_closeness.published import RHO, WIDTH

Ints = NDArray[np.int64]
SHARES = tuple(2.0**-i for i in range(8, 0, -1))
ABOVE, BELOW = "above I(W; X)", "lost by cutting"
CUT = (
    f"As in the paper, W and the published X̂ are cut into intervals of {WIDTH} and counted. Counting finds "
    "information where there is none; Miller and Madow's correction takes its mean away, to the first order. "
    f"No rule can tell more than I(W; X): where a figure does, it says '{ABOVE}', and it is counting noise. "
    f"Cutting loses a little: where a figure is below the bound, which is for the uncut W, it says '{BELOW}'."
)
NEAR = 0.1
"""Nats above the bound that still count as "near-optimality": a twelfth of the unmasked keys' information."""
NAMES = {"MDAV": "mdav", "μ-Approx": "mu-approx", "univariate": "univariate"}
DEAR = {"mu-approx": 1 / 32, "univariate": 1 / 16}
"""Shares k/n above which a quick run omits a method, because it takes seconds to minutes."""


def figures_8_9(n: int, full: bool, ctx: Context, names: Sequence[str] = tuple(NAMES)) -> Iterator[Item]:
    """Run MDAV and μ-Approx on scalar normal data, and the optimal univariate partition."""
    w, X = draw(n, [RHO])
    most = scalar_risk(RHO, 0.0)
    source = GaussianSource.estimate(X, w)
    rows: list[tuple[Cell, ...]] = []
    points: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
    above: dict[str, list[float]] = {name: [] for name in names}
    for number, share in enumerate(SHARES):
        k = max(2, round(share * n))
        for name, method in ((name, NAMES[name]) for name in names):
            if not full and share > DEAR.get(method, 1.0):
                continue
            at(ctx, f"figures 8 and 9: {name}, k={k:,}", number / len(SHARES))
            cells = microaggregate(X, k, method=method)
            D = cells.sse(X) / n / source.variance
            plain, corrected = information(intervals(centres(X, cells)[:, 0]), intervals(w))
            lower = scalar_risk(RHO, D)
            rows.append((name, k, cells.n_cells, D, plain, corrected, lower, corrected - lower,
                         word(corrected, lower, most)))  # fmt: skip
            points[name].append((D, corrected))
            above[name].append(corrected - lower)
    for figure, name in (("Figure 8", "MDAV"), ("Figure 9", "μ-Approx")):
        if name not in names:
            continue
        yield Mark(
            figure, f"{name}: farthest above the bound, nats", (0.0, NEAR), max(above[name]), ".3f",
            claim="near-optimality", why=f"More than {NEAR} nats above the bound at one k.",
        )  # fmt: skip
        risks = [risk for _, risk in points[name]]
        yield Mark(figure, f"{name}: greatest risk, nats, of {most:.3f} at most", None, max(risks), ".3f")
    whole = information(intervals(X[:, 0]), intervals(w))[1]
    part = f"Figures 8 and 9: microaggregation of {n:,} scalar records, {', '.join(names)}"
    yield Chart(
        "Risk against distortion, k/n from 1/256 to 1/2",
        against_bounds(source, points),
        *AXES,
        "As in the paper, both are near the bound on one column. They are deterministic and do not look at "
        "W, so they cannot reach it.",
        part,
    )
    yield Table(
        "Figures",
        ("method", "k", "cells", "D", "R, plug-in", "R, corrected", "QGLB, (8)", "above it", "note"),
        tuple(rows),
        CUT + f" I(W; X) is {most:.3f} nats; cut and counted, it is {whole:.3f}.",
        part,
        ("", ",", ",", ".4f", ".4f", ".4f", ".4f", ".4f", ""),
        keys=2,
    )


def several_keys(d: int, n: int, seconds: float, ctx: Context) -> Iterator[Item]:
    """Run MDAV, PCL and annealing on several keys, all correlated with W, against the bound."""
    w, X = draw(n, [RHO / np.sqrt(d)] * d)
    most = scalar_risk(RHO, 0.0)
    source = GaussianSource.estimate(X, w)
    known = [name for name in ("mdav", "pcl", "anneal") if name in algorithms()]
    points: dict[str, list[tuple[float, float]]] = {name: [] for name in known}
    rows: list[tuple[Cell, ...]] = []
    shares = SHARES[2:-1]
    for number, share in enumerate(shares):
        k = max(2, round(share * n))
        for name in known:
            at(ctx, f"{d} keys: {name}, k={k:,}", number / len(shares))
            options: dict[str, Any] = {"time_limit": seconds} if name == "anneal" else {}
            cells = microaggregate(X, k, method=name, **options)
            D = cells.sse(X) / n
            telling = centres(X, cells).sum(axis=1) / np.sqrt(d)  # the only direction that tells about W
            corrected = information(intervals(telling), intervals(w))[1]
            lower = gaussian_bound(source, D)
            rows.append((name, k, D / source.variance, corrected, lower, corrected - lower,
                         word(corrected, lower, most)))  # fmt: skip
            points[name].append((D / source.variance, corrected))
    middle = [row[5] for row in rows if row[0] == "mdav"]
    yield Mark(
        "Section 6.2", f"MDAV above the bound with {d} keys, nats, mean", (NEAR, 10.0),
        float(np.mean([float(str(value)) for value in middle])), ".3f",
        claim="probably farther from optimality", why="No farther than with one key.",
    )  # fmt: skip
    spent = [share * source.variance / d for share in (0.2, 0.5, 0.8)]
    noise = [gaussian_channel(source, max_distortion=D) for D in spent]
    part = f"Section 6.2: {d} keys, {n:,} records"
    yield Chart(
        f"Risk against distortion with {d} keys",
        against_bounds(source, points | {"optimal noise": [(item.share, item.risk) for item in noise]}),
        *AXES,
        "The keys are independent of each other and together as good as one with ρ = 0.95. Only one "
        "direction of theirs tells about W, and optimal noise spends all distortion there; a partition "
        "spends it in every direction. That is why several keys are farther from the bound than one, as the "
        "paper guessed.",
        part,
    )
    yield Table(
        "Figures",
        ("method", "k", "D", "R, corrected", "QGLB", "above it", "note"),
        tuple(rows),
        f"Annealing: {seconds:g} seconds each. X̂ is cut along the direction that tells about W. " + CUT,
        part,
        ("", ",", ".4f", ".4f", ".4f", ".4f", ""),
        keys=2,
    )


def against_bounds(
    source: GaussianSource, points: Mapping[str, Sequence[tuple[float, float]]]
) -> tuple[Curve, ...]:
    """Return points of distortion and risk, with the bounds that hold for normal data."""
    bounds = curve(source, np.linspace(0.001, 1.0, 60))
    return (
        Curve("QGLB", tuple((row["share"], row["lower"]) for row in bounds)),
        Curve("MIUB", tuple((row["share"], row["upper"]) for row in bounds)),
        *(Curve(name, tuple(item), joined=False) for name, item in points.items()),
    )


def draw(n: int, correlations: Sequence[float], *, seed: int = 0) -> tuple[Floats, Floats]:
    """Draw W and independent keys X with given correlations to it, all standard normal."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, len(correlations)))
    rest = np.sqrt(1.0 - float(np.square(correlations).sum()))
    return X @ np.asarray(correlations) + rest * rng.standard_normal(n), X


def centres(X: Floats, cells: Partition) -> Floats:
    """Return the published value of every record: the mean of its cell."""
    means = np.stack([np.bincount(cells.labels, column) for column in X.T], axis=1)
    return np.asarray((means / cells.sizes[:, None])[cells.labels])


def word(risk: float, least: float, most: float) -> str:
    """Return the remark on an impossible estimate: more than all, or less than the bound."""
    if risk > most:
        return ABOVE
    return BELOW if risk < least else ""


def intervals(values: Floats) -> Ints:
    """Return the number of the interval of width 0.15 with a value, from 0."""
    numbers = np.floor(values / WIDTH).astype(np.int64)
    return np.asarray(numbers - numbers.min())


def information(labels: Ints, bins: Ints) -> tuple[float, float]:
    """Return the mutual information of two columns of codes in nats: as counted, and corrected.

    The correction is Miller and Madow's: subtract ``(pairs - labels - bins + 1) / 2n``; the result is at
    least 0.

    Examples
    --------
    >>> a = np.array([0, 0, 1, 1])
    >>> round(information(a, a)[0], 4)  # one bit
    0.6931
    """
    n = len(labels)
    pairs, counts = np.unique(labels * (int(bins.max()) + 1) + bins, return_counts=True)
    cell, bin_ = np.divmod(pairs, int(bins.max()) + 1)
    cells, widths = np.bincount(labels), np.bincount(bins)
    expected = cells[cell] / n * widths[bin_]
    plain = float((counts / n) @ np.log(counts / expected))
    bias = (len(pairs) - np.count_nonzero(cells) - np.count_nonzero(widths) + 1) / (2 * n)
    return plain, max(0.0, plain - float(bias))
