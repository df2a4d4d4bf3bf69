"""Exposure of the records of a table, counted from the table alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import narwhals as nw
import numpy as np

from voronym.core.jsonable import Plain
from voronym.core.percent import percent
from voronym.errors import InputError
from voronym.table.alike import population_sizes
from voronym.table.classes import Classes, equivalence_classes
from voronym.table.frame import as_frame
from voronym.table.units import Units

THRESHOLD = 0.2
"""A record is at risk above this probability: in classes of fewer than five."""


@dataclass(frozen=True)
class Risk(Plain):
    """Re-identification risk of a table, from the sizes of its classes.

    A class is the set of records that share all keys; ``f_i`` is the size of the class of record i, among
    n records in J classes. An intruder who knows the keys of a person in the table picks a record of the
    class at random, and is right with probability ``1 / f_i``.

    Parameters
    ----------
    k : int
        Size of the smallest class.
    records, n_classes : int
        n and J.
    histogram : dict of int to int
        Size of class to the number of classes of that size.
    unique : int
        Records alone in their class.
    uniqueness : float
        ``unique / n``.
    prosecutor_max, prosecutor_mean : float
        Largest and mean ``1 / f_i``. The intruder knows that the person is in the table.
    marketer : float
        ``J / n``: the share of correct matches when every record is matched at random inside its class. The
        same number as ``prosecutor_mean``, since the ``1 / f_i`` of a class sum to 1; both names are in use.
    threshold : float
        A record is at risk when ``1 / f_i`` is above it.
    at_risk : int
        Records above the threshold.
    share_at_risk : float
        ``at_risk / n``.
    journalist : dict or None
        Risk against a population that includes the table, if one was given: ``F_i`` records of the population
        share the keys of record i. ``max`` and ``mean`` of ``1 / F_i``, the number of records ``at_risk``
        above the threshold and ``absent``, records whose keys the population does not have (they count with
        ``1 / f_i``, as if the table were the population).
    counted : str
        The unit of sizes: records, people or households. A person or household counts once in each of its
        classes.

    References
    ----------
    El Emam, K., Dankar, F. K.: Protecting privacy using k-anonymity. JAMIA 15(5), 2008.
    doi:10.1197/jamia.M2716
    """

    k: int
    records: int
    n_classes: int
    histogram: dict[int, int]
    unique: int
    uniqueness: float
    prosecutor_max: float
    prosecutor_mean: float
    marketer: float
    threshold: float
    at_risk: int
    share_at_risk: float
    journalist: dict[str, float | int] | None = None
    counted: str = field(default="records", compare=False)

    @classmethod
    def of_sizes(cls, histogram: Mapping[int, int], threshold: float = THRESHOLD) -> Risk:
        """Return the risk from the number of classes of each size; such counts of several parts add up."""
        sizes = dict(sorted((int(size), int(count)) for size, count in histogram.items() if count))
        records = sum(size * count for size, count in sizes.items())
        classes, least = sum(sizes.values()), min(sizes)
        # Division rounds correctly, so 1/5 is the very number that 0.2 denotes; 49 * (1/49) is not 1.
        at_risk = sum(size * count for size, count in sizes.items() if 1.0 / size > threshold)
        unique = sizes.get(1, 0)
        return cls(
            k=least,
            records=records,
            n_classes=classes,
            histogram=sizes,
            unique=unique,
            uniqueness=unique / records,
            prosecutor_max=1.0 / least,
            prosecutor_mean=classes / records,
            marketer=classes / records,
            threshold=float(threshold),
            at_risk=at_risk,
            share_at_risk=at_risk / records,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain types for JSON; the histogram becomes a list of ``{"size", "classes"}``."""
        sizes = [{"size": size, "classes": count} for size, count in self.histogram.items()]
        counted = {} if self.counted == "records" else {"counted": self.counted}
        plain = {name: value for name, value in super().to_dict().items() if name != "counted"}
        return {**plain, "histogram": sizes, **counted}

    def __str__(self) -> str:
        if self.counted == "records":
            first = [
                f"k = {self.k}: {self.records:,} records in {self.n_classes:,} classes",
                f"unique records: {self.unique:,} ({percent(self.uniqueness)})",
            ]
        else:
            first = [
                f"k = {self.k} {self.counted}, in {self.n_classes:,} classes",
                f"classes with only one of the {self.counted}: {self.unique:,} "
                f"({percent(self.unique / self.n_classes)})",
            ]
        at_risk = f"{percent(self.share_at_risk)}, each counted once in every class"
        if self.counted == "records":
            at_risk = f"{self.at_risk:,} ({percent(self.share_at_risk)})"
        lines = [
            *first,
            f"risk of re-identification: at most {percent(self.prosecutor_max)}, "
            f"mean {percent(self.prosecutor_mean)}",
            f"{self.counted} with a risk above {percent(self.threshold)}: {at_risk}",
        ]
        if self.journalist is not None:
            j = self.journalist
            lines.append(f"against the population: at most {percent(j['max'])}, mean {percent(j['mean'])}")
        return "\n".join(lines)


def risk(
    frame: Any,
    keys: Sequence[str],
    *,
    threshold: float = THRESHOLD,
    population: Any = None,
    units: Units | None = None,
    classes: Classes | None = None,
) -> Risk:
    """Count the records of a table that are unique or in small classes, and their risks.

    Parameters
    ----------
    frame : DataFrame
        pandas, Polars, PyArrow or narwhals.
    keys : sequence of str
        Columns that an intruder may know.
    threshold : float
        Records with a risk above this one are counted as at risk. The default 0.2 means classes below 5.
    population : DataFrame, optional
        A table of the whole population with the same key columns. Adds the journalist risk.
    units : Units, optional
        The people or households behind the rows; sizes of classes then count these.
    classes : Classes, optional
        The records that share all these keys, if already counted.

    Returns
    -------
    Risk
        Time O(n) per key, memory O(n).

    Examples
    --------
    >>> import polars as pl
    >>> found = risk(pl.DataFrame({"age": [30, 30, 40, 40, 40, 50]}), ["age"])
    >>> found.k, found.unique, found.histogram
    (1, 1, {1: 1, 2: 1, 3: 1})
    >>> found.marketer
    0.5
    """
    table = as_frame(frame)
    if not 0.0 <= threshold <= 1.0:
        raise InputError(f"threshold is a probability from 0 to 1, not {threshold!r}")
    if classes is None:
        classes = equivalence_classes(table, keys)
    sizes = classes.sizes if units is None else units.heads(classes.labels, len(classes.sizes))
    journalist = None if population is None else _journalist(table, population, keys, threshold)
    counted = "records" if units is None else units.counted
    made = Risk.of_sizes(Counter(sizes.tolist()), threshold)
    return replace(made, journalist=journalist, counted=counted)


def _above(
    sizes: np.ndarray[Any, np.dtype[np.int64]], threshold: float
) -> np.ndarray[Any, np.dtype[np.bool_]]:
    return 1.0 / sizes > threshold


def _journalist(
    table: nw.DataFrame[Any], population: Any, keys: Sequence[str], threshold: float
) -> dict[str, float | int]:
    people = as_frame(population)
    here, there = population_sizes(table, people, keys)
    size = np.where(there > 0, there, here)
    return {
        "max": float(1.0 / size.min()),
        "mean": float((1.0 / size).mean()),
        "at_risk": int(_above(size, threshold).sum()),
        "absent": int((there == 0).sum()),
        "population": len(people),
    }
