"""Things by name: the one kind of registry that methods, spaces, models, metrics and formats have."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any, Generic, TypeVar

from voronym.errors import InputError

T = TypeVar("T")
E = TypeVar("E")


def meant(name: object, known: Iterable[str]) -> str:
    """Return a question that ends a sentence about a name that is not there; nothing where none is near.

    Examples
    --------
    >>> meant("sxe", ["age", "sex"]), meant("income", ["age", "sex"])
    (". Did you mean 'sex'?", '')
    """
    lower = {one.lower(): one for one in known}
    near = get_close_matches(str(name).lower(), lower, 1, 0.6)
    return f". Did you mean {lower[near[0]]!r}?" if near else ""


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
        REGISTRIES[noun] = self

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
            said = f"no {self.noun} is called {name!r}; there are: {known}{meant(name, self)}"
            raise InputError(said) from None

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._entries))

    def __len__(self) -> int:
        return len(self._entries)


REGISTRIES: dict[str, Registry[Any]] = {}
"""All registries, by what their entries are called."""
