"""Risk in the population that a table is a sample of."""

from __future__ import annotations

from voronym.dossier import Dossier
from voronym.dossier.population import InPopulation, Outlook
from voronym.evaluate.population import Matches, PopulationFigures
from voronym.report.axes import WIDE
from voronym.report.bars import Range, bars, ranges
from voronym.report.section import Data, section
from voronym.report.svg import percent
from voronym.report.write import Table, share

_TITLE = "Risk in the population"
_NAMES = {"pitman": "Pitman", "zayatz": "Zayatz", "snb": "SNB"}
_BASES = {"weights": "by the sampling weights", "population": "counted in a table of all people"}


@section("population", _TITLE, needs=("inside.population",), audience="internal", place=31)
def population(_: Dossier, found: InPopulation) -> Data:
    """Show correct matches to expect before and after, by each model, and what each key contributes."""
    before, after = found.before, found.after
    lines = _lines(before, after)
    drawn = ranges(
        [
            Range(f"{label}: {what}", 100 * getattr(old, name), 100 * getattr(new, name))
            for label, old, new in lines
            for what, name in (("mean", "mean"), ("greatest", "greatest"))
        ],
        title="Chance that a match is correct",
        unit=" %",
    )
    old, new = before.matches, after.matches
    rows: list[tuple[object, ...]] = [
        ("correct matches to expect", _number(old.expected), _number(new.expected)),
        ("their 95 % interval", _between(old), _between(new)),
        ("mean chance of a record", share(old.mean), share(new.mean)),
        (f"records above {percent(100 * old.threshold)}", old.at_risk, new.at_risk),
        *((f"{label} found", _number(one.expected), _number(two.expected)) for label, one, two in lines[1:]),
        ("unique in the table", *found.unique),
        (f"singled out by {found.size} keys or fewer", *found.special),
    ]
    return {
        "figure": drawn,
        "table": Table.of(("risk in the population", "before", "after"), rows),
        "found": found,
        "said": (_number(before.matches.expected), _number(after.matches.expected)),
        "names": _NAMES,
        "basis": _BASES.get(before.basis, "by the sampling fraction"),
        "models": _models(before),
        "warned": _warned(found),
        "keys": _keys(found),
    }


@section("population:public", _TITLE, needs=("public.population",), audience="public", place=31)
def outlook(_: Dossier, found: Outlook) -> Data:
    """Show what everybody may know: sums over all records of the release."""
    low, high = found.interval
    rows = [
        ("records", found.records),
        ("people in the population", round(found.population)),
        ("correct matches to expect", _number(found.expected)),
        ("its 95 % interval", f"{_number(low)} to {_number(high)}"),
        ("mean chance that a match is correct", share(found.mean)),
    ]
    return {
        "table": Table.of(("risk in the population", "value"), rows),
        "found": found,
        "basis": _BASES.get(found.basis, "by the sampling fraction"),
    }


def _lines(before: PopulationFigures, after: PopulationFigures) -> list[tuple[str, Matches, Matches]]:
    """Return whom a chance is of, before and after."""
    both = [("records", before.matches, after.matches)]
    for label, name in (("households", "households"), ("members of these", "members")):
        old, new = getattr(before, name), getattr(after, name)
        if old is not None and new is not None:
            both.append((label, old, new))
    return both


def _models(before: PopulationFigures) -> Table | None:
    """Return what each model says of population uniques among the originals."""
    rows: list[tuple[object, ...]] = []
    if before.known is not None:
        rows.append(
            ("counted", "unique in the table and in the population", before.known["population_uniques"], None)
        )
    for fitted in before.columns:
        low, high = fitted.interval
        said = f"{_number(low)} to {_number(high)}"
        what = "unique in the table and in the population"
        rows.append((f"log-linear, {fitted.model}", what, _number(fitted.population_uniques), said))
    for one in before.uniques:
        chosen = " (by the decision rule)" if one.model == before.rule else ""
        said = "" if one.interval is None else f"{_number(one.interval[0])} to {_number(one.interval[1])}"
        many = None if one.uniques is None else _number(one.uniques)
        rows.append((_NAMES[one.model] + chosen, "unique in the population", many, said))
    if not rows:
        return None
    return Table.of(("model", "of", "estimate", "95 % interval"), rows, caption="Before: unique people")


def _keys(found: InPopulation) -> dict[str, object]:
    """Return what each key does to single people out."""
    rows = [(one.key, share(one.score), one.unique_without) for one in found.columns]
    drawn = bars(
        [one.key for one in found.columns],
        [100 * one.score for one in found.columns],
        title="Share of the special uniques that need this key",
        write=percent,
        across=WIDE,
    )
    head = ("key", "share of the SUDA score", "unique records without it")
    return {"figure": drawn if found.special[0] else None, "table": Table.of(head, rows)}


def _warned(found: InPopulation) -> list[str]:
    """Return assumptions and warnings, each once, those of the originals first."""
    said = []
    for when, one in (("Before", found.before), ("After", found.after)):
        for fitted in one.columns[:1]:
            said += [f"{when}, log-linear ({fitted.model}): {fitted.warning}"] if fitted.warning else []
        for unique in one.uniques if when == "Before" else ():
            said += [f"{when}, {_NAMES[unique.model]}: {unique.warning}"] if unique.warning else []
        said += [f"{when}: {note}" for note in one.notes]
    return said


def _between(one: Matches) -> str:
    return " to ".join(map(_number, one.interval))


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 or value == 0 else f"{value:.2g}"
