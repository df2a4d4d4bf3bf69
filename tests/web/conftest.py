"""A page that all attacks share: none may leave a trace on it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from web.house import house
from web.target import CANARY, Target


@pytest.fixture(scope="session")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    with ExitStack() as stack:
        made = stack.enter_context(house(tmp_path_factory.mktemp("attacked"), "--upload", "8"))
        yield Target(made, stack.enter_context(made.enter()))
        assert made.process.poll() is None, "the server was stopped"
        assert made.end() == 0
        assert not any((made.folder / "tmp").iterdir())
        assert CANARY not in made.printed
        assert "Traceback" not in made.printed


@pytest.fixture
def unharmed(target: Target) -> Iterator[None]:
    before = target.house.files()
    yield
    assert target.house.files() == before, "an attack left a file, or took one"
    assert target.client.get(f"{target.place}/read").status_code == 200
    outside = [item for item in target.house.folder.iterdir() if item.name != "tmp"]
    assert not outside
