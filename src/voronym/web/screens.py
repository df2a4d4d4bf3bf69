"""Templates of the page, and their data."""

from __future__ import annotations

import secrets
from functools import cache
from time import monotonic
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.responses import HTMLResponse

from voronym.core.grammar import name_of
from voronym.report import write
from voronym.report.svg import clean, percent
from voronym.request.wording import DECLARED
from voronym.web import draw
from voronym.web.attempts import Run, Sketch
from voronym.web.desk import Desk, Table
from voronym.web.forms import FURTHER, OF_COLUMN, PLAIN, column_fields, kept, protection_fields
from voronym.web.journal import difference
from voronym.web.settings import Settings

SCREENS = (
    ("read", "File"),
    ("roles", "Columns"),
    ("protect", "Protection"),
    ("bench", "Workbench"),
    ("result", "Release"),
)
ROLE_WORDS = {
    "identifier": "names a person; dropped",
    "key": "an intruder may know it; blurred",
    "confidential": "nobody should learn it; kept",
    "other": "harmless; kept as it is",
}
KINDS = ("numeric", "ordinal", "nominal", "datetime")


@cache
def environment() -> Environment:
    """Return the environment of all templates; it escapes every text."""
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
        "markup": Markup, "lines": _lines, "histogram": draw.histogram,
    }  # fmt: skip
    made.globals |= {"screens": SCREENS, "role_words": ROLE_WORDS, "kinds": KINDS}
    return made


def _lines(text: str) -> Markup:
    """Return a text of several lines unchanged but escaped; elsewhere line ends become blanks."""
    return Markup("\n").join(clean(line) for line in str(text).split("\n"))


def show(template: str, status: int = 200, **data: Any) -> HTMLResponse:
    """Return a page."""
    given = {"table": None, "screen": "", "errors": {}, **data}
    return HTMLResponse(environment().get_template(template).render(given), status)


def start(desk: Desk, status: int = 200, errors: dict[str, str] | None = None) -> HTMLResponse:
    """Show the first screen: a file, the made-up patients, or a recipe."""
    return show("start.html", status, desk=desk, errors=errors or {})


def read(
    table: Table, status: int = 200, errors: dict[str, str] | None = None, typed: Any = None
) -> HTMLResponse:
    """Show how the file was read, for correction, and its first rows."""
    reading = table.reading if typed is None else typed
    return show(
        "read.html",
        status,
        table=table,
        screen="read",
        about=table.about,
        reading=reading,
        errors=errors or {},
    )


def roles(table: Table, status: int = 200, errors: dict[str, str] | None = None) -> HTMLResponse:
    """Show the columns and their roles."""
    return show(
        "roles.html",
        status,
        table=table,
        screen="roles",
        errors=_beside(table, errors or {}),
        **_columns(table),
    )


def _columns(table: Table) -> dict[str, Any]:
    """Return the data of the column cards."""
    warned: dict[int, list[str]] = {}
    loose = []
    for warning in table.about["warnings"]:
        at = [i for i, name in enumerate(table.names) if repr(name) in warning]
        for i in at:
            warned.setdefault(i, []).append(warning)
        loose += [] if at else [warning]
    codes = [
        i
        for i, texts in warned.items()
        if any("code" in text for text in texts) and not table.settings.kinds.get(table.names[i])
    ]
    return {
        "about": table.about,
        "chosen": table.settings,
        "fields": column_fields(table.settings, table.names),
        "several": several(table, table.settings),
        "warned": warned,
        "loose": loose,
        "codes": codes,
        "of_column": [(name, DECLARED[name]) for name in OF_COLUMN],
        "journal": table.journal,
    }


def several(table: Table, chosen: Settings) -> str:
    """Return the advice to name the person or household column if rows repeat; "" if that was done."""
    result = {"person": chosen.person, "household": chosen.household}
    return " ".join(text for what, text in table.about.get("several", ()) if not result[what])


def _beside(table: Table, errors: dict[str, str]) -> dict[str, str]:
    """Copy an error about columns to the fields of the columns that it names."""
    sentence = errors.get("columns")
    if not sentence:
        return errors
    out = dict(errors)
    for i, column in enumerate(table.about["columns"]):
        lines = [line for line in sentence.split("\n") if repr(column["name"]) in line]
        if lines:
            out[f"column-{i}"] = " ".join(lines)
    return out


