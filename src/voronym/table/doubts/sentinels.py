"""Numbers that mean "missing": -999, 9999, 99, far from all others; 8 and 9 after 1 to 5 in codes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from voronym.errors import hint
from voronym.table.doubts.base import DOUBTS, Doubt, Seen

_NINES = [int(digit * width) for digit in "789" for width in range(2, 9)]
_TAILS = [int("9" * width + last) for width in range(1, 7) for last in "678"]
SENTINELS = frozenset([*_NINES, *_TAILS, *(-value for value in (*_NINES, *_TAILS)), -1, -7, -8, -9])
_FEWEST = 10
_REPEATED = 2
_LARGEST_SHARE = 0.25
"""Largest share of the records with a code that may mean "missing"."""


def sentinels(numbers: NDArray[np.float64]) -> dict[float, int]:
    """Return the values that look like codes for "missing", and their counts.

    Such a value is a common code, occurs more than once at an end of the range, and is further from the
    nearest other value than the others are from each other; or it is the only negative number.

    Examples
    --------
    >>> sentinels(np.array([31.0, 45, 28, 60, 52, 33, 47, 71, 25, 38, -999, -999]))
    {-999.0: 2}
    """
    values = numbers[np.isfinite(numbers)]
    if len(values) < _FEWEST:
        return {}
    known = np.isin(values, list(SENTINELS))
    rest = values[~known]
    if not known.any() or len(rest) < _FEWEST:
        return {}
    low, high = float(rest.min()), float(rest.max())
    result, often = np.unique(values[known], return_counts=True)
    out: dict[float, int] = {}
    for value, count in zip(result.tolist(), often.tolist(), strict=True):
        away = max(low - value, value - high)
        if count >= _REPEATED and away > 0 and (away > high - low or value < 0 <= low):
            out[value] = count
    return out


def hidden(seen: Seen) -> dict[float, int]:
    """Return the codes for a missing value among the numbers of a column that is masked or confidential."""
    if seen.column.kind != "numeric" or seen.role not in ("key", "confidential"):
        return {}
    if seen.values.form not in ("integer", "float"):
        return {}
    return sentinels(seen.values.numbers.astype(np.float64))


@DOUBTS.register("sentinels")
def hidden_gaps(seen: Seen) -> Iterator[Doubt]:
    """Warn of numbers that mean "missing": they distort the means of whole groups."""
    result = hidden(seen)
    if not result:
        return
    outcome = " and ".join(f"{count} values of {value:g}" for value, count in result.items())
    values = declared(seen.name, [f"{value:g}" for value in result])  # in other columns they may be numbers
    text = (
        f"{seen.whose} has {outcome}, far from all others: codes for a missing value? They count as numbers "
        f"now. Declare them ({hint('missing', values)}) or empty those cells"
    )
    yield Doubt("sentinels", seen.name, text)


@DOUBTS.register("coded-gaps")
def coded_gaps(seen: Seen) -> Iterator[Doubt]:
    """Hint at last codes of a category, 8 and 9 or 98 and 99 after a jump, that may mean "missing"."""
    codes = last_codes(seen)
    if codes:
        text = (
            f"the codes {' and '.join(codes)} of {seen.name!r} follow after a jump: if they mean 'missing', "
            f"say {hint('missing', declared(seen.name, codes))}"
        )
        yield Doubt("coded-gaps", seen.name, text, "hint")


def last_codes(seen: Seen) -> tuple[str, ...]:
    """Return the last codes of a category that may mean "missing": 7, 8, 9 or 97, 98, 99 after a jump."""
    if seen.column.kind != "nominal" or seen.role == "identifier" or not seen.whole:
        return ()
    levels = sorted(int(level) for level in seen.levels)
    if not levels or levels[0] < 0:
        return ()
    nines = 10 ** len(str(levels[-1])) - 1
    last = [level for level in levels if level >= nines - 2]
    rest = levels[: len(levels) - len(last)]
    jumps = bool(last) and len(rest) > 1 and rest[-1] <= (last[0] - 2 if nines == 9 else nines // 2)
    if not jumps:
        return ()
    often = np.isin(seen.values.numbers, last).mean()
    return tuple(map(str, last)) if often <= _LARGEST_SHARE else ()


def declared(name: str, codes: Sequence[str]) -> str:
    """Return the missing codes of a column as ``NAME=CODE`` items; only codes if the name has a comma."""
    return ",".join(code if "," in name else f"{name}={code}" for code in codes)
