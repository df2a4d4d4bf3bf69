"""The registry of papers, and the door to their reproductions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from voronym.errors import InputError
from voronym.papers.items import Cell, Item, Table
from voronym.progress import Progress, silent

__all__ = ["Cell", "Item", "Paper", "Table", "paper", "papers", "reproduce"]

Reproduce = Callable[[bool, Progress], Iterator[Item]]


@dataclass(frozen=True)
class Paper:
    """A paper whose figures can be computed again: where it stands, and the function that does it."""

    name: str
    reference: str
    subject: str
    items: Reproduce


_papers: dict[str, Paper] = {}


def paper(name: str, *, reference: str, subject: str) -> Callable[[Reproduce], Reproduce]:
    """Register a reproduction: ``(full, progress) -> items``, one after the other.

    References of several papers are set apart by semicolons; ``subject`` heads the page.
    """

    def register(function: Reproduce) -> Reproduce:
        _papers[name] = Paper(name, reference, subject, function)
        return function

    return register


def papers() -> Mapping[str, Paper]:
    """Return the papers that can be computed again, by name."""
    return MappingProxyType(dict(sorted(_papers.items())))


def reproduce(name: str, *, full: bool = False, progress: Progress | None = None) -> Iterator[Item]:
    """Compute the tables and figures of a paper again.

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
    Table, Chart, Picture or Highlight
        As soon as it is there.

    Examples
    --------
    >>> sorted(papers())
    ['icsm', 'pcl', 't-closeness']
    """
    if name not in _papers:
        raise InputError(f"no paper is called {name!r}; there are: {', '.join(sorted(_papers))}")
    return _papers[name].items(full, silent if progress is None else progress)