def _protection(table: Table, errors: dict[str, str] | None) -> dict[str, Any]:
    """Return the data of the protection's fields."""
    from voronym.method import METHODS
    from voronym.web.given import policies, purposes

    names = {"k": "How many people look alike", "secrets": "Shared secrets", "models": "Further guarantees"}
    chosen = table.settings
    return {
        "chosen": chosen, "fields": protection_fields(chosen, table.names), "errors": errors or {},
        "methods": list(METHODS), "ticket": secrets.token_urlsafe(12), "about": table.about,
        "confidential": chosen.of("confidential"), "kept": kept(chosen), "journal": table.journal,
        "policies": policies(table.files, table.given), "purposes": purposes(chosen, table.given),
        "further": [(name, DECLARED[name]) for name in FURTHER],
        "used": bool(chosen.publish or chosen.strata or chosen.weights or chosen.steps
                     or chosen.choices.get("suppress")),
        "further_used": any(chosen.choices.get(name) for name in FURTHER),
        "rest": [model for model in chosen.models if name_of(str(model)) not in PLAIN],
        "error_names": names,
    }  # fmt: skip


def protect(table: Table, status: int = 200, errors: dict[str, str] | None = None) -> HTMLResponse:
    """Show the protection with its expected cost."""
    return show("protect.html", status, table=table, screen="protect", **_protection(table, errors))


def bench(table: Table) -> HTMLResponse:
    """Show columns, table, risk and loss side by side."""
    return show("bench.html", table=table, screen="bench", **{**_columns(table), **_protection(table, None)},
                column_values=column_fields(table.settings, table.names))  # fmt: skip


def history(table: Table, screen: str) -> HTMLResponse:
    """Show the history of choices."""
    return show("history.html", table=table, journal=table.journal, screen=screen)


def forget(table: Table) -> HTMLResponse:
    """Ask whether a table should be forgotten."""
    return show("forget.html", table=table)


def sketch(result: Sketch, table: Table) -> HTMLResponse:
    """Show the preview so far: figures, and the loss by k."""
    points = [result.points[k] for k in sorted(result.points) if k and result.points[k]["loss"] is not None]
    k = table.settings.k
    pins = {
        letter: (entry.settings.k, entry.effect["loss"])
        for letter, entry in table.journal.pins.items()
        if isinstance(entry.settings.k, int) and entry.effect.get("loss") is not None
    }
    picture = draw.cost_by_k(points, k, pins) if len(points) > 1 else None
    answer = show(
        "sketch.html", table=table, found=result, picture=picture, points=points, k=k,
        shown=result.shown, compiling=table.compiling, journal=table.journal,
        steps=table.settings.steps or (), left=_left(monotonic() - result.started, result.done),
    )  # fmt: skip
    answer.headers["x-seen"] = result.mark
    if not result.over:
        answer.headers["x-more"] = "1"
    return answer


def running(table: Table, run: Run, ahead: int) -> HTMLResponse:
    """Show a run at work, or a run that ended without a release."""
    return show("run.html", table=table, screen="result", run=run, ahead=ahead)


def progress(table: Table, run: Run, ahead: int, elapsed: float) -> HTMLResponse:
    """Show the progress of a run."""
    answer = show(
        "progress.html", table=table, run=run, ahead=ahead, elapsed=elapsed, compiling=table.compiling,
        left=_left(elapsed, run.progress["done"]),
    )  # fmt: skip
    if run.over:
        answer.headers["x-go"] = f"/t/{table.id}/{'result' if run.state == 'done' else 'run'}/{run.number}"
    else:
        answer.headers["x-more"] = "1"
    return answer


def _left(elapsed: float, done: float) -> str:
    """Estimate the time left of a run; empty if it is too early."""
    if elapsed < 1.5 or not 0.02 < done < 1.0:
        return ""
    seconds = elapsed * (1.0 - done) / done
    return f"{seconds / 60:.0f} min" if seconds > 90 else f"{max(seconds, 1.0):.0f} s"


def result(table: Table, run: Run, other: Run | None, command: str) -> HTMLResponse:
    """Show a release: its promises, its cost and its rows."""
    done = [item for item in table.runs if item.state == "done"]
    return show(
        "result.html", table=table, screen="result", run=run, other=other, done=done, command=command,
        shown=run.shown, figures=run.shown["figures"],
        differs="" if other is None else difference(other.settings, run.settings),
    )  # fmt: skip
