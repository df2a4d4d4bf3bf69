"""Young people, people with an earlier place, and the operator's desk."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the columns; people served now had a place."""
    op.add_column("account", sa.Column("published", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("member", sa.Column("young", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.execute(
        "update account set published = true where id in (select person from member where cohort >= 0)"
    )
    op.create_table(
        "desk",
        sa.Column("name", sa.String(60), primary_key=True),
        sa.Column("value", sa.Text(), nullable=False),
    )


def downgrade() -> None:
    """Remove the columns; an older version counts young people like everybody."""
    op.drop_table("desk")
    op.drop_column("member", "young")
    op.drop_column("account", "published")
