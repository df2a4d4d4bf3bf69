"""Linkage by all columns: predictions of a few rows at a time are those of all rows at once."""

from __future__ import annotations

import warnings

import numpy as np
import polars as pl
import pytest

import voronym as vr
from voronym.attacks.columns import KeyPrediction
from voronym.attacks.scene import Scene
from voronym.dossier import scene_of
from voronym.evaluate import attacks


@pytest.fixture(scope="module")
def release() -> vr.Release:
    rng = np.random.default_rng(5)
    n = 400
    age = rng.integers(20, 90, n)
    people = pl.DataFrame(
        {
            "age": age,
            "town": rng.choice(["a", "b", "c", "d"], n),
            "insured": (age - 18) // 5,  # which reveals the age
            "doctor": [f"doctor {i}" for i in rng.integers(0, 300, n)],  # half of them are not learned
            "ward": rng.choice(["n", "s"], n),
            "same": ["x"] * n,
        }
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a column reveals a key is what is attacked
        return vr.anonymize(
            people,
            keys=["age", "town"],
            confidential=["ward"],
            other=["insured", "doctor", "same"],
            k=9,
            method="mdav",
        )


def learned(scene: Scene):
    X, Y = scene.points
    half = np.arange(0, len(X), 2)
    return Y, *KeyPrediction.learn(scene, X, Y, half)


def at_once(predicted, Y):
    """Predict every row in one array."""
    result = Y @ predicted.matrix + predicted.constant
    for added, which in predicted.terms:
        result = result + added[which]
    return result


def test_some_rows_are_predicted_as_all_at_once(release):
    Y, _, predicted = learned(scene_of(release))
    whole = at_once(predicted, Y)
    rows = np.array([7, 3, 399, 3])
    assert predicted.of(rows) == pytest.approx(whole[rows], rel=1e-12, abs=1e-12)


def test_classes_are_those_of_equal_predictions(release):
    scene = scene_of(release)
    Y, _, predicted = learned(scene)
    expected = attacks.equal_points(at_once(predicted, Y).round(9))
    for known in (None, scene.point_classes):
        made = predicted.classes(known)
        assert made.labels.tolist() == expected.labels.tolist()
        assert made.sizes.tolist() == expected.sizes.tolist()
    assert len(made.sizes) > len(scene.classes.sizes)


def test_the_outcome_does_not_depend_on_blocks(release, monkeypatch):
    whole = vr.attack(release, attacks=["linkage-columns"])["linkage-columns"]
    monkeypatch.setattr(attacks, "_ROWS", 11)
    again = vr.attack(release, attacks=["linkage-columns"])["linkage-columns"]
    assert again == whole
    assert whole.details["columns"] == ["insured"]
