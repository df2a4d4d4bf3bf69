"""The registry of refiners: a partition in, a better one out."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voronym import registry
from voronym.errors import InputError
from voronym.partition import Partition
from voronym.partitioners._run import check_space
from voronym.progress import Progress
from voronym.space import Space

Function = Callable[..., Partition]
_COMMON = {"X", "k", "part", "rng", "progress", "time_limit", "space"}


@dataclass(frozen=True)
class Refiner:
    """A registered refiner: its name, what it promises, what it costs and where it comes from."""

    name: str
    function: Function
    guarantee: str
    cost: str
    reference: str
    spaces: tuple[str, ...] = ("euclidean",)

    @property
    def options(self) -> dict[str, object]:
        """Options of this refiner alone, with their defaults."""
        parameters = inspect.signature(self.function).parameters.values()
        return {p.name: p.default for p in parameters if p.name not in _COMMON}


_registry: dict[str, Refiner] = {}


def refiner(
    name: str,
    *,
    guarantee: str,
    cost: str,
    reference: str,
    max_size: Callable[[int], int] | None = None,
    practical: int | None = None,
    spaces: tuple[str, ...] = ("euclidean",),
) -> Callable[[Function], Function]:
    """Register a refiner, and with it the partitioning method of the same name that starts from MDAV.

    The function is ``(X, k, part, *, rng, progress, time_limit, **options) -> Partition``; what it returns is
    never worse than what it was given. One that works in other spaces, too, names them and takes ``space``.
    """

    def register(function: Function) -> Function:
        if name in _registry:
            raise InputError(f"a refiner called {name!r} is registered already")
        _registry[name] = Refiner(name, function, guarantee, cost, reference, spaces)
        method = _as_method(name, function, spaces)
        registry.algorithm(
            name,
            guarantee=guarantee,
            cost=f"that of MDAV, then {cost}",
            reference=reference,
            max_size=max_size,
            practical=practical,
            spaces=spaces,
        )(method)
        return function

    return register


def refiners() -> Mapping[str, Refiner]:
    """Return the registered refiners, by name."""
    return MappingProxyType(dict(sorted(_registry.items())))


def get(name: str) -> Refiner:
    """Return a refiner by name, or say which names there are."""
    try:
        return _registry[name]
    except KeyError:
        raise InputError(
            f"no refiner is called {name!r}; there are: {', '.join(sorted(_registry))}"
        ) from None


def in_space(space: Space, name: str, spaces: tuple[str, ...]) -> dict[str, Space]:
    """Return what a refiner has to be told about the space; refuse one that it does not work in."""
    if space.name not in spaces:
        check_space(space, name)
    return {} if space.name == "euclidean" else {"space": space}


def _as_method(name: str, function: Function, spaces: tuple[str, ...]) -> Function:
    """Return a partitioning method: MDAV, then the refiner."""

    def method(
        X: NDArray[np.float64],
        k: int,
        *,
        space: Space,
        rng: np.random.Generator,
        progress: Progress,
        time_limit: float | None = None,
        **options: Any,
    ) -> Partition:
        extra = in_space(space, name, spaces)
        start = registry.get("mdav").function(X, k, space=space, rng=rng, progress=progress)
        return function(X, k, start, rng=rng, progress=progress, time_limit=time_limit, **extra, **options)

    own = [p for p in inspect.signature(function).parameters.values() if p.name not in _COMMON]
    shown = [p for p in inspect.signature(method).parameters.values() if p.kind is not p.VAR_KEYWORD]
    method.__signature__ = inspect.Signature([*shown, *own])  # type: ignore[attr-defined]
    method.__doc__ = function.__doc__
    return method
