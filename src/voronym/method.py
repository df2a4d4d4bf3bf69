"""The registry of methods: a `Method` makes a masked table from a table.

A method that *makes groups* is a function ``(problem, ctx) -> Partition`` under the decorator `algorithm`;
the release publishes the centre of each group. A method that *masks the table* is a function ``(table, ctx)
-> Masked`` under `table_method`; it states its own promise instead of k. Both may take options as a third
argument, an `Options` dataclass. A registered method appears on the command line, in recipes, in the
documentation's table, in the contract tests and in the benchmarks.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from voronym.core.display import html_table, text_table
from voronym.core.options import Options
from voronym.core.registry import Registry
from voronym.errors import InputError

if TYPE_CHECKING:
    from voronym.core.context import Context
    from voronym.partition import Partition
    from voronym.problem import Problem
    from voronym.result import Masked

F = TypeVar("F", bound="Callable[..., Masked]")

PROBED, LONG = 20_000, 10.0
"""Records above which a method is first tried on a part of them, and seconds above which a warning is given.
"""


@dataclass(frozen=True)
class Method:
    """A registered method: its name, promise, cost and source."""

    name: str
    function: Callable[..., Any]
    guarantee: str
    cost: str
    reference: str
    options: type[Options] = Options
    makes: Literal["groups", "table", "release"] = "groups"
    """Whether it makes groups of records, masks the table record by record, or makes groups and decides on
    their published values.
    """
    timed: bool = False
    """Whether it uses a time limit."""
    anywhere: bool = False
    """Whether it works in every space; otherwise only on Euclidean coordinates."""
    univariate: bool = False
    max_size: Callable[[int], int] | None = None
    practical: int | Callable[[int], int] | None = None
    weighted: bool = False
    """Whether it makes groups of records with weights."""
    model_free: bool = False
    """Whether it also works in a space that has no cost model for kernels, such as a graph."""
    squares: bool = False
    """Whether the method assumes that a group costs its squares about the mean; it cannot work on a sphere.
    """
    needs: str = ""
    """The privacy model that it requires."""

    def most(self, k: int) -> float:
        """Return the number of records above which the method takes minutes; infinity if there is none."""
        if self.practical is None:
            return math.inf
        return self.practical if isinstance(self.practical, int) else self.practical(k)

    @property
    def summary(self) -> str:
        """First line of the method's docstring."""
        return (inspect.getdoc(self.function) or "").split("\n", 1)[0]

    @property
    def keeps_k(self) -> bool:
        """Whether it publishes groups of k."""
        return self.makes != "table"

    @property
    def groups(self) -> bool:
        """Whether it divides the records of any problem into groups."""
        return self.makes == "groups"

    def check_groups(self) -> None:
        """Refuse a method that makes no groups."""
        if not self.groups:
            raise InputError(f"method {self.name!r} masks whole tables and makes no groups")

    def run(self, what: Any, ctx: Context, options: Options | None = None) -> Any:
        """Call the function, with its options if it takes any."""
        if self.options is Options:
            return self.function(what, ctx)
        return self.function(what, ctx, self.options() if options is None else options)

    def partition(self, problem: Problem, ctx: Context, options: Options | None = None) -> Partition:
        """Divide the records of a problem into groups, each of at least k."""
        self.check_groups()
        problem.check_method(self)
        if problem.n < 2 * problem.k:
            return problem.one_group()
        result: Partition = self.run(problem, self._announced(problem, ctx, options), options)
        return problem.checked(result)

    def _announced(self, problem: Problem, ctx: Context, options: Options | None) -> Context:
        """Return the context; its stage includes the expected time if that is long."""
        probe = max(PROBED // 10, problem.n // 64)
        if self.timed or ctx.timed or not ctx.stage or problem.n <= PROBED or probe < 4 * problem.k:
            return ctx
        seconds = self.foresee(problem, ctx, options)
        return ctx.part(0.0, 1.0, stage=f"{ctx.stage}, about {duration(seconds)}") if seconds > LONG else ctx

    def foresee(self, problem: Problem, ctx: Context, options: Options | None = None) -> float:
        """Estimate the seconds that the method will take, from the time for parts of the records."""
        rng = np.random.default_rng(0)  # a separate generator: the result must not depend on this call
        size = max(PROBED // 10, problem.n // 64)
        spent = []
        for part in (size, size, 2 * size):  # the first one compiles
            rows = np.sort(rng.choice(problem.n, part, replace=False))
            small, here = problem.subset(rows), ctx.quiet(rng=np.random.default_rng(0))
            self.run(small, here, options)
            spent.append(max(here.spent, 1e-4))
        growth = min(max(math.log2(spent[2] / spent[1]), 1.0), 3.0)
        return float(spent[2] * (problem.n / (2 * size)) ** growth)


def duration(seconds: float) -> str:
    """Return a time in words: "40 s", "3 min", "5 h".

    Examples
    --------
    >>> duration(41.7), duration(200.0), duration(20_000.0)
    ('40 s', '3 min', '6 h')
    """
    if seconds < 100.0:
        return f"{10 * round(seconds / 10)} s"
    return f"{round(seconds / 60)} min" if seconds < 6000.0 else f"{round(seconds / 3600)} h"


METHODS: Registry[Method] = Registry("method")


def algorithm(
    name: str,
    *,
    guarantee: str,
    cost: str,
    reference: str,
    options: type[Options] = Options,
    timed: bool = False,
    anywhere: bool = False,
    univariate: bool = False,
    max_size: Callable[[int], int] | None = None,
    practical: int | Callable[[int], int] | None = None,
    weighted: bool = False,
    model_free: bool = False,
) -> Callable[[Callable[..., Partition]], Callable[..., Partition]]:
    """Register a method that makes groups, a function ``(problem, ctx[, options]) -> Partition``.

    Parameters
    ----------
    name : str
        The name that users type.
    guarantee, cost, reference : str
        The promise about every result; the growth of time and memory; the publication of the method.
    options : type
        A dataclass of its options, see `voronym.core.options.Options`.
    timed : bool
        Whether it uses a time limit: then it returns its best result when ``ctx.over`` holds.
    anywhere : bool
        Whether it works without coordinates; otherwise only on Euclidean coordinates, ``problem.points``.
    univariate : bool
        Whether the method takes a single column only.
    max_size : callable, optional
        ``k -> largest group``, if the method bounds its groups from above.
    practical : int or callable, optional
        Number of records, or ``k -> number``, beyond which the method takes minutes: comparisons then
        omit it unless you name it.
    weighted : bool
        Whether records may have weights, ``problem.weights``.
    model_free : bool
        Whether it works in every space, also in one that has no cost model for kernels.
    """

    def register(function: Callable[..., Partition]) -> Callable[..., Partition]:
        METHODS.add(
            name,
            Method(
                name, function, guarantee, cost, reference, options, "groups", timed, anywhere, univariate,
                max_size, practical, weighted, model_free,
            ),
        )  # fmt: skip
        return function

    return register


def table_method(
    name: str,
    *,
    guarantee: str,
    cost: str,
    reference: str,
    options: type[Options] = Options,
    needs: str = "",
) -> Callable[[F], F]:
    """Register a method that masks record by record, a function ``(table, ctx[, options]) -> Masked``.

    ``needs``: the privacy model that it requires.
    """

    def register(function: F) -> F:
        METHODS.add(name, Method(name, function, guarantee, cost, reference, options, "table", needs=needs))
        return function

    return register


def release_method(
    name: str,
    *,
    guarantee: str,
    cost: str,
    reference: str,
    options: type[Options] = Options,
    timed: bool = False,
) -> Callable[[F], F]:
    """Register a method that makes groups of a table and decides on their published values.

    It is a function ``(table, ctx, options, *, k, models) -> Grouped``. ``timed``: whether it uses a time
    limit.
    """

    def register(function: F) -> F:
        METHODS.add(name, Method(name, function, guarantee, cost, reference, options, "release", timed))
        return function

    return register


def split_large(
    problem: Problem, labels: NDArray[np.int64], ctx: Context, *, method: str = "mdav"
) -> Partition:
    """Split every group of 2k or more records into groups of k to 2k-1; this never adds loss."""
    from voronym.partition import Partition

    part = Partition(labels, k=problem.k)
    large = np.flatnonzero(part.sizes >= 2 * problem.k)
    if not len(large):
        return part
    new, top, members = part.labels.copy(), part.n_cells, part.cells()
    here = ctx if len(large) == 1 else ctx.quiet()
    for group in large:
        inside = members[group]
        parts = METHODS[method].partition(problem.subset(inside), here)
        new[inside] = top + parts.labels
        top += parts.n_cells
    return Partition(new, k=problem.k)


def algorithms() -> Mapping[str, Method]:
    """Return the methods that make groups, by name.

    Examples
    --------
    >>> import voronym as vr
    >>> vr.algorithms()["mdav"].guarantee
    'every group has k to 2k-1 records'
    """
    return Listing({name: item for name, item in METHODS.items() if item.groups})


class Listing(dict[str, Method]):
    """Methods by name; displayed as a table."""

    def __repr__(self) -> str:
        return text_table(["method", "guarantee"], [[m.name, m.guarantee] for m in self.values()])

    def _repr_html_(self) -> str:
        head = ["method", "what it does", "guarantee", "cost", "from"]
        rows = [
            [Markup("<b>{}</b>").format(m.name), m.summary, m.guarantee, m.cost, m.reference]
            for m in self.values()
        ]
        return str(html_table(head, rows, wide=head[1:]))
