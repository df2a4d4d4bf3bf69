"""The figures of a method: a frozen dataclass for each method, and its form in JSON.

A method, a space or a plug-in derives a class from `Figures`. Field names are the names in JSON, unless the
metadata KEY gives another one. A None field marked ABSENT is omitted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar

from voronym.core.jsonable import ABSENT, KEY, Plain

F = TypeVar("F", bound="Figures")


@dataclass(frozen=True)
class Figures(Plain):
    """The figures of a method, without any record; this base class is for methods without figures.

    Examples
    --------
    >>> Figures(mean_weights="weight").to_dict()
    {'mean weights': 'weight'}
    >>> Figures().to_dict()
    {}
    """

    mean_weights: str | None = field(default=None, kw_only=True, metadata={KEY: "mean weights", ABSENT: True})
    """The column of weights that groups averaged."""

    def of(self, kind: type[F]) -> F | None:
        """Return these figures if they are of the given class; otherwise None."""
        return self if isinstance(self, kind) else None

    @property
    def of_leaf(self) -> Figures:
        """The figures that hold for a whole data set, if these were measured in one leaf."""
        return Figures(mean_weights=self.mean_weights)


def kinds() -> list[type[Figures]]:
    """Return the class of figures and all that derive from it, in modules that were imported."""
    out: list[type[Figures]] = [Figures]
    for kind in out:
        out += kind.__subclasses__()
    return out


NOTHING = Figures()
"""The figures of a method without figures."""
