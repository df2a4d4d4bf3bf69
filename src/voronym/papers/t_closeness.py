"""Rebollo-Monedero, Forné and Domingo-Ferrer 2010: privacy risk against distortion, figures 6 to 9.

Figure 6 is the privacy-distortion function of two normal variables, found on a grid; figure 7 the shape of
the best rule; figures 8 and 9 are MDAV and μ-Approx on scalar data. Beyond the paper: several keys, with PCL
and annealing. The figures are drawn without numbers; what is printed in the text is typed in below.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from voronym.context import Context
from voronym.papers.base import at, paper
from voronym.papers.items import Cell, Chart, Curve, Floats, Highlight, Item, Table

if TYPE_CHECKING:
    from voronym.channel import FiniteChannel, GaussianSource
    from voronym.channel.alphabet import Alphabet

# Section 6.1: correlation, multipliers and the distortions that belong to them.
RHO = 0.95
MULTIPLIERS = {0.72: 0.25, 1.22: 0.5, 1.72: 0.75}
# Section 6.1: steps for each multiplier, steps a second on a computer of 2008.
STEPS, STEPS_A_SECOND = 32_000, 150
# Section 6.1, read off figure 6: the risk at d = 0.5, and I(W; X).
RISK_AT_HALF, INFORMATION = 0.3, 1.2
# Section 6.2: records, and the width of the intervals of W.
RECORDS, WIDTH = 2**15, 0.15

AXES = "distortion, share of the variance", "risk, nats"
SHARES = tuple(2.0**-i for i in range(8, 0, -1))


PAPER = paper(
    "t-closeness",
    reference="D. Rebollo-Monedero, J. Forné, J. Domingo-Ferrer: From t-closeness-like privacy to "
    "postrandomization via information theory, IEEE Transactions on Knowledge and Data Engineering (2010)",
    subject="Privacy risk against distortion",
)


@PAPER.experiment("figures", "Figures 6 to 9, and several keys")
def items(full: bool, ctx: Context) -> Iterator[Item]:
    """Compute the figures; nothing but random numbers is needed."""
    yield from figure_6(STEPS, ctx)
    yield from figure_7(4 * STEPS if full else STEPS, ctx)
    yield from figures_8_9(RECORDS if full else RECORDS // 8, full, ctx)
    for d in (2, 3, 5) if full else (2, 3):
        yield from several_keys(d, RECORDS // 4 if full else RECORDS // 16, 20.0 if full else 2.0, ctx)


def grid(points: int, reach: float = 3.0) -> tuple[Floats, Floats, Floats]:
    """Return the grid, the joint probabilities of W and X on it, and squared differences.

    Examples
    --------
    >>> x, p, d = grid(31)
    >>> p.shape, round(float(p.sum()), 12)
    ((31, 31), 1.0)
    """
    x = np.linspace(-reach, reach, points)
    W, X = np.meshgrid(x, x, indexing="ij")
    p = np.exp(-(W**2 - 2 * RHO * W * X + X**2) / (2 * (1 - RHO**2)))
    return x, p / p.sum(), np.square(x[:, None] - x)


def figure_6(steps: int, ctx: Context) -> Iterator[Item]:
    """Solve for the three multipliers, by our method and by the paper's, on a grid of 31 x 31."""
    from voronym.channel import scalar_risk

    rows: list[tuple[float, ...]] = []
    for number, (multiplier, share) in enumerate(MULTIPLIERS.items()):
        at(ctx, f"figure 6: λ={multiplier}", number / len(MULTIPLIERS))
        rows.append(solve_both(multiplier, share, steps))
    part = "Figure 6: the privacy-distortion function, ρ = 0.95"
    most = scalar_risk(RHO, 0.0)
    yield Chart(
        "Least risk at a distortion",
        (
            Curve(
                "QGLB, formula (8)",
                tuple((s, scalar_risk(RHO, s)) for s in np.linspace(0.02, 1, 50).tolist()),
            ),
            Curve("MIUB, formula (9)", ((0.0, most), (1.0, 0.0))),
            Curve("interior point", tuple((row[2], row[4]) for row in rows), joined=False),
            Curve(
                f"steepest descent, {steps:,} steps", tuple((row[10], row[11]) for row in rows), joined=False
            ),
            Curve("read off the paper", ((0.5, RISK_AT_HALF),), published=True, joined=False),
        ),
        *AXES,
        f"Published in words: about {RISK_AT_HALF} nats at half the variance, about {INFORMATION} unmasked "
        f"(exactly {most:.3f}).",
        part,
    )
    yield Table(
        "Our solver on the paper's grid, and the paper's method beside it",
        (
            "λ", "D, (8)", "D", "R, (8)", "R", "R, (8) on the grid", "D, wide grid", "R, wide grid",
            "gap, share", "seconds", "D, steepest", "R, steepest", "seconds",
        ),
        tuple(rows),
        "31 x 31 points on [−3, 3] cut off the tails: X has a variance of 0.9745 there and the correlation "
        "is 0.9488, which lowers the risk. Formula (8) with these two is the column beside it. The wide "
        "grid, 51 x 51 on [−5, 5], has the same step and cuts nothing off that matters. "
        f"Published: {STEPS:,} steps at {STEPS_A_SECOND} a second, {STEPS / STEPS_A_SECOND:.0f} seconds; "
        f"here {steps:,} steps, from the paper's start.",
        part,
        (".2f", ".4f", ".4f", ".4f", ".4f", ".4f", ".4f", ".4f", ".0e", ".2f", ".4f", ".4f", ".1f"),
    )  # fmt: skip
    worst = max(100 * abs(row[4] / row[5] - 1) for row in rows)
    yield Highlight(f"{worst:.2f} %", "largest distance of our risk from formula (8) on the grid", "ρ = 0.95")


