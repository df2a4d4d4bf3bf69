"""Sections of a page: a function from a dossier to template data, and a template.

`section` registers a section with its audience and the parts of the dossier that it needs. Every page with
these parts then shows it. The template is a text, or ``templates/sections/NAME.html``; it gets the data of
the function, and the dossier as ``d``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from voronym.core.registry import Registry
from voronym.dossier import Dossier

Audience = Literal["internal", "public"]
Data = Mapping[str, object]
Function = Callable[..., Data | None]


@dataclass(frozen=True)
class Section:
    """A registered section.

    Parameters
    ----------
    name : str
        The part before a colon is its anchor on the page, so that variants share it: "risk:linkage".
    title : str
        Its heading; the function's ``title`` goes before it.
    function : callable
        Takes the dossier and the needed parts, and returns the template's data; None if there is nothing to
        show.
    needs : tuple of str
        Parts of the dossier, such as "inside.costs"; without one of them the section is left out.
    audience : {"internal", "public", "both"}
        The pages on which it appears. Public pages are made from a dossier without an internal part.
    place : int
        Sections stand in this order.
    shape : {"wide", "grid", "text"}
        A figure next to its table, small figures, or text.
    source : str, optional
        The template itself.
    special : bool
        Whether it is for specialists: such sections stand folded at the end.
    """

    name: str
    title: str
    function: Function
    needs: tuple[str, ...] = ()
    audience: Literal["internal", "public", "both"] = "both"
    place: int = 50
    shape: str = "wide"
    source: str | None = None
    special: bool = False

    @property
    def anchor(self) -> str:
        """Its anchor on the page."""
        return self.name.split(":")[0]

    @property
    def template(self) -> str:
        """Name of its template file."""
        return f"sections/{self.name.replace(':', '-')}.html"

    def data(self, dossier: Dossier, audience: Audience) -> Data | None:
        """Return the template's data; None if the section does not belong on this page."""
        if self.audience not in ("both", audience):
            return None
        parts = [_part(dossier, path) for path in self.needs]
        return None if any(part is None or part == () for part in parts) else self.function(dossier, *parts)


def _part(dossier: Dossier, path: str) -> object:
    """Return a part of a dossier; None if it is missing."""
    part: object = dossier
    for name in path.split("."):
        part = None if part is None else getattr(part, name)
    return part


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
    special: bool = False,
) -> Callable[[Function], Function]:
    """Register a section of release pages; see `Section` for the arguments."""

    def register(function: Function) -> Function:
        sections.add(name, Section(name, title, function, needs, audience, place, shape, source, special))
        return function

    return register
