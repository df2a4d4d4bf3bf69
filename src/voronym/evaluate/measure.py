"""Measure any table: what it promises, what it gives away and, beside its original, what it lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypedDict, Unpack

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray

from voronym.arguments import checked
from voronym.context import Context, Progress
from voronym.errors import InputError, SchemaError
from voronym.evaluate import attacks
from voronym.evaluate.pair import Pair, encode, make_pair, numbers, row_map, scaled
from voronym.evaluate.penalty import Penalty, penalty
from voronym.evaluate.risk import Risk, risk
from voronym.evaluate.texts import note_on, rewritten, without_guards
from voronym.evaluate.utility import Utility, compare
from voronym.plain import Plain
from voronym.privacy import Finding, Model, listed_models, models, parse_model
from voronym.privacy.confidential import ConfidentialModel
from voronym.table.classes import check_columns
from voronym.table.frame import as_frame
from voronym.table.kinds import find_kind
from voronym.table.read import read
from voronym.table.schema import Column, Kind, Schema
from voronym.table.table import Table
from voronym.table.values import Values

_WORK = 1e10  # coordinates compared at most in a search that a k-d tree cannot shorten


class Columns(TypedDict, total=False):
    """What is known about columns: their kinds, the levels of ordinal ones, pairs of coordinates."""

    kinds: Mapping[str, Kind] | None
    orders: Mapping[str, Sequence[str]] | None
    locations: Sequence[tuple[str, str]]
    person: str | None
    household: str | None


@dataclass(frozen=True)
class Attacks:
    """How a table is attacked.

    Parameters
    ----------
    threshold : float
        Risk above which a record counts as at risk.
    percent : float
        Half width of the disclosure intervals, in percent of a standard deviation and of the ranks.
    targets : int
        Originals that are attacked at most.
    confidence : float
        Coverage of the confidence intervals.
    """

    threshold: float = 0.2
    percent: float = 10.0
    targets: int = attacks.TARGETS
    confidence: float = 0.95


_ATTACKS = Attacks()


@dataclass(frozen=True)
class Measurement(Plain):
    """What `measure` found. With an original it holds figures of it: not for publication.

    Parameters
    ----------
    keys, confidential : tuple of str
        The columns by role.
    findings : tuple of Finding
        One per privacy model.
    risk : Risk
        Sizes of classes and what follows from them.
    original_risk : Risk or None
        The same for the original.
    utility : Utility or None
        What was lost, where the original was given.
    linkage : Linkage or None
        Record linkage of the originals to the table.
    penalty : Penalty or None
        What was lost in ranges, where it is known which row belongs to which.
    intervals : tuple of Interval
        Interval disclosure of each numeric key.
    basis : {"aligned", "nearest", None}
        What the intervals compare an original with: its own released record, or the nearest one, where it is
        not known which is its own.
    notes : tuple of str
        What was left out, and why.
    seed : int
        Seed of all samples.
    """

    keys: tuple[str, ...]
    confidential: tuple[str, ...]
    findings: tuple[Finding, ...]
    risk: Risk
    original_risk: Risk | None = None
    utility: Utility | None = None
    linkage: attacks.Linkage | None = None
    penalty: Penalty | None = None
    intervals: tuple[attacks.Interval, ...] = ()
    basis: str | None = None
    notes: tuple[str, ...] = ()
    seed: int = 0

    @property
    def holds(self) -> bool:
        """Whether every required model holds."""
        return all(finding.holds for finding in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """Return plain, JSON-able types."""
        return {**super().to_dict(), "holds": self.holds}

    def __str__(self) -> str:
        parts = ["Privacy", *(f"  {line}" for finding in self.findings for line in _lines(finding))]
        parts += ["", "Risk from the table alone"]
        parts += [f"  {line}" for line in str(self.risk).splitlines()]
        if self.original_risk is not None:
            parts.append(
                f"  (the original: k = {self.original_risk.k}, {self.original_risk.uniqueness:.2%} unique)"
            )
        if self.linkage is not None:
            parts += ["", "Risk against the original", f"  record linkage: {self.linkage}"]
            whose = "its own" if self.basis == "aligned" else "the nearest"
            parts += [
                f"  {i.column}: for {i.sd.value:.1%} of the people {whose} record is within {i.percent:g} % "
                f"of a standard deviation, for {i.rank.value:.1%} within {i.percent:g} % of the ranks"
                for i in self.intervals
            ]
        if self.utility is not None:
            parts += ["", "Utility", *(f"  {line}" for line in str(self.utility).splitlines())]
        if self.penalty is not None:
            parts.append(f"  in ranges: {self.penalty}")
        if self.notes:
            parts += ["", "Notes", *(f"  {note}" for note in self.notes)]
        return "\n".join(parts)

    def __repr__(self) -> str:
        n, k = self.risk.records, self.risk.k
        beside = "" if self.utility is None else ", beside its original"
        return f"Measurement({n} records, k={k}, keys {', '.join(self.keys)}{beside})"


@checked
def measure(
    table: Any,
    *,
    keys: Sequence[str],
    confidential: Sequence[str] = (),
    original: Any = None,
    aligned: bool | ArrayLike = False,
    models: Model | str | Sequence[Model | str] | Mapping[str, Any] = (),
    population: Any = None,
    hierarchies: Mapping[str, Any] | None = None,
    attack: Attacks = _ATTACKS,
    seed: int = 0,
    progress: Progress | None = None,
    **columns: Unpack[Columns],
) -> Measurement:
    """Measure the privacy of a table and, beside its original, the risk and the loss.

    The table may come from anywhere. It is measured as it is; nothing is changed.

    Parameters
    ----------
    table : DataFrame, str or Path
        pandas, Polars or PyArrow, or a file that `voronym.read` reads: the table that is or will be released.
    keys, confidential : sequences of str
        Columns that an intruder may know; columns that an intruder wants to learn.
    original : DataFrame, str or Path, optional
        The table it was made from. It may have more columns, and rows in another order. Adds record linkage,
        interval disclosure and utility.
    aligned : bool or array
        True: row i of both tables is the same person. An array: the original row of each row of the table.
        Otherwise linkage is bounded from above and the information loss is not known.
    models : sequence of Model or str
        What the table must fulfil, such as ``"k-anonymity=5"``. Every other registered model is measured
        without a requirement.
    population : DataFrame, str or Path, optional
        The population of which the table is a part, for the journalist risk.
    hierarchies : mapping, optional
        By column, its hierarchy, for what was lost in ranges: see `voronym.evaluate.penalty`.
    attack : Attacks
        How many originals are attacked, and what counts as a success.
    seed : int
        For all samples.
    progress : callable, optional
        Called with a `voronym.Step` now and then.
    **columns
        ``kinds``, ``orders``, ``locations``, ``person`` and ``household``, as for `voronym.anonymize`. With
        the last two, k and all models count people or households.

    Returns
    -------
    Measurement

    Raises
    ------
    InputError
        A column is unknown, the two tables have different columns, or aligned tables differ in length.

    Examples
    --------
    >>> import polars as pl
    >>> before = pl.DataFrame({"age": [20, 30, 60, 70], "ill": ["a", "b", "a", "b"]})
    >>> after = pl.DataFrame({"age": [25, 25, 65, 65], "ill": ["a", "b", "a", "b"]})
    >>> found = measure(after, keys=["age"], confidential=["ill"], original=before, aligned=True)
    >>> found
    Measurement(4 records, k=2, keys age, beside its original)
    >>> found.linkage.rate.value  # the right group each time, then one of two
    0.5
    """
    ctx = Context(seed=seed, progress=progress)
    if table is None:
        raise InputError("there is no table to measure: give a data frame or a file")
    frame, original, population = _open(table), _open(original), _open(population)
    if original is not None:
        frame = without_guards(frame, original)
    check_columns(frame, keys, "key")
    check_columns(frame, confidential, "confidential")
    if not keys:
        raise InputError("no key column is named; name the columns that an intruder may know")
    source = frame if original is None else original
    if original is None and aligned is not False:
        raise InputError("aligned says how rows correspond to an original, but no original was given")
    counting = ctx.part(0.0, 0.2, stage="counting")
    counting.tell(0.0, whole=True)
    notes: list[str] = []
    schema = schema_of(frame, source, keys, confidential, columns, notes)
    records = Table.of(frame, schema)
    findings = _findings(records, models, notes)
    counted = risk(frame, keys, threshold=attack.threshold, population=population, units=records.units)
    if records.units is not None:
        notes.append(
            f"sizes of classes are numbers of {records.units.counted}; linkage and utility are of rows"
        )
    counting.tell(1.0, whole=True)
    made: dict[str, Any] = {}
    if original is not None:
        pair = make_pair(source, frame, schema)
        changed = rewritten(source, frame, [name for name in frame.columns if name not in keys])
        notes += [note_on(changed, len(frame))] if changed else []
        made["original_risk"] = risk(source, keys, threshold=attack.threshold)
        linked = row_map(aligned, len(source), len(frame))
        made |= _beside(pair, linked, counted, attack, ctx, notes)
        if linked is not None:
            made["penalty"] = penalty(source, frame, schema, linked, hierarchies=hierarchies)
    ctx.done()
    return Measurement(
        tuple(keys), tuple(confidential), findings, counted, notes=tuple(notes), seed=seed, **made
    )


def _beside(
    pair: Pair,
    rows: NDArray[np.int64] | None,
    counted: Risk,
    attack: Attacks,
    ctx: Context,
    notes: list[str],
) -> dict[str, Any]:
    """Attack the originals and measure what was lost; the fields of a `Measurement` that need them."""
    made: dict[str, Any] = {}
    points = None
    try:
        X, Y, codec, note = encode(pair)
        points = (X, Y, codec)
        notes += [] if note is None else [note]
    except SchemaError as error:
        notes.append(f"no record linkage: {error}")
    if points is not None:
        attack = replace(attack, targets=_affordable(attack.targets, counted.n_classes, X.shape[1]))
        truth = None if rows is None else _inverse(rows, len(X))
        made["linkage"] = attacks.record_linkage(
            X,
            Y,
            truth=truth,
            targets=attack.targets,
            confidence=attack.confidence,
            ctx=ctx.part(0.2, 0.6, stage="attacking"),
        )
        made["basis"] = "nearest" if truth is None else "aligned"
        made["intervals"] = _intervals(pair, (X, Y), truth, attack, ctx.part(0.6, 0.7, stage="attacking"))
    made["utility"] = compare(pair, rows, ctx.part(0.7, 1.0, stage="comparing"), points)
    notes += [note for note in made["utility"].notes if note not in notes]
    return made


def _open(data: Any) -> Any:
    """Return a table, read from its file if need be, as a narwhals frame; None stays None."""
    if data is None:
        return None
    return as_frame(read(data) if isinstance(data, (str, Path)) else data)


def schema_of(
    frame: nw.DataFrame[Any],
    source: nw.DataFrame[Any],
    keys: Sequence[str],
    confidential: Sequence[str],
    options: Columns,
    notes: list[str],
) -> Schema:
    """Build a schema from the original; a table that cannot be encoded can still be counted."""
    strange = [name for name in frame.columns if name not in source.columns]
    if strange:
        raise InputError(
            f"original and table have different columns: the original lacks {', '.join(map(repr, strange))}; "
            "compare a table with the one it was made from"
        )
    units = (options.get("person"), options.get("household"))
    rest = [name for name in frame.columns if name not in (*keys, *confidential, *units)]
    roles: dict[str, Any] = {"keys": keys, "confidential": confidential, "other": rest}
    try:
        return Schema.build(source, **roles, **options, drop_undeclared=True)
    except SchemaError as error:
        if any(options.values()) or set(keys) & set(confidential):
            raise
        notes.append(str(error))
    columns = [*((k, "key") for k in keys), *((c, "confidential") for c in confidential)]
    columns += [(name, "other") for name in rest]
    made = []
    for name, role in columns:
        found = find_kind(Values(source[name]))
        made.append(Column(name, role, found.kind, found.categories))  # type: ignore[arg-type]
    return Schema(tuple(made))


def _findings(table: Table, wanted: object, notes: list[str]) -> tuple[Finding, ...]:
    """Measure the required models, then every registered one that was not asked for."""
    asked = [parse_model(m) if isinstance(m, str) else m for m in listed_models(wanted)]
    schema = table.schema
    found = [model.measure(table) for model in asked]
    known = {model.name for model in asked}
    rest = {
        name: cls.parse(None)
        for name, cls in models().items()
        if name not in known and getattr(cls, "unasked", True)
    }
    skipped = []
    for name in sorted(rest, key=lambda name: (getattr(rest[name], "strength", 9), name)):
        if not schema.confidential and isinstance(rest[name], ConfidentialModel):
            skipped.append(name)
            continue
        try:
            found.append(rest[name].measure(table))
        except InputError as error:
            notes.append(f"{name}: not measured: {error}")
    if skipped:
        notes.append(f"not measured, since no confidential column is named: {', '.join(skipped)}")
    return tuple(found)


def _lines(finding: Finding) -> list[str]:
    """Return a finding as printed: its line, one for each column if there are several, and estimates."""
    lines = [str(finding)]
    columns: Any = finding.detail.get("columns", {})
    for name, figures in columns.items():
        said = []
        if len(columns) > 1:
            value = figures["value"]
            said.append("infinite" if np.isinf(value) else f"{value:g}")
        if "corrected" in figures:
            low, high = figures["interval"]
            said.append(f"corrected {figures['corrected']:.4g} ({low:.4g} to {high:.4g})")
            said.append(f"by chance {figures['chance']:.4g}, of {figures['entropy']:.4g} nats in all")
        if said:
            lines.append(f"  {name}: {', '.join(said)}")
    return lines


def _affordable(targets: int, classes: int, width: int) -> int:
    """Return how many targets to attack: beyond some ten dimensions a k-d tree looks at every point."""
    if width <= 10:
        return targets
    return int(min(targets, max(1000, _WORK // (classes * width))))


def _inverse(rows: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """Return the released row of each original from the original row of each released one."""
    truth = np.full(n, -1, np.int64)
    truth[rows] = np.arange(len(rows))
    return truth


def _intervals(
    pair: Pair,
    points: tuple[NDArray[np.float64], NDArray[np.float64]],
    truth: NDArray[np.int64] | None,
    attack: Attacks,
    ctx: Context,
) -> tuple[attacks.Interval, ...]:
    X, Y = points
    some = np.arange(len(X))
    if truth is not None:
        linked = truth
    else:
        if len(X) > attack.targets:
            some = np.sort(ctx.rng.choice(len(X), attack.targets, replace=False))
        linked = attacks.nearest_released(X[some], Y, ctx)
    found = []
    for name in pair.schema.keys:
        if pair.schema[name].kind not in ("numeric", "location", "datetime"):
            continue
        x, y = numbers(pair.original[name]), numbers(pair.released[name])
        if x is None or y is None:
            continue
        (x, y), _ = scaled(x, y)
        x = x[some]
        # An original without a released record is no target: nothing about it was published.
        there = linked >= 0
        one = attacks.interval_disclosure(
            x[there],
            y[linked[there]],
            column=name,
            percent=attack.percent,
            published=y,
            population=len(X) if truth is None else int(there.sum()),
            confidence=attack.confidence,
        )
        found += [] if one is None else [one]
    return tuple(found)
