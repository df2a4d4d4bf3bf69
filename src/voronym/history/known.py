"""Match the people of a table with a ledger, by name and by other spellings of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from voronym.errors import InputError, hint
from voronym.history.ledger import Entry
from voronym.history.people import Prints

LEAST_KNOWN = 0.05
"""Share of a table's people, or of a smaller ledger's, that must be known."""


@dataclass(frozen=True)
class Known:
    """The numbers of people in a table, of known people, and of people known only under another spelling."""

    people: int
    known: int
    respelled: int


def recognise(
    entries: Sequence[Entry], rows: Prints, loose: Prints, named_by: Sequence[str], *, strangers: bool
) -> Known:
    """Count the known people; refuse a table of strangers.

    Parameters
    ----------
    entries : sequence of Entry
        The releases before.
    rows, loose : array
        The fingerprint of each row's person, and the fingerprint that ignores spelling.
    named_by : sequence of str
        The columns that name people.
    strangers : bool
        Accept a table of which the ledger knows nearly nobody.
    """
    people, first = np.unique(rows, return_index=True)
    none = rows[:0]
    ever = np.unique(np.concatenate([none, *(entry.people for entry in entries)]))
    known = np.isin(people, ever)
    absent = [entry.loose[~np.isin(entry.people, people)] for entry in entries if entry.loose is not None]
    respelled = int(np.isin(loose[first][~known], np.concatenate([none, *absent])).sum())
    made = Known(len(people), int(known.sum()), respelled)
    if not strangers and made.known < LEAST_KNOWN * min(made.people, len(ever)):
        alike = (
            f"; {respelled:,} of them are known under another spelling (letter case, dashes, zeros in front, "
            "invisible characters), so spell them as before"
            if respelled
            else ""
        )
        raise InputError(
            f"{made.known:,} of {made.people:,} people are known to the ledger, which has {len(ever):,}: "
            f"check that {', '.join(named_by)} names people as it did{alike}; or, if these are "
            f"other people, say so ({hint('strangers')})"
        )
    return made
