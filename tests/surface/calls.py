"""A right call of every public function and of every public class that users build: what wrong ones vary."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

import voronym as vr
from voronym.history import Policy
from voronym.request.choices import ReleaseChoices
from voronym.table.table import Table
from voronym_papers import solvers

GIVEN = ("k", "method", "options", "space", "models", "time_limit", "seed")
"""Choices that the call of `anonymize` makes; the others are at their defaults."""
Call = tuple[Callable[..., Any], dict[str, Any]]


@cache
def patients() -> Any:
    return vr.datasets.hospital(40, seed=1).select("age", "sex", "weight", "diagnosis")


@cache
def points() -> Any:
    return vr.datasets.gaussian(40, 2, seed=1)


def calls() -> dict[str, Call]:
    """Return functions with right arguments, by name; the first ones are positional where they have to be."""
    # Made by hand: tests are collected by every process, and none of them should compile for it.
    X, part, table = points(), vr.Partition(np.arange(40) // 4, k=3), patients()
    roles = {"keys": ["age", "sex"], "confidential": ["diagnosis"], "drop_undeclared": True}
    schema = vr.Schema.build(table, **roles)
    quantizer = vr.Quantizer(X[:4], np.zeros(4))
    source = vr.channel.GaussianSource(np.eye(2), np.eye(1), np.array([[0.5, 0.2]]))
    joint = np.array([[0.3, 0.1], [0.2, 0.4]])
    apart = 1.0 - np.eye(2)
    codes = np.array([0, 1, 0, 1, 1])
    return {
        "anonymize": (vr.anonymize, {
            "data": table, **roles, "identifiers": [], "other": [], "k": 3, "method": "mdav", "options": {},
            "space": "euclidean", "models": ["t-closeness=0.9"], "time_limit": None, "seed": 0,
            "progress": None, "recipe": None, "kinds": {}, "orders": {}, "locations": [],
            **{name: choice.default for name, choice in ReleaseChoices.declared().items()
               if name not in GIVEN},
            "person": None, "household": None, "pseudonyms": False, "reading": None, "output": None,
        }),
        "population_risk": (vr.population_risk, {
            "table": patients(), "keys": ["age", "sex"], "weights": None, "sampling_fraction": 0.1,
            "population": None, "household": None, "threshold": 0.2, "seed": 0, "progress": None,
        }),
        "risk_by_record": (vr.risk_by_record, {
            "table": patients(), "keys": ["age", "sex"], "sampling_fraction": 0.1, "suda": 2, "seed": 1,
        }),
        "suda": (vr.suda, {"table": patients(), "keys": ["age", "sex"], "size": 2, "sampling_fraction": 0.1}),
        "measure": (vr.measure, {
            "table": table, "keys": ["age"], "confidential": ["diagnosis"], "original": None,
            "aligned": False, "models": [], "population": None, "seed": 0, "progress": None,
        }),
        "compare": (vr.compare, {
            "data": table, "keys": ["age", "weight"], "k": [3], "methods": ["mdav"], "options": {},
            "confidential": [], "risk": "linkage", "seed": 0, "progress": None,
        }),
        "microaggregate": (vr.microaggregate, {
            "X": X, "k": 3, "method": "mdav", "space": None, "time_limit": None, "seed": 0, "progress": None,
        }),
        "refine": (vr.refine, {
            "X": X, "part": part, "k": 3, "method": "exchange", "space": None, "time_limit": 0.01, "seed": 0,
            "progress": None,
        }),
        "lower_bound": (vr.lower_bound, {
            "X": X, "k": 3, "time_limit": 0.01, "partition": part, "kind": "neighbours", "seed": 0,
            "progress": None,
        }),
        "information_loss": (vr.information_loss, {"X": X, "part": part}),
        "standardize": (vr.standardize, {"X": X}),
        "parse_model": (vr.parse_model, {"text": "t-closeness=0.2"}),
        "read": (vr.read, {"source": "none.csv", "delimiter": None, "query": None, "format": None,
                           "encoding": None}),
        "Schema.build": (vr.Schema.build, {"frame": table, **roles}),
        "Schema.from_dict": (vr.Schema.from_dict, {"data": schema.to_dict()}),
        "Recipe": (vr.Recipe, {
            "schema": schema, "k": 3, "method": "mdav", "options": {}, "models": (), "seed": 0,
            "time_limit": None, "versions": {}, "space": "euclidean",
        }),
        "Recipe.from_dict": (vr.Recipe.from_dict, {"data": vr.Recipe(schema).to_dict()}),
        "Recipe.from_toml": (vr.Recipe.from_toml, {"text": vr.Recipe(schema).to_toml()}),
        "Recipe.load": (vr.Recipe.load, {"path": "none.toml"}),
        "Partition": (vr.Partition, {"labels": [0, 0, 1, 1], "k": 2}),
        "Context": (vr.Context, {"seed": 0, "time_limit": None, "progress": None, "threads": 1}),
        "Hierarchy": (vr.Hierarchy, {"rows": [["a", "x"], ["b", "x"]]}),
        "KAnonymity": (vr.KAnonymity, {"k": 3}),
        "TCloseness": (vr.TCloseness, {"t": 0.2, "distance": None, "column": None, "taxonomy": None}),
        "LDiversity": (vr.LDiversity, {"l": 2, "kind": "distinct", "c": None, "column": None}),
        "PSensitive": (vr.PSensitive, {"p": 2, "column": None}),
        "DeltaDisclosure": (vr.DeltaDisclosure, {"delta": 0.5, "column": None}),
        "MutualInformation": (vr.MutualInformation, {
            "bound": 0.5, "unit": "nats", "bins": None, "joint": False, "column": None,
        }),
        "Quantizer": (vr.Quantizer, {"centroids": X[:4], "costs": np.zeros(4)}),
        "Quantizer.assign": (quantizer.assign, {"X": X}),
        "Quantizer.load": (vr.Quantizer.load, {"path": "none.json"}),
        "quantize.design": (vr.quantize.design, {"X": X, "cells": 4}),
        "quantize.pcl": (vr.quantize.pcl, {
            "X": X, "cells": 4, "probabilities": None, "sizes": None, "costs": "transport", "init": "mdav",
            "speed": 1.8, "restarts": 1, "space": None, "seed": 0, "progress": None,
        }),
        "quantize.allocate": (vr.quantize.allocate, {
            "X": X, "centroids": X[:4], "capacities": None, "minimum": None, "weights": None, "loads": None,
            "space": None, "progress": None,
        }),
        "quantize.design_measures": (vr.quantize.design_measures, {
            "X": X, "cells": 4, "weights": None, "loads": None, "probabilities": None, "bounds": None,
            "stay": None, "moving": 0.0, "init": "random", "space": None, "seed": 0, "tolerance": 1e-6,
            "iterations": 3, "progress": None,
        }),
        "costs.transport": (vr.quantize.costs.transport, {
            "X": X, "centroids": X[:4], "sizes": [10, 10, 10, 10], "space": None, "start": None,
            "tolerance": 1e-9, "progress": None,
        }),
        "costs.newton": (vr.quantize.costs.newton, {
            "X": X, "centroids": X[:4], "sizes": [10, 10, 10, 10], "space": None, "start": None,
            "tolerance": 1e-3, "iterations": 20, "progress": None,
        }),
        "solvers.levenberg_marquardt": (solvers.levenberg_marquardt, {
            "X": X, "centroids": X[:4], "sizes": [10, 10, 10, 10], "space": None, "start": None,
            "tolerance": 1e-3, "iterations": 20, "damping": "tikhonov", "progress": None,
        }),
        "channel.privacy_distortion": (vr.channel.privacy_distortion, {
            "p_wx": joint, "d": apart, "multiplier": None, "max_distortion": 0.2, "max_risk": None,
            "method": "auto", "sees_w": False, "tolerance": 1e-6, "progress": None,
        }),
        "channel.worst_case": (vr.channel.worst_case, {
            "p_wx": joint, "d": apart, "t": 0.1, "delta": None, "distance": "total-variation",
            "sees_w": False, "tolerance": 1e-6, "progress": None,
        }),
        "solvers.reconstruct": (solvers.reconstruct, {
            "p_wx": joint, "points": [[0.0], [1.0]], "letters": [[0.2], [0.7]], "multiplier": None,
            "max_distortion": None, "max_risk": 0.05, "rounds": 3, "tolerance": 1e-6, "progress": None,
        }),
        "solvers.blahut_arimoto": (solvers.blahut_arimoto, {
            "p_x": [0.4, 0.6], "d": apart, "multiplier": 1.0, "tolerance": 1e-9, "iterations": 1000,
        }),
        "channel.GaussianSource": (vr.channel.GaussianSource, {
            "sigma_x": np.eye(2), "sigma_w": np.eye(1), "sigma_wx": np.array([[0.5, 0.2]]),
        }),
        "channel.gaussian_channel": (vr.channel.gaussian_channel, {
            "source": source, "max_distortion": 0.2, "max_risk": None, "tolerance": 1e-8,
        }),
        "channel.gaussian_bound": (vr.channel.gaussian_bound, {
            "source": source, "distortion": 0.2, "entropy": None,
        }),
        "channel.closed_form_bound": (vr.channel.closed_form_bound, {"source": source, "distortion": 0.2}),
        "channel.curve": (vr.channel.curve, {"source": source, "shares": [0.1, 0.5], "information": None}),
        "channel.information_bound": (vr.channel.information_bound, {"information": 0.5, "share": 0.2}),
        "channel.between_bounds": (vr.channel.between_bounds, {
            "X": X, "W": X[:, :1], "published": X + 0.1, "risk": 0.2, "information": None, "entropy": None,
        }),
        "channel.scalar_bound": (vr.channel.scalar_bound, {
            "entropy": 1.0, "sigma_w": 1.0, "rho": 0.5, "share": 0.2,
        }),
        "channel.scalar_multiplier": (vr.channel.scalar_multiplier, {
            "rho": 0.5, "share": 0.2, "variance": 1.0,
        }),
        "channel.scalar_risk": (vr.channel.scalar_risk, {"rho": 0.5, "share": 0.2}),
        "channel.mask_keys": (vr.channel.mask_keys, {
            "frame": table, "schema": schema, "max_distortion": 0.2, "max_risk": None, "seed": 0,
            "progress": None,
        }),
        "channel.pram": (vr.channel.pram, {
            "codes": codes, "confidential": codes, "matrix": None, "max_distortion": 0.2, "max_risk": None,
            "d": None, "seed": 0, "progress": None,
        }),
        "channel.recover": (vr.channel.recover, {
            "codes": codes, "matrix": np.array([[0.9, 0.1], [0.1, 0.9]]), "other": None, "nonnegative": False,
        }),
        "records.anonymize_records": (vr.records.anonymize_records, {
            "frame": table, "schema": schema, "seed": 0, "progress": None, "m": 4, "epsilon": None,
            "share": 0.05, "blend": "element", "unit": "record", "flatten": (), "shuffle": "keys",
        }),
        "records.Circular": (vr.records.Circular, {"period": 7.0, "order": None}),
        "records.Rank": (vr.records.Rank, {"order": ["low", "high"]}),
        "records.Matrix": (vr.records.Matrix, {"labels": ["a", "b"], "matrix": apart, "name": "mine"}),
        "records.Overlap": (vr.records.Overlap, {"separator": ";"}),
        "records.Function": (vr.records.Function, {"function": lambda a, b: float(a != b)}),
        "records.Taxonomy": (vr.records.Taxonomy, {
            "hierarchy": vr.Hierarchy([["a", "x"], ["b", "x"]]), "unseen": "refuse",
        }),
        "records.make_fields": (vr.records.make_fields, {
            "table": Table.build(table, **roles), "names": ["age"], "chosen": None,
        }),
        "space.Mahalanobis": (vr.space.Mahalanobis, {"matrix": np.eye(2)}),
        "datasets.gaussian": (vr.datasets.gaussian, {"n": 10, "d": 2, "rho": 0.0, "seed": 0}),
        "datasets.hospital": (vr.datasets.hospital, {"n": 10, "outliers": 1, "seed": 0}),
        "datasets.hospital_outliers": (vr.datasets.hospital_outliers, {"n": 10, "outliers": 1, "seed": 0}),
        "testing.assert_k_anonymous": (vr.testing.assert_k_anonymous, {"rows": [(1,), (1,)], "k": 2}),
        "history.Policy": (Policy, {
            "headroom": 0, "dissolved": "rejoin", "waiting": 0.04, "patience": 3, "neighbours": 1,
            "renewed": 0.01, "method": "auto",
        }),
        "history.shared": (vr.history.shared, {"history": [[0, 0], [0, 0]], "begun": None}),
        "history.smallest_history": (vr.history.smallest_history, {
            "history": [[0, 0], [0, 0]], "begun": None,
        }),
    }  # fmt: skip
