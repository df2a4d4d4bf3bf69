"""The choice among models of population uniques, and the assumptions of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voronym.core.jsonable import Plain
from voronym.evaluate.population.classes import Fit, Sizes, pitman, snb, zayatz

SMALL = 0.1
"""Up to this sampling fraction the decision rule selects Pitman's model."""

MODELS: dict[str, tuple[Callable[[Sizes], Fit | None], str]] = {
    "pitman": (
        pitman,
        "class sizes follow Pitman's sampling formula, one of few large classes and many small ones",
    ),
    "zayatz": (zayatz, "class sizes are distributed in the population as they are in the sample"),
    "snb": (snb, "a class of the population has one person and a negative binomial number of others"),
}


@dataclass(frozen=True)
class Uniques(Plain):
    """Estimated number of people with unique keys in the population, by one model.

    Parameters
    ----------
    model : str
        "pitman", "zayatz" or "snb".
    uniques : float or None
        Number of uniques; None if the model could not be fitted.
    share : float or None
        Number of uniques as a share of the population.
    interval : tuple of float or None
        95 % confidence interval of the number, if the assumption is right.
    assumption : str
        The assumption of the model.
    warning : str
        A warning if the fit is poor or failed.
    """

    model: str
    uniques: float | None
    share: float | None
    interval: tuple[float, float] | None
    assumption: str
    warning: str = ""


def population_uniques(sizes: NDArray[np.int64], population: float) -> tuple[Uniques, ...]:
    """Estimate the population uniques by each model.

    Parameters
    ----------
    sizes : array of int
        Records in each class of the sample.
    population : float
        People in the population.

    Examples
    --------
    >>> sizes = np.repeat([1, 2, 3, 4, 8], [200, 60, 30, 15, 40])
    >>> for one in population_uniques(sizes, 20_000):
    ...     print(one.model, round(one.uniques))
    pitman 523
    zayatz 1461
    snb 700
    """
    counted = Sizes.of(sizes, population)
    out = []
    for name, (fit, assumption) in MODELS.items():
        if not counted.of_size(1):
            nothing = "no record of the sample is unique, so no population unique is in it"
            out.append(Uniques(name, 0.0, 0.0, None, assumption, nothing))
            continue
        result = fit(counted)
        if result is None:
            gone = "no parameters fit the sizes of the sample's classes"
            out.append(Uniques(name, None, None, None, assumption, gone))
            continue
        uniques = min(result.uniques, counted.population)
        share = uniques / counted.population
        out.append(Uniques(name, uniques, share, (result.low, result.high), assumption, result.warning))
    return tuple(out)


def dankar(result: tuple[Uniques, ...], fraction: float) -> str:
    """Return the model that the decision rule of Dankar and others selects.

    Pitman's up to a sampling fraction of a tenth. Above it, Zayatz' or the slide negative binomial,
    whichever gives fewer uniques. If the selected model has no fit, Zayatz'.

    References
    ----------
    Dankar, F. K., El Emam, K., Neisa, A., Roffey, T.: Estimating the re-identification risk of clinical data
    sets. BMC Medical Informatics and Decision Making 12(66), 2012. doi:10.1186/1472-6947-12-66
    """
    by = {item.model: item.uniques for item in result}
    if fraction <= SMALL:
        return "zayatz" if by["pitman"] is None else "pitman"
    few, many = by["snb"], by["zayatz"]
    return "snb" if few is not None and (many is None or few <= many) else "zayatz"
