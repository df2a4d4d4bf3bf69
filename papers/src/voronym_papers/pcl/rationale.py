"""2011, appendix A: why derivatives need noise if cells are small, figures 21 to 28.

Centroids are fixed, the first cost is 0, and the objective is ``p0 - min p_q`` over the other costs: 0 if
every cell has its share. For a few points it is piecewise constant: its derivative is 0 nearly everywhere,
and nothing points towards the narrow minimum. Clouds of noisy copies make it smooth. As their deviation falls
it sharpens, while the costs follow.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from voronym.core.context import Context
from voronym.quantize.costs.transport import transport
from voronym.quantize.quantizer import Quantizer
from voronym_papers.base import at
from voronym_papers.items import Chart, Curve, Floats, Item, Panel, Picture, Surface, Surfaces, Table
from voronym_papers.marks import Mark
from voronym_papers.solvers.levenberg_marquardt import levenberg_marquardt

SQUARE = (0.0, 0.0, 1.0, 1.0)
TWO = np.array([[0.35, 0.55], [0.7, 0.4]])
THREE = np.array([[0.3, 0.3], [0.7, 0.35], [0.5, 0.75]])
PAIR = np.array([[0.3, 0.5], [0.7, 0.5]])
BESIDE = np.array([[0.2, 0.5], [0.5, 0.5]])
DEVIATIONS = (0.2, 0.1, 0.05, 0.02)
COPIES = 4000
PART = "2011, figures 21 to 28: why noise helps derivatives"
UNIFORM = "The paper's points are drawn, not printed: ours are others."


def objective(X: Floats, centroids: Floats, costs: Floats) -> Floats:
    """Return ``p0 - min p_q`` for each row of costs.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> objective(X, np.array([[0.0], [1.0]]), np.array([[0.0, 0.0], [0.0, 2.0]])).tolist()
    [0.25, 0.0]
    """
    distances = np.square(X[:, None, :] - centroids).sum(axis=2)
    m = len(centroids)
    out = np.empty(len(costs))
    for row, own in enumerate(costs):
        counts = np.bincount((distances + own).argmin(axis=1), minlength=m)
        out[row] = 1 / m - counts.min() / len(X)
    return out


def cloud(X: Floats, deviation: float, copies: int, seed: int = 0) -> Floats:
    """Return noisy copies of every point; the points themselves without noise."""
    if deviation == 0:
        return X
    drawn = np.random.default_rng(seed).standard_normal((copies * len(X), X.shape[1]))
    return np.tile(X, (copies, 1)) + deviation * drawn


def flat(values: Floats) -> float:
    """Return the percentage of places at which the objective does not change between neighbouring costs."""
    return 100.0 * float(np.mean(np.diff(values, axis=-1) == 0))


def drawn(name: str, X: Floats, centroids: Floats, noise: tuple[float, ...] = ()) -> tuple[Picture, int]:
    """Draw points, fixed centroids and the cells of exact costs; return the smallest cell's size."""
    m = len(centroids)
    result = transport(X, centroids, np.full(m, len(X) // m))
    polygons = Quantizer(centroids, result.costs).diagram(SQUARE)
    panels = [Panel(f"{len(X)} points", X, result.labels, centroids, polygons)]
    for deviation in noise:
        copies = cloud(X, deviation, 60 if len(X) > 2 else 300)
        own = np.tile(result.labels, len(copies) // len(X))
        panels.append(Panel(f"noise {deviation:g}", copies, own, centroids, polygons))
    return Picture(name, tuple(panels), SQUARE, UNIFORM, PART), int(result.sizes.min())


def figures_21_to_28(draws: int, ctx: Context) -> Iterator[Item]:
    """Draw the examples and their objectives, and count how often derivatives find the costs."""
    ten, fifteen = (np.random.default_rng(seed).random((n, 2)) for n, seed in ((10, 21), (15, (23, 9))))
    at(ctx, "figures 21 to 28", 0.0)
    yield from sorted((*_two(ten), *_clouds(), *_three(fifteen)), key=_number)
    yield from _solved(draws, ctx)


def _number(item: Item) -> str:
    """Return the sort key of the paper's figures."""
    return (item.exhibit if isinstance(item, Mark) else getattr(item, "title", ""))[: len("Figure 21")]


def _two(X: Floats) -> Iterator[Item]:
    picture, least = drawn("Figure 21: ten points, two fixed centroids", X, TWO)
    yield picture
    yield Mark("Figure 21", "smallest cell by exact costs", None, float(least), ".0f", alone=True)
    costs = np.linspace(-0.6, 0.6, 2401)
    values = objective(X, TWO, np.stack([0 * costs, costs], axis=1))
    yield Chart(
        "Figure 22: the objective over the second cost",
        (Curve("p₀ − p_min", _pairs(costs, values)),),
        "c₂",
        "p₀ − p_min",
        "It is piecewise constant, and 0 in a narrow well only: derivatives do not lead there.",
        PART,
    )
    yield _piecewise("Figure 22", flat(values))
    yield Mark("Figure 22", "values it takes", None, float(len(np.unique(values))), ".0f", alone=True)
    yield Mark(
        "Figure 22", "share of costs that solve it", None, 100 * float(np.mean(values == 0)), ".1f", " %",
        alone=True,
    )  # fmt: skip


def _clouds() -> Iterator[Item]:
    picture, least = drawn("Figure 25: two points in clouds of falling noise", PAIR, BESIDE, DEVIATIONS[::2])
    yield picture
    yield Mark("Figure 25", "smallest cell by exact costs", None, float(least), ".0f", alone=True)
    costs = np.linspace(-0.3, 0.3, 301)
    pairs = np.stack([0 * costs, costs], axis=1)
    curves, shares = [], {}
    for deviation in (*DEVIATIONS, 0.0):
        values = objective(cloud(PAIR, deviation, 5 * COPIES), BESIDE, pairs)
        curves.append(Curve(f"noise {deviation:g}" if deviation else "no noise", _pairs(costs, values)))
        shares[deviation] = flat(values)
    yield Chart(
        "Figure 26: the objective of two points, sharpened as the noise falls",
        tuple(curves),
        "c₂",
        "p₀ − p_min",
        "With noise a slope leads to the well from afar; without it the floor is flat.",
        PART,
    )
    yield _smooth("Figure 26", shares[DEVIATIONS[0]])
    yield Mark("Figure 26", "places with slope 0, least noise", None, shares[DEVIATIONS[-1]], ".0f", " %")
    yield _piecewise("Figure 26", shares[0.0])


def _three(X: Floats) -> Iterator[Item]:
    for name, noise in (("23: fifteen points", ()), ("27: clouds of falling noise", DEVIATIONS[::2])):
        picture, least = drawn(f"Figure {name}, three fixed centroids", X, THREE, noise)
        yield picture
        yield Mark(
            f"Figure {name[:2]}", "smallest cell by exact costs", None, float(least), ".0f", alone=True
        )
    side = np.linspace(-0.4, 0.4, 68)  # a drawing has 340 dots
    a, b = np.meshgrid(side, side)
    costs = np.stack([np.zeros(a.size), a.ravel(), b.ravel()], axis=1)
    bounds = (-0.4, -0.4, 0.4, 0.4)
    result: list[Surface] = []
    for deviation in (0.0, *DEVIATIONS[:3]):
        values = objective(cloud(X, deviation, COPIES // 15), THREE, costs).reshape(a.shape)
        share = flat(values)
        words = f"slope 0 at {share:.0f} % of the costs; 0 at {100 * np.mean(values < 1e-9):.1f} %"
        result.append(Surface(f"noise {deviation:g}" if deviation else "no noise", values, words))
        if deviation == 0:
            yield _piecewise("Figure 24", share, within=10.0)
            yield Mark("Figure 24", "values it takes", None, float(len(np.unique(values))), ".0f", alone=True)
            yield Mark(
                "Figure 24",
                "share of costs that solve it",
                None,
                100 * float(np.mean(values == 0)),
                ".1f",
                " %",
                alone=True,
            )
        elif deviation == DEVIATIONS[0]:
            yield _smooth("Figure 28", share)
    names = ("c₂", "c₃")
    note = "The darker, the farther from equal cells; white is where every cell has its five points."
    yield Surfaces("Figure 24: the objective over two costs", tuple(result[:1]), bounds, names, note, PART)
    yield Surfaces(
        "Figure 28: the same, sharpened as the noise falls", tuple(result[1:]), bounds, names, note, PART
    )


def _solved(draws: int, ctx: Context) -> Iterator[Item]:
    """Let Levenberg and Marquardt's method find costs for many draws: at once, and along falling noise."""
    met = np.zeros(3)
    for seed in range(draws):
        at(ctx, "figure 28: fifteen points, solved", seed / draws)
        X = np.random.default_rng([28, seed]).random((15, 2))
        sizes = np.full(3, 5)
        plain = levenberg_marquardt(X, THREE, sizes, tolerance=0.0)
        cooled = cooled_costs(X, THREE, sizes)
        exact = transport(X, THREE, sizes)
        for number, own in enumerate((plain.costs, cooled, exact.costs)):
            met[number] += objective(X, THREE, np.asarray(own)[None])[0] < 1e-9
    shares = 100 * met / draws
    yield Table(
        f"How often costs that give every cell five points are found, {draws} draws of fifteen points",
        ("by", "share"),
        tuple(zip(("derivatives", "derivatives, falling noise", "transport"), shares.tolist(), strict=True)),
        "Falling noise as an inner loop, with fixed centroids: the last sentence of the appendix. Where two "
        "points tie no costs exist, which random points never do.",
        PART,
        ("", ".0f"),
    )
    words = "costs found, share of draws"
    yield Mark("Figure 28", f"{words}, without noise", None, float(shares[0]), ".0f", " %", alone=True)
    yield Mark("Figure 28", f"{words}, falling noise", None, float(shares[1]), ".0f", " %", alone=True)


def cooled_costs(X: Floats, centroids: Floats, sizes: NDArray[np.int64], copies: int = 200) -> Floats:
    """Adjust costs by derivatives for shrinking clouds, with fixed centroids."""
    costs = np.zeros(len(centroids))
    for step, deviation in enumerate(np.geomspace(0.2, 0.005, 12)):
        points = cloud(X, float(deviation), copies, seed=step)
        result = levenberg_marquardt(points, centroids, copies * sizes, start=costs, tolerance=0.02)
        costs = np.array(result.costs)
    return costs


def _piecewise(figure: str, share: float, within: float = 2.0) -> Mark:
    return Mark(
        figure,
        "places with slope 0, no noise",
        100.0,
        share,
        ".0f",
        " %",
        within=within,
        claim="in steps",
        why="The objective jumps at single costs only, of which a coarse grid meets some.",
    )


def _smooth(figure: str, share: float) -> Mark:
    return Mark(
        figure,
        "places with slope 0, most noise",
        0.0,
        share,
        ".0f",
        " %",
        within=10.0,
        claim="smooth",
        why="Clouds of some thousand copies are finite, so neighbouring costs sometimes give equal cells.",
    )


def _pairs(x: Floats, y: Floats) -> tuple[tuple[float, float], ...]:
    """Return the corners of a step curve, without points between two equal neighbours."""
    kept = np.ones(len(x), bool)
    kept[1:-1] = (y[1:-1] != y[:-2]) | (y[1:-1] != y[2:])
    return tuple(zip(x[kept].tolist(), y[kept].tolist(), strict=True))
