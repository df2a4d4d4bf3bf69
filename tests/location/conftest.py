"""Databases and clients for the tests of the server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from location.client import Client, clients
from location.town_hall import Postgres, postgres_bin
from location.visitor import Town, joined, town


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    programs = postgres_bin()
    if programs is None:
        pytest.skip("PostgreSQL is not installed (on Debian: apt-get install postgresql)")
    made = Postgres(programs)
    yield made
    made.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> str:
    """Return the address of an empty database; the empty text means SQLite in the folder of the service."""
    return "" if request.param == "sqlite" else request.getfixturevalue("postgres").fresh()


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with clients(tmp_path, body=5000, upload=20_000, rows=50) as made:
        yield made


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    with town(tmp_path_factory.mktemp("town")) as (first, app, _):
        for email in ("p0@example.org", "p1@example.org"):
            joined(first, email)
        yield first, app
