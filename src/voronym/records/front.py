"""The door: a table of mixed records in, the table blended and stirred out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray

from voronym.context import Context, check_seed
from voronym.errors import InputError
from voronym.masked import Masked
from voronym.options import Options, by_column, option
from voronym.progress import Progress, silent
from voronym.records import pushback as blending
from voronym.records import stir
from voronym.records.attack import TARGETS, linkage
from voronym.records.cluster import SHARE, Clusters, Epsilon, clusters, describe
from voronym.records.divergence import Measure, check_measure
from voronym.records.fields import Choice, make_fields, rebuild_columns
from voronym.records.figures import figures_of, notes_of, steps_of
from voronym.registry import table_method
from voronym.space.field import Field
from voronym.space.medoid import medoids
from voronym.space.mixed import Mixed
from voronym.table.frame import listing
from voronym.table.schema import Schema
from voronym.table.table import Table


@dataclass(frozen=True)
class Stirred(Masked):
    """A table that was blended and stirred, row by row as the original.

    Parameters
    ----------
    before, after : Clusters
        The clusters as found, and as they are published.
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


def anonymize_records(
    frame: Any,
    schema: Schema,
    *,
    m: int = 4,
    epsilon: Epsilon = None,
    share: float = SHARE,
    blend: blending.Mode = "element",
    unit: blending.Unit = "record",
    flatten: Sequence[str] = (),
    shuffle: Sequence[str] | Literal["keys"] = "keys",
    divergence: Measure = "kl",
    bound: float = 0.1,
    metrics: Mapping[str, Choice] | None = None,
    weights: Mapping[str, float] | None = None,
    reference: str | ArrayLike = "normal",
    targets: int = TARGETS,
    seed: int | np.random.Generator | None = 0,
    progress: Progress | None = None,
) -> Stirred:
    """Push lonely records back into the crowd, then shuffle or flatten values inside each cluster.

    Every key only needs a distance. Records that differ by at most epsilon_k in every key k form clusters;
    members of clusters with at most m records are moved into larger ones, changing only the values that
    stand out (`blend`); then keys are permuted inside each cluster, or set to its centroid (`stir`).

    Guarantee: every cluster has more than m records. Every published value is one that its column has. If
    every key is shuffled or flattened, and rows are published in random order, no attack on the keys finds
    the record of a given person with a probability above 1/(m+1). The divergence of each cluster's distances
    to its centroid is within the bound for `shuffle`. With epsilon chosen from the data, blending changes at
    most ``share`` of the values of a column, so its distribution moves by at most ``share`` in total
    variation; shuffling moves none. Not guaranteed: k-anonymity, unless all keys are flattened; anything
    about confidential values that a whole cluster shares (said in ``notes``).

    Parameters
    ----------
    frame : pandas, Polars, PyArrow or narwhals frame
        The table.
    schema : Schema
        Roles and kinds. Identifiers are dropped; keys make the clusters.
    m : int
        Clusters of at most m records are dissolved.
    epsilon, share : mapping, float or None; float
        See `voronym.records.clusters`.
    blend, unit : str
        See `voronym.records.blend`.
    flatten : sequence of str
        Keys or confidential columns that become the centroid's value in every cluster.
    shuffle : sequence of str or "keys"
        Keys or confidential columns to permute inside each cluster; by default all keys that are not
        flattened. A confidential column gets a permutation of its own.
    divergence, bound : {"kl", "emd"}, float
        What shuffling keeps within which bound, in nats or from 0 to 1.
    metrics : mapping, optional
        By column: a metric's name, a metric, a function of two values, or labels and a matrix; otherwise the
        kind decides (`voronym.records.fields.DEFAULTS`).
    weights : mapping, optional
        By column, for adding up distances; 1 by default.
    reference : {"normal", "uniform"} or array
        What distances are mapped to, see `voronym.space.mapping.DistanceMap`.
    targets : int
        Records that the linkage attack tries.
    seed : int, Generator or None
        The same seed gives the same table. Keep it secret: it undoes the shuffle.
    progress : callable, optional
        Told now and then; it may raise to stop the work.

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
    >>> made.figures["linkage"]["after"]["value"] <= 0.2
    True
    """
    rng = check_seed(seed)
    tell = silent if progress is None else progress
    bound = check_measure(divergence, bound)
    records = Table.of(frame, schema, only=[one.name for one in schema if one.role != "identifier"])
    table = records.frame
    m = _check_m(m, len(table))
    flattened = _columns(flatten, schema, "flatten")
    shuffled = (
        [name for name in schema.keys if name not in flattened]
        if isinstance(shuffle, str) and shuffle == "keys"
        else _columns(shuffle, schema, "shuffle")
    )
    both = [name for name in shuffled if name in flattened]
    if both:
        raise InputError(f"columns are either flattened or shuffled, not both: {listing(both)}")
    used = [name for name in (*flattened, *shuffled) if name not in schema.keys]
    chosen = dict(metrics or {})
    fields, field_notes = make_fields(
        records, schema.keys, {k: v for k, v in chosen.items() if k in schema.keys}
    )
    extra, extra_notes = make_fields(records, used, {k: v for k, v in chosen.items() if k not in schema.keys})
    space = Mixed.fit(fields, weights=weights, reference=reference, rng=rng)
    original = space.codes
    before = clusters(space, m=m, epsilon=epsilon, share=share, progress=tell)
    moved = blending.blend(
        space, before, m=m, mode=blend, unit=unit, measure=divergence, bound=bound, rng=rng, progress=tell
    )
    middle = describe(space, moved.codes, moved.partition, before.epsilon)
    at = {name: k for k, one in enumerate(fields) for name in one.columns}
    flat_keys = sorted({at[name] for name in flattened if name in at})
    shuffled_keys = sorted({at[name] for name in shuffled if name in at})
    # Flattened first: what is constant in a cluster ties no combination to a row.
    codes = stir.flatten(moved.codes, middle, flat_keys)
    mixed_up = stir.shuffle(
        space, codes, middle, shuffled_keys, measure=divergence, bound=bound, rng=rng, progress=tell
    )
    codes = mixed_up.codes
    others = _stir_others(extra, flattened, middle, rng)
    after = describe(space, codes, moved.partition, before.epsilon)
    made = rebuild_columns(records, fields, codes)
    if extra:
        made |= rebuild_columns(records, extra, others)
    out = nw.from_dict({name: made.get(name, table[name]) for name in table.columns})
    risk = {
        "before": linkage(space, original, original, targets=targets, rng=np.random.default_rng(0)).to_dict(),
        "after": linkage(
            space, original, codes, targets=targets, rng=np.random.default_rng(0), progress=tell
        ).to_dict(),
    }
    figures = figures_of(
        space, original, codes, before, middle, after, moved, mixed_up, m=m, mode=blend, measure=divergence,
        bound=bound, extra=extra, others=others,
    )  # fmt: skip
    figures["linkage"] = risk
    notes = field_notes + extra_notes + notes_of(
        space, codes, table, schema, middle, figures, flat_keys, shuffled_keys
    )  # fmt: skip
    steps = steps_of(space, before, figures, flattened, shuffled)
    return Stirred(
        out,
        figures,
        notes,
        steps,
        None,
        before=before,
        after=after,
        space=space,
        codes=codes,
        moved=moved.moved,
    )


