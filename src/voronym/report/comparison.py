"""The page behind `voronym compare`: methods against each other, by loss, risk and time."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from voronym.dossier.told import curves
from voronym.evaluate.tradeoff import Plane, letters
from voronym.privacy.information import Estimate
from voronym.report import bars
from voronym.report.axes import WIDE
from voronym.report.curves import Dot, Line, Series, chart, risk_plane
from voronym.report.html import Part, fill, part
from voronym.report.svg import clean
from voronym.report.tradeoff import lines, nats3
from voronym.report.write import Table, cell, share

if TYPE_CHECKING:
    from voronym.comparison import Comparison


@dataclass(frozen=True)
class Entry:
    """One method at one k; figures are None where the method gave none."""

    method: str
    k: int
    loss: float | None = None
    linkage: float | None = None
    seconds: float | None = None
    cells: int | None = None
    largest: int | None = None
    information: Estimate | None = None
    beside: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, row: object) -> Entry:
        """Take what there is of a row: a mapping, or an object with these attributes."""
        known: Mapping[str, Any] = row if isinstance(row, Mapping) else vars(row)
        given = {one.name: known[one.name] for one in fields(cls) if known.get(one.name) is not None}
        return cls(**{**given, "method": clean(given["method"])})


def render_comparison(
    comparison: Comparison | Iterable[object], *, title: str = "Comparison of methods"
) -> str:
    """Return a page that compares methods as HTML text.

    Parameters
    ----------
    comparison : Comparison or iterable
        What `voronym.compare` gives; or rows, mappings or objects with ``method``, ``k``, ``loss`` (percent),
        ``linkage`` (share, or None), ``seconds``, ``cells`` and ``largest``. Rows without a loss are listed
        and not drawn.
    title : str
        Head of the page.

    Examples
    --------
    >>> row = dict(method="mdav", k=3, loss=5.7, linkage=0.2, seconds=0.1, cells=360, largest=5)
    >>> "mdav" in render_comparison([row])
    True
    """
    given: Any = getattr(comparison, "rows", comparison)
    rows = [Entry.of(row) for row in given]
    rows.sort(key=lambda row: (row.k, math.inf if row.loss is None else row.loss, row.method))
    found: Plane | None = getattr(comparison, "plane", None)
    levels = sorted({row.k for row in rows})
    best = [next((r for r in rows if r.k == k and r.loss is not None), None) for k in levels]
    winners = [row for row in best if row is not None]
    parts = [None if found is None else _told(rows, found), _loss(rows), _map(rows), _everything(rows)]
    return fill(
        "comparison.html",
        head=title,
        methods=len({row.method for row in rows}),
        levels=levels,
        winners=[(row.method, row.k, _percent(row.loss)) for row in winners],
        warnings=[
            f"{name} was left out: {why}"
            for name, why in (getattr(comparison, "skipped", None) or {}).items()
        ],
        sections=[one for one in parts if one is not None],
    )


def _by_method(rows: Sequence[Entry]) -> dict[str, list[Entry]]:
    return {
        name: [row for row in rows if row.method == name] for name in dict.fromkeys(r.method for r in rows)
    }


def _loss(rows: Sequence[Entry]) -> Part | None:
    own = {
        m: [(float(r.k), r.loss) for r in kept if r.loss is not None] for m, kept in _by_method(rows).items()
    }
    own = {method: points for method, points in own.items() if points}
    if not own:
        return None
    levels = sorted({row.k for row in rows})
    if len(levels) > 1:
        title = "Information loss against k"
        drawn = chart(
            [Series(method, points) for method, points in own.items()],
            title=title,
            desc=f"One line for each of {len(own)} methods; the table has the figures.",
            x_name="k",
            y_name="information loss, %",
        )
    else:  # lines need two places
        title = f"Information loss at k = {levels[0]}"
        drawn = bars.bars(
            list(own),
            [points[0][1] for points in own.values()],
            title=title,
            desc=f"One bar for each of {len(own)} methods; the table has the figures.",
            write=_percent,
            across=WIDE,
        )
    losses = {(row.method, row.k): row.loss for row in rows}
    table = Table.of(
        ("method", *(f"k = {k}" for k in levels)),
        [(method, *(_percent(losses.get((method, k))) for k in levels)) for method in own],
    )
    return part("loss", title, "comparison/loss.html", {"figure": drawn, "table": table})


def _map(rows: Sequence[Entry]) -> Part | None:
    usable = [row for row in rows if row.loss is not None and row.linkage is not None]
    if not usable:
        return None
    drawn = chart(
        [
            Series(
                method,
                [(row.loss or 0.0, 100 * (row.linkage or 0.0)) for row in own],
                joined=False,
                words=[f"k={row.k}" for row in own],
            )
            for method, own in _by_method(usable).items()
        ],
        title="Risk against loss",
        x_name="information loss, %",
        y_name="records linked right, %",
        zero="xy",
    )
    table = Table.of(
        ("method", "k", "loss", "linked right"),
        [(row.method, row.k, _percent(row.loss), share(row.linkage)) for row in usable],
    )
    return part("map", "Risk against loss", "comparison/map.html", {"figure": drawn, "table": table})


def _everything(rows: Sequence[Entry]) -> Part:
    table = Table.of(
        ("method", "k", "loss", "linked right", "groups", "largest group", "seconds"),
        [
            (
                row.method,
                row.k,
                _percent(row.loss),
                share(row.linkage),
                cell(row.cells),
                cell(row.largest),
                "–" if row.seconds is None else f"{row.seconds:.2f}",
            )
            for row in rows
        ],
    )
    return part("all", "All figures", "comparison/all.html", {"table": table}, "text")


def _told(rows: Sequence[Entry], found: Plane) -> Part | None:
    """Show every method and k in the plane of loss and risk."""
    used = [(row, row.loss, row.information) for row in rows if row.loss is not None and row.information]
    if not used:
        return None
    losses = [loss for _, loss, _ in used]
    right = 1.06 * max(losses) or 1.0
    limits = curves(found, right)
    tops = [1.12 * max(getattr(told, name) for *_, told in used) or 1.0 for name in ("plug_in", "high")]
    kinds = (("floor", "reached", "miub"), ("normal",))
    drawn = [lines(limits, kind, top) for kind, top in zip(kinds, tops, strict=True)]
    counted, estimated = (
        _plane(used, drawn[i], (right, tops[i]), found.levels.column, population=bool(i)) for i in range(2)
    )
    tells = [
        (
            row.method,
            row.k,
            _percent(loss),
            nats3(told.plug_in),
            nats3(row.beside["floor"]),
            nats3(row.beside["reached"]),
        )
        for row, loss, told in used
    ]
    corrected = [
        (
            row.method,
            row.k,
            nats3(told.corrected),
            f"{nats3(told.low)} to {nats3(told.high)}",
            nats3(row.beside.get("normal")),
        )
        for row, _, told in used
    ]
    data = {
        "column": found.levels.column,
        "how": found.levels.how,
        "unchanged": found.unchanged,
        "notes": found.notes,
        "letters": letters(found),
        "looks": [one.look for one in drawn[0]],
        "normal_drawn": bool(drawn[1]),
        "counted": counted,
        "tells": Table.of(("method", "k", "loss", "tells", "proven least", "reached"), tells),
        "estimated": estimated,
        "corrected": Table.of(("method", "k", "corrected", "95 % interval", "normal data"), corrected),
    }
    return part("told", "What is lost and what is told", "comparison/told.html", data)


def _plane(
    used: Sequence[tuple[Entry, float, Estimate]],
    limits: Sequence[Line],
    ends: tuple[float, float],
    column: str,
    *,
    population: bool,
) -> Markup:
    """Draw all results in the plane: as counted in the table, or estimated for the population."""
    dots: dict[str, list[Dot]] = {}
    highest: dict[int, tuple[float, float]] = {}
    for row, loss, told in used:
        between = (told.low, told.high) if population else None
        dot = Dot(loss, told.corrected if population else told.plug_in, between, f"k={row.k}")
        dots.setdefault(row.method, []).append(dot)
        top = told.high if population else told.plug_in
        if row.k not in highest or top > highest[row.k][1]:
            highest[row.k] = (loss, top)
    losses = [loss for _, loss, _ in used]
    where = " in the population" if population else ""
    return risk_plane(
        dots,
        limits,
        title=f"Loss and what the groups tell about {column}{where}",
        limits=ends,
        labels=[(loss, top, f"k={k}") for k, (loss, top) in highest.items()],
        joined=not population,
        shape="root" if max(losses) > 6 * min(losses) else "linear",
    )


def _percent(value: float | None) -> str:
    # two decimals, as in the literature's tables: methods differ in the second
    return "–" if value is None or not math.isfinite(value) else f"{value:.2f}\u202f%"
