"""Local suppression: every published value is true, and some are blanked so that k records look alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from voronym.core.context import Context
from voronym.core.options import Options, option, yes_or_no
from voronym.errors import InputError, hint
from voronym.keyspaces import importance_of
from voronym.method import release_method
from voronym.methods import blank_bound
from voronym.methods.blank_models import obey, shared
from voronym.methods.blank_prices import raised
from voronym.methods.blank_search import anneal
from voronym.methods.blank_wildcard import wildcard_gaps
from voronym.methods.blanks import SAME, Choices, Search, combinations
from voronym.methods.crowd import check_heads, household_demands
from voronym.methods.demands import demands_of
from voronym.methods.figures import Suppressed, SuppressionFigures
from voronym.methods.sentences import against, unit_sentences
from voronym.partition import Partition
from voronym.privacy import Judge, Model
from voronym.request.choices import ReleaseChoices
from voronym.result import Grouped
from voronym.table.table import Table
from voronym.table.units import Units
from voronym.table.values import first_rows

Ints = NDArray[np.int64]
COLUMNS = 20
"""Most keys: every set of them that k records share is examined."""
FATE = "its own value, or missing"
"""How a key is published."""
WILDCARD = (
    "If a gap matched everything, as other tools count, {:,} gaps would be enough (found by a greedy "
    "search, for comparison). Records with unusual gaps would then be unique."
)
NEARLY = 0.5
"""Share of a key's values blanked above which the data holder is advised to recode it first."""


@dataclass(frozen=True, eq=False)
class Gaps:
    """The gaps with which each record is published.

    Parameters
    ----------
    labels : array of int, shape (n,)
        The class of each record.
    kept : array of bool, shape (n, d)
        Which of its keys are published.
    cost, least : float
        The price of all blanked values, and a lower bound for any choice.
    """

    labels: Ints
    kept: NDArray[np.bool_]
    cost: float
    least: float

    @property
    def gap(self) -> float:
        """An upper limit on the cost above the optimum, in percent."""
        if self.cost <= self.least * (1.0 + 1e-6) + 1e-6:
            return 0.0
        return 100.0 * (self.cost / self.least - 1.0) if self.least > 0.0 else np.inf


def suppress_locally(
    codes: Ints,
    k: int,
    ctx: Context,
    *,
    price: Sequence[float] | None = None,
    solve: bool = True,
    exact: bool = False,
    homes: Ints | None = None,
    judges: Sequence[Judge] = (),
    enforce: str = "auto",
    lots: np.random.Generator | None = None,
) -> Gaps:
    """Choose values to blank so that each record looks like at least k, gaps included.

    Minimise the price of the blanked values, over all ways to publish every record with gaps so that at
    least k records have the same values and the same gaps.

    Parameters
    ----------
    codes : array of int, shape (n, d)
        The keys of each record as numbers; -1 for a value that is already missing.
    k : int
        Least number of records that look alike.
    ctx : Context
        Context of the work. With a time limit the search continues until it ends.
    price : sequence of float, optional
        The cost of a blanked value of each column; 1 by default.
    solve : bool
        Whether small tables are solved by an integer programme after the search.
    exact : bool
        Whether large tables are, too, as far as the time allows.
    homes : array of int, optional
        The household of each record: then k counts households.
    judges : sequence of Judge
        Demands on classes in addition to k.
    enforce : str
        The way to enforce them: see `blank_models.obey`.
    lots : Generator, optional
        Chooses among equal records the one with a gap, and among classes of equal cost. By default the
        system's generator, so that nobody can repeat the draw.

    Returns
    -------
    Gaps
        O(n 2^d) in the worst case, less where few records share many columns.
    """
    lots = np.random.default_rng() if lots is None else lots
    d = codes.shape[1]
    prices = np.ones(d) if price is None else np.asarray(price, np.float64)
    rows, which, counts = combinations(codes)
    choices = Choices.find(rows, counts, prices, k, ctx.part(0.0, 0.1))
    pairs = len(choices.row) if homes is None else int(np.diff(choices.start)[which].sum())
    whole = exact and pairs <= blank_bound.LARGE
    share = 0.4 if whole else 0.6 if judges else 0.85  # the rest is for the proof, and for models
    searching = ctx.part(0.2, 0.8, time=share)
    proven, worth = blank_bound.least(choices, ctx.part(0.1, 0.15))

    def prove(cost: float) -> float:
        better = raised(choices, which, homes, worth, cost, ctx.part(0.15, 0.2))
        return _rounded(max(proven, better), prices)

    labels, proven = anneal(choices, which, homes, searching, prove)
    cost = float((choices.whole[which] - choices.worth[labels]).sum())
    polishing = ctx.part(0.8, 1.0)
    unsolved = solve and cost > proven * (1.0 + 1e-6) + 1e-6 and not polishing.over
    bound: float | None = None
    if homes is None:  # records of one combination are alike, and some are solved for better
        search = Search(choices)
        search.publish(which, labels)
        if unsolved:
            bound = blank_bound.polish(search, polishing, exact=exact)
        labels = scattered(choices, which, search.labels(which, lots), lots)
    elif unsolved:
        labels, bound = blank_bound.solve_households(choices, which, homes, labels, polishing, exact)
    proven = max(proven, 0.0 if bound is None else _rounded(bound, prices))
    if judges:
        obeying = ctx.part(0.95, 1.0, stage="enforcing models")
        labels = obey(codes, labels, k, judges, prices, obeying, how=enforce)
    labels, kept = unveiled(codes, labels)
    cost = float(((codes >= 0) & ~kept).sum(axis=0) @ prices)
    return Gaps(labels, kept, cost, min(proven, cost))


