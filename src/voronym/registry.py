"""The registry of partitioning methods: one decorator, one table.

A method is one function ``(X, k, *, space, rng, progress, **options) -> Partition`` under the decorator
`algorithm`. From then on it is in the front door, the command line, the documentation's table, the contract
tests and the benchmarks.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from voronym.errors import InputError
from voronym.partition import Partition

Function = Callable[..., Partition]


@dataclass(frozen=True)
class Algorithm:
    """A registered method: its name, what it promises, what it costs and where it comes from."""

    name: str
    function: Function
    guarantee: str
    cost: str
    reference: str
    univariate: bool = False
    max_size: Callable[[int], int] | None = None
    practical: int | None = None
    spaces: tuple[str, ...] = ("euclidean",)

    @property
    def summary(self) -> str:
        """First line of the method's docstring."""
        return (inspect.getdoc(self.function) or "").split("\n", 1)[0]

    @property
    def options(self) -> dict[str, object]:
        """Options of this method alone, with their defaults."""
        common = {"X", "k", "space", "rng", "progress"}
        parameters = inspect.signature(self.function).parameters.values()
        return {p.name: p.default for p in parameters if p.name not in common}


_registry: dict[str, Algorithm] = {}


def algorithm(
    name: str,
    *,
    guarantee: str,
    cost: str,
    reference: str,
    univariate: bool = False,
    max_size: Callable[[int], int] | None = None,
    practical: int | None = None,
    spaces: tuple[str, ...] = ("euclidean",),
) -> Callable[[Function], Function]:
    """Register a partitioning method.

    Parameters
    ----------
    name : str
        What users type.
    guarantee, cost, reference : str
        What holds for every result; the growth of time and memory; where the method is described.
    univariate : bool
        Whether the method takes a single column only.
    max_size : callable, optional
        ``k -> largest cell`` where the method bounds its cells from above and n >= k allows it.
    practical : int, optional
        Number of records beyond which the method takes minutes: comparisons then leave it out unless asked.
    spaces : tuple of str
        Names of the spaces that it works in.
    """

    def register(function: Function) -> Function:
        if name in _registry:
            raise InputError(f"a method called {name!r} is registered already")
        _registry[name] = Algorithm(
            name, function, guarantee, cost, reference, univariate, max_size, practical, spaces
        )
        return function

    return register


def algorithms() -> Mapping[str, Algorithm]:
    """Return the registered methods, by name.

    Examples
    --------
    >>> import voronym as vr
    >>> vr.algorithms()["mdav"].guarantee
    'every cell has k to 2k-1 records'
    """
    return MappingProxyType(dict(sorted(_registry.items())))


def get(name: str) -> Algorithm:
    """Return a method by name, or say which names there are."""
    try:
        return _registry[name]
    except KeyError:
        raise InputError(f"no method is called {name!r}; there are: {', '.join(sorted(_registry))}") from None
