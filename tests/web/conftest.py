"""A page that all attacks share, and one for all others: none may leave a trace on it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from web.house import House, house
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


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """Run a page for all tests that ask for no options of their own."""
    with house(tmp_path_factory.mktemp("running")) as made:
        yield made
        assert made.end() == 0
        assert not any((made.folder / "tmp").iterdir()), "the folder was not wiped"
        assert CANARY not in made.printed
        assert "Traceback" not in made.printed


@pytest.fixture
def page(running: House) -> Iterator[House]:
    """Give that page, and take off its desk what a test left there."""
    yield running
    with running.enter() as client:
        for place in set(re.findall(r"/t/[\w-]+", client.get("/").text)):
            client.post(f"{place}/forget")


@pytest.fixture
def unharmed(target: Target) -> Iterator[None]:
    before = target.house.files()
    yield
    assert target.house.files() == before, "an attack left a file, or took one"
    assert target.client.get(f"{target.place}/read").status_code == 200
    outside = [item for item in target.house.folder.iterdir() if item.name != "tmp"]
    assert not outside
