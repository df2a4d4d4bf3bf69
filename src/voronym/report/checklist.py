"""The page of a checklist: to read, to print and to sign."""

from __future__ import annotations

from typing import Any

from voronym.policy.base import SECTIONS
from voronym.policy.checklist import Checklist
from voronym.report.html import fill, part

HEADS = {
    "columns": "Columns",
    "groups": "Groups",
    "attacks": "Attacks",
    "loss": "What is lost",
    "process": "What people do",
}
"""Headings of the sections."""
TINTS = {"holds": "good", "fails": "bad", "open": "unsure", "person": "unsure", "nothing": "quiet"}
"""Colours of verdicts; every verdict is also written as a word."""


def render_checklist(checklist: Checklist) -> str:
    """Return the page of a checklist as HTML text.

    Examples
    --------
    >>> import polars as pl
    >>> from voronym.policy import check
    >>> page = render_checklist(check(pl.DataFrame({"age": [30, 91]}), "hipaa-safe-harbor", keys=["age"]))
    >>> "1 cell of &#39;age&#39; with an age above 89" in page
    True
    """
    sections = [
        part(name, HEADS[name], "checklist/demands.html", {"items": here, "tints": TINTS})
        for name in SECTIONS
        if (here := [item for item in checklist.items if item.section == name])
    ]
    data: dict[str, Any] = {"made": checklist}
    if checklist.added:
        sections.append(part("added", "Chosen by the policy", "checklist/added.html", data))
    sections.append(part("held", "What the columns hold", "checklist/held.html", data))
    sections.append(part("sign", "Decisions and signature", "checklist/sign.html", data))
    return fill("checklist.html", made=checklist, sections=sections)
