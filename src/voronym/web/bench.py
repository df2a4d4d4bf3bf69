"""A worker's tasks on its table: read, count, preview, check, run. All of them call the library."""

from __future__ import annotations

import contextlib
import os
import re
import threading
from collections.abc import Callable, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import polars as pl

from voronym import datasets
from voronym._cuda.device import choose
from voronym.attacks.ladder import quick_attacks
from voronym.comparison import compare
from voronym.core.atomic import together
from voronym.core.context import FinishEarly, Progress
from voronym.core.grammar import name_of
from voronym.errors import Cancelled, InputError, SchemaError, VoronymError
from voronym.evaluate.risk import risk
from voronym.intruder import attack, expose
from voronym.method import METHODS
from voronym.policy.judge import check as by_policy
from voronym.privacy import split_models
from voronym.problem import check_k
from voronym.release import Release
from voronym.request.choices import PARTS, ReleaseChoices
from voronym.request.recipe import Recipe
from voronym.request.request import Request
from voronym.request.wording import DECLARED
from voronym.run import checks
from voronym.run.door import anonymize, plan
from voronym.table.read import read
from voronym.table.table import Table
from voronym.web.book import NEEDS, copied, copy_to, entries_of, packed
from voronym.web.column_facts import stand_alone
from voronym.web.forms import PLAIN
from voronym.web.intake import check_lines, check_unpacked
from voronym.web.judged import told_of, verdicts
from voronym.web.levels import levels
from voronym.web.looks import Opened, about, opened
from voronym.web.preview import preview
from voronym.web.settings import Settings, choices_in, labelled, refuse_files
from voronym.web.shown import release_view

MOST_KEYS = 15
"""Up to this number of keys, all pairs of keys are counted."""
PLACED = ("k", "policy", "models", "intruder", "steps", "publish", "strata", "weights", "suppress", "method",
          "time_limit", "seed", "space", "device")  # fmt: skip
"""Choices with their own place for errors on the page; errors of other choices appear under "options"."""


FILES = ("models", "steps", "policy", "population", "facts")
"""Choices whose values may name files."""


class Wishes:
    """Requests to a task: to finish, or to cancel."""

    def __init__(self, tell: Callable[[dict[str, Any]], None]) -> None:
        self.finish = self.cancel = False
        self.tell = tell

    def progress(self, start: float, stop: float) -> Callable[[Progress], None]:
        """Return a callback that reports a part's progress, and obeys requests."""

        def step(given: Progress) -> None:
            done = start + given.done * (stop - start)
            self.tell(
                {"progress": {"stage": given.stage, "done": done, "loss": given.loss, "bound": given.bound}}
            )
            self.check()
            if self.finish and given.loss is not None:  # before, there is nothing to finish with
                raise FinishEarly

        return step

    def check(self) -> None:
        """End the task if it was cancelled."""
        if self.cancel:
            raise Cancelled("cancelled: nothing was made")


