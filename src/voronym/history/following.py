"""A table whose people are grouped as they were before."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from voronym.core.context import Context
from voronym.core.options import Options
from voronym.errors import InputError
from voronym.history.booking import Booking
from voronym.history.frozen import put_back
from voronym.history.policy import Policy
from voronym.keyspaces import KEY_SPACES
from voronym.method import METHODS
from voronym.methods.grouped import Kept
from voronym.privacy import KAnonymity, Model
from voronym.request.choices import ReleaseChoices
from voronym.table.table import Table


def follow(
    table: Table,
    booking: Booking,
    ctx: Context,
    *,
    choices: ReleaseChoices,
    options: Options,
    k: int,
    models: Sequence[Model],
) -> tuple[Table, Kept]:
    """Return the records that are released now, and their groups, built on those of earlier releases.

    Parameters
    ----------
    table : Table
        The records, row by row as the booking knows their people.
    booking : Booking
        What the ledger knows of them.
    ctx : Context
        Of the grouping.
    choices, options, k, models
        As for `voronym.methods.grouped.mask_by_groups`.
    """
    further = [str(one) for one in models if one.required is not None and not isinstance(one, KAnonymity)]
    if further:
        raise InputError(
            "groups that are kept keep k, and nothing else is promised of them: leave out "
            f"{', '.join(further)}, or leave out --keep-groups"
        )
    chosen = METHODS[choices.method]
    policy = Policy(headroom=choices.headroom, dissolved=choices.dissolved, waiting=choices.waiting)
    keys = KEY_SPACES[choices.space].function(table, ctx, choices)
    found = booking.follow(
        keys.records,
        k,
        ctx,
        policy=policy,
        divide=lambda problem, here: chosen.partition(problem, here, options),
    )
    frozen = booking.frozen(table.keys)
    step = (
        f"{found.kept:,} groups were kept from earlier releases and publish what they published then; "
        f"{found.formed:,} were formed of new people and of {found.dissolved:,} groups that fell below k"
    )
    if not booking.entries:
        step = f"{found.formed:,} groups were formed, to be kept in later releases"
    kept = Kept(found.groups[found.published], lambda frame, numbers: put_back(frame, frozen, numbers), step)
    if found.published.all():
        return table, kept
    return table.rows(np.flatnonzero(found.published)), kept
