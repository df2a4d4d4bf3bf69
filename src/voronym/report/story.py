"""How a page tells about a method that makes no cells: what every such method has to say, and how."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from voronym.registry import METHODS
from voronym.report import figures
from voronym.report.parts import Block, Fact, Section, Table, names, plural, share, svg
from voronym.report.public import View
from voronym.report.svg import clean, percent

MOST_BARS = 40


@dataclass(frozen=True)
class Story:
    """The words and sections of one method; every function sees the `View`, ``inside`` the release too."""

    verdict: Callable[[View], str]
    support: Callable[[View], tuple[str, ...]]
    facts: Callable[[View], tuple[Fact, ...]]
    done: Callable[[View], list[str]]
    """What was done, a sentence each."""
    fates: Callable[[View], Mapping[str, str]]
    """What happened to each column."""
    limits: Callable[[View], list[str]]
    """What is not promised."""
    sections: Callable[[View], Sequence[Section | None]]
    inside: Callable[[View, Any], Sequence[Section | None]]
    told: Callable[[View, Any], Mapping[str, Any]] = lambda _view, _release: {}
    """What the section on loss and risk must know about the method."""
    moved: str = "Counts of records for each key."
    """What to say above the distributions before and after."""
    statistics: str = "How far averages, spreads and correlations moved."


def own(view: View) -> str:
    """Say how many records have a combination of keys of their own, and that this is not hidden."""
    if view.risk is None:
        return ""
    unique, records = int(view.risk.unique), int(view.risk.records)
    if not unique:
        return f"Every combination of keys is shared by at least {view.k} records."
    if unique == records:
        return (
            f"This is not k-anonymity: no two of the {records:,} records have the same combination of keys."
        )
    return (
        f"This is not k-anonymity: {plural(unique, 'record')} of {records:,} "
        f"{'has' if unique == 1 else 'have'} a combination of keys that nobody else has."
    )


def losses(utility: Any) -> Section | None:
    """Show how far each key is from the original, record by record, as published."""
    by_key = dict(getattr(utility, "loss_by_key", None) or {})
    if not by_key:
        return None
    rows = sorted(by_key.items(), key=lambda row: -row[1])
    shown = rows[:MOST_BARS]
    drawing = figures.loss_bars(
        [clean(name) for name, _ in shown],
        [value for _, value in shown],
        total=None,
        title="Information loss of each key",
        desc=f"Loss in percent of the variance for {len(shown)} keys, largest first.",
    )
    lead = (
        "The mean squared difference between a record’s original and its published value, as a share of "
        "the key’s variance. At 0\u202f% every record kept its value. A value drawn at random from the "
        "column would be at 200\u202f%, and the average of all at 100\u202f%."
    )
    table = Table.of(("key", "loss"), [(name, percent(value)) for name, value in rows])
    return Section("loss", "Information loss of each key", lead, (Block(figure=svg(drawing), table=table),))


def risk_of_own(view: View) -> list[tuple[str, str]]:
    """Return rows about the classes of the released table, for a table of figures."""
    if view.risk is None:
        return []
    return [
        ("combinations of keys", f"{view.risk.n_classes:,}"),
        ("records with one of their own", share(view.risk.uniqueness)),
    ]


def unknown(method: str) -> Story:
    """Return the story of a mask that has none of its own: its guarantee and its steps."""
    found = METHODS[method] if method in METHODS and not METHODS[method].groups else None
    promise = "" if found is None else found.guarantee
    return Story(
        verdict=lambda _: f"Masked by “{clean(method)}”: {clean(promise)}.",
        support=lambda view: (own(view),),
        facts=_facts,
        done=lambda view: [f"Masked {names(view.keys)} with the method “{clean(method)}”.", *view.steps],
        fates=lambda view: dict.fromkeys(view.keys, "masked"),
        limits=lambda _: [f"It promises no more than this: {clean(promise)}."],
        sections=lambda _: (),
        inside=lambda _, release: (losses(release.utility),),
    )


def _facts(view: View) -> tuple[Fact, ...]:
    if view.risk is None:
        return ()
    return (
        Fact(share(view.risk.uniqueness), "keys of their own", "share of the records"),
        Fact(f"{view.risk.records:,}", "records", plural(view.risk.n_classes, "combination")),
    )
