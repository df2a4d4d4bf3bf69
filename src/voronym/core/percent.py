"""Format shares as percentages in sentences, tables and pictures: 65 %, 0.12 %, 99.7 %."""

from __future__ import annotations

import math


def percent(share: float | None, *, whole: bool = False) -> str:
    """Write a share between 0 and 1 as a percentage: one decimal, two below one, none above ten if ``whole``.

    Rounding never reaches 0 or 100: a share of 0.9997 is written as "> 99.9 %".

    Examples
    --------
    >>> percent(0.65), percent(0.07312), percent(0.424), percent(0.424, whole=True), percent(1.0)
    ('65 %', '7.3 %', '42.4 %', '42 %', '100 %')
    >>> percent(0.997), percent(0.9997), percent(0.0003), percent(0.00003), percent(None)
    ('99.7 %', '> 99.9 %', '0.03 %', '< 0.01 %', '–')
    """
    if share is None or not math.isfinite(share):
        return "–"
    value = round(100.0 * share, 9)
    if value != 0 and abs(value) < 0.01:
        return f"{'< ' if value > 0 else '> -'}0.01 %"
    if 99.95 <= value < 100.0:
        return "> 99.9 %"
    large = 1 if not whole or 99.0 < abs(value) < 100.0 else 0
    digits = 0 if value == int(value) else large if abs(value) >= 10 else 1 if abs(value) >= 1 else 2
    return f"{value:,.{digits}f} %"
