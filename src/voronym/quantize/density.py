"""Quantizers for a population that is given as a density or a sampler."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voronym.core.context import ProgressCallback
from voronym.core.validate import check_seed, checked
from voronym.errors import GuaranteeError, InputError
from voronym.problem import check_points
from voronym.quantize.design import design
from voronym.quantize.quantizer import Quantizer
from voronym.space import Space

Source = Callable[..., ArrayLike]
"""A sampler ``(n, rng) -> points``, a density ``points -> values``, or an object with scipy's ``rvs``."""

PER_CELL = 1000
"""Default number of points drawn for each cell."""


@dataclass(frozen=True, eq=False, repr=False)
class Shares:
    """Probabilities of cells, with intervals that hold together.

    Parameters
    ----------
    values : array, shape (m,)
        Shares of a fresh sample.
    low, high : arrays, shape (m,)
        Exact (Clopper and Pearson) intervals. With probability ``level`` or more, all of them together
        contain the true probabilities (Bonferroni).
    level : float
        Joint confidence of the intervals.
    samples : int
        Number of points drawn.
    """

    values: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    level: float
    samples: int

    def __repr__(self) -> str:
        return (
            f"Shares({len(self.values)} cells of {self.values.min():.4g}..{self.values.max():.4g} in "
            f"{self.samples} points; {100 * self.level:g} % sure of "
            f"{self.low.min():.4g}..{self.high.max():.4g})"
        )


@checked
def design_density(
    source: Source,
    cells: int | None = None,
    *,
    bounds: ArrayLike | None = None,
    samples: int | None = None,
    probabilities: ArrayLike | None = None,
    init: Any = "mdav",
    space: Space | None = None,
    seed: int | np.random.Generator | None = 0,
    progress: ProgressCallback | None = None,
    **options: Any,
) -> Quantizer:
    """Design a quantizer for a population instead of a table: cells of prescribed probabilities.

    The problem: minimise ``E d(X, centroid of its cell)`` with ``P(cell q) = probabilities[q]``, for X
    distributed as the source. It is solved on a sample, on which the probabilities are exact. For the
    population they hold up to the sampling error, about ``sqrt(p / samples)`` for a cell of probability
    p. `shares` measures them on a new sample. The quantizer is designed once and applied to anybody; it
    does not guarantee k.

    Parameters
    ----------
    source : callable, or an object with ``rvs``
        A sampler, ``source(n, rng) -> array of shape (n, d)``; or, with ``bounds``, a density,
        ``source(points) -> values``, that need not integrate to 1; or a frozen distribution of scipy.
    cells : int, optional
        Number of cells of equal probability.
    bounds : array, shape (d, 2), optional
        Lowest and highest value of each coordinate: outside, the density counts as 0.
    samples : int, optional
        Points to draw; 1,000 for each cell by default.
    probabilities : array, shape (m,), optional
        The probabilities, if they are not equal.
    init : str, Partition, array or Quantizer
        The start; for example an earlier quantizer after the population has changed.
    space, progress
        As in `design`.
    seed : int, Generator or None
        For the sample, and for the design.
    **options
        Others of `design`.

    Returns
    -------
    Quantizer

    Notes
    -----
    A density is sampled by rejection in the box. Its ceiling rises when a value above it occurs, and earlier
    accepted points are thinned in proportion. A peak that no draw hits is missed.

    References
    ----------
    D. Rebollo-Monedero, J. Forné, E. Pallarès and J. Parra-Arnau, "A modification of the Lloyd algorithm for
    k-anonymous quantization", Information Sciences 222 (2013), sections 4 and 8.

    Examples
    --------
    >>> import numpy as np
    >>> quantizer = design_density(lambda n, rng: rng.random((n, 1)), 2, samples=2000)
    >>> bool(abs(np.sort(quantizer.centroids[:, 0]) - [0.25, 0.75]).max() < 0.05)
    True
    """
    rng = check_seed(seed)
    if cells is not None and (
        isinstance(cells, bool) or not isinstance(cells, int | np.integer) or cells < 1
    ):
        raise InputError(f"cells must be a whole number, 1 or more, not {cells!r:.40}")
    count = samples
    if count is None:
        given = cells if cells is not None else np.size(probabilities) if probabilities is not None else 1
        count = PER_CELL * int(given)
    X = draw(source, count, rng, bounds=bounds)
    return design(
        X, cells, probabilities=probabilities, init=init, space=space, seed=rng, progress=progress, **options
    )


