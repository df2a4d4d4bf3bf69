"""Sections of a page: one small function from a dossier to what its template needs, and one template.

`section` registers one with the parts of the dossier that it needs and for whom it is. From then on it is on
every page that has these parts; no other file need know of it. The template is a text given with it, or
``templates/sections/NAME.html``; it has the function's data, and the dossier as ``d``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from voronym.dossier import Dossier
from voronym.named import Registry

Audience = Literal["internal", "public"]
Data = Mapping[str, object]
Function = Callable[[Dossier], Data | None]


@dataclass(frozen=True)
class Section:
    """A registered section.

    Parameters
    ----------
    name : str
        What is before a colon is its anchor on the page, so that variants share one: "risk:linkage".
    title : str
        Its heading; the function's ``title`` goes before it.
    function : callable
        From a dossier to the template's data; None where there is nothing to show.
    needs : tuple of str
        Parts of the dossier, such as "inside.costs"; without one of them the section is left out.
    audience : {"internal", "public", "both"}
        On whose page it is. Public pages are made from a dossier that has no inside.
    place : int
        Sections stand in this order.
    shape : {"wide", "grid", "text"}
        A figure beside its table, small figures, or text.
    source : str, optional
        The template itself.
    """

    name: str
    title: str
    function: Function
    needs: tuple[str, ...] = ()
    audience: Literal["internal", "public", "both"] = "both"
    place: int = 50
    shape: str = "wide"
    source: str | None = None

    @property
    def anchor(self) -> str:
        """Its place on the page."""
        return self.name.split(":")[0]

    @property
    def template(self) -> str:
        """Name of its template file."""
        return f"sections/{self.name.replace(':', '-')}.html"

    def fits(self, dossier: Dossier, audience: Audience) -> bool:
        """Say whether it is for this audience and the dossier has what it needs."""
        if self.audience not in ("both", audience):
            return False
        return all(_there(dossier, path) for path in self.needs)


def _there(dossier: Dossier, path: str) -> bool:
    """Say whether a part of a dossier is there and not empty."""
    part: object = dossier
    for name in path.split("."):
        part = getattr(part, name)
        if part is None or part == ():
            return False
    return True


sections = Registry[Section]("section")


def section(
    name: str,
    title: str,
    *,
    needs: tuple[str, ...] = (),
    audience: Literal["internal", "public", "both"] = "both",
    place: int = 50,
    shape: str = "wide",
    source: str | None = None,
) -> Callable[[Function], Function]:
    """Register a section of release pages; see `Section` for the arguments."""

    def register(function: Function) -> Function:
        sections.add(name, Section(name, title, function, needs, audience, place, shape, source))
        return function

    return register


def sections_for(dossier: Dossier, audience: Audience) -> list[Section]:
    """Return the sections of a page, in their order."""
    found = [one for one in sections.values() if one.fits(dossier, audience)]
    return sorted(found, key=lambda one: one.place)
