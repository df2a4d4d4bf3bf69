"""Sections about the work done, how to repeat it, and the limits of the promise."""

from __future__ import annotations

from dataclasses import replace

import tomli_w

from voronym.dossier import Dossier, Public
from voronym.report.front import MOST_WARNINGS, guarantees
from voronym.report.language import term
from voronym.report.section import Data, section
from voronym.report.write import Table

_COMMAND = "voronym anonymize INPUT -o OUTPUT --recipe recipe.toml --report report.html"
_MANY = """import voronym as vr

recipe = vr.Recipe.load("recipe.toml")
release = vr.anonymize("INPUT", output="OUTPUT", recipe=recipe)"""
_PYTHON = """import voronym as vr

recipe = vr.Recipe.load("recipe.toml")
release = vr.anonymize("INPUT", recipe=recipe)"""


@section("repeat", "What was done, and how to repeat it", needs=("public",), place=90, shape="text")
def repeat(d: Dossier, public: Public) -> Data:
    """Show the guarantees, the columns and the command that repeats the release."""
    seen = public if d.inside is None else d.inside
    return {
        "guarantees": replace(guarantees(public), caption="Measured on the released table"),
        "columns": Table.of(
            ("column", "role", "kind", "what happened"),
            [(column.name, *map(term, (column.role, column.kind, column.fate))) for column in seen.columns],
            numeric=False,
        ),
        "code": (
            (term("On the command line"), _COMMAND),
            (term("In Python"), _MANY if seen.recipe.get("engine") else _PYTHON),
            ("recipe.toml", tomli_w.dumps(dict(seen.recipe))),
        ),
        "drawn": public.story != "groups" and (d.inside is None or not public.seeded),
    }


@section("limits", "What this report does not promise", needs=("public",), place=95, shape="text")
def limits(_: Dossier, public: Public) -> Data:
    """List the things that the report does not promise."""
    return {"kept": public.kept}


@section("warned", "Warnings", needs=("public",), place=3, shape="text")
def warned(d: Dossier, public: Public) -> Data | None:
    """Show every warning, if the first page has no room for all of them."""
    warnings = public.warnings if d.inside is None else d.inside.warnings
    return {"warnings": warnings} if len(warnings) > MOST_WARNINGS else None


@section("sampled", "What was sampled", needs=("public",), place=92, shape="text")
def sampled(d: Dossier, public: Public) -> Data | None:
    """List figures that come from a sample only; None if there are none."""
    result = public.sampled if d.inside is None else d.inside.sampled
    return {"told": result} if result else None
