"""Fixtures for every test."""

from __future__ import annotations

import functools
import gc
import os
import re
import signal
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from time import process_time

import pytest
import typer.main
from hypothesis import HealthCheck, settings

from brief.sitecustomize import BRIEF, change  # isort: skip - before the modules that it would change
import voronym._public  # noqa: F401 - every room: tests look into them, and count what they call
from voronym import datasets
from voronym.core import clock
from voronym.request import recipe

# Hundreds of tests call the command line in this process; made anew for each, its options take as long as
# many a command. It is cached before `typer.testing` takes its own reference.
typer.main.get_command = functools.cache(typer.main.get_command)
# Every recipe reads the versions of four packages from their files, which do not change meanwhile.
vars(recipe)["version"] = functools.cache(version)

# What takes seconds in every release and report is brief, in fixtures of any scope and in processes of their
# own, too: the proof, two attacks, and the searches. Tests about them set the usual values again.
MODULES = {place: sys.modules[place] for place in BRIEF}  # some tests import modules again
USUAL = {place: change(MODULES[place], values) for place, values in BRIEF.items()}
HERE = str(Path(__file__).with_name("brief"))
PATHS = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path not in {"", HERE}]
os.environ["PYTHONPATH"] = os.pathsep.join([HERE, *PATHS])

for name, examples in (("house", 20), ("thorough", 200)):  # the second for `make test-all`
    settings.register_profile(
        name,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
        print_blob=True,
        max_examples=examples,
    )
settings.load_profile("house")


def pytest_configure() -> None:
    """Obey signals: what `nohup` or a script starts in the background ignores them, and tests send them.

    A process that collects tests makes nothing but what stays: it looks for no garbage until then.
    """
    if "PYTEST_XDIST_WORKER" in os.environ:
        gc.disable()
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


LONG = ("docs/test_site.py", "browser/test_page_walk.py", "docs/test_examples.py", "browser/test_mended.py")
"""Files with the longest tests."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest tests: nobody waits for one at the end. Keep those of a room together.

    Rooms, and tests within them, are in any order. Of two processes one has the first half of the rooms: it
    compiles what these call, and not what all do.
    """
    rooms: dict[Path, int] = {}
    for item in items:
        rooms.setdefault(item.path.parent, len(rooms))
    items.sort(key=lambda item: (not any(file in item.nodeid for file in LONG), rooms[item.path.parent]))


def pytest_collection_finish() -> None:
    """Have what lives as long as the tests not be looked through for garbage again and again.

    That, and looking after every 700 objects, took a tenth of the time, most of it while kernels compile.
    """
    gc.collect()
    gc.freeze()
    gc.enable()
    gc.set_threshold(10_000, 20, 20)


def pytest_unconfigure() -> None:
    """Let it be looked through when the process ends: libraries complain of what is left."""
    gc.unfreeze()


@pytest.fixture(autouse=True)
def _reference_data(request: pytest.FixtureRequest) -> None:
    """Skip what needs the reference files where there are none."""
    if request.node.get_closest_marker("data") and not datasets.available():
        pytest.skip("set VORONYM_DATA to the folder with the reference files")


PROVING = {"certify", "gap", "close", "proven"}
SEARCHING = {"certify", "docs", "golden", "methods", "papers", "refiners", "sklearn", "space", "traces"}
"""Words in the names of tests about the proof, and about how little is lost."""


@pytest.fixture(autouse=True)
def _usual(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spend the usual time on the proof or on the search of a release, where a test is about it.

    What a test changes itself is undone before: one fixture undoes both, the last change first.
    """
    about = set(re.split(r"[/_.:\[\]]", request.node.nodeid))
    places = ["voronym.certify.front"] if about & PROVING else []
    places += ["voronym.methods.auto", "voronym.methods.blank_search"] if about & SEARCHING else []
    for place in places:
        for name, value in USUAL[place].items():
            monkeypatch.setattr(MODULES[place], name, value)
    if about & PROVING:
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join(PATHS))


@pytest.fixture
def processor_clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[], float]:
    """Have time limits count the processor's seconds, and return that clock.

    On a busy machine half a second may pass without any work: a search would have found nothing, and what is
    left to do after a limit would take for ever.
    """
    monkeypatch.setattr(clock, "perf_counter", process_time)
    return clock.now