class Bench:
    """A table and the tasks on it, in a separate process."""

    def __init__(self) -> None:
        self._frame: pl.DataFrame | None = None
        self._made: tuple[Settings, Release] | None = None
        self._given: Path | None = None
        self._opened: Opened | None = None

    @property
    def given(self) -> set[str]:
        """Names of the files that choices may name: the process works in their folder."""
        return set() if self._given is None else {file.name for file in self._given.iterdir()}

    @property
    def frame(self) -> pl.DataFrame:
        """The table as read."""
        if self._frame is None:
            raise InputError("no table is open: open one first")
        return self._frame

    def open(
        self,
        _: Wishes,
        *,
        path: str,
        reading: Mapping[str, Any],
        limits: Mapping[str, int] | None,
        given: str | None = None,
    ) -> dict[str, Any]:
        """Read a table; return its description and the proposals for its columns.

        Parameters
        ----------
        _ : Wishes
            Unused: reading is quick.
        path : str
            The file.
        reading : mapping
            The declared dialect.
        limits : mapping, optional
            Limits of an upload: ``unpacked`` bytes and ``columns``.
        given : str, optional
            The folder of files that choices may name.
        """
        if given is not None:
            self._given = Path(given)
            os.chdir(given)
        self._opened, self._made = opened(path, reading, limits), None
        self._frame = self._opened.frame
        threading.Thread(target=_warm_up, daemon=True).start()
        return about(self._opened)

    def alone(self, wishes: Wishes, *, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Count unique records by the chosen keys, and how many more each key singles out."""
        chosen = Settings.of_plain(settings)
        keys = chosen.keys
        if not keys:
            raise SchemaError(
                "no column has the role 'key'; name at least one that could single a person out"
            )
        units = None
        if chosen.person or chosen.household:
            about = {"person": chosen.person, "household": chosen.household}
            units = Table.build(self.frame, keys=keys, drop_undeclared=True, **about).units

        def count(names: list[str]) -> int:
            wishes.check()
            return stand_alone(self.frame, names, units)[0] if names else 0

        result, everybody = stand_alone(self.frame, keys, units)
        more = {}
        pairs = (
            {}
            if len(keys) > MOST_KEYS
            else {pair: count(list(pair)) for pair in combinations(keys, 2) if len(keys) > 2}
        )
        for key in keys:
            beside = {(b if a == key else a): many for (a, b), many in pairs.items() if key in (a, b)}
            most = max(beside, key=lambda name: beside[name], default="")
            more[key] = {
                "own": count([key]),
                "more": result - count([name for name in keys if name != key]),
                "with": most if most and beside[most] else "",
                "pair": beside.get(most, 0),
            }
        return {
            "records": everybody,
            "alone": result,
            "more": more,
            "counted": "people" if units is None else units.counted,
            "levels": levels(self.frame, chosen.hierarchies),
        }

    def ledger(self, _: Wishes, *, path: str) -> list[dict[str, Any]]:
        """Return the releases in a ledger that was given."""
        return entries_of(path)

    def look(self, _: Wishes, *, path: str, limits: Mapping[str, int]) -> list[str]:
        """Read a second table, and return its columns."""
        return list(_read_beside(path, limits).columns)

    def check(self, _: Wishes, *, settings: Mapping[str, Any], ledger: bool = True) -> dict[str, Any]:
        """Return the errors of settings, by field, without a run."""
        chosen = Settings.of_plain(settings)
        errors: dict[str, str] = {}
        for name in FILES:
            try:
                refuse_files(Settings({name: chosen.get(name)}), self.given)
            except InputError as error:
                errors[name if name in PLACED else "options"] = str(error)
        try:
            table = Request.of(chosen.about_columns()).table(self.frame)
        except VoronymError as error:
            return {"errors": errors | {"columns": str(error)}}
        sound: dict[str, Any] = {}
        for name in ReleaseChoices.names() if not errors else ():  # choices that name files are not checked
            if name not in chosen.choices:
                continue
            if wrong := _each_wrong(table, name, chosen.get(name), sound):
                errors |= wrong
            else:
                sound[name] = chosen.get(name)
        if not ledger and (without := [name for name in NEEDS if name in chosen.choices]):
            listed = ", ".join(name.replace("_", " ") for name in without)
            errors["ledger"] = (
                f"{listed}: this is about earlier releases, which a ledger knows: open one below"
            )
        private = any(str(model).partition("=")[0].strip() == "dp" for model in chosen.models)
        named = chosen.policy is not None or private  # a policy sets k, and ε needs none
        if not errors and chosen.k is None and METHODS[chosen.method].keeps_k and not named:
            errors["k"] = "k must be a whole number, 1 or more: say how many people are to look alike"
        names = ("allow_near_unique", "allow_loss", "allow_unit_columns", "k")
        allowed = {name: sound[name] for name in names if name in sound}
        try:
            checks.before(table, ReleaseChoices(**allowed))
        except VoronymError as error:
            errors["columns"] = str(error)
        return {"errors": errors}

    def choices(self, _: Wishes, *, text: str, name: str) -> dict[str, Any]:
        """Return the choices of a recipe, which may name given files."""
        chosen, reading = choices_in(text, name, self.given)
        return {"settings": chosen.plain(), "reading": reading}

    def recipe(self, _: Wishes, *, settings: Mapping[str, Any]) -> str:
        """Return choices as a recipe, without a run."""
        chosen = Settings.of_plain(settings)
        refuse_files(chosen, self.given)
        schema = Request.of(chosen.about_columns()).table(self.frame).schema
        given = {name: chosen.get(name) for name in ReleaseChoices.names() if name in chosen.choices}
        return Recipe(schema, **{**given, "models": tuple(split_models(chosen.models))}).to_toml()

    def preview(
        self,
        wishes: Wishes,
        *,
        settings: Mapping[str, Any],
        ledger: list[str] | None = None,
        everything: bool = False,
    ) -> dict[str, Any]:
        """Preview a release with these choices, and keep it for a run with the same choices."""
        chosen, self._made = Settings.of_plain(settings), None
        many = self._over_parts(chosen)
        with copied(ledger[0]) if ledger else contextlib.nullcontext() as book:
            refuse_files(chosen, self.given)
            if many is not None:
                given = {**chosen.choices, "models": split_models(chosen.models)}
                lines = str(plan(many.path, **given, reading=many.reading or None)).splitlines()
                wishes.tell({"plan": [re.split(r"\s{2,}", line, maxsplit=1) for line in lines]})
            rows = None if many is None else many.rows
            release, whole = preview(
                self.frame, chosen, wishes.tell, wishes.check, book, rows, everything=everything
            )
        if (
            whole and not ledger and release.recipe.makes_groups and release.recipe.private is None
        ):  # else each run draws again
            self._made = (chosen, release)
        return {}

    def _over_parts(self, chosen: Settings) -> Opened | None:
        """Return the source of a run over parts: it has several, or a choice about parts was made."""
        about_parts = any(DECLARED[name].purpose == PARTS for name in chosen.choices)
        here = self._opened
        return here if here is not None and (here.files or about_parts) else None

    def judge(
        self,
        wishes: Wishes,
        *,
        path: str,
        keys: list[str],
        confidential: list[str],
        original: str | None,
        limits: Mapping[str, int],
        policy: str | None = None,
        population: str | None = None,
    ) -> dict[str, Any]:
        """Attack a table as a release, by the attacks that take seconds at most; check it by a policy."""
        refuse_files(Settings({"policy": policy, "population": population}), self.given)
        beside = None if original is None else _read_beside(original, limits)
        about: dict[str, Any] = {"keys": keys, "confidential": confidential, "original": beside}
        exposure = attack(
            self.frame, file=path, attacks=quick_attacks(), progress=lambda _: wishes.check(), **about
        )
        made = None if policy is None else by_policy(self.frame, policy, population=population, **about)
        return {**told_of(exposure, risk(self.frame, keys), keys), "checklist": verdicts(made)}

    def run(
        self,
        wishes: Wishes,
        *,
        settings: Mapping[str, Any],
        folder: str,
        suffix: str,
        ledger: list[str] | None = None,
    ) -> dict[str, Any]:
        """Make a release, write it with its recipe and reports, and return its view."""
        chosen, place = Settings.of_plain(settings), Path(folder)
        refuse_files(chosen, self.given)
        given = {**chosen.choices, "models": split_models(chosen.models)}
        if ledger:
            given["ledger"] = copy_to(place, ledger[0])
        many = self._over_parts(chosen)
        with together():
            kept = self._made
            step = wishes.progress(0.0, 0.6)
            if many is not None:
                more: dict[str, Any] = {
                    "output": place / "release",
                    "reading": many.reading or None,
                    "report": True,
                }
                release = anonymize(many.path, **given, **more, progress=step)
            elif kept is not None and kept[0] == chosen and not ledger:
                release = kept[1]
            else:
                release = anonymize(self.frame, **given, progress=step)
            wishes.finish = False  # granted
            wishes.tell({"progress": {"stage": "writing", "done": 0.6, "loss": None, "bound": None}})
            receipt = None if many is not None else release.write(place / f"release{suffix}")
            release.recipe.save(place / "recipe.toml")
            expose(release, wishes.progress(0.62, 0.65))  # which the report shows, and the page as well
            dossier = release.dossier(progress=wishes.progress(0.65, 0.95), attacked=True)
            wishes.tell({"progress": {"stage": "drawing", "done": 0.95, "loss": None, "bound": None}})
            release.report(place / "report.html")
            release.report(place / "report-public.html", audience="public")
            wishes.check()
        if many is not None or ledger:  # entered when all else is in its place
            packed(place, "release" if many is not None else f"release{suffix}", ledger[1] if ledger else "")
        return release_view(release, dossier, receipt, self.frame)


def _read_beside(path: str, limits: Mapping[str, int]) -> pl.DataFrame:
    """Read a second table that was uploaded."""
    check_unpacked(Path(path), limits["unpacked"])
    check_lines(Path(path), limits["columns"])
    return read(path)


def _warm_up() -> None:
    """Load the kernels while the user looks at the first rows, so that the first picture appears sooner."""
    with contextlib.suppress(VoronymError):
        compare(datasets.hospital(40), keys=["age", "weight"], k=[3], methods=["mdav"])


def _each_wrong(table: Table, name: str, value: Any, beside: Mapping[str, Any]) -> dict[str, str]:
    """Return the errors of a choice by its field; for several steps, one for each."""
    if name == "steps" and isinstance(value, (list, tuple)) and len(value) > 1:
        wrong = [sentence for step in value if (sentence := _wrong(table, name, [step], beside))]
        if wrong:
            return {name: "\n".join(dict.fromkeys(wrong))}
    if name == "models":
        own = [model for model in value if name_of(str(model)) in PLAIN]
        rest = [model for model in value if model not in own]
        parts = {"secrets": own, "models": rest}
        out = {
            field: sentence
            for field, part in parts.items()
            if part and (sentence := _wrong(table, name, part, beside))
        }
        if out:
            return out
    sentence = _wrong(table, name, value, beside)
    return {name if name in PLACED else "options": sentence} if sentence else {}


def _wrong(table: Table, name: str, value: Any, beside: Mapping[str, Any] | None = None) -> str:
    """Return the error of one choice, checked together with valid others; "" if it is valid."""
    try:
        choice: dict[str, Any] = {name: tuple(split_models(value)) if name == "models" else value}
        made = Recipe(table.schema, **{**(beside or {}), **choice})
        if name == "device":
            choose(value)  # raises with the reason if there is none
        asks = name == "k" or (name == "models" and value)
        if asks and (made.private is None or made.required_k > 1):  # ε needs no k
            check_k(made.required_k, table.n)
    except VoronymError as error:
        return labelled(str(error))
    return ""
