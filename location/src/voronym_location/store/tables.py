"""The tables. Homes are separate from published data, and published data names nobody.

``home`` has people's current homes. ``member`` has the members of each epoch's groups, by number only. The
epoch in force is the last row of ``epoch``; rows of ``member`` and ``cohort`` after it are drafts that nobody
sees.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    false,
)

__all__ = [
    "account",
    "attempt",
    "audit",
    "code",
    "cohort",
    "desk",
    "directory",
    "epoch",
    "home",
    "member",
    "metadata",
    "outbox",
    "token",
]

metadata = MetaData()
Long = BigInteger().with_variant(Integer, "sqlite")  # SQLite counts up only what it calls INTEGER

account = Table(
    "account", metadata,
    Column("id", Long, primary_key=True),  # never shown to anybody, and never given twice
    Column("email", String(254), nullable=False, unique=True),
    Column("password", String(200)),  # argon2; None for imported people who never signed up
    Column("verified", Double),  # when; None until the code came back
    Column("vouched", Boolean, nullable=False),  # imported by the operator
    Column("operator", Boolean, nullable=False),
    Column("secret", LargeBinary),  # of an operator's second factor
    Column("created", Double, nullable=False),
    Column("published", Boolean, nullable=False, server_default=false()),  # had a place at some time
    sqlite_autoincrement=True,
)  # fmt: skip

code = Table(
    "code", metadata,
    Column("digest", LargeBinary, primary_key=True),  # of address and code, keyed
    Column("email", String(254), nullable=False, index=True),
    Column("expires", Double, nullable=False),
)  # fmt: skip

token = Table(
    "token", metadata,
    Column("digest", LargeBinary, primary_key=True),
    Column("account", Long, ForeignKey("account.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("expires", Double, nullable=False, index=True),
)  # fmt: skip

attempt = Table(
    "attempt", metadata,
    Column("digest", LargeBinary, primary_key=True),  # of the address, keyed; whether or not there is one
    Column("failures", Integer, nullable=False),
    Column("until", Double, nullable=False),
)  # fmt: skip

outbox = Table(
    "outbox", metadata,
    Column("id", Long, primary_key=True),
    Column("recipient", String(254), nullable=False),
    Column("subject", Text, nullable=False),
    Column("body", Text, nullable=False),
    sqlite_autoincrement=True,
)  # fmt: skip

directory = Table(
    "directory", metadata,
    Column("id", Long, primary_key=True),
    Column("key", String(300), nullable=False, unique=True),  # the address as it is compared
    Column("address", String(300), nullable=False),
    Column("latitude", Double, nullable=False),
    Column("longitude", Double, nullable=False),
    Column("tile", BigInteger, nullable=False, index=True),  # see `voronym_location.directory`
    sqlite_autoincrement=True,
)  # fmt: skip

home = Table(
    "home", metadata,
    Column("person", Long, ForeignKey("account.id", ondelete="CASCADE"), primary_key=True),
    Column("latitude", Double),  # these three are absent where they are sealed
    Column("longitude", Double),
    Column("household", BigInteger),
    Column("attributes", Text),  # JSON of its attributes; absent if sealed
    Column("sealed", LargeBinary),  # see `voronym_location.sealing`
    Column("version", BigInteger, nullable=False),  # another one after each move; never the same again
    Column("submitted", Double, nullable=False),
    Column("vouched", Boolean, nullable=False),
)  # fmt: skip

epoch = Table(
    "epoch", metadata,
    Column("number", Long, primary_key=True, autoincrement=False),
    Column("published", Double, nullable=False),
    Column("expires", Double, nullable=False),
    Column("k", Integer, nullable=False),
    Column("top", BigInteger, nullable=False),  # the highest number of a cohort so far
    Column("designed", BigInteger, nullable=False),
    Column("rms", Double, nullable=False),
    Column("figures", Text, nullable=False),
)  # fmt: skip

cohort = Table(
    "cohort", metadata,
    Column("id", Long, primary_key=True, autoincrement=False),
    Column("born", BigInteger, nullable=False, index=True),
    Column("ended", BigInteger),
    Column("latitude", Double, nullable=False),
    Column("longitude", Double, nullable=False),
    Column("attributes", Text),  # JSON of the attributes that its people publish
)  # fmt: skip

member = Table(
    "member", metadata,
    Column("epoch", BigInteger, primary_key=True, autoincrement=False),
    Column("person", BigInteger, primary_key=True, autoincrement=False),
    Column("cohort", BigInteger, nullable=False),  # -1 for people who wait
    Column("since", BigInteger, nullable=False),
    Column("seen", BigInteger, nullable=False),  # the epoch that first saw this home
    Column("version", BigInteger, nullable=False),  # of the home that was seen
    Column("household", BigInteger, nullable=False),  # a label that is drawn again in every epoch
    Column("counting", Boolean, nullable=False),
    Column("young", Boolean, nullable=False, server_default=false()),  # counts, up to a third of k
    Column("pseudonym", LargeBinary),
    sqlite_with_rowid=False,
)  # fmt: skip

desk = Table(
    "desk", metadata,
    Column("name", String(60), primary_key=True),  # settings of the operator, and the current preview
    Column("value", Text, nullable=False),
)  # fmt: skip

audit = Table(
    "audit", metadata,
    Column("id", Long, primary_key=True),
    Column("at", Double, nullable=False),
    Column("operator", BigInteger),  # None: the command line
    Column("action", String(60), nullable=False),
    sqlite_autoincrement=True,
)  # fmt: skip
