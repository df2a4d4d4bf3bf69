"""The subject of a comparison: the counted units, and the measure of risk."""

from __future__ import annotations

from collections.abc import Sequence

from voronym.core.context import Context
from voronym.errors import InputError
from voronym.methods.crowd import Crowd
from voronym.request.choices import ReleaseChoices
from voronym.table import Table

RISKS = ("linkage", "mutual-information")


def crowd_of(table: Table) -> Crowd:
    """Return the units compared: the rows or, if declared, the people behind them."""
    if table.units is not None and (table.confidential or table.units.household is not None):
        raise InputError("a comparison counts people only by linkage, and never households: leave them out")
    return Crowd.of(table, Context(), ReleaseChoices())


def check_risk(risk: str, confidential: Sequence[str] | str) -> list[str]:
    """Return the confidential columns of this risk; raise if they do not fit."""
    if risk not in RISKS:
        raise InputError(f"no risk is called {risk!r}; there are: {', '.join(RISKS)}")
    named = [confidential] if isinstance(confidential, str) else list(confidential)
    if risk == "linkage" and named:
        raise InputError(
            "only the risk 'mutual-information' uses confidential columns; choose it, or name no "
            "confidential column"
        )
    if risk == "mutual-information" and len(named) != 1:
        raise InputError(
            "risk 'mutual-information' is about one confidential column at a time; name one"
            + (f" of {', '.join(map(repr, named))}" if named else "")
        )
    return named
