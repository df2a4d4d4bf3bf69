"""Published texts as sets of values: ``08***``, ``[20, 40[``, ``{a, b}``, ``*``.

This covers voronym's texts and those of other tools. For an intruder who knows a postcode, 08*** is no
separate category: it stands for all codes that match.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voronym.generalize.hierarchy import Hierarchy
from voronym.generalize.spans import ANY, bounds, ends_of_levels

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Bounds = tuple[float | None, float | None, bool, bool]
"""The ends of a range, and whether each is excluded; see `bounds`."""

WORK = 10_000_000
"""Largest number of comparisons of texts with values; beyond it, texts count as names."""
_STARS = re.compile(r"\*+")
_HIDDEN = re.compile(r"[xX#?•·_]+$")
_BRACED = re.compile(r"[{\[(](.*)[}\])]")


@dataclass(frozen=True, eq=False)
class ValueSets:
    """The published texts of a column, and the original values that each stands for.

    Parameters
    ----------
    texts : list of str
        The distinct published texts.
    values : list
        The distinct original values, in their order.
    member : array of bool, shape (texts, values)
        Which values a text may stand for; none if the text is not understood.
    """

    texts: list[str]
    values: list[str] | list[float]
    member: Bools

    @property
    def understood(self) -> Bools:
        """Which texts stand for at least one value."""
        return np.asarray(self.member.any(axis=1))

    @property
    def several(self) -> Bools:
        """Which texts stand for more than one value."""
        return np.asarray(self.member.sum(axis=1) > 1)


def sets_of_numbers(texts: Sequence[str], values: Floats, *, times: bool = False) -> ValueSets | None:
    """Read texts as ranges of numbers, or of times in seconds; None if a text is no range.

    Parameters
    ----------
    texts : sequence of str
        The distinct published texts, as ranges are made here.
    values : array
        The distinct original numbers, ascending.
    times : bool
        Whether they are times: then the last day of a range counts in full.

    Examples
    --------
    >>> sets_of_numbers(["[20, 40[", "40–60", "*"], np.array([20.0, 40.0, 60.0])).member.astype(int).tolist()
    [[1, 0, 0], [0, 1, 1], [1, 1, 1]]
    """
    member = np.zeros((len(texts), len(values)), bool)
    for row, text in zip(member, texts, strict=True):
        result = bounds(text, times=times)
        if result is None:
            return None
        row[:] = within(values, result, times=times)
    return ValueSets(list(texts), values.tolist(), member)


def within(values: Any, ends: Bounds, *, times: bool = False) -> Any:
    """Return whether values are in a range of `bounds`; the last day of a range of times counts in full."""
    low, high, above, below = ends
    inside = values == values  # not missing
    if low is not None:
        inside &= values > low if above else values >= low
    if high is not None:
        day = 86_400.0 if times and high % 86_400.0 == 0.0 and not below else 0.0
        inside &= (values < high + day) if below or day else (values <= high)
    return inside


def sets_of_texts(
    texts: Sequence[str],
    often: Sequence[int],
    values: Sequence[str],
    counts: Sequence[int],
    *,
    tree: Hierarchy | None = None,
    order: Sequence[str] | None = None,
) -> ValueSets | None:
    """Read texts as codes with stars, lists or ranges of codes; None if all texts are plain values.

    Parameters
    ----------
    texts, often
        The distinct published texts, and how many records have each.
    values, counts
        The distinct original values, and how many records have each.
    tree : Hierarchy, optional
        Hierarchy of the column; its names stand for the values below them.
    order : sequence of str, optional
        The levels of an ordinal column, for ranges of them.

    Examples
    --------
    >>> found = sets_of_texts(["08***", "10115", "*"], [2, 1, 1], ["08001", "08099", "10115"], [2, 1, 1])
    >>> found.member.astype(int).tolist()
    [[1, 1, 0], [0, 0, 1], [1, 1, 1]]
    """
    place = {value: at for at, value in enumerate(values)}
    if sum(text not in place for text in texts) * len(values) > WORK or len(texts) * len(values) > 20 * WORK:
        return None
    readers = _readers(values, _in_place(texts, often, values, counts), tree, order)
    member = np.zeros((len(texts), len(values)), bool)
    any_set = False
    for row, text in zip(member, texts, strict=True):
        if text in place:  # and values that a step made equal, if known
            above = None if tree is None else readers[0](text)
            row[:] = False if above is None else above
            row[place[text]] = True
            any_set |= bool(row.sum() > 1)
            continue
        for reader in readers:
            result = reader(text.strip())
            if result is not None and result.any():
                row[:] = result
                any_set = True
                break
    return ValueSets(list(texts), list(values), member) if any_set else None


def untrue(
    texts: Sequence[str],
    values: Sequence[str],
    *,
    in_place: bool = True,
    tree: Hierarchy | None = None,
    order: Sequence[str] | None = None,
) -> Bools:
    """Return which records have a text that does not stand for their value.

    A text that stands for no value of the column is not understood, and never untrue.

    Parameters
    ----------
    texts, values : sequences of str
        The published text and the original value of each record.
    in_place : bool
        Whether each star stands for one character.
    tree, order
        As for `sets_of_texts`.

    Examples
    --------
    >>> untrue(["08***", "08***", "south"], ["08001", "10115", "10115"]).tolist()
    [False, True, False]
    """
    pairs: dict[str, dict[str, list[int]]] = {}
    for at, (text, value) in enumerate(zip(texts, values, strict=True)):
        pairs.setdefault(text, {}).setdefault(value, []).append(at)
    out, every = np.zeros(len(texts), bool), list(dict.fromkeys(values))
    for text, records in pairs.items():
        here = list(records)
        fits = _read(text, here, in_place, tree, order, every)
        if fits is None and len(pairs) * len(every) <= WORK:  # one of nobody's own values, or no set at all
            understood = _read(text, every, in_place, tree, order, every) is not None
            fits = np.zeros(len(here), bool) if understood else None
        for value, inside in zip(here, () if fits is None else fits, strict=False):
            out[records[value]] = not inside
    return out


def _read(
    text: str,
    values: Sequence[str],
    in_place: bool,
    tree: Hierarchy | None,
    order: Sequence[str] | None,
    known: Sequence[str],
) -> Bools | None:
    """Return which values a text stands for; None if it stands for none of them."""
    for reader in _readers(values, in_place, tree, order, known):
        result = reader(text.strip())
        if result is not None and result.any():
            return result
    return None


Reader = Callable[[str], Bools | None]


def _readers(
    values: Sequence[str],
    in_place: bool,
    tree: Hierarchy | None,
    order: Sequence[str] | None,
    listable: Sequence[str] | None = None,
) -> list[Reader]:
    """Return the readers of a text as a set, the surest first; lists may name all ``listable`` values."""
    n = len(values)

    def below(text: str) -> Bools | None:
        if tree is None:
            return None
        return np.array([text in tree.path(value) if value in tree.paths else False for value in values])

    def everything(text: str) -> Bools | None:
        return np.ones(n, bool) if _STARS.fullmatch(text) else None

    def masked(text: str) -> Bools | None:
        hidden = _HIDDEN.search(text)
        if "*" not in text and hidden is not None and hidden.start():
            text = text[: hidden.start()] + "*" * (len(text) - hidden.start())
        if "*" not in text:
            return None
        parts = [re.escape(part) for part in re.split(r"(\*+)", text)]
        single = "".join("." * (part.count("*")) if "*" in part else part for part in parts)
        fits = _matching(values, single)
        if in_place and fits.any():
            return fits
        return _matching(values, "".join(".*" if "*" in part else part for part in parts))

    def listed(text: str) -> Bools | None:
        braced = _BRACED.fullmatch(text)
        inner = braced.group(1) if braced else text
        for sign in (",", ";", "|", "/", " or "):
            parts = [part.strip() for part in inner.split(sign)]
            if len(parts) > 1 and all(part in known for part in parts):
                return np.isin(np.array(values, dtype=object), parts)
        return None

    def between(text: str) -> Bools | None:
        return None if order is None else _levels(text, values, list(order))

    def range_of_codes(text: str) -> Bools | None:
        if line is None:
            return None
        result = sets_of_numbers([text], line)
        return None if result is None else result.member[0]

    known = set(values if listable is None else listable)
    line = np.array([float(value) for value in values]) if _numeric(values) else None
    return [below, everything, masked, listed, between, range_of_codes]


def _numeric(values: Sequence[str]) -> bool:
    return bool(values) and all(re.fullmatch(r"\d{1,15}", value) for value in values)


def _matching(values: Sequence[str], pattern: str) -> Bools:
    compiled = re.compile(pattern, re.DOTALL)
    return np.array([compiled.fullmatch(value) is not None for value in values], bool)


def _levels(text: str, values: Sequence[str], order: list[str]) -> Bools | None:
    """Read a range of levels: *low–mid*, *mid or less*, *mid or more*."""
    rank = {level: at for at, level in enumerate(order)}
    ends = ends_of_levels(text, rank)
    if ends is None:
        return None
    places = np.array([rank.get(value, -1) for value in values])
    low, high = 0 if ends[0] is None else ends[0], len(order) - 1 if ends[1] is None else ends[1]
    return np.asarray((places >= low) & (places <= high))


def _in_place(
    texts: Sequence[str], often: Sequence[int], values: Sequence[str], counts: Sequence[int]
) -> bool:
    """Whether each star stands for one character, so that published codes keep the original lengths.

    Otherwise 08* may stand for a code of any length. True if no length is published more often than the
    original has it.
    """
    there: dict[int, int] = {}
    for value, count in zip(values, counts, strict=True):
        there[len(value)] = there.get(len(value), 0) + int(count)
    here: dict[int, int] = {}
    for text, count in zip(texts, often, strict=True):
        if text != ANY:
            here[len(text)] = here.get(len(text), 0) + int(count)
    return all(count <= there.get(length, 0) for length, count in here.items())