@checked
def shares(
    quantizer: Quantizer,
    source: Source,
    *,
    bounds: ArrayLike | None = None,
    samples: int = 100_000,
    level: float = 0.95,
    seed: int | np.random.Generator | None = 1,
) -> Shares:
    """Estimate the probabilities of a quantizer's cells on a fresh sample, with intervals.

    Parameters
    ----------
    quantizer : Quantizer
        The cells.
    source, bounds
        As in `design_density`: the population that the quantizer is applied to.
    samples : int
        Points to draw.
    level : float
        Joint confidence of all intervals.
    seed : int, Generator or None
        For the sample. Use another seed than for the design: on its own sample a quantizer looks better than
        it is.

    Examples
    --------
    >>> import numpy as np
    >>> found = shares(Quantizer([[0.25], [0.75]]), lambda n, rng: rng.random((n, 1)), samples=10_000)
    >>> bool((found.low < 0.5).all() and (found.high > 0.5).all())
    True
    """
    if not isinstance(level, Real) or not 0 < level < 1:
        raise InputError(f"level is a probability between 0 and 1, not {level!r:.40}")
    from scipy.stats import beta  # takes a while to load

    X = draw(source, samples, check_seed(seed), bounds=bounds)
    counts = quantizer.sizes(X)
    miss = (1.0 - level) / (2 * len(counts))
    n = len(X)
    low = np.where(counts > 0, beta.ppf(miss, np.maximum(counts, 1), n - counts + 1), 0.0)
    high = np.where(counts < n, beta.ppf(1 - miss, counts + 1, np.maximum(n - counts, 1)), 1.0)
    return Shares(np.asarray(counts / n), low, high, float(level), n)


def draw(
    source: Source, n: int, rng: np.random.Generator, *, bounds: ArrayLike | None = None
) -> NDArray[np.float64]:
    """Return n points from a sampler, a scipy distribution or, within bounds, a density."""
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise InputError(f"samples must be a whole number, 1 or more, not {n!r:.40}")
    if bounds is not None:
        if not callable(source) or not _takes(source, None):
            raise InputError(
                "with bounds the source is a density, source(points) -> values; leave out bounds for a "
                "sampler (n, rng) -> points or an object with rvs"
            )
        return _reject(source, int(n), rng, bounds)
    if hasattr(source, "rvs"):
        drawn = source.rvs(size=n, random_state=rng)
    elif not callable(source):
        raise InputError("source must be a sampler (n, rng) -> points, a density with bounds, or have rvs")
    elif not _takes(source, n, rng):
        raise InputError(
            "without bounds the source is a sampler, source(n, rng) -> points, and this one does not take "
            "two arguments; if it is a density, source(points) -> values, give bounds"
        )
    else:
        drawn = source(n, rng)
    if drawn is None:
        raise InputError(f"the sampler was asked for {n} points and returned None; it must return the points")
    if n == 1 and np.ndim(drawn) < 2:  # scipy leaves out the axis of a single point
        drawn = np.reshape(np.asarray(drawn), (1, -1))
    points = check_points(drawn)
    if len(points) != n:
        raise InputError(f"the sampler was asked for {n} points and gave {len(points)}")
    return points


def _takes(source: Source, *arguments: object) -> bool:
    """Return whether a call with these arguments fits the signature; True without a signature."""
    try:
        inspect.signature(source).bind(*arguments)
    except TypeError:
        return False
    except ValueError:  # some built-in functions have no signature
        return True
    return True


def _reject(
    density: Source, n: int, rng: np.random.Generator, bounds: ArrayLike, *, rounds: int = 10_000
) -> NDArray[np.float64]:
    """Sample a density in a box by rejection, below a ceiling that rises when needed."""
    try:
        box = np.asarray(bounds, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        box = np.empty(0)
    if box.ndim != 2 or box.shape[1] != 2 or not np.isfinite(box).all() or (box[:, 0] >= box[:, 1]).any():
        raise InputError("bounds must be finite pairs (lowest, highest), one for each coordinate")
    kept, ceiling = np.empty((0, len(box))), 0.0
    for _ in range(rounds):
        points = rng.uniform(box[:, 0], box[:, 1], (max(1024, n), len(box)))
        given = density(points)
        try:
            values = np.asarray(given, dtype=np.float64).reshape(-1)
        except (TypeError, ValueError):
            values = np.empty(0)
        if len(values) != len(points) or not np.isfinite(values).all() or (values < 0).any():
            raise InputError("a density gives one value for each point, finite and 0 or more")
        if values.max() > ceiling:
            kept = kept[rng.random(len(kept)) < ceiling / values.max()]
            ceiling = float(values.max())
        if ceiling > 0:
            kept = np.concatenate([kept, points[rng.random(len(points)) * ceiling < values]])
        if len(kept) >= n:
            return np.ascontiguousarray(kept[:n])
    raise GuaranteeError(
        f"after {rounds} rounds the density gave {len(kept)} of {n} points: it is 0 nearly everywhere in the "
        "bounds; narrow them"
    )
