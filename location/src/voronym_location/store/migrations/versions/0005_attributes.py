"""Attributes that are grouped together with homes, and published by groups."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

PLAIN = 52
"""Bytes of a sealed home without attributes, the only length that older versions read."""


def upgrade() -> None:
    """Add the columns; present homes and groups have no attributes."""
    for table in ("home", "cohort"):
        op.add_column(table, sa.Column("attributes", sa.Text()))


def downgrade() -> None:
    """Remove the columns with all attributes; refused while some are sealed together with homes."""
    query = sa.text(f"select count(*) from home where length(sealed) > {PLAIN}")  # noqa: S608 - a number of ours
    if op.get_bind().scalar(query):
        raise RuntimeError("attributes are sealed: open them by voronym location rotate-homes --plain first")
    for table in ("home", "cohort"):
        op.drop_column(table, "attributes")
