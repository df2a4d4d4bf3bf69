"""Risk in the population that a table is a sample of."""

from __future__ import annotations

from voronym.dossier import Dossier
from voronym.dossier.population import InPopulation, Outlook
from voronym.evaluate.population import Matches, PopulationFigures
from voronym.evaluate.population.figures import people
from voronym.report.axes import WIDE
from voronym.report.bars import Range, bars, ranges
from voronym.report.section import Data, section
from voronym.report.svg import percent
from voronym.report.write import Table, share

_TITLE = "Risk in the population"
_NAMES = {"pitman": "Pitman", "zayatz": "Zayatz", "snb": "SNB"}
_BASES = {"weights": "by the sampling weights", "population": "counted in a table of all people"}


@section("population", _TITLE, needs=("inside.population",), audience="internal", place=31)
def population(_: Dossier, in_population: InPopulation) -> Data:
    """Show expected correct matches before and after, by model, and the contribution of each key."""
    before, after = in_population.before, in_population.after
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
        ("correct matches to expect", people(old.expected), people(new.expected)),
        ("their 95 % interval", _between(old), _between(new)),
        ("mean chance of a record", share(old.mean), share(new.mean)),
        (f"records above {percent(100 * old.threshold)}", old.at_risk, new.at_risk),
        *((f"{label} found", people(item.expected), people(two.expected)) for label, item, two in lines[1:]),
        ("unique in the table", *in_population.unique),
        (f"singled out by {in_population.size} keys or fewer", *in_population.special),
    ]
    return {
        "figure": drawn,
        "table": Table.of(("risk in the population", "before", "after"), rows),
        "found": in_population,
        "said": (people(before.matches.expected), people(after.matches.expected)),
        "names": _NAMES,
        "basis": _BASES.get(before.basis, "by the sampling fraction"),
        "models": _models(before),
        "warned": _warned(in_population),
        "keys": _keys(in_population),
    }


@section("population:public", _TITLE, needs=("public.population",), audience="public", place=31)
def outlook(_: Dossier, result: Outlook) -> Data:
    """Show the public part: sums over all records of the release."""
    low, high = result.interval
    rows = [
        ("records", result.records),
        ("people in the population", round(result.population)),
        ("correct matches to expect", people(result.expected)),
        ("its 95 % interval", f"{people(low)} to {people(high)}"),
        ("mean chance that a match is correct", share(result.mean)),
    ]
    return {
        "table": Table.of(("risk in the population", "value"), rows),
        "found": result,
        "basis": _BASES.get(result.basis, "by the sampling fraction"),
    }


def _lines(before: PopulationFigures, after: PopulationFigures) -> list[tuple[str, Matches, Matches]]:
    """Return the rows of probabilities, before and after."""
    both = [("records", before.matches, after.matches)]
    for label, name in (("households", "households"), ("members of these", "members")):
        old, new = getattr(before, name), getattr(after, name)
        if old is not None and new is not None:
            both.append((label, old, new))
    return both


def _models(before: PopulationFigures) -> Table | None:
    """Return each model's estimate of population uniques among the originals."""
    rows: list[tuple[object, ...]] = []
    if before.known is not None:
        rows.append(
            ("counted", "unique in the table and in the population", before.known["population_uniques"], None)
        )
    for fitted in before.columns:
        low, high = fitted.interval
        sentence = f"{people(low)} to {people(high)}"
        what = "unique in the table and in the population"
        rows.append((f"log-linear, {fitted.model}", what, people(fitted.population_uniques), sentence))
    for unique in before.uniques:
        chosen = " (by the decision rule)" if unique.model == before.rule else ""
        sentence = (
            "" if unique.interval is None else f"{people(unique.interval[0])} to {people(unique.interval[1])}"
        )
        many = None if unique.uniques is None else people(unique.uniques)
        rows.append((_NAMES[unique.model] + chosen, "unique in the population", many, sentence))
    if not rows:
        return None
    return Table.of(("model", "of", "estimate", "95 % interval"), rows, caption="Before: unique people")


def _keys(in_population: InPopulation) -> dict[str, object]:
    """Return how much each key singles people out."""
    rows = [(column.key, share(column.score), column.unique_without) for column in in_population.columns]
    drawn = bars(
        [item.key for item in in_population.columns],
        [100 * entry.score for entry in in_population.columns],
        title="Share of the special uniques that need this key",
        write=percent,
        across=WIDE,
    )
    head = ("key", "share of the SUDA score", "unique records without it")
    return {"figure": drawn if in_population.special[0] else None, "table": Table.of(head, rows)}


def _warned(in_population: InPopulation) -> list[str]:
    """Return assumptions and warnings, each once, those of the originals first."""
    result = []
    for when, item in (("Before", in_population.before), ("After", in_population.after)):
        for fitted in item.columns[:1]:
            result += [f"{when}, log-linear ({fitted.model}): {fitted.warning}"] if fitted.warning else []
        for unique in item.uniques if when == "Before" else ():
            result += [f"{when}, {_NAMES[unique.model]}: {unique.warning}"] if unique.warning else []
        result += [f"{when}: {note}" for note in item.notes]
    return result


def _between(matches: Matches) -> str:
    return " to ".join(map(people, matches.interval))
