"""Plug-ins: registry entries of other distributions, by entry points of the group ``voronym.plugins``.

An entry point names a module whose import registers entries, or a function without arguments that registers
them. The name of the entry point decides when it is loaded:

``NAME.verbs``  when the command line reads a command, so that help pages know the verb. Its import must be
                quick, without the numerical libraries
``NAME``        when a registry lacks a requested name, or lists all its entries; never by ``import voronym``,
                and never by a run without names of plug-ins

A plug-in that fails is removed completely, and its failure is kept: a request for a missing entry gives a
warning, and `voronym doctor` lists all failures. Authors of plug-ins import `voronym.plugins`.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import EntryPoint, PackageNotFoundError, entry_points, version
from threading import RLock
from time import perf_counter
from types import FrameType, ModuleType
from typing import Protocol

from voronym.core.formats import check_format

GROUP = "voronym.plugins"
INTERFACE = 1
"""Version of the plug-in interface; it grows when earlier plug-ins would fail."""

VERBS = ".verbs"
"""The suffix of the names of entry points that add verbs to the command line."""

NOUNS = frozenset(
    (
        "attack", "cost solver", "device", "engine", "format", "method", "method of privacy_distortion",
        "metric", "privacy model", "refiner", "space", "space of keys", "step",
    )
)  # fmt: skip
"""Registries that ask plug-ins for missing entries. Verbs are loaded separately."""

ELSEWHERE = {
    ("cost solver", "levenberg-marquardt"): "voronym-papers",
    ("method", "noisy-pcl"): "voronym-papers",
    ("method of privacy_distortion", "steepest"): "voronym-papers",
    ("verb", "location"): "voronym-location",
    ("verb", "papers"): "voronym-papers",
}
"""Entries documented here that come with another distribution of this repository."""


class Removable(Protocol):
    """A registry that can remove the entries of a plug-in."""

    noun: str

    def remove(self, name: str) -> None:
        """Remove an entry."""


@dataclass(frozen=True)
class Plugin:
    """An entry point that was loaded, or could not be.

    Parameters
    ----------
    name : str
        The name of the entry point.
    distribution, version : str
        The installed distribution and its version.
    entries : tuple of (str, str)
        The registered entries: nouns and names.
    problem : str
        Why it could not be loaded, in one line; empty if it was loaded.
    seconds : float
        Seconds for loading.
    """

    name: str
    distribution: str
    version: str
    entries: tuple[tuple[str, str], ...] = ()
    problem: str = ""
    seconds: float = 0.0

    def __str__(self) -> str:
        return f"the plug-in {self.name!r} of {self.distribution} {self.version}".rstrip()


class _State:
    """The plug-ins loaded in this process."""

    def __init__(self) -> None:
        self.lock = RLock()
        self.open = False
        self.plugins: dict[EntryPoint, Plugin] = {}
        self.journal: list[tuple[Removable, str]] | None = None


_state = _State()


@cache
def points() -> tuple[EntryPoint, ...]:
    """Return the entry points of all plug-ins, by name."""
    return tuple(sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value)))


def open_registries() -> None:
    """Let registries load plug-ins from now on: all rooms are imported, so plug-ins may import any."""
    _state.open = True


def load(*, verbs: bool = False) -> None:
    """Load further plug-ins: those with verbs, or all others.

    Parameters
    ----------
    verbs : bool
        Which of them.
    """
    if not verbs and not _state.open:
        return
    with _state.lock:
        if _state.journal is not None:  # a plug-in that looks around while it is loaded
            return
        for point in points():
            if point.name.endswith(VERBS) == verbs and point not in _state.plugins:
                _state.plugins[point] = _load(point)


def _load(point: EntryPoint) -> Plugin:
    """Load an entry point; if it fails, remove its entries from the registries."""
    plugin = Plugin(point.name, *_distribution(point))
    start = perf_counter()
    problem = ""
    journal = _state.journal = []
    try:
        target = point.load()
        check_format("the plug-in", _interface(target), INTERFACE)
        if callable(target):
            target()
    except (Exception, SystemExit) as error:  # it is foreign code: whatever it raises, the program goes on
        problem = _line(error)
        for registry, name in reversed(journal):
            registry.remove(name)
        journal.clear()
    finally:
        _state.journal = None
    entries = tuple((registry.noun, name) for registry, name in journal)
    verbs = [name for noun, name in entries if noun == "verb"]
    if verbs and not point.name.endswith(VERBS):
        problem = (
            f"its verb {verbs[0]!r} comes too late for the command line: verbs need an entry point of their "
            f"own, {point.name + VERBS!r}"
        )
    return replace(plugin, entries=entries, problem=problem, seconds=perf_counter() - start)


def _interface(target: object) -> object:
    """Return the interface that a plug-in was written for: `INTERFACE` in its module, or the first."""
    module = target if isinstance(target, ModuleType) else sys.modules.get(getattr(target, "__module__", ""))
    return getattr(module, "INTERFACE", 1)


def _distribution(point: EntryPoint) -> tuple[str, str]:
    return ("an unknown distribution", "") if point.dist is None else (point.dist.name, point.dist.version)


def record(registry: Removable, name: str) -> None:
    """Note an added entry, if a plug-in adds it."""
    if _state.journal is not None and not _by_the_core():
        _state.journal.append((registry, name))


def _by_the_core() -> bool:
    """Whether a package of voronym registers its own entries while a plug-in imports it.

    These entries stay if the plug-in is removed, because the package is not imported a second time.
    """
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_code is not _load.__code__:
        if frame.f_code.co_name == "<module>":
            return str(frame.f_globals.get("__name__", "")).startswith("voronym.")
        frame = frame.f_back
    return False


def expel(registry: Removable, name: str, error: Exception) -> bool:
    """Remove a faulty entry, and keep the reason; return False if no plug-in registered it."""
    for point, plugin in _state.plugins.items():
        if (registry.noun, name) in plugin.entries:
            registry.remove(name)
            rest = tuple(entry for entry in plugin.entries if entry != (registry.noun, name))
            _state.plugins[point] = replace(plugin, entries=rest, problem=_line(error))
            return True
    return False


def _line(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split()).removesuffix(":")


def plugins() -> tuple[Plugin, ...]:
    """Load all plug-ins, and return the state of each."""
    load(verbs=True)
    load()
    return tuple(_state.plugins[point] for point in points() if point in _state.plugins)


def failures() -> Iterator[Plugin]:
    """Yield the plug-ins that failed to load so far."""
    yield from (plugin for plugin in _state.plugins.values() if plugin.problem)


def warn() -> None:
    """Warn about plug-ins that failed to load, because they may provide a missing entry."""
    for plugin in failures():
        warnings.warn(f"{plugin} could not be loaded: {plugin.problem}", stacklevel=3)


def distribution_hint(noun: str, name: object) -> str:
    """Return the end of a sentence about a missing entry, if another distribution has it.

    Examples
    --------
    >>> distribution_hint("method", "mdva")
    ''
    """
    distribution = ELSEWHERE.get((noun, name)) if isinstance(name, str) else None
    if distribution is None:
        return ""
    try:
        version(distribution)
    except PackageNotFoundError:
        return f". {name!r} comes with the distribution {distribution}, which is not installed here"
    return f". {name!r} comes with the distribution {distribution}, whose plug-in could not be loaded"
