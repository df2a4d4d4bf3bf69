"""Run a combination of choices, and count its promises in the written file by code of its own."""

from __future__ import annotations

import tempfile
import traceback
import warnings
from collections import defaultdict
from pathlib import Path
from typing import Any

import polars as pl

import voronym as vr
from pairs.cases import TREE, merged, people

WORKS, REFUSED, DEFECT = "works", "refused", "defect"
LEAF = 150
"""Records of a leaf, where the table of 600 is grouped over several."""


def outcome(names: tuple[str, ...], *, leaf: int | None = None) -> tuple[str, str]:
    """Return whether a combination works, is refused, or ends as a defect; and why.

    With ``leaf`` the table lies in several files, and is grouped in leaves of that many records.
    """
    asked = merged(names)
    assert asked is not None
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            broken = _released(asked, Path(folder), leaf)
        except (vr.InputError, vr.GuaranteeError) as error:
            return REFUSED, str(error)
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            return DEFECT, f"{type(error).__name__}: {error} ({Path(last.filename).name}:{last.lineno})"
    return (WORKS, "") if not broken else (DEFECT, broken)


def _released(asked: dict[str, Any], folder: Path, leaf: int | None) -> str:
    frame = people()
    choices = dict(asked)
    if "hierarchies" in choices:
        (folder / "town.csv").write_text(TREE, encoding="utf-8")
        choices["hierarchies"] = {"town": str(folder / "town.csv")}
    if "population" in choices:
        frame.write_parquet(folder / "population.parquet")
        choices["population"] = str(folder / "population.parquet")
    if "ledger" in choices:
        choices["ledger"] = str(folder / "people.ledger")
    if choices.get("method") not in ("channel", "records"):
        choices.setdefault("k", 5)
    if "person" in choices:  # several rows of a person share what is a person's
        about = ["sex", "town", "region", "household", "school"]
        frame = frame.with_columns(pl.col(name).first().over("person") for name in about)
    if choices.get("method") in ("lattice", "local-suppression"):  # they take coarse keys
        frame = frame.with_columns(pl.col("age") // 20 * 20, pl.col("income") // 20_000 * 20_000)
    choices["other"] = [*choices.get("other", ()), "row"]
    roles = {"confidential": ["ill", "cost"], "identifiers": ["name"], "drop_undeclared": True}
    who = pl.col("person").rank("dense") if "person" in choices else pl.int_range(pl.len())
    months = [frame, frame.filter(who % 20 != 3)] if choices.get("keep_groups") else [frame]
    for number, month in enumerate(months):
        target = folder / f"release-{number}"
        if leaf is None:
            release = vr.anonymize(month, **roles, **choices)
            release.write(target.with_suffix(".parquet"))
            table = pl.read_parquet(target.with_suffix(".parquet"))
        else:
            data = folder / f"data-{number}"
            data.mkdir()
            for part in range(3):
                month[part::3].write_parquet(data / f"{part}.parquet")
            release = vr.anonymize(data, output=target, leaf=leaf, workers=1, **roles, **choices)
            table = pl.read_parquet(target / "*.parquet")
        if broken := promises(table, month, release, choices):
            return broken
    return ""


def promises(table: pl.DataFrame, frame: pl.DataFrame, release: vr.Release, choices: dict[str, Any]) -> str:
    """Return the promise that a written table breaks; nothing of the library is asked."""
    keys, k = list(choices["keys"]), choices.get("k")
    if "name" in table.columns or not len(table):
        return "an identifier is in the table, or it has no rows"
    if not choices.get("suppress") and not choices.get("keep_groups") and len(table) != len(frame):
        return f"{len(table)} of {len(frame)} rows"
    classes: dict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
    for row in table.rows(named=True):
        classes[tuple(row[key] for key in keys)].append(row)
    if k is not None:
        for unit in _units(choices):
            owner = dict(zip(frame["row"], frame[unit], strict=True))
            for rows in classes.values():
                if len({owner[row["row"]] for row in rows}) < k:
                    return f"fewer than {k} of {unit} share a class"
    drawn = any("ill" in step and step.startswith(("pram",)) for step in choices.get("steps", ()))
    for model in choices.get("models", ()) if choices.get("method") not in ("channel", "records") else ():
        diverse = all(len({row["ill"] for row in rows}) >= 2 for rows in classes.values())
        if model.startswith("l-diversity") and not drawn and not diverse:
            return "l-diversity is broken"
        if (
            model.startswith("t-closeness")
            and "person" not in choices
            and "strata" not in choices
            and not drawn
        ):
            whole = table["ill"].value_counts(normalize=True)
            share = dict(zip(whole["ill"], whole["proportion"], strict=True))
            for rows in classes.values():
                here = [row["ill"] for row in rows]
                if (
                    sum(abs(here.count(ill) / len(here) - part) for ill, part in share.items()) / 2
                    > 0.5 + 1e-9
                ):
                    return "t-closeness is broken"
    if broken := _passed_over(table, frame, release, choices):
        return f"{broken} was passed over in silence"
    for stratum in choices.get("strata", ()):
        if any(len({row[stratum] for row in rows}) > 1 for rows in classes.values()):
            return "a group crosses strata"
    return ""


def _passed_over(
    table: pl.DataFrame, frame: pl.DataFrame, release: vr.Release, choices: dict[str, Any]
) -> str:
    """Return a choice of which nothing is to be seen in the table; each is looked for by what it does."""
    true = dict(zip(frame["row"], frame.select("ill", "cost", "income").rows(), strict=True))
    own = [(true[row], ill, cost) for row, ill, cost in table.select("row", "ill", "cost").rows()]
    texts = {name: table[name].cast(pl.String).drop_nulls().to_list() for name in table.columns}
    steps, ways = choices.get("steps", ()), dict(choices.get("publish") or {})
    # What kept groups publish was decided before; a search without time may leave nobody out.
    changed = not choices.get("keep_groups") and not choices.get("time_limit")
    if "noise cost=0.1" in steps and all(was[1] == cost for was, _, cost in own):
        return "noise"
    if "pram ill=0.2" in steps and all(was[0] == ill for was, ill, _ in own):
        return "pram"
    if "after round cost=50" in steps and any(cost % 50 for _, _, cost in own):
        return "a step that comes after"
    if any(step.startswith("recode town") for step in steps) and {"Ulm", "Jena"} & {*texts["town"]}:
        return "recode"
    if (
        choices.get("suppress")
        and changed
        and choices.get("method") != "lattice"
        and len(table) == len(frame)
    ):
        return "suppress"
    if ways.get("age") == "interval" and not any("–" in age for age in texts["age"]):
        return "interval"
    by_tree = "town" in (choices.get("hierarchies") or {}) and ways.get("town", "hierarchy") == "hierarchy"
    if by_tree and {*texts["town"]} - {"Ulm", "Bonn", "Jena", "Köln", "south", "west", "east", "*", "small"}:
        return "hierarchy"
    if choices.get("pseudonyms") and "person" not in table.columns:
        return "pseudonyms"
    if choices.get("publish_weights") == "mean" and {*table["weight"]} <= {1.0, 2.0, 3.0}:
        return "publish-weights"
    ranged = choices.get("space") == "ranges" and ways.get("age") != "median"
    if ranged and not any("–" in age for age in texts["age"]):
        return "space"
    if release.recipe.given.get("k") != choices.get("k"):
        return "k"
    if "policy" in choices and not (release.checklist is not None and release.checklist.passes):
        return "policy"
    return ""


def _farthest(table: pl.DataFrame, classes: dict[tuple[Any, ...], list[dict[str, Any]]]) -> float:
    """Return the largest distance of a class to the table: half the sum of differences of shares."""
    whole = table["ill"].value_counts(normalize=True)
    share = dict(zip(whole["ill"], whole["proportion"], strict=True))
    worst = 0.0
    for rows in classes.values():
        here = [row["ill"] for row in rows]
        worst = max(worst, sum(abs(here.count(ill) / len(here) - part) for ill, part in share.items()) / 2)
    return worst


def _units(choices: dict[str, Any]) -> list[str]:
    """Return the columns whose values k counts: those of people and households, or else the rows."""
    return [name for name in ("person", "household") if name in choices] or ["row"]