@dataclass(frozen=True)
class RecordsOptions(Options):
    """Options of the method records."""

    m: int = option(4, "clusters of at most m records are dissolved")
    epsilon: Epsilon = option(
        None, "how far apart two values of a column may be in a cluster; by column, or one for all"
    )
    share: float = option(
        SHARE, "share of a column's values that blending may change, where epsilon is not given"
    )
    blend: str = option(
        "element", "what a moved record takes over: element (only what stands out), centroid or noise"
    )
    unit: str = option("record", "what is moved at a time: record or cluster")
    flatten: Sequence[str] = option(
        (), "keys or confidential columns that become the same in a cluster", shape="columns"
    )
    shuffle: Sequence[str] = option(
        "keys", "columns to permute inside each cluster; by default all keys not flattened", shape="columns"
    )
    divergence: str = option("kl", "what shuffling keeps within the bound: kl or emd")
    bound: float = option(0.1, "that bound, in nats or from 0 to 1")
    metrics: Mapping[str, Choice] | None = option(
        None, "by column, its metric where the kind should not decide", check=by_column, shape="by column"
    )
    weights: Mapping[str, float] | None = option(
        None, "by column, how much it counts; 1 by default", check=by_column, shape="by column"
    )
    reference: str = option("normal", "what distances are mapped to: normal or uniform")
    targets: int = option(TARGETS, "records that the linkage attack tries")


@table_method(
    "records",
    guarantee="every cluster has more than m records; a person's record is found among the keys with "
    "probability at most 1/(m+1) where all keys are shuffled or flattened",
    cost="near O(n log n); memory O(n d)",
    reference="equations 2 to 10 of the paper on pushing outliers back into the crowd",
    options=RecordsOptions,
)
def records(table: Table, ctx: Context, options: RecordsOptions) -> Stirred:
    """Push lonely records back into the crowd, then shuffle or flatten values inside each cluster.

    What `anonymize_records` does.
    """
    return anonymize_records(table, table.schema, **vars(options), seed=ctx.rng, progress=ctx)


def _stir_others(
    extra: Sequence[Field], flattened: Sequence[str], found: Clusters, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Flatten or permute confidential columns inside the clusters, each by itself."""
    labels, m = found.partition.labels, found.partition.n_cells
    made = []
    for one in extra:
        if one.columns[0] in flattened:
            made.append(medoids(one, one.codes, labels, m)[labels])
            continue
        order = np.lexsort((rng.random(len(labels)), labels))
        new = np.empty(len(labels), np.int64)
        new[np.argsort(labels, kind="stable")] = one.codes[order]
        made.append(new)
    return np.stack(made, axis=1) if made else np.empty((len(labels), 0), np.int64)


def _check_m(m: object, n: int) -> int:
    if isinstance(m, bool) or not isinstance(m, Integral) or int(m) < 1:
        raise InputError(
            f"m must be a whole number, 1 or more, not {m!r}: clusters of at most m are dissolved"
        )
    if int(m) >= n:
        raise InputError(
            f"m={m}, but there are {n} records: no cluster can have more than m; take a smaller m"
        )
    return int(m)


def _columns(names: Any, schema: Schema, what: str) -> list[str]:
    if isinstance(names, str):
        raise InputError(f"{what} must be a list of columns, not the text {names!r}")
    given = list(dict.fromkeys(names))
    bad = [name for name in given if name not in (*schema.keys, *schema.confidential)]
    if bad:
        raise InputError(f"{what} names columns that are neither keys nor confidential: {listing(bad)}")
    partners = [schema[name].partner for name in given]
    return given + [p for p in partners if p is not None and p not in given]