def _rounded(bound: float, prices: NDArray[np.float64]) -> float:
    """Return a bound of the cost, rounded up if all costs are whole numbers."""
    whole = bool((prices == np.rint(prices)).all())
    return max(0.0, float(np.ceil(bound - 1e-6)) if whole else bound)


def scattered(choices: Choices, which: Ints, labels: Ints, lots: np.random.Generator) -> Ints:
    """Move records with gaps at random to other used classes that fit them at the same cost.

    An intruder who knows all other cells can rerun the search for each possible value of a gap. So among
    choices of equal cost the result must be unpredictable.
    """
    labels = labels.copy()
    load = np.bincount(labels, minlength=len(choices.kept))
    own = choices.whole[which] - choices.worth[labels]
    for record in lots.permutation(np.flatnonzero(own > SAME)):
        here = labels[record]
        if load[here] <= choices.k:
            continue
        pairs = slice(choices.start[which[record]], choices.start[which[record] + 1])
        same = np.abs(choices.cost[pairs] - own[record]) <= SAME
        open_to = choices.of[pairs][same]
        open_to = open_to[load[open_to] >= choices.k]
        there = lots.choice(open_to)
        load[here] -= 1
        load[there] += 1
        labels[record] = there
    return labels


def unveiled(codes: Ints, labels: Ints) -> tuple[Ints, NDArray[np.bool_]]:
    """Return classes that publish everything their records share, and each record's published keys.

    So every gap stands for several values. Classes that publish the same values are merged.
    """
    labels = np.unique(labels, return_inverse=True)[1].reshape(-1)
    rows = shared(codes, labels, int(labels.max()) + 1)
    return combinations(rows)[1][labels], rows[labels] >= 0


@dataclass(frozen=True)
class LocalSuppression(Options):
    """Options of local suppression."""

    exact: bool = option(
        False, "Solve the integer programme of the whole table, too, as far as the time limit allows (ten "
            "minutes without one): fewer gaps, and a better proof of how many are needed.", check=yes_or_no,
    )  # fmt: skip
    wildcard: bool = option(
        False, "Also count the gaps that are needed if a gap matches everything, as other tools count. The "
            "release is the same.", check=yes_or_no,
    )  # fmt: skip


@release_method(
    "local-suppression",
    guarantee="k records or more share all published keys, gaps included; every published value is true",
    cost="O(n 2^d) for d keys in the worst case; memory likewise",
    reference="10.1145/1055558.1055591",
    options=LocalSuppression,
    timed=True,
)
def local_suppression(
    table: Table,
    ctx: Context,
    options: Options,
    *,
    choices: ReleaseChoices,
    k: int,
    models: Sequence[Model],
) -> Grouped:
    """Blank as few single values of the keys as k allows, and publish all others unchanged.

    A gap counts as a value: at least k records have the same values *and* the same gaps. This is stricter
    than tools in which a gap matches everything, and protects under both ways of counting. Values that
    were already missing cost nothing, and look like blanked ones.

    People with several rows are published alike in all of them: a key that changes from row to row is
    blanked in each. Households are counted. Classes that break a model are joined, or exchange records
    (see `blank_models`).

    References
    ----------
    A. Meyerson and R. Williams, "On the complexity of optimal k-anonymity", PODS 2004.
    """
    if len(table.keys) > COLUMNS:
        raise InputError(
            f"local suppression looks at all sets of keys, and {len(table.keys)} keys have too many: "
            f"take {COLUMNS} at most"
        )
    assert isinstance(options, LocalSuppression)  # noqa: S101 - those of this method
    given = importance_of(table, choices, zero=False)
    if table.schema.pseudonyms and table.schema.household is not None:
        raise InputError(
            "local suppression publishes no pseudonyms of households, because it looks at people one by one: "
            "leave them out, or take method 'auto'"
        )
    codes, of_row, units = _people(table)
    check_heads(units, len(codes), k)
    demands = demands_of(table, models)
    homes = None if units is None else units.household
    judges = [item for _, own in demands for item in own]
    if judges:  # joined classes have the households of both
        judges += [entry for _, own in household_demands(units, k) for entry in own]
    price = [given.get(name, 1.0) for name in table.keys]
    lots = None if choices.seed is None else ctx.rng  # a seed that was given repeats the release
    result = suppress_locally(
        codes, k, ctx, price=price, judges=judges, enforce=choices.enforce, homes=homes, exact=options.exact,
        lots=lots,
    )  # fmt: skip
    others = wildcard_gaps(codes, k, price, homes) if options.wildcard else None
    made = _masked(table, result, of_row, k, models=bool(demands), others=others)
    assert made.partition is not None  # noqa: S101 - classes
    return replace(made, log=(*made.log, *against(choices.enforce, made.partition, bool(demands))))


