"""The page of `voronym compare`: methods compared by loss, risk and time."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from voronym.dossier.revealed import curves
from voronym.evaluate.comparison import Comparison, Row
from voronym.evaluate.tradeoff import Plane, letters
from voronym.privacy.information import Estimate
from voronym.report import bars
from voronym.report.axes import WIDE
from voronym.report.curves import Dot, Line, Series, chart, risk_plane
from voronym.report.html import Part, fill, part
from voronym.report.squares import dots
from voronym.report.tradeoff import lines, nats3
from voronym.report.write import Table, share

DISTINGUISHABLE = 8
"""Number of methods that lines and colours can still distinguish."""


def render_comparison(comparison: Comparison, *, title: str = "Comparison of methods") -> str:
    """Return a page that compares methods as HTML text.

    Parameters
    ----------
    comparison : Comparison
        The result of `voronym.compare`.
    title : str
        Head of the page.

    Examples
    --------
    >>> import voronym as vr
    >>> found = vr.compare(vr.datasets.hospital(60), keys=["age", "sex"], k=[3], methods=["mdav"])
    >>> "“mdav” loses least at this k." in render_comparison(found)
    True
    """
    rows = sorted(comparison.rows, key=lambda row: (row.k, row.loss, row.method))
    levels = sorted({row.k for row in rows})
    winners = [next(row for row in rows if row.k == k) for k in levels]
    result = None if comparison.plane is None else _risk_section(rows, comparison.plane)
    people = comparison.counted == "people"
    figures = [_loss(rows, levels, people=people), _map(rows)] if rows else []
    return fill(
        "comparison.html",
        head=title,
        methods=len({row.method for row in rows}),
        levels=levels,
        winners=[(row.method, row.k, _percent(row.loss)) for row in winners],
        warnings=[f"{name} was left out: {why}" for name, why in comparison.skipped.items()],
        sections=[*([] if result is None else [result]), *figures, _everything(rows)],
    )


def _by_method(rows: Sequence[Row]) -> dict[str, list[Row]]:
    return {
        name: [row for row in rows if row.method == name] for name in dict.fromkeys(r.method for r in rows)
    }


def loss_figure(rows: Sequence[Row]) -> tuple[str, Markup]:
    """Return a title and a drawing of each method's loss at each k: lines for few methods, dots for many."""
    own = _by_method(rows)
    levels = sorted({row.k for row in rows})
    if len(levels) == 1:
        title = f"Information loss at k = {levels[0]}"
        drawn = bars.bars(
            list(own),
            [points[0].loss for points in own.values()],
            title=title,
            desc=f"One bar for each of {len(own)} methods; the table has the figures.",
            write=_percent,
            across=WIDE,
        )
    elif len(own) <= DISTINGUISHABLE:
        title = "Information loss against k"
        drawn = chart(
            [Series(method, [(float(row.k), row.loss) for row in kept]) for method, kept in own.items()],
            title=title,
            desc=f"One line for each of {len(own)} methods; the table has the figures.",
            x_name="k",
            y_name="information loss, %",
        )
    else:
        title = "Information loss of each method"
        drawn = dots(
            {method: {row.k: row.loss for row in kept} for method, kept in own.items()},
            title=title,
            desc=f"A row for each of {len(own)} methods, a mark for each k; the table has the figures.",
            x_name="information loss",
        )
    return title, drawn


def _loss(rows: Sequence[Row], levels: Sequence[int], *, people: bool) -> Part:
    title, drawn = loss_figure(rows)
    losses = {(row.method, row.k): row.loss for row in rows}
    table = Table.of(
        ("method", *(f"k = {k}" for k in levels)),
        [(method, *(_percent(losses.get((method, k))) for k in levels)) for method in _by_method(rows)],
    )
    data = {"figure": drawn, "table": table, "people": people}
    return part("loss", title, "comparison/loss.html", data)


def map_figure(rows: Sequence[Row]) -> tuple[str, Markup]:
    """Return a title and a drawing of risk against loss; among many methods, only unbeaten ones are named."""
    title = "Risk against loss"
    best = _unbeaten(rows)
    own = _by_method(rows)
    if len(own) > DISTINGUISHABLE:
        own = {name: kept for name, kept in own.items() if any(row in best for row in kept)}
        rest = [row for row in rows if row.method not in own]
        shown = [(name, kept) for name, kept in list(own.items())[:DISTINGUISHABLE]]
        rest += [row for name, kept in list(own.items())[DISTINGUISHABLE:] for row in kept]
        shown += [(f"{len({row.method for row in rest})} others", rest)] if rest else []
    else:
        shown = list(own.items())
    drawn = chart(
        [
            Series(
                name,
                [(row.loss, 100 * row.linkage) for row in kept],
                joined=False,
                words=[f"k={row.k}" for row in kept],
            )
            for name, kept in shown
        ],
        title=title,
        x_name="information loss, %",
        y_name="records linked right, %",
        zero="xy",
    )
    return title, drawn


