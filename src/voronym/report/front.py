"""The first page of a report, for signature. All other pages are annexes.

It fits one printed page, so every list has a limit; further entries are in the annex.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from voronym.attacks.ladder import PRESENCE_SAYS
from voronym.dossier import Dossier, Public
from voronym.evaluate.moved import KeyChange, amount
from voronym.report.language import numeral, term
from voronym.report.svg import percent
from voronym.report.write import Table, share

MOST_KEYS, MOST_PROMISES, MOST_WARNINGS, MOST_DECISIONS = 8, 6, 3, 3

_INTERNAL = "Internal: shows original values. Do not publish it."


@dataclass(frozen=True)
class Front:
    """The first page apart from the verdict and its figures.

    Parameters
    ----------
    promises, keys : Table or None
        The requirements and their results; the loss of each key, the largest first, for the data holder.
    more_keys, more_promises, more_warnings : int
        Number of entries that are only in the annex.
    presence : str
        Whether an intruder can tell who is in the file; "" if this was not tried or failed.
    warnings, decisions : tuple of str
        The warnings, and the decisions that the policy leaves to people.
    """

    promises: Table
    keys: Table | None
    more_keys: int
    more_promises: int
    presence: str
    warnings: tuple[str, ...]
    more_warnings: int
    decisions: tuple[str, ...]
    every_page: Markup
    """Style that prints the audience at the foot of every page."""

    @classmethod
    def of(cls, d: Dossier) -> Front:
        """Gather it from a dossier."""
        warnings = d.public.warnings if d.inside is None else d.inside.warnings
        checklist = None if d.inside is None else d.inside.checklist
        promises = guarantees(d.public)
        keys = None if d.inside is None else lost(d)
        return cls(
            _first(promises, MOST_PROMISES),
            None if keys is None else _first(keys, MOST_KEYS),
            0 if keys is None else max(0, len(keys.rows) - MOST_KEYS),
            max(0, len(promises.rows) - MOST_PROMISES),
            presence(d),
            tuple(warnings[:MOST_WARNINGS]),
            max(0, len(warnings) - MOST_WARNINGS),
            () if checklist is None else tuple(checklist.decisions)[:MOST_DECISIONS],
            Markup("") if d.inside is None else _foot(str(term(_INTERNAL))),
        )


def guarantees(public: Public) -> Table:
    """Return the requirements, the measurements, and whether they hold."""
    rows = [
        (
            finding.model,
            None if finding.required is None else f"{finding.required:.4g}",
            term("by how it was made") if finding.model == "dp" else f"{finding.value:.4g}",
            term("holds" if finding.holds else "does not hold"),
        )
        for finding in public.findings
    ]
    return Table.of(("guarantee", "required", "measured", "verdict"), rows)


def lost(d: Dossier) -> Table | None:
    """Return the loss of each key, in percent of its variance and in its own unit; None if unknown."""
    inside = d.inside
    if inside is None:
        return None
    losses = {loss.key: loss.published for loss in inside.losses}
    changes = {change.key: change for change in inside.changes}
    names = sorted({**losses, **changes}, key=lambda name: -losses.get(name, 0.0))
    if not names:
        return None
    rows = [(name, percent(losses.get(name)), *_moved(changes.get(name))) for name in names]
    head = ("key", "lost", "kept its value", "moved, on average", "at most")
    used = [at for at in range(len(head)) if at < 2 or any(row[at] for row in rows)]
    return Table.of([head[at] for at in used], [[row[at] for at in used] for row in rows])


def presence(d: Dossier) -> str:
    """Return a sentence on whether an intruder can tell who is in the file; "" without that attack."""
    made = None if d.ladder is None else d.ladder.presence
    if made is None or not made.claims:
        return ""
    return str(term(PRESENCE_SAYS)).replace("{success}", share(made.success))


def _foot(text: str) -> Markup:
    """Return a style with a text of the catalogues, for the margin of every printed page."""
    return Markup(  # noqa: S704 - no sign of markup is in it
        f"@page {{ @bottom-center {{ content: {json.dumps(escape(text), ensure_ascii=False)}; "
        "font: 8pt sans-serif; color: #8a4205; } }"
    )


def _moved(change: KeyChange | None) -> Sequence[str]:
    if change is None:
        return "", "", ""
    kept = percent(100 * change.kept / change.records if change.records else 100.0)
    far = (change.distance, change.farthest)
    return kept, *("" if way is None else f"{numeral(amount(way))}{term(change.unit)}" for way in far)


def _first(table: Table, most: int) -> Table:
    return Table(table.head, table.rows[:most], table.caption, table.numeric)
