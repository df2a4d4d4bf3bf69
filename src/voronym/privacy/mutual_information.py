"""Mutual information: the average information of published keys about confidential values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from voronym._kernels import verdict
from voronym.core.validate import checked
from voronym.errors import InputError
from voronym.privacy.base import Needs, register
from voronym.privacy.cells import Judge, Rule, count_runs
from voronym.privacy.confidential import ConfidentialModel
from voronym.privacy.information import contributions, estimate
from voronym.privacy.level import Floats, Levels, joint
from voronym.privacy.text import number, whole
from voronym.table.classes import Classes
from voronym.table.table import Table

UNITS = {"nats": 1.0, "bits": math.log(2.0)}
FEWEST, MOST = 8, 64


def default_bins(n: int) -> int:
    """Return the number of values above which an ordered column is binned: the cube root of n, 8 to 64.

    Examples
    --------
    >>> default_bins(1000), default_bins(32_768), default_bins(10**7)
    (10, 32, 64)
    """
    return int(np.clip(math.ceil(float(np.cbrt(n)) - 1e-9), FEWEST, MOST))


@partial(checked, texts=True)
@register("mutual-information")
@dataclass(frozen=True)
class MutualInformation(ConfidentialModel):
    """Require that published keys reveal little about a confidential column on average.

    I(W; class) = sum over classes of (size / n) KL(p || q), where p is the distribution of W in the class
    and q that in the table. It is the average of the distances that t-closeness with ``distance=kl``
    limits in the worst class. It is also the mean reduction, in nats, of an intruder's uncertainty about
    W when they find a person's class. 0 means that keys and W are independent.

    Parameters
    ----------
    bound : float or None
        Greatest mutual information, 0 or more. None only measures.
    unit : {"nats", "bits"}
        Unit of the bound and of the finding's value.
    bins : int or "distinct", optional
        An ordered column with more distinct values than this is cut into this number of bins of about equal
        frequency, equal values together. By default the cube root of n, between 8 and 64; "distinct" never
        bins. Unordered columns are not binned. Missing is a value of its own.
    joint : bool
        Whether to measure all confidential columns together, instead of the worst one.
    column : str, optional
        The confidential column; by default each of them.

    Notes
    -----
    The value, which is compared with the bound, is the plug-in estimate: the mutual information of the table
    itself. As an estimate for the population it is too high; ``detail`` gives Miller and Madow's correction,
    a confidence interval, and what the same classes would show by chance (see `voronym.privacy.information`).
    Bins hide what happens inside them: the information about exact values is at least that about bins.

    References
    ----------
    Rebollo-Monedero, D., Forne, J., Domingo-Ferrer, J.: From t-closeness-like privacy to postrandomization
    via information theory. IEEE TKDE 22(11), 2010.

    Examples
    --------
    >>> import polars as pl
    >>> from voronym.table import Table
    >>> people = pl.DataFrame({"age": [3, 3, 4, 4], "ill": list("abcd")})
    >>> table = Table.build(people, keys=["age"], confidential=["ill"])
    >>> print(MutualInformation(unit="bits").measure(table))  # one of two bits
    mutual-information: 1 (ill, bits)
    """

    additive: ClassVar[bool] = True
    strength: ClassVar[int] = 5
    bound: float | None = None
    unit: str = "nats"
    bins: int | str | None = None
    joint: bool = False
    column: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(bound=number(self.name, "the bound", self.bound))
        if self.unit not in UNITS:
            raise InputError(f"{self.name}: no unit is called {self.unit!r}; there are: {', '.join(UNITS)}")
        if self.bins != "distinct":
            self._set(bins=whole(self.name, "bins", self.bins, least=2))
        given: object = self.joint
        if given not in (True, False, "true", "false"):
            raise InputError(f"{self.name}: joint is true or false, not {given!r}")
        self._set(joint=given in (True, "true"))
        if self.joint and self.column is not None:
            raise InputError(f"{self.name}: joint takes all confidential columns; leave out column")

    @property
    def needs(self) -> Needs:  # type: ignore[override]
        """The parts of a table it must see: joint columns have levels that no part knows alone."""
        return "whole" if self.joint else "groups"

    def levels(self, table: Table) -> tuple[Levels, ...]:
        """Return the columns as levels, binned if there are many, joined if ``joint``."""
        result = super().levels(table)
        if self.bins != "distinct":
            at_most = default_bins(len(table)) if self.bins is None else int(self.bins)
            result = tuple(item.binned(at_most) if item.ordered else item for item in result)
        return (joint(result),) if self.joint else result

    def judge(self, levels: Levels) -> Judge:
        """Return a judge for the cells of one column, which measures contributions to a limited sum."""
        unit = UNITS[self.unit]
        rule = Rule(verdict.INFORMATION, (self.required or 0.0) * unit)  # kernels count in nats
        measure = partial(contributions, unit=unit)
        return Judge(levels, measure, self.bound, additive=True, name=self.name, rule=rule)

    def about(self, judge: Judge) -> str:
        """Return a few words on the value, for the printed finding."""
        cut = "" if judge.levels.how == "distinct values" or self.joint else f", {judge.levels.how}"
        return f"{judge.levels.column}, {self.unit}{cut}"

    def describe(self, judge: Judge, classes: Classes, values: Floats) -> dict[str, object]:
        """Return the figures of one column as plain types; all in nats except ``value`` and ``bits``."""
        result = estimate(
            count_runs(classes.labels, judge.levels.codes, len(classes.sizes), judge.levels.size),
            judge.levels,
        )
        return super().describe(judge, classes, values) | {
            "unit": self.unit,
            "nats": result.plug_in,
            "bits": result.plug_in / UNITS["bits"],
            "share": result.plug_in / result.entropy if result.entropy > 0 else 0.0,
            "entropy": result.entropy,
            "estimate": "plug-in",
            "corrected": result.corrected,
            "correction": "Miller-Madow",
            "interval": [result.low, result.high],
            "confidence": result.confidence,
            "interval_method": "asymptotic normal, from excess to corrected, widened by the standard error",
            "chance": result.chance,
            "excess": result.excess,
        }
