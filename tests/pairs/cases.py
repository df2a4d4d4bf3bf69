"""What the test of all pairs tries: a table of people, and a few values of every declared choice."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

KEYS = ("age", "income", "sex", "town", "region")
TREE = "\n".join(["Ulm;south;*", "Bonn;west;*", "Jena;east;*", "Köln;west;*"])


def people(n: int = 600, seed: int = 3) -> pl.DataFrame:
    """Return a made-up survey: people with several rows, households, weights, places, dates."""
    rng = np.random.default_rng(seed)
    person = rng.integers(0, int(0.8 * n), n)
    home = rng.integers(0, n // 3, int(0.8 * n) + 1)
    age = rng.integers(20, 90, n)
    towns, ills = np.array(["Ulm", "Bonn", "Jena", "Köln"]), np.array(["no", "flu", "cold", "gout"])
    return pl.DataFrame({
        "name": [f"p{i:05d}" for i in range(n)],
        "row": [f"r{i}" for i in rng.permutation(n)],
        "age": age,
        "income": 50 * (10 * age + rng.integers(0, 800, n)),
        "sex": np.array(["f", "m"])[rng.integers(0, 2, n)],
        "town": towns[rng.integers(0, 4, n)],
        "region": np.array(["north", "south"])[rng.integers(0, 2, n)],
        "school": np.array(["none", "basic", "high"])[rng.integers(0, 3, n)],
        "code": rng.integers(1, 5, n),
        "lat": 41.0 + rng.integers(0, 20, n) / 10,
        "lon": 2.0 + rng.integers(0, 20, n) / 10,
        "weight": rng.integers(1, 4, n).astype(float),
        "ill": ills[rng.integers(0, 4, n)],
        "cost": 10 * rng.integers(0, 300, n),
        "person": [f"v{i}" for i in person],
        "household": [f"h{i}" for i in home[person]],
    })  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A value of a choice, with what else it needs to make sense.

    Parameters
    ----------
    choice : str
        The declared choice.
    given : mapping
        The choice with its value, and others without which it has no meaning.
    adds : mapping
        Columns that roles need, by the role's choice.
    """

    choice: str
    given: Mapping[str, Any]
    adds: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


