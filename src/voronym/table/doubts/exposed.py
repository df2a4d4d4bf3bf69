"""Categories that would be published although only one person has them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from voronym.table.doubts.base import Doubt, Seen
from voronym.table.doubts.unique import ways_out
from voronym.table.units import first_of_each

if TYPE_CHECKING:
    from voronym.table.table import Table

SHARE = 0.1
"""Up to this share of published values that belong to one person, a key only has some rare categories; above
it the key itself is identifying.
"""


def exposed(before: Any, after: Any, persons: NDArray[np.int64] | None = None) -> tuple[int, int]:
    """Count the published categories that only one person has in the original, and all published ones.

    Parameters
    ----------
    before, after : Values
        The column in the original and in the published table.
    persons : array, optional
        The person of each row; by default every row is a person.
    """
    codes = before.codes[before.codes >= 0]
    if persons is not None:
        codes = codes[first_of_each(codes, persons[before.codes >= 0])]
    owners = np.bincount(codes, minlength=len(before.levels))
    alone = {before.levels[code] for code in np.flatnonzero(owners == 1)}
    return sum(level in alone for level in after.levels), len(after.levels)


def check_published(before: Table, after: Table, keys: Sequence[str]) -> Iterator[Doubt]:
    """Yield a doubt for each key that publishes a value only one person has.

    A mean belongs to nobody. A category belongs to somebody; if a second person has it, it identifies
    nobody.
    """
    for name in keys:
        if before[name].form in ("mixed", "other", "empty"):
            continue
        result, total = exposed(before[name], after[name], before.persons)
        if not result:
            continue
        seen = Seen(before[name], before.schema[name], before)
        text = (
            f"{result} of the {total} values that key {name!r} would publish belong to one person only. "
            f"{ways_out(seen)}"
        )
        if result > SHARE * total and result > 1:
            yield Doubt("near-unique", name, text, "refuse")
