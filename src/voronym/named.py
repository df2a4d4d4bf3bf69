"""Things by name: the one kind of registry that methods, spaces, models, metrics and formats have."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Generic, TypeVar

from voronym.errors import InputError

T = TypeVar("T")
E = TypeVar("E")


class Registry(Mapping[str, T], Generic[T]):
    """Entries by name, in alphabetical order. A name that is taken, or not there, is said in words.

    Parameters
    ----------
    noun : str
        What an entry is called in messages.

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

    def add(self, name: str, entry: T) -> T:
        """Add an entry and return it."""
        if name in self._entries:
            raise InputError(f"a {self.noun} called {name!r} is registered already")
        self._entries[name] = entry
        return entry

    def register(self, name: str) -> Callable[[E], E]:
        """Add what stands below, as a decorator."""

        def add(entry: E) -> E:
            self.add(name, entry)  # type: ignore[arg-type]
            return entry

        return add

    def remove(self, name: str) -> None:
        """Take an entry out again: for tests and notebooks that try one."""
        del self._entries[name]

    def __getitem__(self, name: str) -> T:
        try:
            return self._entries[name]
        except (KeyError, TypeError):
            known = ", ".join(self) or "none"
            raise InputError(f"no {self.noun} is called {name!r}; there are: {known}") from None

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._entries))

    def __len__(self) -> int:
        return len(self._entries)
