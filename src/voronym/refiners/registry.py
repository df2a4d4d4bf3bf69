"""The registry of refiners, which improve a partition."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from voronym.core.context import Context
from voronym.core.options import Options
from voronym.core.registry import Registry
from voronym.method import METHODS, Method
from voronym.partition import Partition
from voronym.problem import Problem

Function = Callable[..., Partition]


@dataclass(frozen=True)
class Refiner:
    """A registered refiner, and the method of the same name, which begins with a quick partition."""

    name: str
    function: Function
    method: Method

    def improve(
        self, problem: Problem, part: Partition, ctx: Context, options: Options | None = None
    ) -> Partition:
        """Return a partition that costs no more than the given one."""
        problem.check_method(self.method)
        if problem.n < 2 * problem.k:
            return part
        chosen = self.method.options() if options is None else options
        return problem.checked(self.function(problem, part, ctx, chosen))


REFINERS: Registry[Refiner] = Registry("refiner")


def refiner(
    name: str,
    *,
    guarantee: str,
    cost: str,
    reference: str,
    options: type[Options],
    begin: str = "mdav",
    start: float = 0.1,
    by: Callable[[Problem, Context], Partition] | None = None,
    **about: Any,
) -> Callable[[Function], Function]:
    """Register a refiner, and the method of the same name, which makes its own start.

    The function is ``(problem, part, ctx, options) -> Partition``; its result is never worse than its input.

    Parameters
    ----------
    name, guarantee, cost, reference, options
        As for `voronym.method.algorithm`.
    begin : str
        The method that makes the start.
    start : float
        The share of the progress bar that the start takes.
    by : callable, optional
        Makes the start instead of that method, if it depends on the problem.
    **about
        Further facts, as for `voronym.method.algorithm`.
    """

    def register(function: Function) -> Function:
        def method(problem: Problem, ctx: Context, options: Options) -> Partition:
            make = METHODS[problem.records.begin or begin].partition if by is None else by
            first = make(problem, ctx.part(0.0, start))
            return function(problem, first, ctx.part(start, 1.0), options)

        method.__doc__ = function.__doc__
        made = Method(
            name,
            method,
            guarantee,
            f"that of {begin}, then {cost}",
            reference,
            options,
            timed=True,
            **about,
        )
        METHODS.add(name, made)
        REFINERS.add(name, Refiner(name, function, made))
        return function

    return register
