"""Estimate population uniques among the sample's, from a Poisson model of the columns.

The number of people in the population with one combination of keys is Poisson with mean ``lambda``, and a
sample takes each person with probability pi. Then the number of people outside the sample is Poisson with
mean ``(1 - pi) lambda``, independent of the sample. So a sample unique is a population unique with
probability ``exp(-(1-pi) lambda)``, and a match with it is right with probability ``(1 - exp(-(1-pi) lambda))
/ ((1-pi) lambda)``. A log-linear model of the sample estimates ``mu = pi lambda`` of each combination:

``independence``  main effects only: closed form
``tree``          main effects and those interactions of two columns that tell most, as a tree: closed form
``pairs``         all interactions of two columns, by iterative proportional fitting, where the table of all
                  combinations is small enough

A model with too few interactions spreads people over combinations that hardly exist, and expects more sample
uniques than there are; a model with too many expects fewer. So the model with the best expected numbers of
unique and of other records is chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from voronym.core import later
from voronym.core.context import Context
from voronym.core.jsonable import Plain
from voronym.core.percent import percent

csr_array = later.called("scipy.sparse", "csr_array")
breadth_first_order = later.called("scipy.sparse.csgraph", "breadth_first_order")
minimum_spanning_tree = later.called("scipy.sparse.csgraph", "minimum_spanning_tree")

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

ASSUMPTION = (
    "the people with each combination of keys are Poisson around a log-linear model ({}), and everybody is "
    "in the sample with the same probability"
)
_DRAWS = 50_000  # combinations drawn from a model to know how many uniques it expects
_ROUNDS = 40
_WORK = 3e8  # numbers touched by proportional fitting at most
_FAR = 0.1
_CLOSE = 1e-3
_RARE = 3  # a count of fewer records is weak evidence about the population


@dataclass(frozen=True)
class Fitted(Plain):
    """A log-linear model's estimates about the sample's uniques.

    Parameters
    ----------
    model : str
        "independence", "tree" or "pairs".
    records : int
        Records of the sample.
    population_uniques : float
        Sample uniques that are population uniques, expected.
    interval : tuple of float
        95 %, for this number, if the assumption is right.
    correct : float
        Expected correct matches if each sample unique is matched with a person of the population who has its
        keys.
    sample_uniques : int
        Sample uniques that there are.
    expected : float
        Sample uniques that the model expects.
    assumption, warning : str
        The assumption, and a warning if the fit is poor.
    """

    model: str
    records: int
    population_uniques: float
    interval: tuple[float, float]
    correct: float
    sample_uniques: int
    expected: float
    assumption: str
    warning: str = ""

    @property
    def distance(self) -> float:
        """Distance between expected and true numbers of unique and of other records: absolute log-ratios."""
        unique, others = self.sample_uniques, self.records - self.sample_uniques
        pairs = ((self.expected, unique), (self.records - self.expected, others))
        return sum(abs(float(np.log(max(wanted, 0.5) / max(seen, 0.5)))) for wanted, seen in pairs)


def fit_columns(codes: Ints, unique: Ints, fraction: float, ctx: Context) -> tuple[Fitted, ...]:
    """Fit each log-linear model, the best first.

    Parameters
    ----------
    codes : (d, n) int64 array
        The keys as numbers from 0 on, each up to its number of levels.
    unique : array of int
        The records with keys that are unique in the sample.
    fraction : float
        Share of the population that is in the sample, pi.
    ctx : Context
        Asked between steps; its generator draws combinations.

    References
    ----------
    Skinner, C. J., Shlomo, N.: Assessing identification risk in survey microdata using log-linear models. J.
    of the American Statistical Association 103(483), 2008. doi:10.1198/016214507000001328
    Chow, C. K., Liu, C. N.: Approximating discrete probability distributions with dependence trees. IEEE
    Trans. on Information Theory 14(3), 1968. doi:10.1109/TIT.1968.1054142
    """
    n = codes.shape[1]
    trees = {"independence": Tree(codes, [])}
    if len(codes) > 1:
        trees["tree"] = Tree(codes, strongest(codes, ctx))
    made = []
    for name, tree in trees.items():
        means, seen = tree.means(codes, unique)
        rare = float((seen <= _RARE).mean())
        made.append(_fitted(name, n, means, tree.expected(codes, ctx), unique, fraction, rare))
    table = proportional(codes, ctx) if len(codes) > 2 else None
    if table is not None:
        expected = float((table * np.exp(-table)).sum())
        made.append(_fitted("pairs", n, table[tuple(codes[:, unique])], expected, unique, fraction))
    return tuple(sorted(made, key=lambda item: item.distance))


def _fitted(
    name: str, n: int, means: Floats, expected: float, unique: Ints, fraction: float, rare: float = 0.0
) -> Fitted:
    away = (1.0 - fraction) * means / fraction
    alone = np.exp(-away)
    with np.errstate(invalid="ignore"):
        right = np.where(away > 1e-9, -np.expm1(-away) / np.maximum(away, 1e-300), 1.0)
    total = float(alone.sum())
    spread = 1.96 * float(np.sqrt((alone * (1 - alone)).sum()))
    warning = ""
    fewer = min(len(unique), n - len(unique))  # if nearly all are unique, the others are the evidence
    if abs(expected - len(unique)) > max(_FAR * fewer, 3 * np.sqrt(fewer + 1)):
        warning = (
            f"poor fit: the model expects {expected:,.0f} unique records in the sample, and there are "
            f"{len(unique):,}"
        )
    elif rare > _FAR:
        warning = (
            f"{percent(rare)} of the unique records have values that hardly anybody else in the sample has; "
            "how rare these are in the population cannot be known from it, and this number is rough"
        )
    return Fitted(
        name,
        n,
        total,
        (max(0.0, total - spread), min(float(len(unique)), total + spread)),
        float(right.sum()),
        len(unique),
        expected,
        ASSUMPTION.format(WORDS[name]),
        warning,
    )


WORDS = {
    "independence": "columns are independent",
    "tree": "each column depends on one other",
    "pairs": "columns depend on each other two by two",
}


class Tree:
    """A log-linear model whose interactions form a tree of columns, or none; it has a closed form.

    Parameters
    ----------
    codes : (d, n) array
        The columns.
    edges : sequence of (int, int)
        Parent and child, parents first; columns that are no child stand alone.
    """

    def __init__(self, codes: Ints, edges: Sequence[tuple[int, int]]) -> None:
        self.n = codes.shape[1]
        self.edges = list(edges)
        children = {child for _, child in self.edges}
        self.roots = [at for at in range(len(codes)) if at not in children]
        self.counts = [np.bincount(column) for column in codes]

    def means(self, codes: Ints, rows: Ints) -> tuple[Floats, Ints]:
        """Return the expected number of sample records with the combination of each record.

        And the least of the counts that it was made of.
        """
        log, least = np.full(len(rows), np.log(self.n)), np.full(len(rows), self.n)
        for at in self.roots:
            count = self.counts[at][codes[at, rows]]
            least = np.minimum(least, count)
            log += np.log(count / self.n)
        for parent, child in self.edges:
            both = _pairs(codes[parent], codes[child], len(self.counts[child]))
            count = both(codes[parent, rows] * len(self.counts[child]) + codes[child, rows])
            least = np.minimum(least, count)
            log += np.log(count / self.counts[parent][codes[parent, rows]])
        return np.exp(log), least

    def expected(self, codes: Ints, ctx: Context) -> float:
        """Return the expected number of sample uniques, ``n E[exp(-mu)]``, estimated by draws from the model.

        A child's value is taken from a random record with the parent's value, which is the fitted
        conditional distribution.
        """
        ctx.check()
        rng = ctx.rng
        drawn = np.empty((len(codes), _DRAWS), np.int64)
        for at in self.roots:
            drawn[at] = codes[at, rng.integers(0, self.n, _DRAWS)]
        log = np.full(_DRAWS, np.log(self.n))
        for at in self.roots:
            log += np.log(self.counts[at][drawn[at]] / self.n)
        for parent, child in self.edges:
            order = np.argsort(codes[parent], kind="stable")
            count = self.counts[parent]
            start = np.concatenate([[0], np.cumsum(count)[:-1]])
            own = drawn[parent]
            picked = order[start[own] + (rng.random(_DRAWS) * count[own]).astype(np.int64)]
            drawn[child] = codes[child, picked]
            width = len(self.counts[child])
            both = _pairs(codes[parent], codes[child], width)
            log += np.log(both(own * width + drawn[child]) / count[own])
        return float(self.n * np.exp(-np.exp(log)).mean())


def _pairs(item: Ints, two: Ints, width: int) -> Callable[[Ints], Ints]:
    """Return a function that counts the records of pairs of values, given as ``one * width + two``."""
    index = item * width + two
    room = (int(item.max()) + 1) * width
    if room <= max(4 * len(item), 1 << 16):
        counts = np.bincount(index, minlength=room)
        return lambda wanted: np.asarray(counts[wanted], np.int64)
    result, many = np.unique(index, return_counts=True)
    return lambda wanted: np.asarray(many[np.searchsorted(result, wanted)], np.int64)


def information(item: Ints, two: Ints) -> float:
    """Return the mutual information of two columns, in nats.

    Examples
    --------
    >>> round(information(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0])), 3)
    0.693
    """
    n, width = len(item), int(two.max()) + 1
    result, many = np.unique(item * width + two, return_counts=True)
    a, b = np.bincount(item), np.bincount(two)
    return float((many / n * np.log(many * float(n) / (a[result // width] * b[result % width]))).sum())


def strongest(codes: Ints, ctx: Context) -> list[tuple[int, int]]:
    """Return the tree of columns with the greatest sum of mutual informations, parents first."""
    d = len(codes)
    weight = np.zeros((d, d))
    for i, j in combinations(range(d), 2):
        ctx.check()
        weight[i, j] = -information(codes[i], codes[j]) - 1e-12  # 0 would be no edge
    tree = minimum_spanning_tree(csr_array(weight))
    order, before = breadth_first_order(tree, 0, directed=False)
    return [(int(before[at]), int(at)) for at in order[1:]]


def proportional(codes: Ints, ctx: Context) -> Floats | None:
    """Fit all interactions of two columns by iterative proportional fitting; None if the table is too large.

    Return the expected number of sample records for every combination of levels.
    """
    shape = tuple(int(column.max()) + 1 for column in codes)
    pairs = list(combinations(range(len(codes)), 2))
    if float(np.prod([float(m) for m in shape])) * len(pairs) * _ROUNDS > _WORK:
        return None
    n = codes.shape[1]
    margins = {}
    for i, j in pairs:
        counts = np.bincount(codes[i] * shape[j] + codes[j], minlength=shape[i] * shape[j])
        margins[i, j] = counts.reshape(shape[i], shape[j]).astype(np.float64)
    table = np.full(shape, n / float(np.prod(shape)))
    for _ in range(_ROUNDS):
        ctx.check()
        far = 0.0
        for i, j in pairs:
            others = tuple(at for at in range(len(shape)) if at not in (i, j))
            now = table.sum(axis=others)
            with np.errstate(invalid="ignore", divide="ignore"):
                factor = np.where(now > 0, margins[i, j] / now, 0.0)
            far = max(far, float(np.abs(now - margins[i, j]).max()))
            table *= np.expand_dims(factor, others)
        if far < _CLOSE * max(1.0, n / 1000):
            break
    return table
