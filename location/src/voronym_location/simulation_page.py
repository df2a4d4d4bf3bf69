"""The page about a simulated town; it only draws figures."""

from __future__ import annotations

from collections.abc import Callable

from markupsafe import Markup

from voronym.report.curves import Series, chart
from voronym.report.html import Part, add_templates, fill, part
from voronym.report.write import Table, share
from voronym_location.simulate import Row, Simulation

add_templates("voronym_location")

NAMES = {
    "cohort": "cohorts", "retire": "retire", "reuse": "reuse of one design", "rerun": "rerun (the paper)",
    "afresh": "afresh",
}  # fmt: skip
"""Names of policies on the page."""


def render(outcome: Simulation) -> str:
    """Return the page as HTML text.

    Examples
    --------
    >>> from voronym_location import Settings
    >>> from voronym_location.simulate import simulate
    >>> page = render(simulate(people=60, epochs=3, settings=Settings(k=5), policies=["cohort"]))
    >>> "Everybody who is served shares their history with at least" in page
    True
    """
    cohort = outcome.rows.get("cohort", [])
    smallest = min((row.pseudonym.smallest for row in cohort if row.served), default=None)
    sections = [_sets(outcome), _metres(outcome), _served(outcome)]
    if outcome.points:
        sections.insert(1, _tradeoff(outcome))
    sections += [
        _linked(outcome),
        *_retired(outcome),
        *_reruns(outcome),
        _design(outcome),
        _everything(outcome),
    ]
    epochs = max(map(len, outcome.rows.values()))
    later = cohort[1:] or cohort
    return fill(
        "voronym_location/simulation.html",
        found=outcome,
        epochs=epochs,
        k=outcome.settings.k,
        smallest=smallest,
        holds=smallest is not None and smallest >= outcome.settings.k,
        served=share(_mean(later, lambda row: row.served)) if later else "–",
        told=share(_mean(later, lambda row: row.told)) if later else "–",
        metres=f"{cohort[-1].rms:,.0f} m" if cohort else "–",
        least=f"{max(outcome.fresh.items())[1]:,.0f} m",
        change=share(outcome.change),
        others=[(NAMES.get(name, name), share(rows[-1].pseudonym.single))
                for name, rows in outcome.rows.items() if name != "cohort"],
        warnings=[],
        sections=sections,
    )  # fmt: skip


def _mean(rows: list[Row], what: Callable[[Row], float]) -> float:
    return sum(map(what, rows)) / len(rows)


def _curves(outcome: Simulation, what: Callable[[Row], float]) -> list[Series]:
    return [
        Series(NAMES.get(name, name), [(float(row.epoch), what(row)) for row in rows])
        for name, rows in outcome.rows.items()
    ]


def _drawn(
    outcome: Simulation, title: str, y_name: str, what: Callable[[Row], float], log: str = ""
) -> Markup:
    return chart(
        _curves(outcome, what),
        title=title,
        desc="One line for each policy; the table at the end has the figures.",
        x_name="epoch",
        y_name=y_name,
        log=log,
        zero="xy" if not log else "x",
    )


def _sets(outcome: Simulation) -> Part:
    data = {
        "k": outcome.settings.k,
        "smallest": _drawn(
            outcome,
            "Smallest set",
            "people who share a history, at least",
            lambda row: row.pseudonym.smallest,
        ),
        "alone": _drawn(
            outcome, "Singled out", "singled out, % of the served", lambda row: 100 * row.pseudonym.single
        ),
        "below": _drawn(
            outcome, "Below k", "below k, % of the served", lambda row: 100 * row.pseudonym.below
        ),
    }
    return part("sets", "Who shares a history", "voronym_location/sets.html", data, "grid")


def _tradeoff(outcome: Simulation) -> Part:
    shares = [round(100 * point.told, 1) for point in outcome.points]
    drawn = {
        "metres": chart(
            [Series("cohorts", list(zip(shares, [point.ratio for point in outcome.points], strict=True)))],
            title="Metres against people given a new place",
            x_name="given a new place in an epoch, %",
            y_name="rms metres, fresh grouping = 1",
            zero="x",
        ),
        "served": chart(
            [
                Series(
                    "cohorts",
                    list(zip(shares, [100 * point.served for point in outcome.points], strict=True)),
                )
            ],
            title="People served against people given a new place",
            x_name="given a new place in an epoch, %",
            y_name="served, %",
            zero="x",
        ),
        "linked": chart(
            [
                Series(
                    "cohorts", list(zip(shares, [100 * point.below for point in outcome.points], strict=True))
                )
            ],
            title="What linking pseudonyms gives, against people given a new place",
            x_name="given a new place in an epoch, %",
            y_name="below k when linked, %",
            zero="xy",
        ),
    }
    rows = [
        (
            share(point.budget),
            point.headroom,
            share(point.told),
            share(point.served),
            f"{point.ratio:.2f}",
            share(point.below),
        )
        for point in outcome.points
    ]
    head = ("budget", "headroom", "new place", "served", "rms, fresh = 1", "linked: below k")
    data = {**drawn, "table": Table.of(head, rows)}
    return part("budgets", "What a budget buys", "voronym_location/budgets.html", data, "grid")


