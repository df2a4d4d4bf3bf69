"""Formats of figures on a page: percentages, counts, lists of names, tables."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from voronym.core.rate import Rate
from voronym.dossier.counts import MISSING, Distribution
from voronym.report.language import numeral, phrase, term
from voronym.report.svg import clean, moment, percent, shorten, tick_labels, write_time

_GLANCE = 24
"""Characters of a cell that may stay on one line."""


@dataclass(frozen=True)
class Table:
    """Rows of text under a head; all columns but the first are set as numerals if ``numeric``."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""
    numeric: bool = True

    @property
    def short(self) -> bool:
        """Whether the table may stand open next to its figure."""
        return len(self.rows) <= 8

    @classmethod
    def of(
        cls, head: Sequence[str], rows: Sequence[Sequence[object]], *, caption: str = "", numeric: bool = True
    ) -> Table:
        """Build a table from any values, written as text."""
        return cls(tuple(head), tuple(tuple(cell(v) for v in row) for row in rows), caption, numeric)


def cell(value: object) -> str:
    """Format a table's cell: thousands apart, three figures for fractions, a dash for unknown."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return str(term("yes" if value else "no"))
    if isinstance(value, int):
        return numeral(f"{value:,}".replace("-", "−"))
    if isinstance(value, float):
        return decimal(value)
    return clean(value)


def whole(value: str) -> bool:
    """Return whether a cell stays on one line: a word, a number, a date or a time.

    Examples
    --------
    >>> whole("2024-05-17"), whole("2024-05-17 08:30"), whole("kept as it was")
    (True, True, False)
    """
    return len(value) <= _GLANCE and re.fullmatch(r"\S*|[\d\s:.,+-]*", value) is not None


def decimal(value: float | None, digits: int = 3) -> str:
    """Write a number with a number of significant figures, never as 1e+03."""
    if value is None or not math.isfinite(value):
        return "–"
    if value == 0:
        return "0"
    if abs(value) >= 1e7 or abs(value) < 1e-4:
        return numeral(f"{value:.{digits - 1}e}".replace("-", "−"))
    places = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return numeral(f"{value:,.{places}f}".replace("-", "−"))


def plural(count: int, noun: str, nouns: str = "") -> str:
    """Write a count with its noun.

    Examples
    --------
    >>> plural(1, "record"), plural(12000, "record")
    ('1 record', '12,000 records')
    """
    return f"{numeral(f'{count:,}')} {term(noun if count == 1 else nouns or noun + 's')}"


def share(value: float | None) -> str:
    """Write a probability as a percentage."""
    return percent(None if value is None else 100 * value)


def fine(value: float | None) -> str:
    """Format a percentage; above ten, with one decimal more than `percent`."""
    return percent(value, fine=True)


def nats(value: float | None) -> str:
    """Format a risk; without a finite figure everything is revealed."""
    if value is None or not math.isfinite(value):
        return "∞"
    return numeral(f"{value:.3g}" if value >= 0.001 or value == 0.0 else "< 0.001")


def names(items: Sequence[str], most: int = 12, room: int = 140, *, word: str = "and") -> str:
    """List names in a sentence; give the number of those that do not fit.

    Examples
    --------
    >>> names(["age", "sex", "zip"]), names(["age", "sex", "zip"], 2)
    ('age, sex and zip', 'age, sex and 1 more')
    >>> names(["age", "sex"], word="or")
    'age or sex'
    """
    shown: list[str] = []
    for item in items[:most]:
        if shown and sum(map(len, shown)) + len(item) > room:
            break
        shown.append(shorten(item, 400))
    rest = len(items) - len(shown)
    if rest > 0:
        return f"{', '.join(shown)} {term(word)} {rest} {term('more')}"
    if len(shown) < 2:
        return shown[0] if shown else str(term("none"))
    return f"{', '.join(shown[:-1])} {term(word)} {shown[-1]}"


def interval(rate: Rate) -> str:
    """Format the interval of a rate, with one more figure if both ends would look alike.

    Examples
    --------
    >>> interval(Rate(0.12, 0.118, 0.124, 20000, 48000))
    '11.8\u202f% to 12.4\u202f%'
    """
    low, high = share(rate.low), share(rate.high)
    if low == high:
        low, high = fine(100 * rate.low), fine(100 * rate.high)
    return f"{low} {term('to')} {high}"


def measured(rate: Rate) -> str:
    """Return words for the number of records behind a rate."""
    if rate.exact:
        return f"{term('all')} {plural(rate.n, 'record')}"
    return f"{cell(rate.n)} {term('of')} {plural(rate.population, 'record')}"


def duration(seconds: float | None) -> str:
    """Write a length of time in days, hours, minutes or seconds."""
    for unit, length in (("d", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds is not None and seconds >= length:
            return f"{decimal(seconds / length)} {unit}"
    return f"{decimal(seconds)} s"


def between(low: str, high: str) -> str:
    """Return a range between two formatted numbers, in the reader's language."""
    return phrase("{low} to {high}", low=low, high=high)


def bin_names(distribution: Distribution) -> list[str]:
    """Return one label for each count of a distribution."""
    if distribution.names is not None:
        return [term(name) if name == MISSING else name for name in distribution.names]
    edges = list(distribution.edges or ())
    whole = all(abs(e - round(e)) == 0.5 for e in edges)
    if whole and not distribution.dates and all(b - a == 1 for a, b in pairwise(edges)):
        return [tick_labels([e + 0.5, e + 1.5])[0] for e in edges[:-1]]
    if distribution.dates:
        apart = (edges[-1] - edges[0]) / max(len(edges) - 1, 1)
        written = [f"{moment(e):%Y-%m-%d}" for e in edges]
        if apart < 86400:
            written = [f"{day} {write_time(e, apart)}" for day, e in zip(written, edges, strict=True)]
    else:
        written = tick_labels(edges)
    out = [between(a, b) for a, b in pairwise(written)]
    if distribution.clipped and len(out) > 1:
        out[0], out[-1] = (
            phrase(text, edge=written[at]) for text, at in (("below {edge}", 1), ("{edge} and above", -2))
        )
    return out
