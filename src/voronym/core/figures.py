"""The figures of a method: a frozen dataclass for each method, and their one form in JSON.

A method, a space or a plug-in derives its own class from `Figures`. Names of fields are the names in JSON,
unless the metadata KEY gives another one; what is None and ABSENT is left out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar

from voronym.core.jsonable import ABSENT, KEY, Plain

F = TypeVar("F", bound="Figures")


@dataclass(frozen=True)
class Figures(Plain):
    """The figures of a method, without any record; this class is for methods that measure nothing.

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
        """Return the figures of a kind among these, or None."""
        return self if isinstance(self, kind) else None

    @property
    def of_leaf(self) -> Figures:
        """What holds for all leaves of a data set, if this was measured in one of them."""
        return Figures(mean_weights=self.mean_weights)


def kinds() -> list[type[Figures]]:
    """Return the class of figures and all that derive from it, in modules that were imported."""
    out: list[type[Figures]] = [Figures]
    for kind in out:
        out += kind.__subclasses__()
    return out


NOTHING = Figures()
"""The figures of a method that measures nothing."""
