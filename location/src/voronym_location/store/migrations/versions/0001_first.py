"""The first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

LONG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create the tables."""
    _people()
    _published()


def _people() -> None:
    op.create_table(
        "account",
        sa.Column("id", LONG, nullable=False),
        sa.Column("email", sa.String(length=254), nullable=False),
        sa.Column("password", sa.String(length=200), nullable=True),
        sa.Column("verified", sa.Double(), nullable=True),
        sa.Column("vouched", sa.Boolean(), nullable=False),
        sa.Column("operator", sa.Boolean(), nullable=False),
        sa.Column("secret", sa.LargeBinary(), nullable=True),
        sa.Column("created", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("email"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "attempt",
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("until", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("digest"),
    )
    op.create_table(
        "code",
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("email", sa.String(length=254), nullable=False),
        sa.Column("password", sa.String(length=200), nullable=False),
        sa.Column("expires", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("digest"),
    )
    op.create_index(op.f("ix_code_email"), "code", ["email"], unique=False)
    op.create_table(
        "outbox",
        sa.Column("id", LONG, nullable=False),
        sa.Column("recipient", sa.String(length=254), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "home",
        sa.Column("person", LONG, nullable=False),
        sa.Column("latitude", sa.Double(), nullable=False),
        sa.Column("longitude", sa.Double(), nullable=False),
        sa.Column("household", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("submitted", sa.Double(), nullable=False),
        sa.Column("vouched", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["person"], ["account.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("person"),
    )
    op.create_table(
        "token",
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("account", LONG, nullable=False),
        sa.Column("expires", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["account"], ["account.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("digest"),
    )
    op.create_index(op.f("ix_token_account"), "token", ["account"], unique=False)


def _published() -> None:
    op.create_table(
        "audit",
        sa.Column("id", LONG, nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("operator", sa.BigInteger(), nullable=True),
        sa.Column("action", sa.String(length=60), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "cohort",
        sa.Column("id", LONG, autoincrement=False, nullable=False),
        sa.Column("born", sa.BigInteger(), nullable=False),
        sa.Column("ended", sa.BigInteger(), nullable=True),
        sa.Column("latitude", sa.Double(), nullable=False),
        sa.Column("longitude", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_cohort_born"), "cohort", ["born"], unique=False)
    op.create_table(
        "directory",
        sa.Column("id", LONG, nullable=False),
        sa.Column("key", sa.String(length=300), nullable=False),
        sa.Column("address", sa.String(length=300), nullable=False),
        sa.Column("latitude", sa.Double(), nullable=False),
        sa.Column("longitude", sa.Double(), nullable=False),
        sa.Column("tile", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("key"),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_directory_tile"), "directory", ["tile"], unique=False)
    op.create_table(
        "epoch",
        sa.Column("number", LONG, autoincrement=False, nullable=False),
        sa.Column("published", sa.Double(), nullable=False),
        sa.Column("expires", sa.Double(), nullable=False),
        sa.Column("k", sa.Integer(), nullable=False),
        sa.Column("top", sa.BigInteger(), nullable=False),
        sa.Column("designed", sa.BigInteger(), nullable=False),
        sa.Column("rms", sa.Double(), nullable=False),
        sa.Column("figures", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("number"),
    )
    op.create_table(
        "member",
        sa.Column("epoch", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("person", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("cohort", sa.BigInteger(), nullable=False),
        sa.Column("since", sa.BigInteger(), nullable=False),
        sa.Column("seen", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("household", sa.BigInteger(), nullable=False),
        sa.Column("counting", sa.Boolean(), nullable=False),
        sa.Column("pseudonym", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("epoch", "person"),
        sqlite_with_rowid=False,
    )
