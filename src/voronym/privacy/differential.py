"""Differential privacy: a promise about the making of a table, which a table cannot show."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from voronym.core.validate import checked
from voronym.errors import InputError
from voronym.privacy.base import Finding, Model, Needs, register
from voronym.privacy.text import TextModel, number, whole
from voronym.table.table import Table

SCOPES = ("keys", "all")
REPLACE = "replace"
"""Neighbouring tables differ in the values of one unit; the number of rows is public."""
ADD_REMOVE = "add-remove"
"""Neighbouring tables differ by one additional unit; the number of rows is private."""
RELATIONS = (REPLACE, ADD_REMOVE)


@partial(checked, texts=True)
@register("dp")
@dataclass(frozen=True)
class DifferentialPrivacy(TextModel):
    """Require that each published result would be nearly as likely if one person's values were different.

    A release is ε-differentially private if replacing the values of one unit changes the probability of
    every published table by at most a factor of e^ε (and δ). Units are rows, or the declared people or
    households. Noise from OpenDP is added to the centres of groups that one unit hardly changes.

    Parameters
    ----------
    epsilon : float or None
        Above 0: the smaller, the more noise. 1 is a common choice. None only measures, and reports that no
        table shows it.
    delta : float
        The probability with which the factor may be missed: 0, or far below 1 divided by the number of
        people.
    scope : {"keys", "all"}
        The private part. "keys": the table of the published keys; other columns are published unchanged next
        to them, and anybody who recognises a person by these learns the person's group. "all": the whole
        published table.
    rows : int, optional
        Largest number of rows of a person or household; needed if these are declared. Otherwise any ``rows``
        rows are protected together.
    neighbours : {"replace", "add-remove"}
        The compared tables. "replace": one unit has other values; the number of rows is public. "add-remove":
        also one unit more or less; the number of rows is noisy, and no column may be published unchanged.

    References
    ----------
    Dwork, C., McSherry, F., Nissim, K., Smith, A.: Calibrating noise to sensitivity in private data analysis.
    TCC 2006. Soria-Comas, J., Domingo-Ferrer, J., Sánchez, D., Martínez, S.: Enhancing data utility in
    differential privacy via microaggregation-based k-anonymity. VLDB Journal 23, 2014.
    doi:10.1007/s00778-014-0351-4

    Examples
    --------
    >>> print(DifferentialPrivacy(1.0, scope="all"))
    dp=1,scope=all
    """

    needs: ClassVar[Needs] = "method"
    strength: ClassVar[int] = 20
    unasked: ClassVar[bool] = False
    epsilon: float | None = None
    delta: float = 0.0
    scope: str = "keys"
    rows: int | None = None
    neighbours: str = "replace"

    def __post_init__(self) -> None:
        self._set(epsilon=number(self.name, "epsilon", self.epsilon, above=True))
        self._set(delta=number(self.name, "delta", self.delta) or 0.0)
        if self.delta >= 1.0:
            raise InputError(f"{self.name}: delta must be a probability below 1, not {self.delta:g}")
        if self.scope not in SCOPES:
            raise InputError(f"{self.name}: scope must be 'keys' or 'all', not {self.scope!r}")
        self._set(rows=whole(self.name, "rows", self.rows, least=1))
        if self.neighbours not in RELATIONS:
            raise InputError(
                f"{self.name}: neighbours must be 'replace' or 'add-remove', not {self.neighbours!r}"
            )

    @property
    def hides_presence(self) -> bool:
        """Whether membership in the table is private."""
        return self.neighbours == ADD_REMOVE

    def measure(self, table: Table) -> Finding:
        """Report that ε cannot be measured on a table, because it depends on the making of the table."""
        about = "no table shows it: it is a property of how a table was made"
        detail: dict[str, object] = {"records": table.n}
        return Finding(self.name, math.inf, self.required, self.epsilon is None, (), detail, about)

    def kept(self) -> Finding:
        """Return the finding of a release made with this promise."""
        about = f"δ = {self.delta:g}, " if self.delta else ""
        return Finding(
            self.name,
            float(self.epsilon or 0.0),
            self.required,
            True,
            detail={
                "epsilon": self.epsilon,
                "delta": self.delta,
                "scope": self.scope,
                "neighbours": self.neighbours,
            },
            about=f"{about}of {'the keys' if self.scope == 'keys' else 'all columns'}, by how it was made",
        )


def private_among(models: Iterable[Model]) -> DifferentialPrivacy | None:
    """Return the differential privacy among the models; None without it."""
    return next((model for model in models if isinstance(model, DifferentialPrivacy)), None)
