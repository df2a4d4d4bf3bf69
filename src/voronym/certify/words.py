"""Sentences about the distance of groups from the optimum."""

from __future__ import annotations

from voronym.errors import hint, worded

WEAK = 15.0
"""A gap above this, in percent, comes from a weak proof; it is not shown."""

FINE = 2.0
"""Gap in percent below which a longer proof is not proposed."""

LONGER = hint("time_limit", 20)
"""Advice for a better proof on a small table."""


def closeness(gap: float, *, more: bool, terms: str = "") -> str:
    """Return the meaning of a gap in words.

    Parameters
    ----------
    gap : float
        Upper limit on the loss above the optimum, in percent.
    more : bool
        Whether more time would prove more.
    terms : str
        How the gap counts loss differently from the published figures.

    Examples
    --------
    >>> closeness(1.2, more=True)
    'within 1.2 % of the best possible'
    >>> closeness(5.3, more=True)
    'within 5.3 % of the best possible; proving more takes longer: time_limit=20'
    >>> closeness(42.5, more=False)
    'how near this is to the best possible is not proven'
    """
    longer = worded(f"; proving more takes longer: {LONGER}") if more and gap >= FINE else ""
    if gap > WEAK:
        return f"how near this is to the best possible is not proven{longer}"
    if gap < 0.005:
        return f"the best possible{terms}"
    return f"within {gap:.{1 if gap >= 0.05 else 2}f} % of the best possible{terms}{longer}"