def solve_both(multiplier: float, share: float, steps: int) -> tuple[float, ...]:
    """Solve for one multiplier on the paper's grid and on a wide one, and by the paper's descent: a row."""
    from voronym.channel import privacy_distortion, scalar_risk

    x, p, d = grid(31)
    _, wide, wide_d = grid(51, 5.0)
    before = perf_counter()
    channel = privacy_distortion(p, d, multiplier=multiplier)
    seconds = perf_counter() - before
    before = perf_counter()
    alphabet, J = descend(p, d, multiplier, share, steps, Context())
    slow = perf_counter() - before
    free = privacy_distortion(wide, wide_d, multiplier=multiplier)
    exact = multiplier / 2 - 1 / RHO**2 + 1
    return (
        multiplier, exact, channel.distortion, scalar_risk(RHO, exact), channel.risk,
        on_the_grid(x, p, channel), free.distortion, free.risk, channel.gap / channel.cost, seconds,
        alphabet.distortion(J), alphabet.risk(J), slow,
    )  # fmt: skip


def on_the_grid(x: Floats, p: Floats, channel: FiniteChannel) -> float:
    """Return formula (8) at a channel's distortion, with the variance and correlation that the grid has."""
    from voronym.channel import scalar_risk

    variance = float(p.sum(axis=0) @ x**2)
    return scalar_risk(float(x @ p @ x) / variance, channel.distortion / variance)


def descend(
    p: Floats, d: Floats, multiplier: float, start: float, steps: int, ctx: Context
) -> tuple[Alphabet, Floats]:
    """Run the paper's steepest descent from its start; return the alphabet and the joint law found."""
    from voronym.channel.alphabet import check_alphabet
    from voronym.channel.mirror import steepest

    alphabet, _, _ = check_alphabet(p, d)
    found = steepest(
        alphabet, weight_d=1.0, weight_r=multiplier, tolerance=1e-9, iterations=steps, start=start, ctx=ctx
    )
    return alphabet, found.J


