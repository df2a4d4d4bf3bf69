"""Methods that mask a whole table instead of dividing it into cells: one decorator, one table.

A partitioning method (see `voronym.registry`) publishes centroids and keeps k. A mask works record by record:
it perturbs, moves or shuffles values. It promises something else than k, and says what.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import narwhals as nw

from voronym.errors import InputError


@dataclass(frozen=True)
class Masked:
    """A masked table, row by row as the original, and what can be said about it.

    Parameters
    ----------
    frame : narwhals DataFrame
        The masked table: the same rows and columns as the original, in its order.
    figures : dict
        What the method measured, JSON-able, without a record in it.
    notes : tuple of str
        Warnings for the data holder.
    steps : tuple of str
        What was done, a sentence each, for the report.
    evidence : object
        What the internal report may draw; kept in memory only.
    """

    frame: nw.DataFrame[Any]
    figures: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    evidence: Any = None


Function = Callable[..., Masked]


@dataclass(frozen=True)
class Mask:
    """A registered mask: its name, what it promises, what it costs and where it comes from."""

    name: str
    function: Function
    guarantee: str
    cost: str
    reference: str

    @property
    def summary(self) -> str:
        """First line of the method's docstring."""
        return (inspect.getdoc(self.function) or "").split("\n", 1)[0]

    @property
    def options(self) -> dict[str, object]:
        """Options of this method alone, with their defaults."""
        common = {"frame", "schema", "seed", "progress"}
        parameters = inspect.signature(self.function).parameters.values()
        return {p.name: p.default for p in parameters if p.name not in common}


_registry: dict[str, Mask] = {}


def mask(name: str, *, guarantee: str, cost: str, reference: str) -> Callable[[Function], Function]:
    """Register a mask, a function ``(frame, schema, *, seed, progress, **options) -> Masked``."""

    def register(function: Function) -> Function:
        if name in _registry:
            raise InputError(f"a mask called {name!r} is registered already")
        _registry[name] = Mask(name, function, guarantee, cost, reference)
        return function

    return register


def masks() -> Mapping[str, Mask]:
    """Return the registered masks, by name."""
    return MappingProxyType(dict(sorted(_registry.items())))
