"""The change by each step on columns, and its benefit."""

from __future__ import annotations

from voronym.dossier import Dossier
from voronym.evaluate.regression import Regression
from voronym.evaluate.weighted import WeightedChange
from voronym.report.language import numeral, phrase, term
from voronym.report.section import Data, section
from voronym.report.svg import percent
from voronym.report.write import Table
from voronym.result import Stratum
from voronym.steps.effect import Effect


@section(
    "steps", "What each step changed and bought", needs=("inside.effects",), audience="internal", place=23
)
def steps(_: Dossier, effects: tuple[Effect, ...]) -> Data:
    """Show each step: changed records, distances, and unique records before and after."""
    k = next((item.keys[1].k for item in effects if item.keys is not None), 0)
    least = [entry for entry in ("below_3", "below_k") if entry == "below_3" or k > 3] if k else []
    head = (
        "step",
        "records changed",
        "moved by, in standard deviations",
        "unique in these columns",
        *(("unique on all keys",) if k else ()),
        *(phrase("in classes below {k}", k="3" if member == "below_3" else str(k)) for member in least),
    )
    rows = [
        (
            effect.step,
            percent(100 * effect.changed, fine=True),
            "" if effect.error is None else numeral(f"{effect.error:.3f}"),
            _pair(effect.unique) + (_truth(effect) if effect.keys is None else ""),
            *(
                (
                    ""
                    if effect.keys is None
                    else _pair((effect.keys[0].unique, effect.keys[1].unique)) + _truth(effect),
                )
                if k
                else ()
            ),
            *(
                ""
                if effect.keys is None
                else _pair((getattr(effect.keys[0], what), getattr(effect.keys[1], what)))
                for what in least
            ),
        )
        for effect in effects
    ]
    return {
        "table": Table.of(head, rows),
        "idle": [element.step for element in effects if element.idle],
        "drawn": any(_truth(result) for result in effects),
    }


def _truth(effect: Effect) -> str:
    """Return words for the number of unique records with only true values; "" if all have."""
    unique = effect.unique[1] if effect.keys is None else effect.keys[1].unique
    return "" if effect.true == unique else f" ({term('true')}: {numeral(f'{effect.true:,}')})"


@section("strata", "Each stratum by itself", needs=("inside.strata",), audience="internal", place=25)
def strata(_: Dossier, parts: tuple[Stratum, ...]) -> Data:
    """Show each stratum: records, groups, the smallest of them, and the loss."""
    rows = [
        (
            part.label,
            *(numeral(f"{n:,}") for n in (part.records, part.groups, part.smallest)),
            percent(part.loss),
        )
        for part in parts
    ]
    return {"table": Table.of(("stratum", "records", "groups", "smallest group", "loss of the groups"), rows)}


@section("weighted", "Weighted totals and means", needs=("inside.weighted",), audience="internal", place=26)
def weighted(_: Dossier, changes: tuple[WeightedChange, ...]) -> Data:
    """Show weighted totals, means and medians before and after."""
    rows = [
        (
            change.column,
            _moved(change.total),
            _moved(change.mean),
            numeral(f"{change.moved:.2f}"),
            _moved(change.quantiles[1]),
        )
        for change in changes
    ]
    head = ("column", "total", "mean", "moved, in standard errors", "median")
    return {"table": Table.of(head, rows), "far": [item.column for item in changes if item.moved > 1.0]}


@section("regressions", "Weighted regressions", needs=("inside.regressions",), audience="internal", place=27)
def weighted_regressions(_: Dossier, result: tuple[Regression, ...]) -> Data:
    """Show each coefficient before and after, and mark those that moved by more than their standard error."""
    rows = [
        (
            item.target,
            term(part.name),
            *map(
                numeral,
                (f"{part.before:,.4g}", f"{part.after:,.4g}", f"{part.error:,.2g}", f"{part.moved:.2f}"),
            ),
        )
        for item in result
        for part in item.coefficients
    ]
    head = ("of", "on", "before", "after", "standard error", "moved, in standard errors")
    far = [f"{entry.target} on {', '.join(entry.far)}" for entry in result if entry.far]
    return {"table": Table.of(head, rows), "far": far}


def _moved(pair: tuple[float, float]) -> str:
    return " → ".join(numeral(f"{item:,.0f}" if abs(item) >= 1000 else f"{item:,.4g}") for item in pair)


def _pair(pair: tuple[int, int]) -> str:
    return numeral(f"{pair[0]:,} → {pair[1]:,}")
