"""The entry point: take a table of mixed records, return it blended and shuffled."""

# promise: doc-records
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from voronym.core.chance import masking
from voronym.core.context import Context, ProgressCallback
from voronym.core.validate import checked
from voronym.errors import GuaranteeError, InputError, hint
from voronym.generalize.hierarchy import Hierarchy
from voronym.method import table_method
from voronym.records.alternative import alternative
from voronym.records.attack import linkage
from voronym.records.beyond import linkage_beyond
from voronym.records.cluster import Clusters, clusters, describe
from voronym.records.explain import blocks
from voronym.records.fields import describing_fields, make_fields, rebuild_columns
from voronym.records.figures import Beyond, LinkageFigures, RecordsFigures
from voronym.records.options import RecordsOptions
from voronym.records.pushback import blend, check_size
from voronym.records.split import split
from voronym.records.stages import Stages
from voronym.records.stir import flatten, shuffle, stir_alone
from voronym.result import Masked
from voronym.space.field import Field
from voronym.space.metrics import Taxonomy
from voronym.space.mixed import Mixed
from voronym.table.frame import listing
from voronym.table.schema import Schema
from voronym.table.table import Table


@dataclass(frozen=True)
class Stirred(Masked):
    """A blended and shuffled table, row by row as the original.

    Parameters
    ----------
    before, after : Clusters
        The clusters at first, and as published.
    space : Mixed
        The keys with their metrics; ``space.codes`` are the original records.
    codes : array of int, shape (n, d)
        The keys of the masked records, as levels.
    moved : array of int
        Rows that came from small clusters.
    """

    before: Clusters | None = None
    after: Clusters | None = None
    space: Mixed | None = None
    codes: NDArray[np.int64] | None = None
    moved: NDArray[np.int64] | None = None

    @property
    def measured(self) -> RecordsFigures:
        """The figures of the method."""
        assert isinstance(self.figures, RecordsFigures)  # noqa: S101 - it was made with them
        return self.figures


@checked
def anonymize_records(
    frame: Any,
    schema: Schema,
    *,
    seed: int | np.random.Generator | None = None,
    progress: ProgressCallback | None = None,
    **options: Any,
) -> Stirred:
    """Push isolated records back into the crowd, then shuffle or flatten values inside each cluster.

    Every key needs only a distance. Records that differ by at most epsilon_k in every key k form
    clusters. Members of clusters with at most m records move into larger ones, and only their outlying
    values change (`blend`). If epsilon was chosen from the data, large clusters are cut into groups of m
    + 1 to 2 m + 1 similar records (`split`). Then keys are permuted inside each cluster, dependent keys
    together, or set to its centroid (`shuffle`, `flatten`).

    Guarantee: every cluster has more than m records. Every published value occurs in its column. If every
    key is shuffled or flattened, and rows are published in random order, an intruder who knows the keys,
    but not how other columns relate to them, finds the record of a given person with a probability of at
    most 1/(m+1). With confidential columns that follow from keys, such as years insured from age, an
    intruder finds more: ``figures.linkage.beyond`` measures it. The divergence of each cluster's
    distances to its centroid is within the bound for `shuffle`. With epsilon chosen from the data,
    blending changes at most ``share`` of the values of a column, so its distribution moves by at most
    ``share`` in total variation; shuffling moves none. Not guaranteed: k-anonymity, unless all keys are
    flattened; anything about confidential values that a whole cluster shares (see ``notes``).

    Parameters
    ----------
    frame : pandas, Polars, PyArrow or narwhals frame
        The table.
    schema : Schema
        Roles and kinds. Identifiers are dropped; keys make the clusters.
    seed : int, Generator or None
        By default drawn from the system. A number gives the same table again, with a warning: it undoes the
        shuffle.
    progress : callable, optional
        Called with a `voronym.Progress` now and then.
    **options
        The fields of `voronym.records.RecordsOptions`.

    Returns
    -------
    Stirred

    Examples
    --------
    >>> import voronym as vr
    >>> patients = vr.datasets.hospital(300, outliers=3, seed=1).select("age", "sex", "admitted", "diagnosis")
    >>> schema = vr.Schema.build(patients, keys=["age", "sex", "admitted"], confidential=["diagnosis"])
    >>> made = anonymize_records(patients, schema, m=4)
    >>> bool(made.after.partition.sizes.min() > 4)
    True
    >>> made.figures.linkage.after.value <= 0.25
    True
    """
    ctx = Context(seed=masking(seed), progress=progress)
    table = Table.of(frame, schema, only=[column.name for column in schema if column.role != "identifier"])
    made = stirred(table, ctx, RecordsOptions.of("records", options))
    ctx.done()
    return made


