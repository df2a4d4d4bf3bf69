"""Sections about the loss, the cost of each guarantee, and the information that keys still reveal."""

from __future__ import annotations

from itertools import pairwise

from voronym.dossier import Dossier
from voronym.dossier.parts import Loss, Told
from voronym.evaluate.moved import KeyChange, amount
from voronym.evaluate.penalty import Penalty
from voronym.generalize.publish import RANGED
from voronym.report import bars
from voronym.report.axes import WIDE
from voronym.report.curves import Dot, risk_plane
from voronym.report.language import numeral, term
from voronym.report.section import Data, section
from voronym.report.svg import percent
from voronym.report.tradeoff import MOSTLY, lines, nats3
from voronym.report.write import Table, fine
from voronym.result import Cost

MOST_BARS = 40
_SMALL = 20.0
"""Loss in percent below which the plane has a root scale, so that the point is visible off the edge."""


@section("changes", "What became of each key", needs=("inside.changes",), audience="internal", place=21)
def changes(_: Dossier, result: tuple[KeyChange, ...]) -> Data:
    """Show how many records kept the value of each key, and how far the others moved, in its unit."""
    rows = [
        (
            item.key,
            f"{_count(item.kept) or 0} ({percent(100 * item.kept / item.records if item.records else 100)})",
            _count(item.moved),
            "" if item.distance is None else f"{numeral(amount(item.distance))}{term(item.unit)}",
            "" if item.farthest is None else f"{numeral(amount(item.farthest))}{term(item.unit)}",
            *map(_count, (item.coarser, item.gone, item.other)),
        )
        for item in result
    ]
    head = (
        "key",
        "kept its value",
        "moved",
        "by, on average",
        "at most",
        "coarser",
        "missing",
        "another",
    )
    used = [i for i in range(len(head)) if i < 2 or any(row[i] for row in rows)]
    return {"table": Table.of(tuple(head[i] for i in used), [tuple(row[i] for i in used) for row in rows])}


def _count(many: int) -> str:
    return numeral(f"{many:,}") if many else ""


@section("loss", "Information loss of each key", needs=("inside.losses",), place=22)
def loss(d: Dossier, rows: tuple[Loss, ...]) -> Data:
    """Show the loss of each key as published, and in its group if there are groups."""
    shown, total = rows[:MOST_BARS], d.public.information_loss
    drawn = bars.bars(
        [item.key for item in shown],
        [entry.published for entry in shown],
        title="Information loss of each key, largest first",
        write=percent,
        limit=None if total is None else (total, f"all keys {fine(total)}"),
        across=WIDE,
    )
    grouped = any(element.groups is not None for element in rows)
    head = ("key", "as published", "in its group") if grouped else ("key", "as published")
    cells = [(row.key, percent(row.published), *([percent(row.groups)] if grouped else [])) for row in rows]
    return {
        "figure": drawn,
        "table": Table.of(head, cells),
        "shown": len(shown),
        "keys": len(rows),
        "grouped": grouped,
        "ways": () if d.inside is None else d.inside.utility.ways,
    }


@section("penalty", "What ranges lose", needs=("inside.penalty",), place=23)
def penalty(d: Dossier, result: Penalty) -> Data | None:
    """Show the measures of generalisation, if a key is published as a range."""
    if not any(column.fate == RANGED for column in d.public.columns):
        return None
    ranked = sorted(result.by_key.items(), key=lambda item: -item[1])
    drawn = bars.bars(
        [name for name, _ in ranked[:MOST_BARS]],
        [value for _, value in ranked[:MOST_BARS]],
        title="Certainty penalty of each key, largest first",
        write=percent,
        limit=(result.certainty, f"all keys {fine(result.certainty)}"),
        across=WIDE,
    )
    per = "" if result.classes_per_k is None else f", {result.classes_per_k:.2f} times k"
    rows = [
        ("certainty penalty", percent(result.certainty)),
        ("non-uniform entropy", percent(result.entropy)),
        ("records in a class", f"{result.average_class:.1f}{per}"),
        ("discernibility", f"{result.discernibility:,}"),
    ]
    return {"figure": drawn, "table": Table.of(("measure", "value"), rows)}


@section("costs", "What each guarantee cost", needs=("inside.costs",), place=24)
def costs(_: Dossier, given: tuple[Cost, ...]) -> Data | None:
    """Show the cost of each guarantee, if there are more than k-anonymity."""
    if len(given) < 2:
        return None
    drawn = bars.bars(
        [cost.guarantee for cost in given],
        [cost.loss for cost in given],
        title="Information loss with each further guarantee",
        write=percent,
        across=WIDE,
    )
    added = ["", *(percent(cost.loss - before.loss) for before, cost in pairwise(given))]
    rows = [
        (cost.guarantee, percent(cost.loss), more, "" if cost.method == "none" else cost.method)
        for cost, more in zip(given, added, strict=True)
    ]
    return {"figure": drawn, "table": Table.of(("guarantee", "loss with it", "it cost", "enforced by"), rows)}


@section("told", "What the keys tell", needs=("inside.told",), place=60, special=True)
def revealed(_: Dossier, result: Told) -> Data:
    """Show the information of the keys against the loss: unmasked, published, and the limits."""
    now, loss = result.now, result.loss
    top = 1.1 * max(result.unchanged.plug_in, now.plug_in, now.high) or 1.0
    limits = lines(result.curves, ("floor", "reached", "normal", "by_lot"), top)
    stated = {} if result.stated is None else {"as stated by the rules": [Dot(loss, result.stated)]}
    drawn = risk_plane(
        stated
        | {
            "counted in this table" if stated else "this release": [Dot(loss, now.plug_in)],
            "the same, estimated for the population": [Dot(loss, now.corrected, (now.low, now.high))],
            "keys unchanged": [Dot(0.0, result.unchanged.plug_in)],
            "one record for all": [Dot(100.0, 0.0)],
        },
        limits,
        title=f"Loss and what the published keys tell about {result.column}",
        limits=(1.04 * max(100.0, loss), top),
        joined=False,
        shape="root" if loss < _SMALL else "linear",
    )
    rows = [
        (
            column.name,
            *map(nats3, (column.before.plug_in, column.now.plug_in, column.now.chance)),
            f"{nats3(column.now.low)} to {nats3(column.now.high)}",
        )
        for column in result.columns
    ]
    return {
        "title": term("What the keys tell about {column}").replace("{column}", result.column),
        "figure": drawn,
        "table": Table.of(("column", "unchanged", "published", "by chance", "95 % interval"), rows),
        "found": result,
        "looks": [limit.look for limit in limits],
        "by_chance": now.chance > MOSTLY * now.plug_in,
    }
