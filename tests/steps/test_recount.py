"""What a release says of uniques, changes and linkage, counted again for random tables and recipes."""

import warnings

import numpy as np
import pytest

import voronym as vr
from steps.recount import ROW, fitting, recipe, recount, table

pytestmark = pytest.mark.slow


def check(seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    frame = table(rng)
    keys, steps, k, method = recipe(rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = vr.anonymize(
            frame,
            keys=keys,
            other=[ROW],
            confidential=["ill"],
            drop_undeclared=True,
            k=k,
            method=method,
            steps=steps,
            kinds={name: "nominal" for name in ("region", "zip") if name in keys},
            allow_loss=keys,
            allow_near_unique=keys,
        )
        wrong = recount(frame, made, keys, steps, k)
        bound = made.table[keys].drop_duplicates().shape[0] / len(frame)
        mixed = made.table.sample(frac=1.0, random_state=seed)
        result = vr.measure(mixed, keys=keys, original=frame, hierarchies=made.recipe.trees or None)
        if abs(result.linkage.bound - bound) > 1e-9:
            wrong.append(f"bound: said {result.linkage.bound}, counted {bound}")
        reached = fitting(frame, made.table, keys)
        if reached > result.linkage.bound + 1e-9:
            wrong.append(f"at most {result.linkage.bound}, and plain matching reaches {reached}")
    return [f"seed {seed}, keys {keys}, steps {steps}, k {k}, {method}: {item}" for item in wrong]


@pytest.mark.parametrize("seed", range(12))
def test_a_dozen_are_counted_again(seed):
    assert check(seed) == []


@pytest.mark.parametrize("start", range(1000, 1300, 50))
def test_three_hundred_are_counted_again(start):
    assert [line for seed in range(start, start + 50) for line in check(seed)] == []
