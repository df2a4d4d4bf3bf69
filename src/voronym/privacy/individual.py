"""Individual risk: the probability that a match with each record is correct, from sampling weights.

A class has f records in the sample, and the sum W of their weights estimates its size in the population. The
model of Benedetti and Franconi takes its true size F, given f, as negative binomial: the number of trials
until the f-th success, each with probability ``p = f / W``. An intruder who matches a person with the class
picks one of the F people, so the risk is E[1 / F].
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from voronym.errors import InputError
from voronym.table.frame import listing
from voronym.table.values import Values

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

ASSUMPTION = (
    "in each class of equal keys, people enter the sample independently at the rate that their weights give, "
    "and nothing else is known about how large classes are"
)
_SERIES = 60  # size of class from which on the series needs fewer terms than the recursion steps


def match_probability(sizes: Any, rates: Any) -> Floats:
    """Return E[1 / F] of classes with ``sizes`` records in the sample and sampling rates p.

    ``p / f * 2F1(1, 1; f + 1; 1 - p) = p * integral over 0..1 of u^(f-1) / (p + (1-p) u)``. The integral
    satisfies ``I(f+1) = (1/f - p I(f)) / (1-p)``, with ``I(1) = -ln(p) / (1-p)``. For p < 1/2 this
    recursion damps errors and is used upwards. Otherwise the series is summed; its terms are positive and
    fall at least by half, or by f.

    Parameters
    ----------
    sizes : array of int
        f, 1 or more.
    rates : array of float
        p, above 0; above 1 counts as 1.

    Returns
    -------
    array
        To about 1e-13, relatively.

    References
    ----------
    Benedetti, R., Franconi, L.: Statistical and technological solutions for controlled data dissemination.
    NTTS 1998. Polettini, S.: Some remarks on the individual risk methodology. UNECE work session, 2003.

    Examples
    --------
    >>> match_probability([1, 2, 5], [0.01, 0.01, 1.0]).round(6).tolist()
    [0.046517, 0.009631, 0.2]
    """
    f, p = np.broadcast_arrays(np.asarray(sizes, np.int64), np.minimum(np.asarray(rates, np.float64), 1.0))
    f, p = f.ravel(), p.ravel()
    out = np.empty(len(f))
    series = (p >= 0.5) | (f >= _SERIES)
    out[series] = _by_series(f[series], p[series])
    out[~series] = _by_steps(f[~series], p[~series])
    return out


def _by_series(f: Ints, p: Floats) -> Floats:
    """Sum ``j! (1-p)^j / ((f+1) ... (f+j))``."""
    total, term, q = np.ones(len(f)), np.ones(len(f)), 1.0 - p
    for j in range(1, 2000):
        term = term * q * j / (f + j)
        total += term
        if not len(term) or term.max() < 1e-17:
            break
    return np.asarray(p / f * total)


def _by_steps(f: Ints, p: Floats) -> Floats:
    integral = -np.log(p) / (1.0 - p)
    for size in range(1, int(f.max(initial=1))):
        above = f > size
        integral[above] = (1.0 / size - p[above] * integral[above]) / (1.0 - p[above])
    return np.asarray(p * integral)


def household_risk(risks: Floats, households: Ints) -> Floats:
    """Return the probability that at least one member of each household is matched: 1 - product of (1 - r).

    Members are treated as independent, which is the usual approximation.

    Examples
    --------
    >>> household_risk(np.array([0.5, 0.5, 0.1]), np.array([0, 0, 1])).round(3).tolist()
    [0.75, 0.1]
    """
    with np.errstate(divide="ignore"):
        kept = np.bincount(households, np.log1p(-np.minimum(risks, 1.0)))
    return np.asarray(-np.expm1(kept))


def weights_of(column: Values) -> Floats:
    """Return sampling weights (people per record); raise if they are impossible."""
    name = column.name
    if column.form not in ("integer", "float", "decimal"):
        raise InputError(f"the weights {listing([name])} are no numbers; name the column of sampling weights")
    gone = int(column.missing.sum())
    if gone:
        raise InputError(
            f"the weights {listing([name])} are missing in {gone} of {len(column)} rows; fill them in, or "
            "leave these rows out"
        )
    weights = np.asarray(column.numbers, np.float64)
    bad = int((~np.isfinite(weights) | (weights <= 0)).sum())
    if bad:
        raise InputError(
            f"the weights {listing([name])} are not above 0 in {bad} of {len(weights)} rows; a weight says "
            "how many people of the population a record stands for"
        )
    return weights
