"""A ledger's knowledge of the people of a data set in many parts."""

from __future__ import annotations

import narwhals as nw
import polars as pl

from voronym.history.booking import Booking
from voronym.history.kept import check_steps
from voronym.history.ledger import Ledger
from voronym.run.parts.job import Job


def booking_of(job: Job, frame: pl.DataFrame) -> Booking | None:
    """Ask the ledger about the people of the data; ``frame`` has the columns that name them."""
    if job.ledger is None:
        return None
    schema = job.recipe.schema
    declared = schema.identifiers if job.fixed is not None else job.request.columns.identifiers
    booking = Booking(
        Ledger.open(job.ledger),
        nw.from_native(frame, eager_only=True),
        schema,
        declared,
        strangers=job.strangers,
    )
    if job.recipe.keep_groups:
        check_steps(booking.entries, job.recipe.steps)
    return booking