def figure_7(steps: int, ctx: Context) -> Iterator[Item]:
    """Draw one row of p(x̂|x): the start, the normal law, what descent finds, and the optimum on the grid."""
    from voronym.channel import privacy_distortion

    at(ctx, "figure 7", 0.0)
    multiplier, share = 1.22, 0.5
    x, p, d = grid(51)
    row_at = int(np.argmin(np.abs(x - 1.0)))
    alphabet, slow = descend(p, d, multiplier, share, steps, ctx)
    start = 0.5 * alphabet.nearest() + 0.5 * alphabet.constant()
    best = privacy_distortion(p, d, multiplier=multiplier)
    normal = np.exp(-np.square(x - (1 - share) * x[row_at]) / (2 * share * (1 - share)))
    shapes = {
        "start": (start / alphabet.p[:, None])[row_at],
        "normal, theorem 2": normal / normal.sum(),
        f"steepest descent, {steps:,} steps": (slow / alphabet.p[:, None])[row_at],
        "optimum on the grid": best.matrix[row_at],
    }
    yield Chart(
        f"p(x̂|x) at x = {x[row_at]:.2f}",
        tuple(Curve(name, tuple(zip(x.tolist(), row.tolist(), strict=True))) for name, row in shapes.items()),
        "x̂",
        "probability",
        "51 x 51 points on [−3, 3], λ = 1.22. The start is a peak at x and one at the mean. On a grid that "
        "ends at three standard deviations the exact optimum is no normal law: it leaves most values out and "
        "costs less than the normal law does. Descent passes by the normal shape on its way there. The paper "
        "does not say for which x it drew.",
        "Figure 7: the shape of the best rule",
    )
    used = int((best.matrix.T @ alphabet.p > 1e-4).sum())
    yield Highlight(str(used), "of 51 values are published by the best rule on the grid", "figure 7")


def figures_8_9(n: int, full: bool, ctx: Context) -> Iterator[Item]:
    """Run MDAV and μ-Approx on scalar normal data, and the optimal univariate partition beside them."""
    from voronym.channel import GaussianSource, scalar_risk
    from voronym.partitioners import microaggregate

    w, X = draw(n, [RHO])
    bins = intervals(w)
    source = GaussianSource.estimate(X, w)
    rows: list[tuple[Cell, ...]] = []
    points: dict[str, list[tuple[float, float]]] = {"MDAV": [], "μ-Approx": [], "univariate": []}
    names = {"MDAV": "mdav", "μ-Approx": "mu-approx", "univariate": "univariate"}
    for number, share in enumerate(SHARES):
        k = max(2, round(share * n))
        for name, method in names.items():
            if method == "mu-approx" and not full and not 1 / 64 <= share <= 1 / 8:
                # its cuts take minutes for large cells, and its search for neighbours for small ones
                continue
            at(ctx, f"figures 8 and 9: {name}, k={k:,}", number / len(SHARES))
            cells = microaggregate(X, k, method=method)
            D = cells.sse(X) / n / source.variance
            plain, corrected = information(cells.labels, bins)
            lower = scalar_risk(RHO, D)
            rows.append((name, k, cells.n_cells, D, plain, corrected, lower, corrected - lower))
            points[name].append((D, corrected))
    part = f"Figures 8 and 9: microaggregation of {n:,} scalar records"
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
        ("method", "k", "cells", "D", "R, plug-in", "R, corrected", "QGLB, (8)", "above it"),
        tuple(rows),
        f"The risk is the mutual information of the cell and of W in intervals of {WIDTH}, counted. Counting "
        "finds information where there is none; Miller and Madow's correction takes its mean away, to the "
        "first order. "
        "Intervals lose a little, which lowers the figure: with tiny cells it may fall below the "
        "bound for the undivided W.",
        part,
        ("", ",", ",", ".4f", ".4f", ".4f", ".4f", ".4f"),
    )


