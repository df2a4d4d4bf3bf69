"""Homes may be sealed with a key that is not in the database."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

PLACE: tuple[tuple[str, Any], ...] = (
    ("latitude", sa.Double()),
    ("longitude", sa.Double()),
    ("household", sa.BigInteger()),
)


def upgrade() -> None:
    """Add the column; present homes stay as they are until keys are set."""
    with op.batch_alter_table("home") as table:
        table.add_column(sa.Column("sealed", sa.LargeBinary()))
        for name, kind in PLACE:
            table.alter_column(name, existing_type=kind, nullable=True)


def downgrade() -> None:
    """Remove the column; refuse while homes are sealed, because nobody could read them."""
    if op.get_bind().scalar(sa.text("select count(*) from home where sealed is not null")):
        raise RuntimeError("homes are sealed: open them by voronym location rotate-homes --plain first")
    with op.batch_alter_table("home") as table:
        table.drop_column("sealed")
        for name, kind in PLACE:
            table.alter_column(name, existing_type=kind, nullable=False)
