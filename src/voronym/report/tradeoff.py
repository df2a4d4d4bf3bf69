"""What is lost against what is told: a comparison's methods, or a release, between their limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voronym.evaluate.tradeoff import Plane, letters, plane, told
from voronym.privacy.information import Estimate
from voronym.privacy.mutual_information import MutualInformation
from voronym.report.parts import Block, Section, Table, decimal, svg
from voronym.report.public import View
from voronym.report.riskplane import LOOKS, Dot, Line, risk_plane
from voronym.report.svg import clean, percent
from voronym.table.classes import equivalence_classes
from voronym.table.frame import as_frame

_SMALL = 20.0
"""A loss in percent below which the plane is drawn by roots, so that the release stands off the edge."""

_MOSTLY = 0.8
"""Share of the count that chance alone explains, above which the page says so."""

NAMES = {
    "floor": "no rule gets here: proven for this table",
    "reached": "least risk known to be reached",
    "miub": "keys unchanged or their mean, by lot",
    "normal": "least risk of normal data like these",
}
_NORMAL = (
    "Dashed: the least risk of any rule if keys and column were jointly normal with these covariances (the "
    "column by its ranks): a bound for such data, and only something to compare with for others."
)


def of_comparison(rows: Sequence[Mapping[str, Any]], found: Plane) -> Section | None:
    """Show every method and k in the plane of loss and risk."""
    used = [row for row in rows if row.get("information") is not None]
    if not used:
        return None
    losses = [float(row["loss"]) for row in used]
    right = 1.06 * max(losses) or 1.0
    root = max(losses) > 6 * min(losses)
    tall = 1.12 * max(r["information"].plug_in for r in used) or 1.0
    high = 1.12 * max(r["information"].high for r in used) or 1.0
    here = {m: [r for r in used if clean(r["method"]) == m] for m in {clean(r["method"]): 0 for r in used}}
    column = clean(found.levels.column)
    limits = _lines(found, ("floor", "reached", "miub"), right, tall)
    normal = _lines(found, ("normal",), right, high)
    counted = risk_plane(
        {
            m: [Dot(r["loss"], r["information"].plug_in, None, f"k={r['k']}") for r in own]
            for m, own in here.items()
        },
        limits,
        title=f"Loss and what the cells tell about {column}",
        desc=f"One mark for each of {len(used)} results, with limits; the table has the figures.",
        limits=(right, tall),
        root=root,
        labels=_k_labels(used, "plug_in"),
    )
    estimated = risk_plane(
        {
            m: [
                Dot(
                    r["loss"],
                    r["information"].corrected,
                    (r["information"].low, r["information"].high),
                    f"k={r['k']}",
                )
                for r in own
            ]
            for m, own in here.items()
        },
        normal,
        title=f"Loss and what the cells would tell about {column} in the population",
        desc=f"One mark with an interval for each of {len(used)} results; the table has the figures.",
        limits=(right, high),
        root=root,
        labels=_k_labels(used, "high"),
        joined=False,
    )
    lead = (
        f"Each mark is a method at one k. Down and to the left is better. Risk is the mutual information "
        f"between {column} ({found.levels.how}) and the cell: {decimal(found.unchanged.entropy)} nats "
        f"would be all there is to learn, and the keys unchanged tell {decimal(found.unchanged.plug_in)}."
    )
    blocks = (
        Block(
            "In this table",
            svg(counted),
            _limits_table(used),
            "Counted in the cells of this table. Small cells tell much by chance alone. "
            + _about(limits, found, "these methods"),
        ),
        Block(
            "In the population behind it",
            svg(estimated),
            _estimates_table(used),
            "The mark is corrected for small cells. One correction takes too little away and the other too "
            "much; the 95\u202f% interval reaches from one to the other. "
            + " ".join(_NORMAL for _ in normal),
        ),
    )
    return Section("told", "What is lost and what is told", lead, blocks)


def of_release(
    view: View, release: Any, *, clusters: NDArray[np.int64] | None = None, stated: float | None = None
) -> Section | None:
    """Show where a release sits in the plane; nothing without a confidential column or originals.

    ``clusters``, by original row, are what the published keys lead to where single combinations of keys lead
    nowhere. ``stated`` is the risk that randomised rules have by their own account.
    """
    evidence, schema = release._evidence, release.schema
    original = getattr(evidence, "original", None)
    X, codec = getattr(evidence, "X", None), getattr(evidence, "codec", None)
    if not schema.confidential or original is None or X is None or codec is None:
        return None
    table = as_frame(view.table)
    order = np.asarray(evidence.order)
    if len(order) != len(X) or not np.ptp(X, axis=0).any():
        return None
    labels = np.empty(len(X), np.int64)
    labels[order] = equivalence_classes(table, schema.keys).labels
    if clusters is not None:
        labels = clusters
    share = float(np.square(X[order] - codec.encode(table)).sum() / np.square(X - X.mean(axis=0)).sum())
    before = equivalence_classes(original, schema.keys).labels
    columns = [
        (one.column, told(one, labels), told(one, before))
        for one in MutualInformation().levels(original, schema)
    ]
    worst = max(columns, key=lambda found: found[1].plug_in)
    found = plane(original, schema, X, column=worst[0])
    return _release_section(found, share, columns, clusters is not None, stated)


def _release_section(
    found: Plane,
    share: float,
    columns: Sequence[tuple[str, Estimate, Estimate]],
    by_cluster: bool = False,
    stated: float | None = None,
) -> Section:
    column, loss = clean(found.levels.column), 100 * share
    here = next(now for name, now, _ in columns if name == found.levels.column)
    right = 1.04 * max(100.0, loss)
    top = 1.1 * max(found.unchanged.plug_in, here.plug_in, here.high) or 1.0
    limits = _lines(
        found.and_also([(share, here.plug_in)]), ("floor", "reached", "normal", "miub"), right, top
    )
    by_rules = {} if stated is None else {"by the rules’ own account": [Dot(loss, stated)]}
    drawing = risk_plane(
        {
            **by_rules,
            "this release" if stated is None else "counted in this table": [Dot(loss, here.plug_in)],
            "the same, estimated for the population": [Dot(loss, here.corrected, (here.low, here.high))],
            "keys unchanged": [Dot(0.0, found.unchanged.plug_in)],
            "one record for all": [Dot(100.0, 0.0)],
        },
        limits,
        title=f"Loss and what the published keys tell about {column}",
        desc="The release between the keys unchanged and nothing, with limits; the table has the figures.",
        limits=(right, top),
        joined=False,
        root=loss < _SMALL,
    )
    table = Table.of(
        ("column", "unchanged", "published", "by chance", "95 % interval"),
        [
            (
                clean(name),
                _nats(old.plug_in),
                _nats(now.plug_in),
                _nats(now.chance),
                f"{_nats(now.low)} to {_nats(now.high)}",
            )
            for name, now, old in columns
        ],
    )
    sources = "the cluster, to which the published keys lead," if by_cluster else "the published ones"
    lead = (
        f"Of {decimal(here.entropy)} nats that could be learned about {column}, the original keys tell "
        f"{decimal(found.unchanged.plug_in)} and {sources} {decimal(here.plug_in)}, on average over "
        f"the records of this table. Classes of these sizes would show {decimal(here.chance)} by chance."
    )
    if stated is not None:
        lead += (
            f" The rules that drew the keys tell {decimal(stated)}: that is what somebody learns who sees "
            "one "
            "record and knows the rules."
        )
    if here.chance > _MOSTLY * here.plug_in:
        lead += " So nearly all of it is that classes are small, and the count says little of the keys."
    most = ", the confidential column that they tell most about" if len(columns) > 1 else ""
    classes = "cluster" if by_cluster else "class of the published keys"
    note = (
        f"Risk: the mutual information between the {classes} and {column} "
        f"({found.levels.how}){most}. {_about(limits, found, 'this release')}"
    )
    return Section(
        "told",
        f"What the keys tell about {column}",
        lead,
        (Block(figure=svg(drawing), table=table, note=note),),
    )


def _lines(found: Plane, kinds: Sequence[str], right: float, top: float) -> list[Line]:
    """Return the limits to draw, those that come into sight below a loss in percent and a risk."""
    at = np.square(np.linspace(0.0, min(right / 100, 1.0) ** 0.5, 161))
    out = []
    for kind in kinds:
        if kind == "miub":
            points = [(100 * float(a), found.upper(float(a))) for a in at]
        else:
            curve = found.curve(kind)
            points = [] if curve is None else [(100 * a, b) for a, b in curve.points(at)]
        if any(b > 0 for _, b in points) and any(b <= top for _, b in points):
            out.append(Line(NAMES[kind], LOOKS[kind], points))
    return out


def _k_labels(rows: Sequence[Mapping[str, Any]], name: str) -> list[tuple[float, float, str]]:
    """Return a label for each k, above the highest of its marks."""
    top: dict[int, tuple[float, float]] = {}
    for row in rows:
        value = float(getattr(row["information"], name))
        if row["k"] not in top or value > top[row["k"]][1]:
            top[row["k"]] = (float(row["loss"]), value)
    return [(a, b, f"k={k}") for k, (a, b) in top.items()]


def _about(lines: Sequence[Line], found: Plane, rules: str) -> str:
    """Say what each line is, of those that are drawn."""
    said = {
        NAMES[
            "floor"
        ]: "Grey: no rule on this table gets there; proven, and small where keys and column hardly "
        "depend on each other.",
        NAMES["reached"]: f"Line: reached by {rules}, by cells of mdav, by randomised rules between "
        f"{letters(found)} coarse cells, or by lot between these; it need not keep k.",
        NAMES["miub"]: "Dotted: some records as they are, drawn by lot, and the mean of all for the others.",
        NAMES["normal"]: _NORMAL,
    }
    told = [said[line.name] for line in lines]
    return " ".join([*told, *(f"{clean(note[0].upper() + note[1:])}." for note in found.notes)])


def _limits_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    return Table.of(
        ("method", "k", "loss", "tells", "proven least", "reached"),
        [
            (
                clean(r["method"]),
                r["k"],
                percent(r["loss"], fine=True),
                _nats(r["information"].plug_in),
                _nats(r["beside"]["floor"]),
                _nats(r["beside"]["reached"]),
            )
            for r in rows
        ],
    )


def _estimates_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    return Table.of(
        ("method", "k", "corrected", "95 % interval", "normal data"),
        [
            (
                clean(r["method"]),
                r["k"],
                _nats(r["information"].corrected),
                f"{_nats(r['information'].low)} to {_nats(r['information'].high)}",
                _nats(r["beside"].get("normal")),
            )
            for r in rows
        ],
    )


def _nats(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
