"""Small parts of a drawing: ticks, labels and SVG text.

All functions are pure: values in, strings out. Colours are classes, so one style sheet serves light, dark and
printed pages. Coordinates have one decimal; a drawing has a few kilobytes.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import math
import unicodedata
from collections.abc import Callable, Iterable, Sequence

from markupsafe import Markup

from voronym.core import percent as shares
from voronym.dossier.counts import nice_step, time_step
from voronym.report.language import numeral

FONT = 11.0
"""Height of the text in a drawing, in drawing units."""


_NARROW = frozenset("iljtfr.,:;|'! ()[]-")
_BROAD = frozenset("mwMW@%—…")


def clean(text: object) -> str:
    r"""Return text without characters that XML forbids or that would reverse the line.

    Examples
    --------
    >>> clean("a\x00b")
    'ab'
    """
    kept = (" " if c in "\t\n\r" else c for c in str(text))
    return "".join(
        c for c in kept if unicodedata.category(c) not in {"Cc", "Cf", "Cs", "Cn"} or c == "\u200d"
    )


def escape(text: object) -> str:
    """Return text that is safe inside XML, both as content and as an attribute.

    Examples
    --------
    >>> escape("<b> & 'c'")
    '&lt;b&gt; &amp; &#39;c&#39;'
    """
    out = clean(text)
    for char, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"), ("'", "&#39;")):
        out = out.replace(char, entity)
    return out


def width(text: str, size: float = FONT) -> float:
    """Estimate the width of a text, rather too wide than too narrow, because fonts differ."""
    ems = 0.0
    for char in text:
        if unicodedata.combining(char):
            continue
        if unicodedata.east_asian_width(char) in "WF":
            ems += 1.05
        elif char in _NARROW:
            ems += 0.36
        elif char in _BROAD:
            ems += 0.98
        else:
            ems += 0.74 if char.isupper() else 0.64
    return ems * size


def shorten(text: object, room: float, size: float = FONT) -> str:
    """Cut a text in its middle to fit into ``room`` units: long names often differ at their ends.

    Examples
    --------
    >>> shorten("income_of_the_household_2019", 100)
    'income_o…2019'
    """
    whole = clean(text)
    if width(whole, size) <= room:
        return whole
    for kept in range(len(whole) - 1, 0, -1):
        tail = kept * 2 // 5
        cut = f"{whole[: kept - tail].rstrip()}…{whole[len(whole) - tail :].lstrip()}"
        if width(cut, size) <= room:
            return cut
    return "…"


def num(value: float) -> str:
    """Write a coordinate with at most one decimal."""
    out = f"{value:.1f}"
    return out[:-2] if out.endswith(".0") else out


def percent(value: float | None, *, fine: bool = False) -> str:
    """Format a percentage: two figures below ten, no decimals above (one if ``fine``).

    Examples
    --------
    >>> percent(7.312), percent(0.0), percent(42.4), percent(0.004), percent(99.7)
    ('7.3\u202f%', '0\u202f%', '42\u202f%', '< 0.01\u202f%', '99.7\u202f%')
    """
    text = shares.percent(None if value is None else value / 100, whole=not fine)
    return numeral(text.replace(" %", "\u202f%").replace("-", "−"))


def ticks(low: float, high: float, count: int = 5, *, whole: bool = False) -> list[float]:
    """Return round numbers inside ``[low, high]``, ascending and evenly spaced.

    Examples
    --------
    >>> ticks(0, 97, 5)
    [0.0, 20.0, 40.0, 60.0, 80.0]
    """
    if not (math.isfinite(low) and math.isfinite(high)):
        return []
    span = high - low
    if span <= 0 or span < 1e-12 * max(abs(low), abs(high)):
        return [low]
    step = nice_step(span, count)
    if whole:
        step = max(1.0, round(step))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [i * step + 0.0 for i in range(first, last + 1)]


def tick_labels(values: Sequence[float], *, unit: str = "") -> list[str]:
    """Write ticks with the same number of decimals, thousands separated."""
    step = abs(values[1] - values[0]) if len(values) > 1 else abs(values[0]) if values else 0.0
    if any(abs(v) >= 1e7 for v in values) or 0 < step < 1e-4:
        return [f"{v:.3g}{unit}" for v in values]
    digits = max(0, -math.floor(math.log10(step) + 1e-9)) if step > 0 else 0
    return [("−" if v < 0 else "") + f"{abs(v):,.{digits}f}{unit}" for v in values]


EPOCH = dt.datetime(1970, 1, 1)


def moment(seconds: float) -> dt.datetime:
    """Return the date and time of a number of seconds after 1970, kept inside the calendar."""
    inside = min(max(seconds, -62135596800.0), 253402300799.0)
    return EPOCH + dt.timedelta(seconds=inside)


def write_time(seconds: float, step: float) -> str:
    """Write a time of day with the precision that a scale of this step needs."""
    when = moment(seconds)
    if step >= 60:
        return f"{when:%H:%M}"
    return f"{when:%H:%M:%S}" if step >= 1 else f"{when:%H:%M:%S.%f}"[: -3 if step >= 1e-3 else None]


def date_ticks(low: float, high: float, count: int = 5) -> tuple[list[float], list[str]]:
    """Return ticks and labels of a time axis in seconds: on years, months, days or parts of a day.

    Examples
    --------
    >>> date_ticks(0, 5 * 366 * 86400)[1]
    ['1970', '1971', '1972', '1973', '1974', '1975']
    """
    span, day = max(high - low, 1e-6), 86400.0
    if span < 2 * day:
        step = time_step(span / count)
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        values = [i * step for i in range(first, last + 1)]
        return values, [write_time(v, step) for v in values]
    if span < 75 * day:
        values = ticks(low / day, high / day, count, whole=True)
        return [v * day for v in values], [f"{moment(v * day):%d %b}".lstrip("0") for v in values]
    months = span / (30.44 * day)
    every = next((s for s in (1, 3, 6, 12) if months / s <= count + 1), 0)
    every = every or 12 * max(1, round(nice_step(months / 12, count)))
    at: list[float] = []
    start = moment(low)
    index = (start.year * 12 + start.month - 1) // every * every
    while len(at) < 100:
        year, month = divmod(index, 12)
        index += every
        if year < 1:
            continue
        if year > 9998:
            break
        seconds = (dt.datetime(year, month + 1, 1) - EPOCH).total_seconds()
        if seconds > high:
            break
        if seconds >= low:
            at.append(seconds)
    pattern = "%Y" if every % 12 == 0 else "%b %Y"
    return at, [f"{moment(s):{pattern}}" for s in at]


def text(x: float, y: float, content: object, cls: str = "t", anchor: str = "start", hint: str = "") -> str:
    """Return one line of text; ``hint`` appears on hover, for shortened labels."""
    where = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text class="{cls}" x="{num(x)}" y="{num(y)}"{where}>{tip(hint)}{escape(content)}</text>'


def line(x1: float, y1: float, x2: float, y2: float, cls: str = "g") -> str:
    """Return a straight line."""
    return f'<line class="{cls}" x1="{num(x1)}" y1="{num(y1)}" x2="{num(x2)}" y2="{num(y2)}"/>'


def rect(x: float, y: float, w: float, h: float, cls: str, hint: str = "") -> str:
    """Return a rectangle; negative widths and heights count as zero."""
    box = f'<rect class="{cls}" x="{num(x)}" y="{num(y)}" width="{num(max(w, 0))}" height="{num(max(h, 0))}"'
    return f"{box}>{tip(hint)}</rect>" if hint else f"{box}/>"


def path(points: Sequence[tuple[float, float]], cls: str, *, closed: bool = False) -> str:
    """Return a line through points."""
    if not points:
        return ""
    body = "L".join(f"{num(x)} {num(y)}" for x, y in points)
    return f'<path class="{cls}" d="M{body}{"Z" if closed else ""}"/>'


def _circle(x: float, y: float, r: float) -> str:
    arc = f"a{num(r)} {num(r)} 0 1 0"
    return f"M{num(x - r)} {num(y)}{arc} {num(2 * r)} 0{arc} {num(-2 * r)} 0Z"


def _polygon(corners: int, turn: float) -> Callable[[float, float, float], str]:
    def draw(x: float, y: float, r: float) -> str:
        angles = [turn + 2 * math.pi * i / corners for i in range(corners)]
        grow = 1.25 * r
        return (
            "M"
            + "L".join(f"{num(x + grow * math.sin(a))} {num(y - grow * math.cos(a))}" for a in angles)
            + "Z"
        )

    return draw


MARKERS: tuple[Callable[[float, float, float], str], ...] = (
    _circle,
    _polygon(4, math.pi / 4),
    _polygon(3, 0.0),
    _polygon(4, 0.0),
    _polygon(3, math.pi),
    _polygon(5, 0.0),
)
"""Shapes of marks: colour is never the only difference of two series."""


def marker(series: int, x: float, y: float, r: float = 3.5, hint: str = "", *, look: str = "m") -> str:
    """Return the mark of a series: shapes and colours repeat after different numbers of series."""
    shape = MARKERS[series % len(MARKERS)](x, y, r)
    return f'<path class="{look} c{series % 8}" d="{shape}">{tip(hint)}</path>'


def circle(x: float, y: float, r: float, cls: str, hint: str = "") -> str:
    """Return a circle."""
    inside = tip(hint)
    body = f'<circle class="{cls}" cx="{num(x)}" cy="{num(y)}" r="{num(r)}"'
    return f"{body}>{inside}</circle>" if inside else f"{body}/>"


def spots(places: Iterable[tuple[float, float]], cls: str) -> str:
    """Return dots of one class as a single path."""
    body = "".join(f"M{num(x)} {num(y)}h0" for x, y in places)
    return f'<path class="{cls}" d="{body}"/>' if body else ""


def tip(hint: object) -> str:
    """Return the text shown on hover."""
    return f"<title>{escape(hint)}</title>" if hint else ""


def picture(w: float, h: float, body: Sequence[str], *, title: str, desc: str) -> Markup:
    """Wrap a drawing: view box, accessible title and description. Its texts are already escaped."""
    inner = "".join(body)
    key = hashlib.sha256(f"{title}{desc}{inner}".encode()).hexdigest()[:8]
    return Markup(  # noqa: S704
        f'<svg class="fig" viewBox="0 0 {num(w)} {num(h)}" role="img" '
        f'aria-labelledby="t{key} d{key}"><title id="t{key}">{escape(title)}</title>'
        f'<desc id="d{key}">{escape(desc)}</desc>{inner}</svg>'
    )


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Move labels apart until none overlap, with small moves, between ``low`` and ``high``.

    Examples
    --------
    >>> spread([10, 11, 30], 5, 0, 40)
    [10, 15, 30]
    """
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    out = list(wanted)
    floor = low
    for i in order:
        out[i] = max(out[i], floor)
        floor = out[i] + gap
    ceiling = high
    for i in reversed(order):
        out[i] = min(out[i], ceiling)
        ceiling = out[i] - gap
    return out
