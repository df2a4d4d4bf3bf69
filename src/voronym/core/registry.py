"""Registries of named entries: methods, spaces, models, metrics and formats use this class.

A registry that plug-ins may extend (`voronym.core.plugin.NOUNS`) loads them when a name is missing, or when
all names are listed.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any, Generic, TypeVar

from voronym.core import plugin
from voronym.errors import InputError

ROOT, PUBLIC = "voronym", "voronym._public"
"""The package, and its module that imports every other package."""

T = TypeVar("T")
E = TypeVar("E")


def meant(name: object, known: Iterable[str]) -> str:
    """Return a question "Did you mean …?" for an unknown name; empty if no name is near.

    Examples
    --------
    >>> meant("sxe", ["age", "sex"]), meant("income", ["age", "sex"])
    (". Did you mean 'sex'?", '')
    """
    lower = {item.lower(): item for item in known}
    longer = [item for item in lower if len(item) > 2 and str(name).lower().startswith(item)]
    near = longer[: len(longer) == 1] or get_close_matches(str(name).lower(), lower, 1, 0.6)
    within = [item for item in lower if len(str(name)) > 2 and str(name).lower() in item]
    begun = [item for item in within if item.startswith(str(name).lower())] or within
    near = near or begun[: len(begun) == 1]
    return f". Did you mean {lower[near[0]]!r}?" if near else ""


class Registry(Mapping[str, T], Generic[T]):
    """Entries by name, in alphabetical order. Errors about taken and unknown names are sentences.

    Parameters
    ----------
    noun : str
        The noun for an entry in messages.

    Examples
    --------
    >>> fruit = Registry[int]("fruit")
    >>> fruit.add("apple", 1)
    1
    >>> fruit["pear"]
    Traceback (most recent call last):
        ...
    voronym.errors.InputError: no fruit is called 'pear'; there are: apple
    """

    def __init__(self, noun: str) -> None:
        self.noun = noun
        self._entries: dict[str, T] = {}
        REGISTRIES[noun] = self

    def add(self, name: str, entry: T) -> T:
        """Add an entry and return it."""
        if name in self._entries:
            raise InputError(f"a {self.noun} called {name!r} is registered already")
        self._entries[name] = entry
        plugin.record(self, name)
        return entry

    def register(self, name: str) -> Callable[[E], E]:
        """Register the decorated object."""

        def add(entry: E) -> E:
            self.add(name, entry)  # type: ignore[arg-type]
            return entry

        return add

    def remove(self, name: str) -> None:
        """Remove an entry, for tests and notebooks."""
        del self._entries[name]

    def __getitem__(self, name: str) -> T:
        try:
            if name in self:
                return self._entries[name]
        except TypeError:  # a value without a hash is no name
            pass
        if self.noun in plugin.NOUNS:
            plugin.warn()
        known = ", ".join(self) or "none"
        hint = plugin.distribution_hint(self.noun, name) or meant(name, self)
        raise InputError(f"no {self.noun} is called {name!r}; there are: {known}{hint}")

    def __contains__(self, name: object) -> bool:
        if name not in self._entries:
            self._extend()
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        self._extend()
        return iter(sorted(self._entries))

    def __len__(self) -> int:
        self._extend()
        return len(self._entries)

    def _extend(self) -> None:
        """Load other packages and plug-ins that may have entries for this registry."""
        if self.noun in plugin.NOUNS:
            _load_rooms()
            plugin.load()

    def entries(self) -> Iterator[tuple[str, T]]:
        """Yield the present entries without asking plug-ins."""
        yield from sorted(self._entries.items())


def _load_rooms() -> None:
    """Import every package to fill the registries; a run otherwise imports only what it uses.

    Do nothing while a package is being imported, because it would be incomplete.
    """
    if PUBLIC in sys.modules:
        return
    for name, module in list(sys.modules.items()):
        if name.startswith(f"{ROOT}.") and getattr(module.__spec__, "_initializing", False):
            return
    importlib.import_module(PUBLIC)


REGISTRIES: dict[str, Registry[Any]] = {}
"""All loaded registries, by the noun for their entries."""


def registry_of(noun: str) -> Registry[Any]:
    """Return a registry by the noun for its entries; load its package if needed."""
    if noun not in REGISTRIES:
        _load_rooms()
    return REGISTRIES[noun]
