"""Records and groups in the plane."""

from __future__ import annotations

from voronym.dossier import Dossier
from voronym.dossier.parts import GroupMap, ShiftMap
from voronym.report import maps
from voronym.report.section import Data, section
from voronym.report.svg import percent
from voronym.report.write import Table, plural, svg


@section(
    "plane:groups", "Records and groups in the plane", needs=("inside.plane",), audience="internal", place=10
)
def group_map(d: Dossier) -> Data | None:
    """Show records, groups and centres on the first two principal axes of the encoded keys."""
    found = d.inside.plane if d.inside else None
    if not isinstance(found, GroupMap):
        return None
    drawn = maps.groups(
        found,
        title="Records and groups in the plane",
        desc=f"{len(found.points)} records in {len(found.sizes)} groups on the first two principal axes.",
    )
    rows: list[tuple[str, object]] = [
        ("records", found.records),
        ("records drawn", len(found.points)),
        ("groups", found.groups),
        ("groups drawn", len(found.sizes)),
    ]
    axes = [(f"{which} axis: share of variance", percent(100 * part)) for which, part in _axes(found)]
    return {
        "figure": svg(drawn),
        "table": Table.of(("figure", "value"), [*rows, *axes]),
        "found": found,
        "all_drawn": len(found.points) == found.records,
    }


@section(
    "plane:shift",
    "Records before and after, in the plane",
    needs=("inside.plane",),
    audience="internal",
    place=10,
)
def shift_map(d: Dossier) -> Data | None:
    """Show the same records before and after on the same axes; outliers, or some at random, are traced."""
    found = d.inside.plane if d.inside else None
    if not isinstance(found, ShiftMap):
        return None
    coloured = len({group for group in found.groups if group >= 0})
    if d.public.stirred is not None:
        title = "Clusters before and after, in the plane"
        before = f"Ringed: {plural(found.outliers, 'record')} in clusters of at most {d.public.stirred.m}."
        after = "The same records as published. A line leads back to where an outlier stood."
        rows: list[tuple[str, object]] = [
            ("clusters", found.clusters),
            ("clusters in colour", coloured),
            ("outliers", found.outliers),
            ("outliers drawn", len(found.marked)),
        ]
    else:
        title = "Records before and after, in the plane"
        before = f"{plural(len(found.before), 'record')}; {len(found.marked)} of them ringed."
        after = "The same records as published. A line leads back to where a ringed one stood."
        rows = [(f"variance on the {which} axis", percent(100 * part)) for which, part in _axes(found)]
    table = [("records", found.records), ("records drawn", len(found.before)), *rows]
    return {
        "title": title,
        "figure": svg(maps.shift(found, words=(before, after), title="Records in the plane")),
        "table": Table.of(("figure", "value"), table),
        "found": found,
        "coloured": coloured,
    }


@section(
    "plane:cloud", "The published records in the plane", needs=("public.plane",), audience="public", place=10
)
def cloud(d: Dossier) -> Data | None:
    """Show the published combinations of keys in the plane, larger where more records share one."""
    found = d.public.plane
    if found is None:
        return None
    drawn = maps.cloud(
        found,
        title="Published combinations of keys in the plane",
        desc=f"{len(found.points)} published combinations of keys on their first two principal axes.",
    )
    rows: list[tuple[str, object]] = [
        ("combinations of keys", d.public.risk.n_classes),
        ("drawn", len(found.points)),
    ]
    rows += [
        (f"variance on the {name.split(' (')[0]}", percent(100 * part))
        for name, part in zip(found.axes, found.shares, strict=True)
    ]
    return {"figure": svg(drawn), "table": Table.of(("figure", "value"), rows), "found": found}


def _axes(found: GroupMap | ShiftMap) -> list[tuple[str, float]]:
    """Return the axes that mean something, with their shares of the variance."""
    return list(zip(("first", "second"), found.shares, strict=True))[: min(2, found.dimensions)]
