"""Sections about the risk in the population from which the table was sampled."""

from __future__ import annotations

from voronym.dossier import Dossier
from voronym.dossier.population import InPopulation, Outlook
from voronym.evaluate.population import Matches, PopulationFigures
from voronym.evaluate.population.figures import people
from voronym.report.axes import WIDE
from voronym.report.bars import Range, bars, ranges
from voronym.report.language import numeral, phrase, term
from voronym.report.section import Data, section
from voronym.report.svg import percent
from voronym.report.write import Table, between, share

_TITLE = "Risk in the population"
_NAMES = {"pitman": "Pitman", "zayatz": "Zayatz", "snb": "SNB"}
_BASES = {"weights": "by the sampling weights", "population": "counted in a table of all people"}


_BOTH = "unique in the table and in the population"


@section("population", _TITLE, needs=("inside.population",), audience="internal", place=31)
def population(_: Dossier, in_population: InPopulation) -> Data:
    """Show expected correct matches before and after, by model, and the contribution of each key."""
    before, after = in_population.before, in_population.after
    lines = _lines(before, after)
    drawn = ranges(
        [
            Range(f"{term(label)}: {term(what)}", 100 * getattr(old, name), 100 * getattr(new, name))
            for label, old, new in lines
            for what, name in (("mean", "mean"), ("greatest", "greatest"))
        ],
        title="Chance that a match is correct",
        unit=" %",
    )
    old, new = before.matches, after.matches
    rows: list[tuple[object, ...]] = [
        (term("correct matches to expect"), _people(old.expected), _people(new.expected)),
        (term("their 95 % interval"), _between(old), _between(new)),
        (term("mean chance of a record"), share(old.mean), share(new.mean)),
        (phrase("records above {share}", share=percent(100 * old.threshold)), old.at_risk, new.at_risk),
        *(
            (term(f"{label} found"), _people(item.expected), _people(two.expected))
            for label, item, two in lines[1:]
        ),
        (term("unique in the table"), *in_population.unique),
        (phrase("singled out by {many} keys or fewer", many=str(in_population.size)), *in_population.special),
    ]
    return {
        "figure": drawn,
        "table": Table.of(("risk in the population", "before", "after"), rows),
        "found": in_population,
        "said": (_people(before.matches.expected), _people(after.matches.expected)),
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
        (term("records"), result.records),
        (term("people in the population"), round(result.population)),
        (term("correct matches to expect"), _people(result.expected)),
        (term("its 95 % interval"), between(people(low), people(high))),
        (term("mean chance that a match is correct"), share(result.mean)),
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
            (
                term("counted"),
                term("unique in the table and in the population"),
                before.known["population_uniques"],
                None,
            )
        )
    for fitted in before.columns:
        low, high = fitted.interval
        sentence = between(people(low), people(high))
        what = term(_BOTH)
        rows.append((f"log-linear, {fitted.model}", what, _people(fitted.population_uniques), sentence))
    for unique in before.uniques:
        chosen = f" ({term('by the decision rule')})" if unique.model == before.rule else ""
        sentence = "" if unique.interval is None else between(*map(people, unique.interval))
        many = None if unique.uniques is None else _people(unique.uniques)
        rows.append((_NAMES[unique.model] + chosen, term("unique in the population"), many, sentence))
    if not rows:
        return None
    return Table.of(("model", "of", "estimate", "95 % interval"), rows, caption="Before: unique people")


def _keys(in_population: InPopulation) -> dict[str, object]:
    """Return the contribution of each key to singling people out."""
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
    """Return each assumption and warning once, with those of the originals first."""
    result = []
    for when, item in (("Before", in_population.before), ("After", in_population.after)):
        for fitted in item.columns[:1]:
            result += [f"{when}, log-linear ({fitted.model}): {fitted.warning}"] if fitted.warning else []
        for unique in item.uniques if when == "Before" else ():
            result += [f"{when}, {_NAMES[unique.model]}: {unique.warning}"] if unique.warning else []
        result += [f"{when}: {note}" for note in item.notes]
    return result


def _people(value: float) -> str:
    """Write a number of people in the reader's form."""
    return numeral(people(value))


def _between(matches: Matches) -> str:
    return between(*map(people, matches.interval))