@table_method(
    "records",
    guarantee="every cluster has more than m records; an intruder who knows a person's keys, not how other "
    "columns go with them, finds the record with probability at most 1/(m+1) if all keys are shuffled or "
    "flattened",
    cost="near O(n log n); memory O(n d)",
    reference="equations 2 to 10 of the paper on pushing outliers back into the crowd",
    options=RecordsOptions,
)
def records(table: Table, ctx: Context, options: RecordsOptions) -> Stirred:
    """Push isolated records back into the crowd, then shuffle or flatten values inside each cluster.

    The same as `anonymize_records`, but refused if MDAV would lose less at k = m + 1, unless the user
    accepts that.
    """
    made = stirred(table, ctx, options)
    if options.despite_loss or (other := made.measured.alternative) is None:
        return made
    lost, mdav = other.loss, other.mdav
    if lost <= mdav:
        return made
    raise GuaranteeError(
        f"records would lose {lost:.1f} % of the keys' variance, and MDAV with k={options.m + 1} loses "
        f"{mdav:.1f} % and promises more: every combination of keys shared by {options.m + 1}. Nothing is "
        f"released. Take method mdav with k={options.m + 1}; or, if real values and unchanged "
        f"distributions are worth the loss, use the option {hint('despite_loss', True)}"
    )


def stirred(table: Table, ctx: Context, options: RecordsOptions) -> Stirred:
    """Mask a table; a request to finish is obeyed only during the final attack."""
    check_size(options.m, table.n)
    plan = _Plan.of(table, options)
    space = Mixed.fit(plan.keys, weights=options.importance, reference=options.reference, rng=ctx.rng)
    beside = describing_fields(table)
    before = clusters(space, options, ctx.part(0.0, 0.4, stage="grouping"), others=beside)
    blended = blend(space, before, options, ctx.part(0.4, 0.6))
    if options.epsilon is None:  # what was given is taken as it was meant
        finer = split(space, blended.codes, blended.partition, options.m, ctx.part(0.6, 0.7))
        blended = replace(blended, partition=finer)
    middle = describe(space, blended.codes, blended.partition, before.epsilon)
    # Flattened first: a constant in a cluster ties no combination to a row.
    codes = flatten(blended.codes, middle, plan.places(plan.flattened))
    mixed = plan.places(plan.shuffled)
    tied = [block for block in blocks(plan.keys, mixed) if len(block) > 1]
    shuffled = shuffle(space, codes, middle, mixed, options, ctx.part(0.7, 0.83), together=tied)
    others = stir_alone(plan.others, plan.flattened, middle.partition, ctx)
    after = describe(space, shuffled.codes, middle.partition, before.epsilon)
    made = rebuild_columns(table, plan.keys, shuffled.codes)
    made |= rebuild_columns(table, plan.others, others)
    frame = nw.from_dict({name: made.get(name, table.frame[name]) for name in table.columns})
    other = alternative(table, frame, options.m, ctx.part(0.83, 0.85))
    measuring = ctx.part(0.85, 1.0, stage="measuring")
    measuring.tell(0.0)
    stages = Stages(space, options, before, blended, middle, shuffled, after, plan.others, others, tied)
    attacked, beyond = _attacks(stages, plan, beside, measuring)
    figures = stages.figures(other, attacked)
    return Stirred(
        frame,
        figures,
        (*plan.notes, *beyond, *stages.notes(table, plan.places(plan.flattened), mixed)),
        stages.log(plan.flattened, plan.shuffled),
        before=before,
        after=after,
        space=space,
        codes=shuffled.codes,
        moved=blended.moved,
    )


