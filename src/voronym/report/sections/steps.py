"""What each step on columns changed, and what it bought."""

from __future__ import annotations

from voronym.dossier import Dossier
from voronym.evaluate.regression import Regression
from voronym.evaluate.weighted import WeightedChange
from voronym.report.section import Data, section
from voronym.report.svg import percent
from voronym.report.write import Table
from voronym.result import Stratum
from voronym.steps.effect import Effect


@section(
    "steps", "What each step changed and bought", needs=("inside.effects",), audience="internal", place=23
)
def steps(_: Dossier, effects: tuple[Effect, ...]) -> Data:
    """Show each step: records changed, how far, and who was unique before and after, as anybody counts."""
    k = next((one.keys[1].k for one in effects if one.keys is not None), 0)
    least = [one for one in ("below_3", "below_k") if one == "below_3" or k > 3] if k else []
    head = (
        "step",
        "records changed",
        "moved by, in standard deviations",
        "unique in these columns",
        *(("unique on all keys",) if k else ()),
        *(f"in classes below {3 if one == 'below_3' else k}" for one in least),
    )
    rows = [
        (
            one.step,
            f"{100 * one.changed:.1f} %",
            "" if one.error is None else f"{one.error:.3f}",
            _pair(one.unique) + (_truth(one) if one.keys is None else ""),
            *(
                ("" if one.keys is None else _pair((one.keys[0].unique, one.keys[1].unique)) + _truth(one),)
                if k
                else ()
            ),
            *(
                "" if one.keys is None else _pair((getattr(one.keys[0], what), getattr(one.keys[1], what)))
                for what in least
            ),
        )
        for one in effects
    ]
    return {
        "table": Table.of(head, rows),
        "idle": [one.step for one in effects if one.idle],
        "drawn": any(_truth(one) for one in effects),
    }


def _truth(one: Effect) -> str:
    """Return how many of the unique records have all values true, where that is not all of them."""
    unique = one.unique[1] if one.keys is None else one.keys[1].unique
    return "" if one.true == unique else f" (true: {one.true:,})"


@section("strata", "Each stratum by itself", needs=("inside.strata",), audience="internal", place=25)
def strata(_: Dossier, parts: tuple[Stratum, ...]) -> Data:
    """Show each stratum: records, groups, the smallest of them, and what was lost."""
    rows = [
        (one.label, f"{one.records:,}", f"{one.groups:,}", f"{one.smallest:,}", percent(one.loss))
        for one in parts
    ]
    return {"table": Table.of(("stratum", "records", "groups", "smallest group", "loss of the groups"), rows)}


@section("weighted", "Weighted totals and means", needs=("inside.weighted",), audience="internal", place=26)
def weighted(_: Dossier, changes: tuple[WeightedChange, ...]) -> Data:
    """Show weighted totals, means and medians before and after."""
    rows = [
        (
            one.column,
            _moved(one.total),
            _moved(one.mean),
            f"{one.moved:.2f}",
            _moved(one.quantiles[1]),
        )
        for one in changes
    ]
    head = ("column", "total", "mean", "moved, in standard errors", "median")
    return {"table": Table.of(head, rows), "far": [one.column for one in changes if one.moved > 1.0]}


@section("regressions", "Weighted regressions", needs=("inside.regressions",), audience="internal", place=27)
def weighted_regressions(_: Dossier, found: tuple[Regression, ...]) -> Data:
    """Show each coefficient before and after, and say which moved by more than their standard error."""
    rows = [
        (
            one.target,
            part.name,
            f"{part.before:,.4g}",
            f"{part.after:,.4g}",
            f"{part.error:,.2g}",
            f"{part.moved:.2f}",
        )
        for one in found
        for part in one.coefficients
    ]
    head = ("of", "on", "before", "after", "standard error", "moved, in standard errors")
    far = [f"{one.target} on {', '.join(one.far)}" for one in found if one.far]
    return {"table": Table.of(head, rows), "far": far}


def _moved(pair: tuple[float, float]) -> str:
    return " → ".join(f"{one:,.0f}" if abs(one) >= 1000 else f"{one:,.4g}" for one in pair)


def _pair(pair: tuple[int, int]) -> str:
    return f"{pair[0]:,} → {pair[1]:,}"
