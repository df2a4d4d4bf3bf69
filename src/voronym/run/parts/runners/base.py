"""A runner, and the registry of runners."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

from voronym.core.registry import Registry
from voronym.errors import VoronymError


class LostError(VoronymError):
    """Workers or their cluster are gone; their finished work is in the work folder."""


class Runner(ABC):
    """Runs the tasks of a stage, several at a time, on any machine.

    A subclass sets ``name`` and offers `run`. `run` yields the number and the answer of each finished
    task. It calls ``wait`` at least ten times a second, which raises on a request to stop. Results depend
    neither on the worker nor on the number of parallel tasks.

    Parameters
    ----------
    workers : int
        Number of parallel tasks.
    memory : int
        Bytes that all workers together may use.
    address : str, optional
        Address of a cluster.
    """

    name: ClassVar[str]
    limited = False
    """Whether each worker is limited to its share of the memory."""

    def __init__(self, *, workers: int, memory: int, address: str | None = None) -> None:
        self.workers, self.memory, self.address = workers, memory, address
        self.notes: list[str] = []

    @abstractmethod
    def run(
        self, work: str, stage: str, tasks: Sequence[int], wait: Callable[[], None]
    ) -> Iterator[tuple[int, Any]]:
        """Run tasks of a stage; yield the number and the answer of each."""

    @property
    def alive(self) -> int:
        """The number of present workers."""
        return self.workers

    def begin(self) -> None:  # noqa: B027 - not every runner has something to prepare
        """Prepare for stages of several tasks, without waiting: they are about to come."""

    def close(self) -> None:  # noqa: B027 - not every runner has something to close
        """Release the workers; stop those at work."""


RUNNERS: Registry[Callable[..., Runner]] = Registry("engine")


def runner(name: str) -> Callable[[type[Runner]], type[Runner]]:
    """Register a class of runners under the name that users type."""

    def add(cls: type[Runner]) -> type[Runner]:
        cls.name = name
        RUNNERS.add(name, cls)
        return cls

    return add
