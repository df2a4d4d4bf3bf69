"""What a page is made of: facts, sections, blocks of a figure and its table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from voronym.report.svg import clean, percent, shorten


@dataclass(frozen=True)
class Table:
    """Rows of text under a head; all columns but the first are set as numerals where ``numeric``."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""
    numeric: bool = True

    @property
    def short(self) -> bool:
        """Whether the table may stand open beside its figure."""
        return len(self.rows) <= 8

    @classmethod
    def of(
        cls, head: Sequence[str], rows: Sequence[Sequence[object]], *, caption: str = "", numeric: bool = True
    ) -> Table:
        """Build a table from any values, written as text."""
        return cls(tuple(head), tuple(tuple(cell(v) for v in row) for row in rows), caption, numeric)


@dataclass(frozen=True)
class Block:
    """A figure with a heading, a sentence and the same figures as a table."""

    title: str = ""
    figure: Markup | None = None
    table: Table | None = None
    note: str = ""
    legend: bool = False
    """Whether to say which colour is before and which is after."""
    whole: bool = False
    """Whether the figure takes the whole width, with its table below."""


@dataclass(frozen=True)
class Section:
    """A part of the page. ``shape`` is "wide" (figure beside its table), "grid" (small figures) or "text"."""

    id: str
    title: str
    lead: str = ""
    blocks: tuple[Block, ...] = ()
    points: tuple[str, ...] = ()
    code: tuple[tuple[str, str], ...] = ()
    shape: str = "wide"
    foot: str = ""


@dataclass(frozen=True)
class Fact:
    """A number that stands out, what it is and how to read it."""

    value: str
    label: str
    note: str = ""


@dataclass(frozen=True)
class Page:
    """All that a template needs."""

    title: str
    kind: str
    verdict: str
    support: tuple[str, ...] = ()
    holds: bool = True
    facts: tuple[Fact, ...] = ()
    banner: str = ""
    warnings: tuple[str, ...] = ()
    sections: tuple[Section, ...] = ()
    versions: tuple[tuple[str, str], ...] = field(default=())


def svg(drawing: str) -> Markup:
    """Mark a drawing of ours as safe: its texts were escaped when it was drawn."""
    return Markup(drawing)  # noqa: S704 - figures escape every text they are given


def cell(value: object) -> str:
    """Write a table's cell: thousands apart, three figures for fractions, a dash for what is not known."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}".replace("-", "−")
    if isinstance(value, float):
        return decimal(value)
    return clean(value)


def decimal(value: float | None, digits: int = 3) -> str:
    """Write a number with so many significant figures, never as 1e+03."""
    if value is None or not math.isfinite(value):
        return "–"
    if value == 0:
        return "0"
    if abs(value) >= 1e7 or abs(value) < 1e-4:
        return f"{value:.{digits - 1}e}".replace("-", "−")
    places = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{value:,.{places}f}".replace("-", "−")


def plural(count: int, noun: str, nouns: str = "") -> str:
    """Write a count with its noun.

    Examples
    --------
    >>> plural(1, "record"), plural(12000, "record")
    ('1 record', '12,000 records')
    """
    return f"{count:,} {noun if count == 1 else nouns or noun + 's'}"


def share(value: float | None) -> str:
    """Write a probability as a percentage."""
    return percent(None if value is None else 100 * value)


def names(items: Sequence[str], most: int = 12, room: int = 140) -> str:
    """List names in a sentence, and count those that do not fit.

    Examples
    --------
    >>> names(["age", "sex", "zip"]), names(["age", "sex", "zip"], 2)
    ('age, sex and zip', 'age, sex and 1 more')
    """
    shown: list[str] = []
    for item in items[:most]:
        if shown and sum(map(len, shown)) + len(item) > room:
            break
        shown.append(shorten(item, 400))
    rest = len(items) - len(shown)
    if rest > 0:
        return f"{', '.join(shown)} and {rest} more"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}" if shown else "none"
