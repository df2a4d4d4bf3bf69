"""Sections that need the release alone: its table, schema, recipe, findings and risk.

A `View` is all that these sections see. It holds no original record, so that a public report cannot tell one;
of the originals there are only percentages over the whole table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import narwhals as nw
import numpy as np
import tomli_w

from voronym.errors import VoronymError
from voronym.report import figures
from voronym.report.columns import as_names, bin_sizes, distribution
from voronym.report.parts import Block, Fact, Section, Table, cell, names, plural, share, svg
from voronym.report.plane import principal_axes
from voronym.report.safe import public_figures, public_options
from voronym.report.svg import clean, percent
from voronym.table.codec import Codec

OPEN_COLUMNS = 12


@dataclass(frozen=True)
class View:
    """What everybody may know about a release."""

    table: nw.DataFrame[Any]
    schema: Any
    recipe: Any
    findings: tuple[Any, ...]
    risk: Any
    loss: float | None
    published: float | None
    gap: float | None
    warnings: tuple[str, ...]
    figures: Mapping[str, Any] = field(default_factory=dict)
    """What a method that makes no cells measured, as far as everybody may know it."""
    steps: tuple[str, ...] = ()

    @classmethod
    def of(cls, release: Any) -> View:
        """Take from a release what everybody may know; nothing else of it goes any further."""
        masked = getattr(release.recipe, "masks", False)
        return cls(
            table=nw.from_native(release.table, eager_only=True),
            schema=release.schema,
            recipe=release.recipe,
            findings=tuple(release.findings),
            risk=release.risk,
            loss=getattr(release, "information_loss", None),
            published=getattr(release, "published_loss", None),
            gap=release.gap,
            warnings=tuple(release.warnings),
            figures=public_figures(release.recipe.method, release.figures) if masked else {},
            steps=tuple(release.steps) if masked else (),
        )

    @property
    def k(self) -> int | None:
        """The least number of records that share their keys, as measured."""
        if self.risk is not None:
            return int(self.risk.k)
        return next((int(f.value) for f in self.findings if f.model == "k-anonymity"), None)

    @property
    def keys(self) -> tuple[str, ...]:
        """Names of the keys."""
        return tuple(self.schema.keys)


def verdict(view: View) -> str:
    """Say in one sentence what holds."""
    broken = [f for f in view.findings if not f.holds]
    if broken:
        return f"This table does not keep its promise: {names([f.model for f in broken])} does not hold."
    if view.k is None:
        return "No guarantee was measured for this table."
    if view.k < 2:
        return "Some records have a combination of keys that nobody else has."
    return f"Every combination of keys is shared by at least {view.k} records."


def support(view: View) -> tuple[str, ...]:
    """Say in a few sentences how many records and cells there are and what was lost."""
    out = []
    if view.risk is not None:
        sizes = view.risk.histogram
        out.append(
            f"{plural(view.risk.records, 'record')} stand in {plural(view.risk.n_classes, 'cell')} of "
            f"{_range(min(sizes), max(sizes))} records. Those in a cell have the same values in "
            f"{names(view.keys, 6)}."
        )
    if view.loss is not None:
        out.append(
            "Replacing the keys by the centre of their cell lost "
            f"{percent(view.loss, fine=True)} of their variance."
        )
    if view.gap is not None:
        out.append(f"That is at most {percent(view.gap)} above the least possible loss.")
    return tuple(out)


def facts(view: View) -> tuple[Fact, ...]:
    """Pick the numbers that stand out."""
    out = []
    if view.k is not None:
        required = next((f.required for f in view.findings if f.model == "k-anonymity"), None)
        out.append(Fact(str(view.k), "smallest cell", f"{required:g} required" if required else "records"))
    if view.loss is not None:
        rounded = "" if view.published is None else f"; {percent(view.published, fine=True)} as published"
        out.append(Fact(percent(view.loss, fine=True), "information loss", f"of the keys’ variance{rounded}"))
    if view.risk is not None:
        out.append(Fact(share(view.risk.prosecutor_max), "highest risk", "of picking the right record"))
        out.append(Fact(f"{view.risk.records:,}", "records", f"in {plural(view.risk.n_classes, 'cell')}"))
    return tuple(out)


def plane(view: View) -> Section | None:
    """Show the published combinations of keys in the plane, larger where more records share one."""
    keys = view.table.select(*view.keys)
    try:
        X = Codec.fit(view.table, view.schema).encode(view.table)
    except VoronymError:  # a figure less is better than no report
        return None
    flat = principal_axes(X)
    points, sizes = np.unique(np.round(flat.points, 9), axis=0, return_counts=True)
    keep = np.random.default_rng(0).permutation(len(points))[:2000]
    drawing = figures.scatter_cells(
        None,
        None,
        points[keep],
        sizes[keep],
        axes=flat.axes,
        title="Published combinations of keys in the plane",
        desc=(
            f"{len(keep)} published combinations of {len(keys.columns)} keys on their first two principal "
            "axes."
        ),
    )
    shown = "all" if len(keep) == len(points) else f"a random {len(keep):,}"
    rows: list[tuple[object, ...]] = [
        ("combinations of keys", view.risk.n_classes if view.risk is not None else len(points)),
        ("drawn", len(keep)),
        (f"variance on the {flat.axes[0].split(' (')[0]}", percent(100 * flat.shares[0])),
        (f"variance on the {flat.axes[1].split(' (')[0]}", percent(100 * flat.shares[1])),
    ]
    block = Block(
        figure=svg(drawing),
        table=Table.of(("figure", "value"), rows),
        note=(
            f"Each circle is one published combination of keys ({shown} of {len(points):,} places); its "
            "area grows with the number of records that share it. The axes are those along which they "
            "vary most."
        ),
    )
    return Section("plane", "The published records in the plane", blocks=(block,))


def distributions(
    view: View, original: nw.DataFrame[Any] | None = None, *, words: str | None = None
) -> Section:
    """Show each key's distribution; against the original where that is given."""
    blocks = []
    for name in view.keys:
        column = view.schema[name]
        found = distribution(
            name,
            view.table[name],
            None if original is None else original[name],
            kind=column.kind,
            order=column.categories,
        )
        alone = original is None
        what = "released" if alone else "before and after"
        title = f"{clean(name)}: distribution {what}"
        desc = (
            f"Counts of {len(found.after)} {'categories' if found.names else 'bins'}; the table has the "
            "figures."
        )
        if found.names is not None:
            drawing = figures.bars(found.names, found.before, found.after, title=title, desc=desc)
        else:
            drawing = figures.histogram_pair(
                found.edges or [0, 1], found.before, found.after, title=title, desc=desc, dates=found.dates
            )
        rows: list[tuple[object, ...]] = [
            (row, *(() if found.before is None else (found.before[i],)), found.after[i])
            for i, row in enumerate(found.row_names())
        ]
        if found.missing_after or found.missing_before:
            rows.append(("(missing)", *(() if alone else (found.missing_before,)), found.missing_after))
        note = ""
        if found.missing_after or found.missing_before:
            old = "" if alone else f"{found.missing_before or 0:,} before, "
            note = f"Missing: {old}{found.missing_after:,}{'' if alone else ' after'}."
        if found.clipped:
            note += " The outer bars also count what lies beyond them."
        head = (_kind(column), "records") if alone else (_kind(column), "before", "after")
        blocks.append(Block(clean(name), svg(drawing), Table.of(head, rows), note.strip(), legend=not alone))
    if original is None:
        title, lead = "Distribution of each key", "Counts of records in the released table."
    else:
        title, lead = (
            "Distributions before and after",
            words
            or "Counts of records for each key. Cells pull extremes towards their centre, so tails grow "
            "shorter and rare categories may vanish.",
        )
    return Section("distributions", title, lead, tuple(blocks), shape="grid")


