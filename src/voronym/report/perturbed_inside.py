"""Sections about channels for the data holder: records before and after, and how many an attack finds."""

from __future__ import annotations

from typing import Any

import numpy as np

from voronym.evaluate.attacks import record_linkage
from voronym.evaluate.risk import risk as measure_risk
from voronym.report import figures
from voronym.report.parts import Block, Section, Table, names, plural, share, svg
from voronym.report.plane import heaviest, principal_axes
from voronym.report.public import View
from voronym.report.shift import Side, before_and_after
from voronym.report.svg import clean, percent

MOST_POINTS = 1200
MOST_TRACED = 40


def plane(release: Any) -> Section | None:
    """Show the same records before and after on the same axes; some are traced."""
    evidence = release._evidence
    X = evidence.X
    if X is None:
        return None
    flat = principal_axes(X)
    rows = np.sort(np.random.default_rng(0).permutation(len(X))[:MOST_POINTS])
    after = flat.project(evidence.codec.encode(evidence.masked.frame[rows.tolist()]))
    before = flat.points[rows]
    if X.shape[1] == 1:
        after[:, 1] = before[:, 1]
    traced = np.sort(np.random.default_rng(1).permutation(len(rows))[:MOST_TRACED])
    drawing = before_and_after(
        before,
        after,
        np.full(len(rows), -1, np.int64),
        traced,
        sides=(
            Side("Before", f"{plural(len(rows), 'record')}; {len(traced)} of them ringed."),
            Side("After", "The same records as published. A line leads back to where a ringed one stood."),
        ),
        axes=flat.axes,
        title="Records in the plane",
    )
    blocks = [(clean(b.name), b.start, b.stop) for b in evidence.codec.blocks]
    leads = [
        f"{('first', 'second')[axis]} axis mostly {names(found)}"
        for axis in range(min(2, X.shape[1]))
        if (found := heaviest(flat, blocks, axis))
    ]
    table = Table.of(
        ("figure", "value"),
        [
            ("records", len(X)),
            ("records drawn", len(rows)),
            *(
                (f"variance on the {n} axis", percent(100 * v))
                for n, v in zip(("first", "second"), flat.shares, strict=True)
            ),
        ],
    )
    note = f"The axes: {'; '.join(leads)}." if leads else ""
    lead = "Each dot is a record. Long lines are records whose keys say much about the confidential columns."
    return Section(
        "plane",
        "Records before and after, in the plane",
        lead,
        (Block(figure=svg(drawing), table=table, note=note, whole=True),),
    )


def risk(view: View, release: Any) -> Section | None:
    """Show how many records an attack with the original keys links: a channel hides no identities."""
    evidence = release._evidence
    if evidence.X is None:
        return None
    owner = np.empty(len(evidence.order), np.int64)
    owner[evidence.order] = np.arange(len(owner))
    linked = record_linkage(evidence.X, evidence.codec.encode(view.table), truth=owner).rate
    before = measure_risk(evidence.original, view.keys)
    label = "Original records linked to the right record"
    own = "Records with a combination of keys of their own"
    drawing = figures.dot_ranges(
        [
            (label, 100 * before.prosecutor_mean, 100 * linked.value, (100 * linked.low, 100 * linked.high)),
            (own, 100 * before.uniqueness, 100 * view.risk.uniqueness, None),
        ],
        title="How many records an attack finds",
        desc="Shares in percent, grey before and blue after; the table has the figures.",
        unit=" %",
    )
    table = Table.of(
        ("risk", "before", "after"),
        [
            (label, share(before.prosecutor_mean), share(linked.value)),
            (
                f"its {100 * linked.confidence:.0f} % interval",
                None,
                f"{share(linked.low)} to {share(linked.high)}",
            ),
            (own, share(before.uniqueness), share(view.risk.uniqueness)),
        ],
    )
    lead = (
        "A channel limits what the keys tell, not whom they find. Somebody who holds the original keys "
        "takes, for "
        "each person, the nearest released record. If this is too much, make a k-anonymous release instead."
    )
    measured = (
        f"all {plural(linked.n, 'record')}"
        if linked.exact
        else f"{linked.n:,} of {plural(linked.population, 'record')}"
    )
    block = Block(figure=svg(drawing), table=table, note=f"Measured on {measured}.", legend=True)
    return Section("risk", "Risk of re-identification", lead, (block,))
