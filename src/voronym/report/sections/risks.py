"""Risk of re-identification: from the sizes of classes, and by an intruder who holds the original keys."""

from __future__ import annotations

from voronym.dossier import Dossier
from voronym.evaluate.risk import Risk
from voronym.rate import Rate
from voronym.report.bars import Range, ranges
from voronym.report.section import Data, section
from voronym.report.svg import percent
from voronym.report.write import Table, interval, share, svg

_TITLE = "Risk of re-identification"
_LINKED = "Original records linked to the right record"
_OWN = "Records with a combination of keys of their own"


def _rows(risk: Risk) -> list[tuple[str, float]]:
    """Return the risks that follow from the sizes of classes, as probabilities."""
    return [
        (_OWN, risk.uniqueness),
        ("Highest chance to pick a person’s record", risk.prosecutor_max),
        ("Average chance to pick a person’s record", risk.prosecutor_mean),
    ]


def _confidence(rate: Rate) -> str:
    return f"its {100 * rate.confidence:.0f} % interval"


def _range(label: str, before: float | None, after: float, rate: Rate | None = None) -> Range:
    between = None if rate is None else (100 * rate.low, 100 * rate.high)
    return Range(label, None if before is None else 100 * before, 100 * after, between)


@section("risk", _TITLE, place=30)
def risk(d: Dossier) -> Data | None:
    """Show the risk of groups, before and after where the originals are there, and what an attack links."""
    if d.public.story != "groups":
        return None
    after = _rows(d.public.risk)
    if d.inside is None:
        rows = [_range(label, None, value) for label, value in after]
        table = Table.of(("risk of the released table", "value"), [(label, share(v)) for label, v in after])
    else:
        both = [(label, old, new) for (label, old), (_, new) in zip(_rows(d.inside.risk), after, strict=True)]
        rows = [_range(*one) for one in both]
        cells: list[tuple[object, ...]] = [(label, share(old), share(new)) for label, old, new in both]
        if (linked := d.inside.linkage) is not None:
            rows.append(_range(_LINKED, None, linked.value, linked))
            cells += [(_LINKED, None, share(linked.value)), (_confidence(linked), None, interval(linked))]
        table = Table.of(("risk", "before", "after"), cells)
    drawn = ranges(rows, title=_TITLE, desc="Risks in percent; the table has the figures.", unit=" %")
    return {"figure": svg(drawn), "table": table}


@section("risk:linkage", _TITLE, needs=("inside.linkage",), audience="internal", place=30)
def linkage(d: Dossier) -> Data | None:
    """Show how many records an attack with the original keys links, where a method hides no identities."""
    if d.inside is None or d.inside.linkage is None or d.public.story in ("groups", "records"):
        return None
    linked, before, now = d.inside.linkage, d.inside.risk, d.public.risk
    drawn = ranges(
        [
            _range(_LINKED, before.prosecutor_mean, linked.value, linked),
            _range(_OWN, before.uniqueness, now.uniqueness),
        ],
        title="How many records an attack finds",
        desc="Shares in percent, grey before and blue after; the table has the figures.",
        unit=" %",
    )
    rows = [
        (_LINKED, share(before.prosecutor_mean), share(linked.value)),
        (_confidence(linked), None, interval(linked)),
        (_OWN, share(before.uniqueness), share(now.uniqueness)),
    ]
    return {"figure": svg(drawn), "table": Table.of(("risk", "before", "after"), rows), "linked": linked}


@section("risk:stirred", _TITLE, needs=("public.stirred.linkage",), place=30)
def stirred(d: Dossier) -> Data | None:
    """Show how often an attack on shuffled records is right, against the promise."""
    made = d.public.stirred
    if made is None or made.linkage is None:
        return None
    now = made.linkage
    clusters = d.inside.clusters if d.inside else None
    before = clusters.linkage_before if clusters else None
    promise = None if made.left else 100 / (made.m + 1)
    drawn = ranges(
        [_range(_LINKED, None if before is None else before.value, now.value, now)],
        title="How often an attack is right",
        desc="Share of records that an attack links to the right one; the table has the figures.",
        unit=" %",
        limit=None if promise is None else (promise, f"promised: at most {percent(promise)}"),
    )
    rows = [
        ("linked to the right record", None if before is None else share(before.value), share(now.value)),
        (_confidence(now), None, interval(now)),
        ("records with keys of their own", None, share(d.public.risk.uniqueness)),
    ]
    if promise is not None:
        rows.insert(2, (f"promised, for clusters of more than {made.m}", None, percent(promise)))
    if before is None:
        table = Table.of(("attack", "value"), [(name, value) for name, _, value in rows])
    else:
        table = Table.of(("attack", "before", "after"), rows)
    return {"figure": svg(drawn), "table": table, "made": made, "now": now, "before": before}
