"""Templates of the page, and what they need."""

from __future__ import annotations

import secrets
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.responses import HTMLResponse

from voronym.report import write
from voronym.report.svg import clean, percent
from voronym.web import draw
from voronym.web.desk import Desk, Run, Sketch, Table
from voronym.web.forms import RECIPE, kept
from voronym.web.settings import Settings

STEPS = (("read", "File"), ("roles", "Columns"), ("protect", "Protection"), ("result", "Release"))
ROLE_WORDS = {
    "identifier": "names a person; dropped",
    "key": "an intruder may know it; blurred",
    "confidential": "nobody should learn it; kept",
    "other": "harmless; kept as it is",
}
UNSHOWN = ("options", "blocks", "space", "metrics", "importance", "enforce", "hierarchies", "widths", "ends",
           "publish_weights", "sampling_fraction", "headroom", "dissolved", "waiting", "changed")  # fmt: skip
"""Choices that the page keeps from a recipe and has no field for."""
KINDS = ("numeric", "ordinal", "nominal", "datetime")


@cache
def environment() -> Environment:
    """Return the environment of all templates; every text is escaped."""
    made = Environment(
        loader=PackageLoader("voronym.web", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: (
            clean(value) if isinstance(value, str) and not isinstance(value, Markup) else value
        ),
    )
    made.filters |= {
        "percent": percent, "fine": write.fine, "number": write.cell, "plural": write.plural,
        "names": write.names, "share": write.share, "decimal": write.decimal, "method": draw.plain_name,
        "markup": Markup,
    }  # fmt: skip
    made.globals |= {"steps": STEPS, "role_words": ROLE_WORDS, "kinds": KINDS}
    return made


def show(template: str, status: int = 200, **data: Any) -> HTMLResponse:
    """Return a page."""
    given = {"table": None, "step": "", "errors": {}, **data}
    return HTMLResponse(environment().get_template(template).render(given), status)


def start(desk: Desk, status: int = 200, errors: dict[str, str] | None = None) -> HTMLResponse:
    """Show the first screen: a file, the made-up patients, or a recipe."""
    return show("start.html", status, desk=desk, errors=errors or {})


def read(
    table: Table, status: int = 200, errors: dict[str, str] | None = None, typed: Any = None
) -> HTMLResponse:
    """Show how the file was read, to be corrected, and its first rows."""
    reading = table.reading if typed is None else typed
    return show(
        "read.html", status, table=table, step="read", about=table.about, reading=reading, errors=errors or {}
    )


def roles(table: Table, status: int = 200, errors: dict[str, str] | None = None) -> HTMLResponse:
    """Show the columns and their roles."""
    return show(
        "roles.html",
        status,
        table=table,
        step="roles",
        about=table.about,
        chosen=table.settings,
        several=several(table, table.settings),
        errors=_beside(table, errors or {}),
    )


def several(table: Table, chosen: Settings) -> str:
    """Return the advice to say whose several rows are, unless that was said."""
    result = {"person": chosen.person, "household": chosen.household}
    return " ".join(text for what, text in table.about.get("several", ()) if not result[what])


def _beside(table: Table, errors: dict[str, str]) -> dict[str, str]:
    """Put a sentence about columns beside those that it names."""
    sentence = errors.get("columns")
    if not sentence:
        return errors
    out = dict(errors)
    for i, column in enumerate(table.about["columns"]):
        lines = [line for line in sentence.split("\n") if repr(column["name"]) in line]
        if lines:
            out[f"column-{i}"] = " ".join(lines)
    return out


def protect(table: Table, status: int = 200, errors: dict[str, str] | None = None) -> HTMLResponse:
    """Show the protection, with the picture of risk and loss."""
    from voronym.method import algorithms
    from voronym.policy.policy import Policy, shipped

    chosen = table.settings
    models = dict(model.partition("=")[::2] for model in chosen.models)
    rest = [model for model in chosen.models if model.partition("=")[0] not in ("p-sensitive", "t-closeness")]
    return show(
        "protect.html", status, table=table, step="protect", chosen=chosen, errors=errors or {},
        models=models, rest=rest, methods=list(algorithms()), ticket=secrets.token_urlsafe(12),
        confidential=chosen.of("confidential"), kept=kept(chosen), rules=_rules(chosen),
        recipe_only={name: value for name, value in chosen.choices.items() if name in UNSHOWN},
        policies=[(name, Policy.load(name).title) for name in shipped()],
    )  # fmt: skip


def _rules(chosen: Settings) -> dict[str, Any]:
    """Return what the fields for strata, weights and publishing show; a recipe may say more than they can."""
    publish, strata, weights = chosen.publish, list(chosen.strata), chosen.weights
    simple = isinstance(publish, dict) and list(publish) == ["*"]
    left = chosen.choices.get("suppress", "")
    return {
        "publish": "" if not publish else publish["*"] if simple else RECIPE,
        "strata": "" if not strata else strata[0] if len(strata) == 1 else RECIPE,
        "weights": "" if weights is None else weights,
        "suppress": left,
        "recipe": RECIPE,
        "used": bool(publish or strata or weights or left or chosen.steps),
    }


def sketch(result: Sketch, compiling: bool, *, k: int | None, method: str) -> HTMLResponse:
    """Show the picture, so far."""
    rows = result.rows
    ks, names = sorted({row["k"] for row in rows}), list(dict.fromkeys(row["method"] for row in rows))
    cells = {(row["k"], row["method"]): row for row in rows}
    picture = draw.risk_loss(rows, k=k, method=method) if len(rows) > 1 else None
    here = draw.chosen(rows, k, method)
    answer = show(
        "sketch.html", found=result, picture=picture, ks=ks, names=names, cells=cells, compiling=compiling,
        here=here, k=k, method=method,
    )  # fmt: skip
    if not result.over:
        answer.headers["x-more"] = "1"
    return answer


def running(table: Table, run: Run, ahead: int) -> HTMLResponse:
    """Show a run at work, or one that came to nothing."""
    return show("run.html", table=table, step="result", run=run, ahead=ahead)


def progress(table: Table, run: Run, ahead: int, elapsed: float) -> HTMLResponse:
    """Show how far a run is."""
    answer = show(
        "progress.html", table=table, run=run, ahead=ahead, elapsed=elapsed, compiling=table.compiling
    )
    if run.over:
        answer.headers["x-go"] = f"/t/{table.id}/{'result' if run.state == 'done' else 'run'}/{run.number}"
    else:
        answer.headers["x-more"] = "1"
    return answer


def result(table: Table, run: Run, other: Run | None, command: str) -> HTMLResponse:
    """Show a release: what it promises, what it cost, how it looks."""
    done = [item for item in table.runs if item.state == "done"]
    return show(
        "result.html", table=table, step="result", run=run, other=other, done=done, command=command,
        shown=run.shown, figures=run.shown["figures"],
    )  # fmt: skip
