"""A table whose people are grouped as they were before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from voronym.core.context import Context
from voronym.errors import InputError
from voronym.history.booking import Booking
from voronym.history.frozen import put_back
from voronym.history.policy import Policy
from voronym.keyspaces import KEY_SPACES
from voronym.method import METHODS
from voronym.methods.grouped import Kept, Settings
from voronym.privacy import KAnonymity, Model
from voronym.table.table import Table


def follow(
    table: Table,
    booking: Booking,
    ctx: Context,
    *,
    method: str,
    k: int,
    space: str,
    models: Sequence[Model],
    options: Mapping[str, Any],
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
    method, k, space, models, options
        As in a recipe.
    """
    further = [str(one) for one in models if one.required is not None and not isinstance(one, KAnonymity)]
    if further:
        raise InputError(
            "groups that are kept keep k, and nothing else is promised of them: leave out "
            f"{', '.join(further)}, or leave out --keep-groups"
        )
    chosen = METHODS[method]
    settings = Settings.read(chosen, space, dict(options))
    said = settings.groups
    policy = Policy(headroom=said.headroom, dissolved=said.dissolved, waiting=said.waiting)
    keys = KEY_SPACES[space].function(table, ctx, settings.space)
    found = booking.follow(
        keys.records,
        k,
        ctx,
        policy=policy,
        divide=lambda problem, here: chosen.partition(problem, here, settings.method),
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
