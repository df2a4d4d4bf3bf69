"""Remarks for the data holder about a release compared with earlier ones."""

from __future__ import annotations

from voronym.errors import hint
from voronym.history.booking import Booking


def notes(booking: Booking, *, chosen: bool = True) -> tuple[str, ...]:
    """Return the remarks for the data holder, the weightiest first.

    Parameters
    ----------
    booking : Booking
        The release, checked.
    chosen : bool
        Whether the user chose the treatment of people from groups that fall below k.
    """
    standing, following = booking.standing, booking.round
    out: list[str] = []
    if standing is not None and standing.recognised_below:
        out.append(
            f"{standing.recognised_below:,} of {standing.people:,} people stand in sets of fewer than "
            f"k={standing.k} (the fewest: {standing.recognised_smallest}) for an intruder who recognises "
            "the rows of a person in several releases, by values that do not change: people left, and "
            f"groups were formed of the others. With {hint('dissolved', 'retire')} such people are not "
            "published again"
        )
    if following is not None and not chosen and not any(e.about["kept_groups"] for e in booking.entries):
        out.append(
            "groups that fall below k in later releases are dissolved, and their people join others: an "
            "intruder who recognises rows by values that do not change can follow them. Choose now: "
            f"{hint('dissolved', 'retire')} does not publish such people again, "
            f"{hint('dissolved', 'rejoin')} accepts it"
        )
    if booking.respelled:
        out.append(
            f"{booking.respelled:,} people are not known, but somebody who is missing now has the same "
            f"{', '.join(booking.named_by)} in another spelling (letter case, dashes, zeros in front, "
            f"invisible characters): if they are the same people, spell them as before"
        )
    waiting = following.waiting if following is not None else len(booking.late)
    if waiting:
        out.append(
            f"{waiting:,} of {booking.many:,} people wait and are not in the release: too few "
            "similar people were in the same releases"
        )
    if following is not None and following.retired:
        out.append(
            f"{following.retired:,} of {booking.many:,} people of dissolved groups are not published again "
            f"({hint('dissolved', 'retire')})"
        )
    out += booking.cells.notes
    if booking.corrected and following is not None:
        many = "1 person has" if booking.corrected == 1 else f"{booking.corrected:,} people have"
        out.append(
            f"{many} other keys now than when they were first published, and the "
            "release still publishes what their group published then: groups that are kept do not change. To "
            "publish what they have now: if the earlier releases never left the house, forget them (voronym "
            f"ledger forget {booking.ledger.path} --release NUMBER); otherwise begin a new series with "
            f"another {hint('ledger')}, which together with the earlier files tells more than k allows. "
            f"To publish nothing old about them, leave these people out of the table"
        )
    if standing is not None and standing.leavers_below:
        out.append(
            f"{standing.leavers_below:,} people of the release before are not in this one, as fewer than "
            f"k={standing.k} of their group: anybody who compares the two releases sees which values are "
            "missing"
        )
    return tuple(out)