def _unbeaten(rows: Sequence[Row]) -> list[Row]:
    """Return the rows that no other row beats in both loss and risk at the same k."""
    return [
        row
        for row in rows
        if not any(
            other.k == row.k and other.loss < row.loss and other.linkage <= row.linkage for other in rows
        )
    ]


def _map(rows: Sequence[Row]) -> Part:
    title, drawn = map_figure(rows)
    table = Table.of(
        ("method", "k", "loss", "linked right"),
        [(row.method, row.k, _percent(row.loss), share(row.linkage)) for row in rows],
    )
    return part("map", title, "comparison/map.html", {"figure": drawn, "table": table})


def _everything(rows: Sequence[Row]) -> Part:
    table = Table.of(
        ("method", "k", "loss", "as published", "linked right", "groups", "largest group", "seconds"),
        [
            (
                row.method,
                row.k,
                _percent(row.loss),
                _percent(row.published),
                share(row.linkage),
                row.groups,
                row.largest,
                f"{row.seconds:.2f}",
            )
            for row in rows
        ],
    )
    return part("all", "All figures", "comparison/all.html", {"table": table}, "text")


def _risk_section(rows: Sequence[Row], plane: Plane) -> Part | None:
    """Show every method and k in the plane of loss and risk."""
    used = [(row, row.information) for row in rows if row.information is not None]
    if not used:
        return None
    losses = [row.loss for row, _ in used]
    right = 1.06 * max(losses) or 1.0
    limits = curves(plane, right)
    tops = [1.12 * max(getattr(member, name) for _, member in used) or 1.0 for name in ("plug_in", "high")]
    kinds = (("floor", "reached", "by_lot"), ("normal",))
    drawn = [lines(limits, kind, top) for kind, top in zip(kinds, tops, strict=True)]
    counted, estimated = (
        _plane(used, drawn[i], (right, tops[i]), plane.levels.column, population=bool(i)) for i in range(2)
    )
    tells = [
        (
            row.method,
            row.k,
            _percent(row.loss),
            nats3(item.plug_in),
            nats3((row.limits or {}).get("floor")),
            nats3((row.limits or {}).get("reached")),
        )
        for row, item in used
    ]
    corrected = [
        (
            row.method,
            row.k,
            nats3(entry.corrected),
            f"{nats3(entry.low)} to {nats3(entry.high)}",
            nats3((row.limits or {}).get("normal")),
        )
        for row, entry in used
    ]
    data = {
        "column": plane.levels.column,
        "how": plane.levels.how,
        "unchanged": plane.unchanged,
        "notes": plane.notes,
        "letters": letters(plane),
        "looks": [element.look for element in drawn[0]],
        "normal_drawn": bool(drawn[1]),
        "counted": counted,
        "tells": Table.of(("method", "k", "loss", "tells", "proven least", "reached"), tells),
        "estimated": estimated,
        "corrected": Table.of(("method", "k", "corrected", "95 % interval", "normal data"), corrected),
    }
    return part("told", "What is lost and what is told", "comparison/told.html", data)


def _plane(
    used: Sequence[tuple[Row, Estimate]],
    limits: Sequence[Line],
    ends: tuple[float, float],
    column: str,
    *,
    population: bool,
) -> Markup:
    """Draw all results in the plane: as counted in the table, or estimated for the population."""
    dots: dict[str, list[Dot]] = {}
    highest: dict[int, tuple[float, float]] = {}
    for row, item in used:
        between = (item.low, item.high) if population else None
        dot = Dot(row.loss, item.corrected if population else item.plug_in, between, f"k={row.k}")
        dots.setdefault(row.method, []).append(dot)
        top = item.high if population else item.plug_in
        if row.k not in highest or top > highest[row.k][1]:
            highest[row.k] = (row.loss, top)
    losses = [row.loss for row, _ in used]
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
    return "–" if value is None else f"{value:.2f}\u202f%"
