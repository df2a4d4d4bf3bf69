"""A choice that is accepted changes something: what is published, what is measured, or what is said of it.

Every declared choice is tried with every kind of method, on a table where it matters, against the same run
without it. The recipe does not count: it repeats what was asked for.
"""

from __future__ import annotations

import warnings
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import voronym as vr
from pairs.cases import CASES, TREE, people

KEYS = ["age", "sex", "town"]
METHODS: dict[str, dict[str, Any]] = {
    "auto": {},
    "mdav": {"method": "mdav"},
    "pcl": {"method": "pcl"},
    "lattice": {"method": "lattice"},
    "local-suppression": {"method": "local-suppression"},
    "blocks": {"blocks": ["sex,town: local-suppression", "age: mdav"]},
    "mixed": {"space": "mixed", "method": "mdav"},
    "ranges": {"space": "ranges", "method": "mdav"},
    "channel": dict(CASES["channel"].given),
    "records": dict(CASES["records"].given),
    "dp": {"models": ["dp=9,rows=20"], "bounds": CASES["dp"].given["bounds"]},
}
"""By a short name, one method of each kind, and the spaces."""
MODEL = {"models": ["t-closeness=0.2,column=ill"]}
PROBES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    **{name: (dict(CASES[name].given), {}) for name in (
        "top", "recode", "noise", "pram", "after", "median", "interval", "hierarchies",
        "sampling-fraction", "population", "policy", "ledger", "orders", "kinds", "weights",
    )},
    "k": ({"k": 9}, {}),
    "seed": ({"seed": 8}, {}),
    "importance": ({"importance": {"town": 4.0, "age": 0.5}}, {}),
    "person": ({"person": "person"}, {}),
    "household": ({"household": "household"}, {}),
    "pseudonyms": ({"pseudonyms": True}, {"person": "person"}),
    "model": (MODEL, {}),
    "enforce": ({"enforce": "confidential-first"}, {**MODEL, "enforce": "merge"}),
    "intruder": ({"intruder": "method"}, MODEL),
    "intruder-alone": ({"intruder": "method"}, {}),
    "enforce-alone": ({"enforce": "swap"}, {}),
    "widths": ({"widths": {"age": 40}}, {"publish": {"age": "interval"}}),
    "widths-alone": ({"widths": {"age": 40}}, {}),
    "ends": ({"ends": "exact"}, {"publish": {"age": "interval"}}),
    "ends-alone": ({"ends": "exact"}, {}),
    "metrics": ({"metrics": {"age": "nominal"}}, {"space": "mixed"}),
    "publish-weights": ({"publish_weights": "mean"}, {"weights": "weight"}),
    "strata": ({"strata": ["sex"]}, {}),
    "suppress": ({"suppress": 0.2}, {}),
    "space": ({"space": "mixed"}, {}),
    "headroom": ({"headroom": 9}, {"keep_groups": True, "ledger": "LEDGER"}),
}  # fmt: skip
"""By a short name, a choice, and what it is about."""
IDLE = {
    **{(method, "seed"): "it draws nothing" for method in ("lattice", "mdav", "blocks", "mixed", "ranges")},
    ("records", "space"): "records are always compared so",
    ("mixed", "space"): "it is this space",
    ("ranges", "interval"): "it publishes all keys so",
}
"""What need not show, and why."""


@cache
def table(n: int = 240) -> pl.DataFrame:
    """Return people of whom all that is a person's is the same in all rows; few of them live in Jena."""
    about = ["sex", "town", "household", "school"]
    seldom = pl.when((pl.col("town") == "Jena") & (pl.col("income") % 1000 > 0)).then(pl.lit("Ulm"))
    frame = people(n, seed=5).with_columns(town=seldom.otherwise("town"), age=pl.col("age") // 2 * 2)
    return frame.with_columns(pl.col(name).first().over("person") for name in about)


def fingerprint(asked: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return all that a release shows, but its recipe."""
    (folder / "town.csv").write_text(TREE, encoding="utf-8")
    table().write_parquet(folder / "population.parquet")
    files = {
        "hierarchies": {"town": str(folder / "town.csv")},
        "population": str(folder / "population.parquet"),
        "ledger": str(folder / f"{len(list(folder.iterdir()))}.ledger"),
    }
    choices = {**asked, **{name: value for name, value in files.items() if name in asked}}
    if "bounds" not in asked:  # noise of differential privacy has no seed
        choices.setdefault("seed", 7)
        if asked.get("method") not in ("channel", "records"):
            choices.setdefault("k", 5)
    more = ["school", "code"] if {"orders", "kinds"} & {*asked} else []
    release = vr.anonymize(
        table(), keys=[*KEYS, *more], confidential=["ill", "cost", "income"], identifiers=["name"],
        other=["row", *(["weight"] if "weights" in asked else [])], drop_undeclared=True, **choices,
    )  # fmt: skip
    inside = release.dossier().inside if {"sampling_fraction", "population"} & {*asked} else None
    return {
        "population": str(None if inside is None else inside.population),
        "rows": release.table.sort("row").rows(), "loss": release.information_loss, "risk": str(release.risk),
        "log": release.log, "warnings": release.warnings, "figures": str(release.figures),
        "findings": list(map(str, release.findings)), "checklist": release.checklist is None,
        "booking": release.booking is None, "effects": str(release.effects),
    }  # fmt: skip


def traces(method: str, probe: str, folder: Path) -> list[str] | None:
    """Return where a choice shows; None where it is refused, or makes a run possible at all."""
    given, beside = PROBES[probe]
    base = {**METHODS[method], **beside}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            changed, plain = fingerprint({**base, **given}, folder), fingerprint(base, folder)
        except (vr.InputError, vr.GuaranteeError):
            return None
    return [name for name, value in changed.items() if plain[name] != value]


def _cases() -> list[Any]:
    """Return every method with every choice that is not the method's own; few of them are quick to run."""
    quick = {("lattice", "enforce"), ("mdav", "enforce"), ("mdav", "widths-alone"), ("mdav", "ends-alone"),
             ("mdav", "enforce-alone"), ("mdav", "intruder-alone")}  # fmt: skip
    return [
        pytest.param(method, probe, marks=() if (method, probe) in quick else pytest.mark.slow)
        for method, own in METHODS.items()
        for probe, (given, beside) in PROBES.items()
        if all(own.get(name, value) == value for name, value in {**beside, **given}.items())
        and (method, probe) not in IDLE
    ]


@pytest.mark.parametrize(("method", "probe"), _cases())
def test_a_choice_leaves_a_trace_or_is_refused(method: str, probe: str, tmp_path: Path) -> None:
    assert traces(method, probe, tmp_path) != []