def sizes(view: View) -> Section | None:
    """Show how many cells there are of each size."""
    if view.risk is None:
        return None
    histogram = dict(view.risk.histogram)
    bins = [b for b in bin_sizes(histogram) if b.cells]
    drawing = figures.size_histogram(
        histogram,
        k=getattr(view.recipe, "k", None),
        title="Sizes of cells",
        desc=(
            f"{plural(view.risk.n_classes, 'cell')}; sizes run from {min(histogram)} to {max(histogram)} "
            "records."
        ),
    )
    rows = [(b.label, b.cells, share(b.records / view.risk.records)) for b in bins]
    table = Table.of(("records in the cell", "cells", "share of records"), rows)
    lead = (
        f"The smallest cell has {plural(min(histogram), 'record')}, the largest {max(histogram):,}. "
        "Cells that are published "
        "with the same keys count as one."
    )
    return Section("sizes", "Sizes of cells", lead, (Block(figure=svg(drawing), table=table),))


def risk_rows(risk: Any) -> list[tuple[str, float]]:
    """Return the risks that follow from the sizes of classes, as probabilities."""
    return [
        ("Records with a combination of keys of their own", float(risk.uniqueness)),
        ("Highest chance to pick a person’s record", float(risk.prosecutor_max)),
        ("Average chance to pick a person’s record", float(risk.prosecutor_mean)),
    ]


def risk(view: View) -> Section | None:
    """Show the risk of the released table, from the sizes of its classes."""
    if view.risk is None:
        return None
    rows = risk_rows(view.risk)
    drawing = figures.dot_ranges(
        [(label, None, 100 * value, None) for label, value in rows],
        title="Risk of re-identification",
        desc="Three risks of the released table, in percent; the table has the figures.",
        unit=" %",
    )
    table = Table.of(
        ("risk of the released table", "value"), [(label, share(value)) for label, value in rows]
    )
    lead = (
        "Somebody who knows all keys of a person in the table finds a cell, not a record. The chance "
        "to pick the right "
        "record in it is one over its size."
    )
    return Section("risk", "Risk of re-identification", lead, (Block(figure=svg(drawing), table=table),))


