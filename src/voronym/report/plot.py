"""Pictures for notebooks: one figure of a report with its style sheet."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup

from voronym.errors import InputError
from voronym.report import comparison as compared
from voronym.report import sections as _registered  # for its decorators
from voronym.report.section import sections

if TYPE_CHECKING:
    from voronym.evaluate.comparison import Comparison
    from voronym.evaluate.frontier import Frontier
    from voronym.release import Release

__all__ = ["Plot", "plot_comparison", "plot_frontier", "plot_release", "standalone"]
del _registered


class Plot:
    """A picture for a notebook, with values on hover. ``svg`` is its text.

    Examples
    --------
    >>> import voronym as vr
    >>> found = vr.compare(vr.datasets.hospital(60), keys=["age", "sex"], k=[3, 5], methods=["mdav"])
    >>> picture = found.plot()
    >>> picture.svg[:4], "mdav" in picture.svg
    ('<svg', True)
    """

    def __init__(self, drawn: Markup, title: str) -> None:
        self.svg = standalone(drawn)
        self.title = title

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"Plot({self.title!r}; a notebook shows it, .save('picture.svg') keeps it)"

    def save(self, path: str | Path) -> Path:
        """Write the picture as an SVG file."""
        from voronym.report.html import write_page

        return write_page(self.svg, path)


def standalone(drawn: Markup) -> str:
    """Return a drawing with its style inside, for use anywhere on a light background."""
    opening, result, rest = str(drawn).partition(">")
    if not result or not opening.startswith("<svg"):
        raise InputError("only a single drawing can stand alone")
    box = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', opening)
    wide = float(box[1]) if box else 380.0
    size = f' xmlns="http://www.w3.org/2000/svg" style="max-width:{1.5 * wide:.0f}px;width:100%"'
    ground = '<rect width="100%" height="100%" fill="#fff"/>'
    return f"{opening}{size}><style>{_style()}</style>{ground}{rest}"


@cache
def _style() -> str:
    """Return the part of the style sheet that drawings need, in the colours of the light page."""
    text = (Path(__file__).parent / "templates" / "style.css").read_text(encoding="utf-8")
    variables = re.search(r":root \{(.*?)\}", text, re.DOTALL)
    rules = [line for line in text.splitlines() if line.startswith(".fig ")]
    return f".fig{{{' '.join((variables[1] if variables else '').split())}}}" + "".join(rules)


def plot_release(release: Release, what: str = "plane") -> Plot:
    """Return a figure of the internal report by the name of its section."""
    dossier = release.dossier()
    result: dict[str, tuple[str, Markup]] = {}
    for item in sorted(sections.values(), key=lambda section: section.place):
        wanted = what in (item.anchor, item.name)
        data = item.data(dossier, "internal") if wanted or not result else None
        drawn = None if data is None else data.get("figure")
        if data is not None and isinstance(drawn, Markup) and drawn.startswith("<svg"):
            result.setdefault(item.anchor, (str(data.get("title", item.title)), drawn))
    if what not in result:
        raise InputError(f"there is no figure called {what!r} of this release; there are: {_names(release)}")
    title, drawn = result[what]
    return Plot(drawn, title)


def _names(release: Release) -> str:
    dossier = release.dossier()
    names = []
    for section in sections.values():
        data = section.data(dossier, "internal")
        drawn = None if data is None else data.get("figure")
        if isinstance(drawn, Markup) and drawn.startswith("<svg"):
            names.append(section.anchor)
    return ", ".join(sorted(set(names))) or "none"


def plot_frontier(frontier: Frontier) -> Plot:
    """Return the plane of loss and risk: both lines of the frontier, and the point of a release."""
    from voronym.dossier.revealed import curves
    from voronym.report.curves import Dot, risk_plane
    from voronym.report.tradeoff import lines

    top = 1.06 * frontier.plane.unchanged.plug_in or 1.0
    drawn = lines(curves(frontier.plane, 100.0), ("floor", "reached", "normal"), top)
    point = frontier.point
    dots = {} if point is None else {"the release": [Dot(100 * point.distortion, point.risk)]}
    title = f"What the keys tell about {frontier.plane.levels.column}, against what masking them costs"
    return Plot(risk_plane(dots, drawn, title=title, limits=(100.0, top)), title)


def plot_comparison(comparison: Comparison, what: str = "loss") -> Plot:
    """Return a figure of the comparison's page: the losses, or risk against loss."""
    drawn = {"loss": compared.loss_figure, "map": compared.map_figure}
    if what not in drawn:
        raise InputError(f"there is no figure called {what!r} of a comparison; there are: loss, map")
    if not comparison.rows:
        raise InputError("no method gave a result: there is nothing to draw")
    title, picture = drawn[what](comparison.rows)
    return Plot(picture, title)