def _metres(outcome: Simulation) -> Part:
    fresh = Series("grouped by itself", [(float(epoch), rms) for epoch, rms in sorted(outcome.fresh.items())])
    drawn = chart(
        [*_curves(outcome, lambda row: row.rms), fresh],
        title="Metres from home",
        x_name="epoch",
        y_name="rms metres from home",
        zero="xy",
    )
    tenths = [
        (f"{number}{' (densest)' if number == 1 else ''}", f"{apart:,.0f} m", f"{rms:,.0f} m")
        for number, (apart, rms) in enumerate(outcome.density, start=1)
    ]
    table = Table.of(("tenth of the people", "kth neighbour", "rms from home"), tenths)
    return part(
        "metres",
        "How far a place is from home",
        "voronym_location/metres.html",
        {"figure": drawn, "table": table},
    )


def _served(outcome: Simulation) -> Part:
    data = {
        "served": _drawn(outcome, "Served", "served, %", lambda row: 100 * row.served),
        "told": chart(
            [
                Series(curve.name, curve.points[1:])
                for curve in _curves(outcome, lambda row: 100 * row.told)
            ],
            title="Given a new place",
            desc="Without the first epoch, in which everybody gets a place.",
            x_name="epoch",
            y_name="given a new place, %",
            zero="xy",
        ),
    }  # fmt: skip
    return part(
        "served", "People served, and people given a new place", "voronym_location/served.html", data, "grid"
    )


def _linked(outcome: Simulation) -> Part:
    drawn = _drawn(outcome, "Linked", "below k when linked, %", lambda row: 100 * row.linking.below)
    rows = [
        (
            NAMES.get(name, name),
            rows[-1].linking.smallest,
            share(rows[-1].linking.below),
            share(rows[-1].linking.single),
        )
        for name, rows in outcome.rows.items()
    ]
    table = Table.of(("policy", "smallest set", "below k", "singled out"), rows)
    return part(
        "linked",
        "If new pseudonyms are recognised",
        "voronym_location/linked.html",
        {"figure": drawn, "table": table},
    )


def _retired(outcome: Simulation) -> list[Part]:
    trials = [trial for trial in outcome.trials if trial.policy == "retire"]
    if not trials:
        return []
    k = outcome.settings.k
    drawn = {
        "served": chart(
            [Series("retire", [(float(trial.setting), 100 * trial.served) for trial in trials])],
            title="People served against headroom", x_name="headroom, addresses", y_name="served, %",
            zero="x",
        ),
        "metres": chart(
            [Series("retire", [(float(trial.setting), trial.ratio) for trial in trials])],
            title="Metres against headroom", x_name="headroom, addresses",
            y_name="rms metres, fresh grouping = 1", zero="x",
        ),
    }  # fmt: skip
    rows = [
        (trial.setting, k + trial.setting, share(trial.served),
         share((trial.setting + 1) / (trial.setting + k)), f"{trial.ratio:.2f}", share(trial.told),
         trial.smallest, share(trial.linked))
        for trial in trials
    ]  # fmt: skip
    head = ("headroom", "formed with", "served", "in the long run", "rms, fresh = 1", "new place",
            "smallest set when linked", "linked: below k")  # fmt: skip
    data = {**drawn, "table": Table.of(head, rows), "k": k}
    return [
        part(
            "retired", "What it costs to hold against linking", "voronym_location/retired.html", data, "grid"
        )
    ]


def _reruns(outcome: Simulation) -> list[Part]:
    trials = [trial for trial in outcome.trials if trial.policy == "rerun"]
    if not trials:
        return []
    drawn = {
        name: chart(
            [Series("rerun", [(round(100 * trial.told, 1), 100 * getattr(trial, what)) for trial in trials])],
            title=title, x_name="given a new place in an epoch, %", zero="xy",
            y_name=f"{words}, % of the served",
        )
        for name, what, title, words in (
            ("below", "below", "Below k against people given a new place", "below k"),
            ("single", "single", "Singled out against people given a new place", "singled out"),
        )
    }  # fmt: skip
    rows = [
        (
            trial.setting,
            share(trial.told),
            f"{trial.ratio:.2f}",
            trial.smallest,
            share(trial.below),
            share(trial.single),
        )
        for trial in trials
    ]
    head = ("epochs between designs", "new place", "rms, fresh = 1", "smallest set", "below k", "singled out")
    data = {**drawn, "table": Table.of(head, rows)}
    return [
        part(
            "reruns", "The paper's way: designs again and again", "voronym_location/reruns.html", data, "grid"
        )
    ]


def _design(outcome: Simulation) -> Part:
    base = outcome.designs["MDAV"]
    rows = [
        (name, f"{rms:,.1f} m", f"{100 * (rms / base - 1):+.1f} %".replace("-", "−"),
         f"{100 * ((rms / base) ** 2 - 1):+.1f} %".replace("-", "−"))
        for name, rms in outcome.designs.items()
    ]  # fmt: skip
    table = Table.of(("method", "rms from home", "against MDAV", "in squared metres"), rows)
    return part("design", "The first grouping", "voronym_location/design.html", {"table": table}, "text")


def _everything(outcome: Simulation) -> Part:
    rows = [
        (
            NAMES.get(name, name), row.epoch, share(row.served), share(row.told), f"{row.rms:,.0f}",
            f"{row.median:,.0f}", row.pseudonym.smallest, share(row.pseudonym.single),
            share(row.linking.below),
        )
        for name, rows in outcome.rows.items()
        for row in rows
    ]  # fmt: skip
    head = ("policy", "epoch", "served", "told", "rms m", "median m", "smallest", "alone", "linked: below k")
    return part("all", "All figures", "voronym_location/all.html", {"table": Table.of(head, rows)}, "text")
