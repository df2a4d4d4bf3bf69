"""A release in a notebook: its figures, its promises, and the success of intruders."""

from __future__ import annotations

from markupsafe import Markup

from voronym.core.context import Context
from voronym.core.display import chip, html_facts, html_table
from voronym.core.percent import percent
from voronym.dossier import ladder_of
from voronym.release import Release

_QUICK = 5_000
"""Up to this number of records a notebook computes the gap by itself, in a fraction of a second."""


def release_html(release: Release) -> str:
    """Return a release for a notebook as HTML: its figures, its promises, and the success of intruders."""
    cheap = "gap" in vars(release) or (release.folder is None and release.rows <= _QUICK)
    gap = release.gap if cheap else None
    losses = {"information loss": release.information_loss, "lost by the groups": release.group_loss}
    facts = html_facts(
        [
            ("records", release.rows),
            ("groups", release.risk.n_classes),
            ("smallest group", release.risk.k),
            *((name, None if loss is None else f"{loss:.2f} %") for name, loss in losses.items()),
            ("next to the best possible", None if gap is None else release.closeness),
        ],
        caption=f"Release by the method {release.recipe.method}",
    )
    promises = [
        (
            finding.model,
            f"{finding.value:.4g}",
            "" if finding.required is None else f"{finding.required:g}",
            chip("holds", "green") if finding.required is not None else chip("measured"),
        )
        for finding in release.findings
    ]
    result = facts + html_table(["model", "value", "required", ""], promises)
    return str(result + _ladder(release))


def _ladder(release: Release) -> Markup:
    """Return the success of intruders as a table for a notebook; small releases are attacked first."""
    if release.exposure is None and release._evidence is not None and release.rows <= _QUICK:
        release._attack(Context())
    made = None if release.exposure is None else ladder_of(release.exposure, release.schema.keys)
    if made is None:
        return Markup("")
    rows = [
        (
            rung.knows,
            chip(percent(rung.outcome.success, whole=True), "red" if rung.outcome.claims else "green"),
            percent(rung.outcome.control, whole=True),
            f"{percent(rung.between[0], whole=True)} to {percent(rung.between[1], whole=True)}",
            rung.outcome.attack,
        )
        for rung in made.measured
        if rung.outcome is not None
    ]
    head = ["an intruder who knows", "is right", "control", "interval", "by the attack"]
    return html_table(head, rows, caption=made.sentence, wide=["an intruder who knows"])