CASES: dict[str, Case] = {
    "orders": Case("orders", {"orders": {"school": ["none", "basic", "high"]}}, {"keys": ("school",)}),
    "kinds": Case("kinds", {"kinds": {"code": "nominal"}}, {"keys": ("code",)}),
    "locations": Case("locations", {"locations": [("lat", "lon")]}, {"keys": ("lat", "lon")}),
    "person": Case("person", {"person": "person"}),
    "household": Case("household", {"household": "household"}),
    "pseudonyms": Case("pseudonyms", {"pseudonyms": True, "person": "person"}),
    "k": Case("k", {"k": 7}),
    "t-closeness": Case("models", {"models": ["t-closeness=0.5,column=ill"]}),
    "l-diversity": Case("models", {"models": ["l-diversity=2,column=ill"]}),
    "intruder": Case("intruder", {"intruder": "method", "models": ["l-diversity=2,column=ill"]}),
    "policy": Case("policy", {"policy": "internal-research"}),
    "enforce": Case("enforce", {"enforce": "swap", "models": ["l-diversity=2,column=ill"]}),
    "dp": Case(
        "bounds",
        {
            "models": ["dp=9,rows=20"],
            "bounds": {
                "age": (0, 120),
                "income": (0, 100_000),
                "sex": ["f", "m"],
                "region": ["north", "south"],
                "town": ["Ulm", "Bonn", "Jena", "Köln"],
                "code": [1, 2, 3, 4],
            },
        },
    ),
    "allow-near-unique": Case("allow_near_unique", {"allow_near_unique": ["town"]}),
    "allow-loss": Case("allow_loss", {"allow_loss": ["town"]}),
    "allow-unit-columns": Case("allow_unit_columns", {"allow_unit_columns": ["cost"], "person": "person"}),
    "mdav": Case("method", {"method": "mdav"}),
    "pairs": Case("method", {"method": "pairs"}),
    "pcl": Case("method", {"method": "pcl"}),
    "lattice": Case("method", {"method": "lattice"}),
    "local-suppression": Case("method", {"method": "local-suppression"}),
    "channel": Case("method", {"method": "channel", "options": {"max_distortion": 0.3}}),
    "records": Case("method", {"method": "records", "options": {"despite_loss": True}}),
    "blocks": Case("blocks", {"blocks": ["sex,town,region: local-suppression", "age: mdav"]}),
    "mixed": Case("space", {"space": "mixed"}),
    "ranges": Case("space", {"space": "ranges"}),
    "metrics": Case("metrics", {"metrics": {"age": "nominal"}, "space": "mixed"}),
    "importance": Case("importance", {"importance": {"age": 3.0}}),
    "time-limit": Case("time_limit", {"time_limit": 0.3}),
    "seed": Case("seed", {"seed": 7}),
    "device": Case("device", {"device": "auto"}),
    "top": Case("steps", {"steps": ["top income=5%"]}),
    "recode": Case("steps", {"steps": ["recode town values=Ulm,Jena to=small"]}),
    "noise": Case("steps", {"steps": ["noise cost=0.1"]}),
    "pram": Case("steps", {"steps": ["pram ill=0.2"]}),
    "after": Case("steps", {"steps": ["after round cost=50"]}),
    "median": Case("publish", {"publish": {"age": "median", "income": "median"}}),
    "interval": Case("publish", {"publish": {"age": "interval"}}),
    "by-hierarchy": Case("publish", {"publish": {"town": "hierarchy"}, "hierarchies": {"town": "TREE"}}),
    "hierarchies": Case("hierarchies", {"hierarchies": {"town": "TREE"}}),
    "widths": Case("widths", {"widths": {"age": 10}, "publish": {"age": "interval"}}),
    "ends": Case("ends", {"ends": "exact", "publish": {"age": "interval"}}),
    "weights": Case("weights", {"weights": "weight"}, {"other": ("weight",)}),
    "publish-weights": Case(
        "publish_weights", {"publish_weights": "mean", "weights": "weight"}, {"other": ("weight",)}
    ),
    "strata": Case("strata", {"strata": ["region"]}),
    "suppress": Case("suppress", {"suppress": 0.05}),
    "sampling-fraction": Case("sampling_fraction", {"sampling_fraction": 0.1}),
    "population": Case("population", {"population": "POPULATION"}),
    "ledger": Case("ledger", {"ledger": "LEDGER"}),
    "keep-groups": Case("keep_groups", {"keep_groups": True, "ledger": "LEDGER"}),
    "headroom": Case("headroom", {"headroom": 2, "keep_groups": True, "ledger": "LEDGER"}),
    "dissolved": Case("dissolved", {"dissolved": "retire", "keep_groups": True, "ledger": "LEDGER"}),
    "waiting": Case("waiting", {"waiting": 0.1, "keep_groups": True, "ledger": "LEDGER"}),
    "changed": Case("changed", {"changed": "publish", "ledger": "LEDGER"}),
}
"""By a short name, what is tried of each choice."""

EXEMPT = {
    "keys": "every run has them",
    "confidential": "every run has one",
    "identifiers": "every run has one",
    "other": "weights need it",
    "drop_undeclared": "every run has it",
    "options": "they belong to a method",
    "like": "it stands for a method or a way to publish, which are paired",
    "facts": "they belong to a policy",
    "engine": "where the work is done: the runs over parts try it",
    "leaf": "the runs over parts have it",
    "rounds": "the runs over parts have it",
    "strangers": "about who is in the ledger: tests/history tries it",
    "address": "where the work is done",
    "workers": "where the work is done",
    "memory": "where the work is done",
    "work": "where the work is done",
    "resume": "where the work is done",
    "log": "where the work is done",
    "log_level": "where the work is done",
    "prometheus": "where the work is done",
}
"""Choices that are not paired, and why."""


def merged(names: tuple[str, ...]) -> dict[str, Any] | None:
    """Return the choices of some cases together; None where two of them give one choice different values."""
    out: dict[str, Any] = {}
    adds: dict[str, list[str]] = {"keys": list(KEYS), "other": []}
    for case in (CASES[name] for name in names):
        for choice, value in case.given.items():
            if choice in out and out[choice] != value:
                both = (out[choice], value)
                if all(isinstance(part, list) for part in both):
                    out[choice] = [*both[0], *(part for part in both[1] if part not in both[0])]
                elif all(isinstance(part, dict) for part in both):
                    if any(both[0].get(key, part) != part for key, part in both[1].items()):
                        return None
                    out[choice] = {**both[0], **both[1]}
                else:
                    return None
            else:
                out[choice] = value
        for role, columns in case.adds.items():
            adds[role] += [name for name in columns if name not in adds[role]]
    return {**out, **{role: columns for role, columns in adds.items() if columns}}


def tuples(size: int) -> list[tuple[str, ...]]:
    """Return all sets of cases of different choices, of that size, that can be asked for together."""
    sets = itertools.combinations(CASES, size)
    apart = (some for some in sets if len({CASES[name].choice for name in some}) == size)
    return [some for some in apart if merged(some) is not None]
