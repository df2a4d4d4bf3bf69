"""The registry of papers, and the door to their reproductions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from voronym.context import Context, Progress
from voronym.named import Registry
from voronym.papers.items import Item

Reproduce = Callable[[bool, Context], Iterator[Item]]


@dataclass(frozen=True)
class Paper:
    """A paper whose figures can be computed again: where it stands, and the function that does it."""

    name: str
    reference: str
    subject: str
    items: Reproduce


PAPERS: Registry[Paper] = Registry("paper")


def paper(name: str, *, reference: str, subject: str) -> Callable[[Reproduce], Reproduce]:
    """Register a reproduction: ``(full, ctx) -> items``, one after the other.

    References of several papers are set apart by semicolons; ``subject`` heads the page.
    """

    def register(function: Reproduce) -> Reproduce:
        PAPERS.add(name, Paper(name, reference, subject, function))
        return function

    return register


def reproduce(name: str, *, full: bool = False, progress: Progress | None = None) -> Iterator[Item]:
    """Compute the tables and figures of a paper again.

    Parameters
    ----------
    name : str
        The paper.
    full : bool
        As far as the paper went, which may take an hour; otherwise what can be done in about two minutes.
    progress : callable, optional
        Called with a `voronym.Step` now and then.

    Yields
    ------
    Table, Chart, Picture or Highlight
        As soon as it is there.

    Examples
    --------
    >>> list(PAPERS)
    ['icsm', 'pcl', 't-closeness']
    """
    return PAPERS[name].items(full, Context(progress=progress))


def at(ctx: Context, stage: str, done: float) -> None:
    """Tell which figure is being computed."""
    ctx.part(done, 1.0, stage=stage).tell(0.0, whole=True)
