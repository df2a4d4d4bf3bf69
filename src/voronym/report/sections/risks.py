"""Risk of re-identification: from the sizes of classes, and by an intruder with the original keys."""

from __future__ import annotations

from voronym.attacks import KNOWLEDGE, Exposure, Ladder
from voronym.core.rate import Rate
from voronym.dossier import Dossier
from voronym.dossier.masks import Stirred
from voronym.evaluate.risk import Risk
from voronym.report.bars import Range, ranges
from voronym.report.language import phrase, term
from voronym.report.rungs import rungs
from voronym.report.section import Data, section
from voronym.report.svg import percent
from voronym.report.write import Table, between, interval, share

_TITLE = "Risk of re-identification"
_LINKED = "Original records linked to the right record"
_OWN = "Records with a combination of keys of their own"


def _rows(risk: Risk) -> list[tuple[str, float]]:
    """Return the risks that follow from the sizes of classes, as probabilities."""
    return [
        (term(_OWN), risk.uniqueness),
        (term("Highest chance to pick a person’s record"), risk.prosecutor_max),
        (term("Average chance to pick a person’s record"), risk.prosecutor_mean),
    ]


def _confidence(rate: Rate) -> str:
    return phrase("its {share} % interval", share=f"{100 * rate.confidence:.0f}")


def _range(label: str, before: float | None, after: float, rate: Rate | None = None) -> Range:
    between = None if rate is None else (100 * rate.low, 100 * rate.high)
    return Range(label, None if before is None else 100 * before, 100 * after, between)


@section("risk", _TITLE, needs=("public.risk",), place=30)
def risk(d: Dossier, now: Risk) -> Data | None:
    """Show the risk of groups, before and after if the originals are available, and an attack's links."""
    if d.public.story != "groups":
        return None
    old = None if d.inside is None else dict(_rows(d.inside.risk))
    linked = None if d.inside is None else d.inside.linkage
    rows = [_range(label, None if old is None else old[label], new) for label, new in _rows(now)]
    cells: list[tuple[object, ...]] = [
        (label, share(new)) if old is None else (label, share(old[label]), share(new))
        for label, new in _rows(now)
    ]
    if linked is not None:
        rows.append(_range(term(_LINKED), None, linked.value, linked))
        cells += [(term(_LINKED), None, share(linked.value)), (_confidence(linked), None, interval(linked))]
    head = ("risk of the released table", "value") if old is None else ("risk", "before", "after")
    return {"figure": ranges(rows, title=_TITLE, unit=" %"), "table": Table.of(head, cells)}


@section("risk:linkage", _TITLE, needs=("inside.linkage", "inside.risk"), place=30)
def linkage(d: Dossier, linked: Rate, before: Risk) -> Data | None:
    """Show how many records an attack with the original keys links, if a method hides no identities."""
    if d.public.story in ("groups", "records"):
        return None
    now = d.public.risk
    drawn = ranges(
        [
            _range(_LINKED, before.prosecutor_mean, linked.value, linked),
            _range(_OWN, before.uniqueness, now.uniqueness),
        ],
        title="How many records an attack finds",
        unit=" %",
    )
    rows = [
        (_LINKED, share(before.prosecutor_mean), share(linked.value)),
        (_confidence(linked), None, interval(linked)),
        (_OWN, share(before.uniqueness), share(now.uniqueness)),
    ]
    return {"figure": drawn, "table": Table.of(("risk", "before", "after"), rows), "linked": linked}


@section("risk:stirred", _TITLE, needs=("public.stirred", "public.stirred.linkage"), place=30)
def stirred(d: Dossier, made: Stirred, now: Rate) -> Data:
    """Show how often an attack on shuffled records is right, against the promise."""
    clusters = d.inside.clusters if d.inside else None
    before = clusters.linkage_before if clusters else None
    promise = None if made.left else 100 / (made.m + 1)
    drawn = ranges(
        [_range(_LINKED, None if before is None else before.value, now.value, now)],
        title="How often an attack is right",
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
    return {"figure": drawn, "table": table, "made": made, "now": now, "before": before}


@section("ladder", "What an intruder finds", needs=("ladder",), audience="internal", place=2)
def ladder(_: Dossier, made: Ladder) -> Data:
    """Show the strongest attack of each kind of intruder next to its control."""
    rows = [
        (
            f"{term(rung.knows)}: {rung.outcome.attack}",
            share(rung.outcome.success),
            share(rung.outcome.control),
            between(share(rung.between[0]), share(rung.between[1])),
            rung.outcome.people,
        )
        for rung in made.measured
        if rung.outcome is not None
    ]
    head = ("the intruder knows", "right", "control", "interval", "people")
    return {
        "figure": rungs(made, title="What an intruder finds"),
        "table": Table.of(head, rows),
        "made": made,
        "unmade": [term(rung.knows) for rung in made.rungs if rung.outcome is None],
    }


@section(
    "attacks", "What intruders got", needs=("inside.exposure",), audience="internal", place=31, shape="text"
)
def attacks(_: Dossier, exposure: Exposure) -> Data | None:
    """Show the attacks on the release, ordered by how little the intruder knows."""
    if not exposure.outcomes:
        return None
    rows = [
        (
            outcome.attack,
            term(KNOWLEDGE[outcome.level]),
            share(outcome.success),
            share(outcome.control),
            between(share(outcome.interval[0]), share(outcome.interval[1])),
            outcome.people,
        )
        for outcome in exposure.outcomes
    ]
    head = ("attack", "the intruder knows", "right", "control", "interval", "people")
    return {"exposure": exposure, "table": Table.of(head, rows)}