def _attacks(
    stages: Stages, plan: _Plan, beside: Sequence[Field], ctx: Context
) -> tuple[LinkageFigures, tuple[str, ...]]:
    """Attack the masked table by its keys, and by other columns that depend on them."""
    space, options, part = stages.space, stages.options, stages.middle.partition
    original = space.codes
    before, more = linkage(space, original, original), None
    notes: tuple[str, ...] = ()
    stirred_too = {name for other in plan.others for name in other.columns}
    known = [item for item in beside if stirred_too.isdisjoint(item.columns)]
    result = linkage_beyond(space.fields, known, part)
    if result is not None:
        rate, names = result
        more = Beyond(**vars(rate), columns=tuple(names))
        if rate.low > 1 / (options.m + 1) and names:
            notes = (
                f"whoever knows how {listing(names)} {'goes' if len(names) == 1 else 'go'} with the keys "
                "finds "
                f"{100 * rate.value:.0f} % of the people in their clusters, more than 1 in {options.m + 1}: "
                "declare what follows from keys a key, or flatten or shuffle it, too",
            )
    # This attack comes last: a request to finish then skips only some of its targets.
    after = stages.shuffled.codes
    attacked = linkage(space, original, after, targets=options.targets, ctx=ctx.part(0.2, 1.0))
    return LinkageFigures(before, attacked, more), notes


@dataclass(frozen=True)
class _Plan:
    """The columns to flatten and to shuffle, and the keys and other columns among them as fields."""

    flattened: list[str]
    shuffled: list[str]
    keys: list[Field]
    others: list[Field]
    notes: tuple[str, ...]

    @classmethod
    def of(cls, table: Table, options: RecordsOptions) -> _Plan:
        """Make a plan from the options."""
        flattened = _with_partners(options.flatten, table.schema, "flatten")
        asked = [name for name in table.keys if name not in flattened]
        if options.shuffle != "keys":
            asked = _with_partners(options.shuffle, table.schema, "shuffle")
        both = [name for name in asked if name in flattened]
        if both:
            raise InputError(f"columns are either flattened or shuffled, not both: {listing(both)}")
        trees = {name: Taxonomy(Hierarchy.of(tree)) for name, tree in (options.hierarchies or {}).items()}
        metrics: Mapping[str, Any] = {**trees, **(options.metrics or {})}
        used = [name for name in (*flattened, *asked) if name not in table.keys]
        own = {name: item for name, item in metrics.items() if name in table.keys}
        keys, notes = make_fields(table, table.keys, own)
        rest = {name: entry for name, entry in metrics.items() if name not in own}
        others, more = make_fields(table, used, rest)
        return cls(flattened, asked, keys, others, notes + more)

    def places(self, names: Sequence[str]) -> list[int]:
        """Return the numbers of the named keys; a location counts as one key."""
        return [k for k, item in enumerate(self.keys) if not set(item.columns).isdisjoint(names)]


def _with_partners(names: Sequence[str], schema: Schema, what: str) -> list[str]:
    """Return columns without repetition; for a location, include the other coordinate."""
    given = list(dict.fromkeys(names))
    bad = [name for name in given if name not in (*schema.keys, *schema.confidential)]
    if bad:
        raise InputError(f"{what} names columns that are neither keys nor confidential: {listing(bad)}")
    partners = [schema[name].partner for name in given]
    return given + [p for p in partners if p is not None and p not in given]