def _people(table: Table) -> tuple[Ints, Ints | None, Units | None]:
    """Return the keys of published people as codes, the person of each row, and the households.

    If a person has several rows, a key that differs between them counts as missing.
    """
    codes = np.column_stack([table.codes(name) for name in table.keys])
    units = table.units
    if units is None or units.person is None:
        return codes, None, units
    of_row = np.unique(units.person, return_inverse=True)[1].reshape(-1)
    many = int(of_row.max()) + 1
    home = None if units.household is None else units.household[first_rows(of_row, many)]
    return shared(codes, of_row, many), of_row, Units(household=home)


def _masked(
    table: Table, gaps: Gaps, of_row: Ints | None, k: int, *, models: bool, others: int | None
) -> Grouped:
    """Publish the table with its gaps."""
    made, many = {}, {}
    kept_of = gaps.kept if of_row is None else gaps.kept[of_row]
    gone = np.column_stack([table.codes(name) >= 0 for name in table.keys]) & ~kept_of
    for c, name in enumerate(table.keys):
        new = gone[:, c]
        many[name] = int(new.sum())
        made[name] = table.without(name, new)
    kept = [name for name in table.columns if name in table.schema]
    frame = table.frame.select(kept).with_columns(**made)
    touched = int(gone.any(axis=1).sum())
    figures = Suppressed(many, touched, gaps.cost, gaps.least, gaps.gap, wildcard=others)
    notes = tuple(
        f"{n:,} of {table.n:,} values of {name!r} had to be made missing: recode it to fewer values first "
        f"({hint('steps', f'recode {name} ...')}), or give it less importance"
        for name, n in many.items()
        if n > NEARLY * table.n
    )
    return Grouped(
        frame,
        figures=SuppressionFigures(figures),
        notes=notes,
        log=(
            *_describe_gaps(table, many, touched, gaps, k, more=models),
            *(() if others is None else (WILDCARD.format(others),)),
            *unit_sentences(table, None),
        ),
        partition=Partition(gaps.labels, k=k) if of_row is None else Partition(gaps.labels[of_row]),
        published_as=dict.fromkeys(table.keys, FATE),
    )


def _describe_gaps(
    table: Table, many: Mapping[str, int], touched: int, gaps: Gaps, k: int, *, more: bool
) -> tuple[str, ...]:
    """Return sentences about the blanked values; ``more``: whether other models than k were requested."""
    n, heads = table.n, "records" if table.units is None else table.units.counted
    listed = ", ".join(f"{name} {count:,} ({100 * count / n:.3g} %)" for name, count in many.items())
    near = (
        "no choice blanks less"
        if gaps.gap == 0.0
        else f"without the models, k needs a cost of at least {gaps.least:,.6g}"
        if more
        else f"any other choice would cost {gaps.least:,.6g} at least: a gap of {gaps.gap:.1f} % at most"
        if np.isfinite(gaps.gap)
        else "the minimum is not known"
    )
    once = (
        ""
        if table.persons is None
        else (", each person counted once and keys that change from row to row of a person not at all,")
    )
    return (
        f"Values were made missing in {touched:,} of {n:,} records: {listed}. Weighted by importance that "
        f"costs{once} {gaps.cost:,.6g}, and {near}.",
        f"A gap counts as a value of its own: {k} {heads} or more have the same keys and the same gaps.",
    )