def several_keys(d: int, n: int, seconds: float, ctx: Context) -> Iterator[Item]:
    """Run MDAV, PCL and annealing on several keys, all correlated with W, against the bound."""
    from voronym.channel import GaussianSource, gaussian_bound, gaussian_channel
    from voronym.partitioners import microaggregate
    from voronym.registry import algorithms

    w, X = draw(n, [RHO / np.sqrt(d)] * d)
    bins = intervals(w)
    source = GaussianSource.estimate(X, w)
    known = [name for name in ("mdav", "pcl", "anneal") if name in algorithms()]
    points: dict[str, list[tuple[float, float]]] = {name: [] for name in known}
    rows: list[tuple[Cell, ...]] = []
    for number, share in enumerate(SHARES[1:-1]):
        k = max(2, round(share * n))
        for name in known:
            at(ctx, f"{d} keys: {name}, k={k:,}", number / len(SHARES[1:-1]))
            options: dict[str, Any] = {"time_limit": seconds} if name == "anneal" else {}
            cells = microaggregate(X, k, method=name, **options)
            D = cells.sse(X) / n
            plain, corrected = information(cells.labels, bins)
            lower = gaussian_bound(source, D)
            rows.append((name, k, D / source.variance, plain, corrected, lower, corrected - lower))
            points[name].append((D / source.variance, corrected))
    spent = [share * source.variance / d for share in (0.2, 0.5, 0.8)]
    noise = [gaussian_channel(source, max_distortion=D) for D in spent]
    part = f"Beyond the paper: {d} keys, {n:,} records"
    yield Chart(
        f"Risk against distortion with {d} keys",
        against_bounds(source, points | {"optimal noise": [(one.share, one.risk) for one in noise]}),
        *AXES,
        "The keys are independent of each other and together as good as one with ρ = 0.95. Only one "
        "direction of theirs tells about W, and optimal noise spends all distortion there; a partition "
        "spends it in every direction. That is why the distance from the bound grows with the number of "
        "keys, as the paper guessed.",
        part,
    )
    yield Table(
        "Figures",
        ("method", "k", "D", "R, plug-in", "R, corrected", "QGLB", "above it"),
        tuple(rows),
        f"Annealing: {seconds:g} seconds each. Risks are counted as in figures 8 and 9.",
        part,
        ("", ",", ".4f", ".4f", ".4f", ".4f", ".4f"),
    )


def against_bounds(
    source: GaussianSource, points: Mapping[str, Sequence[tuple[float, float]]]
) -> tuple[Curve, ...]:
    """Return points of distortion and risk, with the bounds that hold for normal data."""
    from voronym.channel import curve

    bounds = curve(source, np.linspace(0.001, 1.0, 60))
    return (
        Curve("QGLB", tuple((row["share"], row["lower"]) for row in bounds)),
        Curve("MIUB", tuple((row["share"], row["upper"]) for row in bounds)),
        *(Curve(name, tuple(found), joined=False) for name, found in points.items()),
    )


def draw(n: int, correlations: Sequence[float], *, seed: int = 0) -> tuple[Floats, Floats]:
    """Draw W and independent keys X with given correlations to it, all standard normal."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, len(correlations)))
    rest = np.sqrt(1.0 - float(np.square(correlations).sum()))
    return X @ np.asarray(correlations) + rest * rng.standard_normal(n), X


def intervals(w: Floats) -> NDArray[np.int64]:
    """Return the number of the interval of width 0.15 that a value lies in, from 0."""
    numbers = np.floor(w / WIDTH).astype(np.int64)
    return np.asarray(numbers - numbers.min())


def information(labels: NDArray[np.int64], bins: NDArray[np.int64]) -> tuple[float, float]:
    """Return the mutual information of two columns of codes in nats: as counted, and corrected.

    The correction is Miller and Madow's: ``(pairs - labels - bins + 1) / 2n`` is taken away, at least 0
    stays.

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
