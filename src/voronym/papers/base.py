"""The registry of papers, and the tables a reproduction consists of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any

from voronym.errors import InputError
from voronym.progress import Progress, silent

Cell = str | int | float | None


@dataclass(frozen=True)
class Table:
    """One table: published figures beside ours. None is a figure that was not published."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the table as plain values."""
        return asdict(self)


Reproduce = Callable[[bool, Progress], Iterator[Table]]


@dataclass(frozen=True)
class Paper:
    """A paper whose tables can be computed again: where it stands, and the function that does it."""

    name: str
    reference: str
    tables: Reproduce


_papers: dict[str, Paper] = {}


def paper(name: str, *, reference: str) -> Callable[[Reproduce], Reproduce]:
    """Register a reproduction: ``(full, progress) -> tables``, one after the other."""

    def register(function: Reproduce) -> Reproduce:
        _papers[name] = Paper(name, reference, function)
        return function

    return register


def papers() -> Mapping[str, Paper]:
    """Return the papers that can be computed again, by name."""
    return MappingProxyType(dict(sorted(_papers.items())))


def reproduce(name: str, *, full: bool = False, progress: Progress | None = None) -> Iterator[Table]:
    """Compute the tables of a paper again.

    Parameters
    ----------
    name : str
        The paper.
    full : bool
        As far as the paper went, which may take an hour; otherwise what can be done in about two minutes.
    progress : callable, optional
        Called with a `voronym.progress.Step` now and then.

    Yields
    ------
    Table
        As soon as it is there.

    Examples
    --------
    >>> sorted(papers())
    ['icsm']
    """
    if name not in _papers:
        raise InputError(f"no paper is called {name!r}; there are: {', '.join(sorted(_papers))}")
    return _papers[name].tables(full, silent if progress is None else progress)
