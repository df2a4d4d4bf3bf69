"""Compare every method on one table: loss, risk and time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any, Unpack

import numpy as np

from voronym.core.context import Context, ProgressCallback
from voronym.core.options import Options
from voronym.core.validate import check_seed, checked
from voronym.errors import Cancelled, InputError, Unfinished, VoronymError
from voronym.evaluate.attacks import record_linkage
from voronym.evaluate.comparison import Comparison, Row
from voronym.evaluate.masks import mask_point, own_options
from voronym.evaluate.measure import Columns
from voronym.evaluate.subject import check_risk, crowd_of
from voronym.evaluate.tradeoff import Plane, plane
from voronym.method import METHODS, algorithms
from voronym.methods.crowd import Crowd
from voronym.methods.grouped import searched, shown_by
from voronym.problem import Problem, check_k
from voronym.request.choices import ReleaseChoices
from voronym.table import Table

_EARLY = "the comparison was finished before its turn"
LATE = "there was not enough time for it"
_SLOW = ("exchange", "anneal", "pairs", "icsm", "pcl-variable", "pcl", "noisy-pcl")
"""Methods that search, the slowest last; all others are quick."""


@checked
def compare(
    data: Any,
    *,
    keys: Sequence[str],
    k: int | Sequence[int] = (3, 5, 10),
    methods: Sequence[str] | None = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    confidential: Sequence[str] = (),
    risk: str = "linkage",
    seed: int = 0,
    time_limit: float | None = None,
    each: Callable[[Row], None] | None = None,
    progress: ProgressCallback | None = None,
    **columns: Unpack[Columns],
) -> Comparison:
    """Divide a table's records into groups by every method, and measure loss, risk and time.

    Parameters
    ----------
    data : dataframe, str or Path
        The table; only its keys are used, and the confidential column if there is one.
    keys : sequence of str
        The key columns.
    k : int or sequence of int
        The group sizes to try.
    methods : sequence of str, optional
        Names from `voronym.algorithms`; all that fit the table by default, except "auto". Also "channel" and
        "records", which make no groups; with ``risk="mutual-information"`` they are there by default: records
        at m = k - 1, channel at the least loss of the groups of k.
    options : mapping, optional
        Options by method, such as ``{"vmdav": {"gamma": 0.2}}``.
    confidential : sequence of str
        The confidential column that ``risk="mutual-information"`` is about; exactly one.
    risk : {"linkage", "mutual-information"}
        "linkage": the number of records that an intruder links to the nearest published record.
        "mutual-information" adds the information of the groups about the confidential column, ``I(W; group)``
        in nats, and its limits at the same loss: a point in the plane of distortion and risk for every method
        and k.
    seed : int
        The seed of every method.
    time_limit : float, optional
        Seconds for the whole comparison. Fast methods come first; methods that are not done in time are left
        out and listed.
    each : callable, optional
        Called with every `Row` when it is done.
    progress : callable, optional
        Called with a `voronym.Progress` now and then. It may raise `voronym.FinishEarly` to finish with the
        rows so far.
    **columns
        ``kinds``, ``orders``, ``locations`` and ``person``, as in `voronym.anonymize`. With the last, people
        are grouped, a record each, and losses are of their rows, as in a release.

    Returns
    -------
    Comparison
        With ``plane`` and each row's ``information`` and ``limits`` if mutual information was requested.

    Notes
    -----
    ``loss`` is the loss of the groups, which methods minimise and bounds apply to. ``published`` is the loss
    of a release with these groups, whose centres are values that can occur. They differ if keys are
    categories.

    The plug-in figure is the information in the groups of this table. For the population behind it, it is too
    high, the more so the smaller the groups; ``information`` has a correction and an interval (see
    `voronym.privacy.information`). Groups are counted before their centres are rounded: if two groups publish
    the same values, the release reveals a little less.

    Examples
    --------
    >>> import voronym as vr
    >>> result = vr.compare(vr.datasets.hospital(60), keys=["age", "sex"], k=[3], methods=["mdav", "md"])
    >>> sorted(row.method for row in result.rows)
    ['md', 'mdav']

    What the groups tell about the cost of the stay:

    >>> table = vr.datasets.hospital(300)
    >>> result = vr.compare(
    ...     table, keys=["age"], k=[3, 30], methods=["mdav"], confidential=["cost"], risk="mutual-information"
    ... )
    >>> small, large = (row.information.plug_in for row in result.rows)
    >>> large < small < result.plane.unchanged.entropy
    True
    """
    ctx = Context(seed=seed, time_limit=time_limit, progress=progress)
    named = check_risk(risk, confidential)
    if not keys:
        raise InputError("name at least one key column to compare methods on")
    table = Table.build(data, keys=keys, confidential=named, drop_undeclared=True, **columns)
    sizes = k if isinstance(k, Sequence) else [k]
    comparison = compare_methods(
        table, ctx, sizes=sizes, methods=methods, options=options, seed=seed, each=each
    )
    ctx.done()
    return comparison


def compare_methods(
    table: Table,
    ctx: Context,
    *,
    sizes: Sequence[int],
    methods: Sequence[str] | None = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    seed: int = 0,
    each: Callable[[Row], None] | None = None,
) -> Comparison:
    """Compare methods on a table; with a confidential column, also by mutual information.

    `compare` calls this function. From another thread, the owner of the context can ask to finish with
    the rows so far, or cancel.
    """
    crowd = crowd_of(table)
    records, several = crowd.keys.records, crowd.of_row is not None
    problems = [Problem(records, check_k(size, len(records))) for size in sizes]
    if not problems:
        raise InputError("name at least one k to compare at")
    names, skipped = _choose(methods, problems)
    if methods is None and table.confidential:  # these methods are compared by the information of the keys
        names += [name for name in METHODS if METHODS[name].makes == "table" and not METHODS[name].needs]
    names.sort(key=lambda name: not METHODS[name].groups)  # they are held against the groups
    if several and not all(METHODS[name].groups for name in names):
        raise InputError(f"method {names[-1]!r} makes no groups, and people with several rows are in groups")
    chosen = _read_options(names, options or {})
    result = None
    if table.confidential:
        whole = ctx.part(0.0, 0.3, stage="measuring")
        result = plane(table, problems[0].points, ctx=whole)
    pairs = ((name, problem) for problem in problems for name in names)
    quick = [(name, each) for name, each in pairs if methods or each.n <= METHODS[name].most(each.k)]
    tasks = list(enumerate(quick))
    tasks.sort(key=lambda task: (not METHODS[task[1][0]].groups, _rank(task[1][0])))
    done: list[tuple[int, Row]] = []
    start = 0.0 if result is None else 0.3
    width = (1.0 - start) / max(1, len(tasks))
    for number, (place, (name, problem)) in enumerate(tasks):
        label = f"{name}, k={problem.k}"
        here = ctx.part(
            start + width * number, start + width * (number + 1), stage=f"{crowd.stage} by {label}"
        )
        try:
            alone = here.unhurried(strict=True)
            if METHODS[name].groups:
                row = _row(name, problem, chosen[name], alone, seed, result, crowd)
            else:
                given, others = (options or {}).get(name, {}), [item for _, item in done]
                row = _mask(name, problem, table, given, others, alone, seed, result)
        except Cancelled:
            raise
        except Unfinished:
            skipped[label] = _EARLY if ctx.finishing else LATE
        except VoronymError as error:
            skipped[label] = str(error)
        else:
            done.append((place, row))
            if each is not None:
                each(row)
    rows = [row for _, row in sorted(done, key=lambda entry: entry[0])]
    if not rows and ctx.finishing:
        raise Unfinished("no method was done yet: there is nothing to compare")
    result, rows = _with_limits(rows, result)
    counted = "people" if several else "records"
    return Comparison(tuple(rows), skipped, len(records), table.keys, result, counted)


def _rank(name: str) -> int:
    """Return the order of a method: the baseline `mdav` first, then quick methods, then slow ones.

    So a comparison that ends early has as many rows as possible.
    """
    if name == "mdav":
        return 0
    return _SLOW.index(name) + 2 if name in _SLOW else 1


def _choose(methods: Sequence[str] | None, problems: list[Problem]) -> tuple[list[str], dict[str, str]]:
    """Return the methods to run, and the omitted ones (for some k or all) with the reason."""
    if methods is not None:
        return [METHODS[name].name for name in methods], {}
    names, skipped = [], {}
    for method in algorithms().values():
        if method.name == "auto" or (method.univariate and problems[0].X.shape[1] > 1):
            continue
        long = [each for each in problems if each.n > method.most(each.k)]
        if long:
            most = f"{method.most(long[0].k):,} records"
            where = most if isinstance(method.practical, int) else f"{most} at k = {long[0].k}"
            skipped[method.name] = f"takes long beyond {where}; name it to run it"
        if len(long) < len(problems):
            names.append(method.name)
    return names, skipped


def _read_options(names: Sequence[str], given: Mapping[str, Mapping[str, Any]]) -> dict[str, Options]:
    """Check the options of each method before any of them runs."""
    strange = sorted(set(given) - set(names))
    if strange:
        raise InputError(
            f"there are options for {', '.join(map(repr, strange))}, which is not compared; "
            f"compared are: {', '.join(names)}"
        )
    made = {}
    for name in names:
        method = METHODS[name]
        method.options.refuse_unknown(name, given.get(name, {}))
        if method.groups:  # options of others follow from k, where they are not given
            made[name] = method.options.of(name, given.get(name, {}))
    return made


def _row(
    name: str, problem: Problem, options: Options, ctx: Context, seed: int, plane: Plane | None, crowd: Crowd,
) -> Row:  # fmt: skip
    """Run one method with the given seed, and measure its loss, risk and time."""
    grouping, measuring = ctx.part(0.0, 0.8), ctx.part(0.8, 1.0)
    grouping.rng, measuring.rng = check_seed(seed), check_seed(seed)  # the same targets for every method
    grouping.tell(0.0, whole=True)
    start = perf_counter()
    part = METHODS[name].partition(_goal(name, problem, crowd), grouping, options)
    seconds = perf_counter() - start
    ctx.check()  # an interrupted search does not show what the method can do
    published = problem.centroids(part)[part.labels]
    rate = record_linkage(problem.points, published, truth=np.arange(problem.n), ctx=measuring).rate
    return Row(
        name,
        problem.k,
        crowd.loss(part),
        rate.value,
        rate.low,
        rate.high,
        part.n_cells,
        int(part.sizes.max()),
        seconds,
        None if plane is None else plane.risk(part.labels),
        published=crowd.published_loss(part),
    )


def _goal(name: str, problem: Problem, crowd: Crowd) -> Problem:
    """Return the problem that a release by this method would minimise."""
    return searched(problem, shown_by(name, crowd, ReleaseChoices(), problem.k))


def _mask(
    name: str, problem: Problem, table: Table, given: Mapping[str, Any], rows: Sequence[Row], ctx: Context,
    seed: int, plane: Plane | None,
) -> Row:  # fmt: skip
    """Run a method without groups, set to the size or the loss of methods with groups."""
    ctx.rng = check_seed(seed)
    least = min((row.loss for row in rows if row.k == problem.k), default=None)
    options = own_options(name, problem, given, least, ctx)
    result = mask_point(table, name, options, ctx, None if plane is None else plane.levels)
    return replace(Row(name, problem.k, *result.figures), published=result.loss)


def _with_limits(rows: list[Row], plane: Plane | None) -> tuple[Plane | None, list[Row]]:
    """Add the limits at the loss of each row; the rows themselves count as reached rules."""
    if plane is None:
        return None, rows
    points = [(row.loss / 100, row.information.plug_in) for row in rows if row.information is not None]
    wider = plane.and_also(points)
    return wider, [replace(row, limits=wider.limits(row.loss / 100)) for row in rows]