def findings(view: View) -> Table:
    """Return the guarantees as a table."""
    rows = [
        (
            f.model,
            *(None if v is None else f"{v:g}" for v in (f.value, f.required)),
            "holds" if f.holds else "does not hold",
        )
        for f in view.findings
    ]
    return Table.of(
        ("guarantee", "measured", "required", "verdict"), rows, caption="Measured on the released table"
    )


def repeat(
    view: View,
    steps: Sequence[str] = (),
    fates: Mapping[str, str] | None = None,
    *,
    public: bool = True,
    done: Sequence[str] | None = None,
) -> Section:
    """Say what was done and how to do it again; ``done`` is what a method without cells did."""
    schema = view.schema
    how = done if done is not None else _cells_done(view)
    told = [
        f"Dropped {plural(len(schema.identifiers), 'column')}: identifiers, and columns that were not "
        "declared."
        if schema.identifiers
        else "No column was declared an identifier.",
        *how,
        "Put the rows into a fresh random order, dropped any index and measured the result.",
    ]
    roles = [
        (column.name, column.role, _kind(column), (fates or {}).get(column.name) or _fate(column.role))
        for column in schema.columns
    ]
    text = tomli_w.dumps(_public_recipe(view) if public else view.recipe.to_dict())
    code = (
        (
            "On the command line",
            "voronym anonymize INPUT -o OUTPUT --recipe recipe.toml --report report.html",
        ),
        (
            "In Python",
            'import voronym as vr\n\nrecipe = vr.Recipe.load("recipe.toml")\nrelease = '
            'vr.anonymize("INPUT", recipe=recipe)',
        ),
        ("recipe.toml", text),
    )
    blocks = (
        Block("Guarantees", table=findings(view)),
        Block("Columns", table=Table.of(("column", "role", "kind", "what happened"), roles, numeric=False)),
    )
    if done is not None and (public or view.recipe.seed is None):
        foot = "The same recipe and the same data give another release: what is drawn is drawn afresh."
        if public:
            foot += " A seed, if one was given, is left out: it would undo the draw. So are hierarchies."
    else:
        foot = "The same recipe and the same data give the same release, up to the order of its rows."
    if public:
        foot += " Levels that do not occur in the released table are left out of this recipe."
    return Section(
        "repeat", "What was done, and how to repeat it", "", blocks, (*told, *steps), code, "text", foot
    )


def _cells_done(view: View) -> list[str]:
    return [
        f"Divided the records into cells of at least {view.recipe.k} with the method "
        f"“{clean(view.recipe.method)}” on "
        f"{names(view.keys)}.",
        "Replaced each key by the centre of its cell: the mean of numbers, dates and places, a level "
        "or category that "
        "occurs for the others.",
    ]


def limits(view: View, own: Sequence[str] = ()) -> Section:
    """Say what the report does not promise; ``own`` is what a method without cells has to say."""
    kept = (*view.schema.confidential, *view.schema.other)
    points = [*own, *_COMMON] if own else _cell_limits(view)
    if kept:
        points.insert(2, f"These columns were published as they were: {names(kept)}.")
    return Section("limits", "What this report does not promise", "", points=tuple(points), shape="text")


_COMMON = (
    "A person who is in two releases of the same data may stand out in their combination. Check them "
    "together.",
    "Columns were trusted as declared. A column that is no key here, but that somebody can look up "
    "elsewhere, "
    "is a key that was missed.",
)


def _cell_limits(view: View) -> list[str]:
    return [
        f"It hides who is who among {view.k or 'k'} records, for somebody who knows the keys and "
        "nothing else. It is not "
        "differential privacy: it bounds no other knowledge.",
        "If all records of a cell share a confidential value, that value is known for everyone in it. "
        "k-anonymity alone "
        "does not prevent this.",
        *_COMMON,
        "Rows count as people. If a person has several rows, fewer than k people may share a cell.",
        "Averages over large groups stay close to the original; single records, extremes and small "
        "groups do not.",
    ]


def _range(low: int, high: int) -> str:
    return cell(int(low)) if low == high else f"{cell(int(low))} to {cell(int(high))}"


def _kind(column: Any) -> str:
    return str(column.kind)


def _fate(role: str) -> str:
    return {"key": "replaced by the centre of its cell", "identifier": "dropped"}.get(role, "kept as it was")


def _public_recipe(view: View) -> dict[str, Any]:
    """Return the recipe without levels that no longer occur: they could be somebody's alone."""
    plain: dict[str, Any] = dict(view.recipe.to_dict())
    plain["options"] = public_options(plain.get("options", {}))
    if getattr(view.recipe, "masks", False):  # whoever has the seed can undo what was drawn
        plain.pop("seed", None)
    columns = []
    for row in plain.get("schema", {}).get("columns", ()):
        kept = {key: value for key, value in row.items() if key != "note"}
        if kept.get("categories") is not None:
            name = str(kept["name"])
            present = set(as_names(view.table[name])) if name in view.table.columns else set()
            kept["categories"] = [level for level in kept["categories"] if level in present]
        columns.append(kept)
    plain["schema"] = {"columns": columns}
    return plain
