"""Records and groups in the plane."""

from __future__ import annotations

from voronym.dossier import Dossier
from voronym.dossier.parts import Cloud, GroupMap, ShiftMap
from voronym.report import maps
from voronym.report.section import Data, section
from voronym.report.svg import percent
from voronym.report.write import Table, plural

_HEAD = ("figure", "value")


@section("plane:groups", "Records and groups in the plane", needs=("inside.plane",), place=10)
def group_map(_: Dossier, result: GroupMap | ShiftMap) -> Data | None:
    """Show records, groups and centres on the first two principal axes of the encoded keys."""
    if not isinstance(result, GroupMap):
        return None
    rows: list[tuple[str, object]] = [
        ("records", result.records),
        ("records drawn", len(result.points)),
        ("groups", result.groups),
        ("groups drawn", len(result.sizes)),
        *((f"{which} axis: share of variance", part) for which, part in _axes(result)),
    ]
    return {
        "figure": maps.groups(result, title="Records and groups in the plane"),
        "table": Table.of(_HEAD, rows),
        "found": result,
        "all_drawn": len(result.points) == result.records,
    }


@section("plane:shift", "Records before and after, in the plane", needs=("inside.plane",), place=10)
def shift_map(d: Dossier, group_map: GroupMap | ShiftMap) -> Data | None:
    """Show the same records before and after on the same axes; trace outliers, or some at random."""
    if not isinstance(group_map, ShiftMap):
        return None
    coloured = len({group for group in group_map.groups if group >= 0})
    if d.public.stirred is not None:
        what, whose = "Clusters", "an outlier"
        before = (
            f"Ringed: {plural(group_map.outliers, 'record')} in clusters of at most {d.public.stirred.m}."
        )
        rows: list[tuple[str, object]] = [
            ("clusters", group_map.clusters),
            ("clusters in colour", coloured),
            ("outliers", group_map.outliers),
            ("outliers drawn", len(group_map.marked)),
        ]
    else:
        what, whose = "Records", "a ringed one"
        before = f"{plural(len(group_map.before), 'record')}; {len(group_map.marked)} of them ringed."
        rows = [(f"variance on the {which} axis", part) for which, part in _axes(group_map)]
    after = f"The same records as published. A line leads back to where {whose} stood."
    table = [("records", group_map.records), ("records drawn", len(group_map.before)), *rows]
    return {
        "title": f"{what} before and after, in the plane",
        "figure": maps.shift(group_map, words=(before, after), title=f"{what} in the plane"),
        "table": Table.of(_HEAD, table),
        "found": group_map,
        "coloured": coloured,
    }


@section(
    "plane:cloud", "The published records in the plane", needs=("public.plane",), audience="public", place=10
)
def cloud(d: Dossier, result: Cloud) -> Data:
    """Show the published combinations of keys in the plane, larger if more records share one."""
    shares = zip(result.axes, result.shares, strict=True)
    rows: list[tuple[str, object]] = [
        ("combinations of keys", d.public.risk.n_classes),
        ("drawn", len(result.points)),
        *((f"variance on the {name.split(' (')[0]}", percent(100 * part)) for name, part in shares),
    ]
    drawn = maps.cloud(result, title="Published combinations of keys in the plane")
    many = len(result.points) > maps.MANY
    return {"figure": drawn, "table": Table.of(_HEAD, rows), "found": result, "many": many}


def _axes(group_map: GroupMap | ShiftMap) -> list[tuple[str, str]]:
    """Return the axes that mean something, with their shares of the variance."""
    shares = [percent(100 * part) for part in group_map.shares]
    return list(zip(("first", "second"), shares, strict=True))[: min(2, group_map.dimensions)]
