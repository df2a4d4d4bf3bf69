"""Categories that differ only in spaces or capital letters: " m" and "m"."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from voronym.table.doubts.base import DOUBTS, Doubt, Seen

_MOST_CATEGORIES = 1_000
"""Largest number of categories in which variants are sought; longer lists were not typed by hand."""


@DOUBTS.register("variants")
def spelling_variants(seen: Seen) -> Iterator[Doubt]:
    """Warn of categories that look the same to a reader but differ for a computer."""
    values = seen.values
    if seen.role not in ("key", "confidential") or values.form not in ("string", "category"):
        return
    if seen.column.kind not in ("nominal", "ordinal") or not 1 < len(values.levels) <= _MOST_CATEGORIES:
        return
    texts = [str(level) for level in values.levels]
    often = np.bincount(values.codes[values.codes >= 0], minlength=len(texts))
    sorts = (("spaces", "' m' beside 'm'", _spaces), ("capital letters", "'M' beside 'm'", _letters))
    for how, example, fold in sorts:
        alike = Counter(map(fold, texts))
        twins = np.array([alike[fold(text)] > 1 for text in texts])
        if twins.any():
            text = (
                f"{int(twins.sum())} categories of {seen.whose}, in {int(often[twins].sum())} rows, differ "
                f"from another one by {how} only, such as {example}: they count as different. Write them "
                "alike"
            )
            yield Doubt("variants", seen.name, text)
            return


def _spaces(text: str) -> str:
    return " ".join(text.split())


def _letters(text: str) -> str:
    return _spaces(text).casefold()
