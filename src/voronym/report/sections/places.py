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
def group_map(_: Dossier, found: GroupMap | ShiftMap) -> Data | None:
    """Show records, groups and centres on the first two principal axes of the encoded keys."""
    if not isinstance(found, GroupMap):
        return None
    rows: list[tuple[str, object]] = [
        ("records", found.records),
        ("records drawn", len(found.points)),
        ("groups", found.groups),
        ("groups drawn", len(found.sizes)),
        *((f"{which} axis: share of variance", part) for which, part in _axes(found)),
    ]
    return {
        "figure": maps.groups(found, title="Records and groups in the plane"),
        "table": Table.of(_HEAD, rows),
        "found": found,
        "all_drawn": len(found.points) == found.records,
    }


@section("plane:shift", "Records before and after, in the plane", needs=("inside.plane",), place=10)
def shift_map(d: Dossier, found: GroupMap | ShiftMap) -> Data | None:
    """Show the same records before and after on the same axes; outliers, or some at random, are traced."""
    if not isinstance(found, ShiftMap):
        return None
    coloured = len({group for group in found.groups if group >= 0})
    if d.public.stirred is not None:
        what, whose = "Clusters", "an outlier"
        before = f"Ringed: {plural(found.outliers, 'record')} in clusters of at most {d.public.stirred.m}."
        rows: list[tuple[str, object]] = [
            ("clusters", found.clusters),
            ("clusters in colour", coloured),
            ("outliers", found.outliers),
            ("outliers drawn", len(found.marked)),
        ]
    else:
        what, whose = "Records", "a ringed one"
        before = f"{plural(len(found.before), 'record')}; {len(found.marked)} of them ringed."
        rows = [(f"variance on the {which} axis", part) for which, part in _axes(found)]
    after = f"The same records as published. A line leads back to where {whose} stood."
    table = [("records", found.records), ("records drawn", len(found.before)), *rows]
    return {
        "title": f"{what} before and after, in the plane",
        "figure": maps.shift(found, words=(before, after), title=f"{what} in the plane"),
        "table": Table.of(_HEAD, table),
        "found": found,
        "coloured": coloured,
    }


@section(
    "plane:cloud", "The published records in the plane", needs=("public.plane",), audience="public", place=10
)
def cloud(d: Dossier, found: Cloud) -> Data:
    """Show the published combinations of keys in the plane, larger where more records share one."""
    shares = zip(found.axes, found.shares, strict=True)
    rows: list[tuple[str, object]] = [
        ("combinations of keys", d.public.risk.n_classes),
        ("drawn", len(found.points)),
        *((f"variance on the {name.split(' (')[0]}", percent(100 * part)) for name, part in shares),
    ]
    drawn = maps.cloud(found, title="Published combinations of keys in the plane")
    many = len(found.points) > maps.MANY
    return {"figure": drawn, "table": Table.of(_HEAD, rows), "found": found, "many": many}


def _axes(found: GroupMap | ShiftMap) -> list[tuple[str, str]]:
    """Return the axes that mean something, with their shares of the variance."""
    shares = [percent(100 * part) for part in found.shares]
    return list(zip(("first", "second"), shares, strict=True))[: min(2, found.dimensions)]
