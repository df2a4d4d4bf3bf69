"""The figures of a release compared with earlier ones."""

from __future__ import annotations

from dataclasses import dataclass, field

from voronym.core.jsonable import ABSENT, Plain
from voronym.history.booking import Booking

_KEPT = {ABSENT: True}


@dataclass(frozen=True)
class HistoryFigures(Plain):
    """The standing of a release compared with earlier ones, for the data holder.

    Fields about kept groups are omitted in JSON if groups are not kept.
    """

    earlier_releases: int
    people: int = 0
    known: int = 0
    known_to_ledger: int = 0
    in_table: int = 0
    known_by_other_spelling: int = 0
    smallest_history: int = 0
    recognised_smallest: int = 0
    recognised_below_k: int = 0
    leavers_below_k: int = 0
    corrected: int = 0
    waiting: int = 0
    retired: int = 0
    groups_kept: int | None = field(default=None, metadata=_KEPT)
    groups_formed: int | None = field(default=None, metadata=_KEPT)
    groups_dissolved: int | None = field(default=None, metadata=_KEPT)


def figures_of(booking: Booking) -> HistoryFigures:
    """Return the figures of a release that was checked."""
    standing, following = booking.standing, booking.round
    if standing is None:
        return HistoryFigures(len(booking.entries))
    return HistoryFigures(
        earlier_releases=len(booking.entries),
        people=standing.people,
        known=standing.known,
        known_to_ledger=booking.known,
        in_table=booking.many,
        known_by_other_spelling=booking.respelled,
        smallest_history=standing.smallest,
        recognised_smallest=standing.recognised_smallest,
        recognised_below_k=standing.recognised_below,
        leavers_below_k=standing.leavers_below,
        corrected=booking.corrected,
        waiting=len(booking.late) if following is None else following.waiting,
        retired=0 if following is None else following.retired,
        groups_kept=None if following is None else following.kept,
        groups_formed=None if following is None else following.formed,
        groups_dissolved=None if following is None else following.dissolved,
    )
