"""Sentences for the report about how groups were made."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from voronym.errors import hint, worded
from voronym.partition import Partition
from voronym.privacy.enforce import WARY
from voronym.result import Stratum
from voronym.table.table import Table


def within(strata: Sequence[str], parts: Sequence[Stratum]) -> tuple[str, ...]:
    """Return a sentence that groups do not mix strata."""
    if not parts:
        return ()
    return (
        f"Groups were made within each of {len(parts):,} strata by {', '.join(strata)}, and models hold "
        "within each.",
    )


def unit_sentences(table: Table, bare: NDArray[np.int64] | None) -> tuple[str, ...]:
    """Explain which units (people, households) were grouped."""
    units, sentences = table.units, list[str]()
    if units is None:
        return ()
    if units.person is not None:
        people = int(units.person.max()) + 1
        sentences.append(
            f"{people:,} people behind {table.n:,} rows were grouped: all rows of a person got the same keys."
        )
    if units.household is not None:
        homes = int(units.household.max()) + 1
        how = (
            "households of one size were grouped, member by member"
            if table.schema.pseudonyms
            else "every group has people of at least k households"
        )
        sentences.append(f"There are {homes:,} households; {how}.")
        if bare is not None and len(bare):
            sentences.append(
                f"{len(bare):,} households, whose size fewer than k households have, got no pseudonym; "
                "their members were grouped one by one."
            )
    if table.schema.pseudonyms:
        sentences.append(
            "Fresh random pseudonyms show which rows belong together, how many there are, and all their "
            "other values: anybody who knows some of these may find the rest."
        )
    return tuple(sentences)


def against(way: str, part: Partition, obeyed: bool) -> tuple[str, ...]:
    """Return a sentence about the intruder that the groups protect against, if they had to obey models."""
    if not obeyed:
        return ()
    if way == "blind":
        return (
            "The groups are made against an intruder who knows the method: by keys alone, of "
            f"{part.sizes.min()} records or more. Confidential values decided only whether two groups of "
            "equal size, paired by their keys, became one.",
        )
    random = (
        ", with random choices that no recipe repeats, so an intruder who also knows the method is less sure"
    )
    wary = hint("intruder", "method")
    return (
        "The groups are made against an intruder who knows the keys"
        + (
            random
            if way in WARY
            else worded(f"; an intruder who knows the method may learn more (see {wary})")
        )
        + ".",
    )
