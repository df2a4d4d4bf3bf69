"""What was lost, what each guarantee cost, and what the keys still tell."""

from __future__ import annotations

from voronym.dossier import Dossier
from voronym.dossier.parts import Told
from voronym.report import bars
from voronym.report.axes import WIDE
from voronym.report.curves import Dot, risk_plane
from voronym.report.section import Data, section
from voronym.report.svg import percent
from voronym.report.tradeoff import MOSTLY, lines, nats3
from voronym.report.write import Table, fine, svg

MOST_BARS = 40
_SMALL = 20.0
"""A loss in percent below which the plane is drawn by roots, so that the release stands off the edge."""


@section("loss", "Information loss of each key", needs=("inside.losses",), audience="internal", place=22)
def loss(d: Dossier) -> Data | None:
    """Show what each key lost as published, and in its group where there are any."""
    if d.inside is None:
        return None
    rows, total = d.inside.losses, d.public.information_loss
    shown = rows[:MOST_BARS]
    drawn = bars.bars(
        [one.key for one in shown],
        [one.published for one in shown],
        title="Information loss of each key",
        desc=f"Loss in percent of the variance for {len(shown)} keys, largest first.",
        write=percent,
        limit=None if total is None else (total, f"all keys {fine(total)}"),
        across=WIDE,
    )
    grouped = any(one.groups is not None for one in rows)
    head = ("key", "as published", "in its group") if grouped else ("key", "as published")
    cells = [(one.key, percent(one.published), *([percent(one.groups)] if grouped else [])) for one in rows]
    return {
        "figure": svg(drawn),
        "table": Table.of(head, cells),
        "shown": len(shown),
        "keys": len(rows),
        "grouped": grouped,
    }


@section("costs", "What each guarantee cost", needs=("inside.costs",), audience="internal", place=24)
def costs(d: Dossier) -> Data | None:
    """Show what each guarantee cost; nothing where k-anonymity is all there is."""
    given = d.inside.costs if d.inside else ()
    if len(given) < 2:
        return None
    drawn = bars.bars(
        [cost.guarantee for cost in given],
        [cost.loss for cost in given],
        title="Information loss with each further guarantee",
        desc=f"Loss in percent of the variance after each of {len(given)} guarantees, in the order given.",
        write=percent,
        across=WIDE,
    )
    rows = [
        (
            cost.guarantee,
            percent(cost.loss),
            "" if before is None else percent(cost.loss - before.loss),
            "" if cost.method == "none" else cost.method,
        )
        for before, cost in zip((None, *given), given, strict=False)
    ]
    return {
        "figure": svg(drawn),
        "table": Table.of(("guarantee", "loss with it", "it cost", "enforced by"), rows),
    }


@section("told", "What the keys tell", needs=("inside.told",), audience="internal", place=60)
def told(d: Dossier) -> Data | None:
    """Show where a release sits between what its keys told unmasked and nothing, with the limits."""
    found = d.inside.told if d.inside else None
    if found is None:
        return None
    right = 1.04 * max(100.0, found.loss)
    top = 1.1 * max(found.unchanged.plug_in, found.now.plug_in, found.now.high) or 1.0
    limits = lines(found.curves, ("floor", "reached", "normal", "miub"), top)
    table = Table.of(
        ("column", "unchanged", "published", "by chance", "95 % interval"),
        [
            (
                one.name,
                nats3(one.before.plug_in),
                nats3(one.now.plug_in),
                nats3(one.now.chance),
                f"{nats3(one.now.low)} to {nats3(one.now.high)}",
            )
            for one in found.columns
        ],
    )
    drawn = risk_plane(
        _dots(found),
        limits,
        title=f"Loss and what the published keys tell about {found.column}",
        desc="The release between the keys unchanged and nothing, with limits; the table has the figures.",
        limits=(right, top),
        joined=False,
        shape="root" if found.loss < _SMALL else "linear",
    )
    return {
        "title": f"What the keys tell about {found.column}",
        "figure": svg(drawn),
        "table": table,
        "found": found,
        "looks": [one.look for one in limits],
        "by_chance": found.now.chance > MOSTLY * found.now.plug_in,
    }


def _dots(found: Told) -> dict[str, list[Dot]]:
    now, loss = found.now, found.loss
    dots = {} if found.stated is None else {"by the rules’ own account": [Dot(loss, found.stated)]}
    return dots | {
        "this release" if found.stated is None else "counted in this table": [Dot(loss, now.plug_in)],
        "the same, estimated for the population": [Dot(loss, now.corrected, (now.low, now.high))],
        "keys unchanged": [Dot(0.0, found.unchanged.plug_in)],
        "one record for all": [Dot(100.0, 0.0)],
    }
