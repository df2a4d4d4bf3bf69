"""Store the password with the code, not before it; index tokens by their end."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Change the tables; mailed codes stay valid."""
    op.drop_column("code", "password")
    op.create_index(op.f("ix_token_expires"), "token", ["expires"], unique=False)


def downgrade() -> None:
    """Put the column back; codes without a password are void, and asked for again."""
    op.drop_index(op.f("ix_token_expires"), "token")
    op.execute("delete from code")
    op.add_column("code", sa.Column("password", sa.String(200), nullable=False))
