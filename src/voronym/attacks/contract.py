"""The contract of an attack, as a check that anybody may run: `voronym.testing.check_attack`."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import polars as pl

from voronym.attacks.base import KNOWLEDGE, Attack, Inapplicable, Outcome
from voronym.attacks.scene import Matrix, Scene
from voronym.core.context import Context
from voronym.errors import Cancelled
from voronym.table.frame import as_frame
from voronym.table.schema import Schema
from voronym.table.table import Table


def check_attack(attack: Attack, *, runs: int = 5) -> None:
    """Check an attack against the contract.

    Shares are between 0 and 1; the excess is their difference and lies in its interval. Outcomes are
    JSON, and no text shows a value of the tables. The tables stay unchanged, and the same seed gives the
    same outcome. Long work obeys requests to cancel. A sentence names missing inputs. On releases
    unrelated to their originals, the attack claims an excess at most once in five runs.

    Parameters
    ----------
    attack : Attack
        A registered attack, such as ``voronym.attacks.ATTACKS["linkage"]``.
    runs : int
        Releases of pure noise to attack.

    Examples
    --------
    >>> from voronym.attacks import ATTACKS
    >>> check_attack(ATTACKS["extremes"])
    """
    if not 0 <= attack.level < len(KNOWLEDGE) or not attack.knows or not attack.summary:
        raise AssertionError(f"{attack.name}: it must state what the intruder knows and does")
    _check_needs(attack)
    outcome = 0
    for seed in range(runs):
        scene = _scene(attack, seed)
        before = [scene.released.clone(), scene.people.clone()]
        try:
            result = attack.run(scene, Context(seed=seed))
        except Inapplicable as error:
            _words(attack, str(error))
            continue
        _check_outcome(attack, result)
        if not (scene.released.equals(before[0]) and scene.people.equals(before[1])):
            raise AssertionError(f"{attack.name}: the tables were changed")
        if attack.run(scene, Context(seed=seed)).to_dict() != result.to_dict():
            raise AssertionError(f"{attack.name}: the same seed gives another outcome")
        outcome += result.claims
    if outcome > max(1, runs // 5):
        raise AssertionError(f"{attack.name}: claims an excess in {outcome} of {runs} releases of pure noise")
    _check_cancel(attack)


def noise(rng: np.random.Generator, n: int, *, made: bool = False, **beside: Any) -> Scene:
    """Return a scene whose release is unrelated to its original; its values are recognisable in texts.

    With ``made``, its confidential values are those of the original, as published by a tool that does not
    look at them.
    """

    def people() -> pl.DataFrame:
        return pl.DataFrame(
            {
                "age": 7_000_000 + rng.integers(0, n // 2 + 2, n) / 7,
                "town": [f"secret-town-{i}" for i in rng.integers(0, 3, n)],
                "pay": 7_000_000 + rng.normal(0, 100, n),
                "ill": [f"secret-ill-{i}" for i in rng.integers(0, 3, n)],
            }
        )

    original, released = people(), people()
    age = released["age"].to_numpy()
    groups = 7_000_000 + np.digitize(age, np.quantile(age, [0.3, 0.6]))
    released = released.with_columns(age=pl.Series(groups))
    earlier = released.with_columns(pl.Series(rng.permutation(groups)).alias("age"))[: -(n // 10 + 1)]
    schema = Schema.build(original, keys=["age", "town"], confidential=["pay", "ill"])
    towns = tuple((f"secret-town-{i}",) for i in range(3))

    def unrelated(table: Any) -> pl.DataFrame:
        return released[: table.n]

    def blind(table: Any) -> pl.DataFrame:
        return released[: table.n].with_columns(
            pl.Series(c, as_frame(table.frame)[c].to_list()) for c in ("pay", "ill")
        )

    table, own = Table.of(original, schema), rng.permutation(n)
    if made:
        released, own = blind(table), np.arange(n)
    facts: dict[str, Any] = {
        "own": own,
        "earlier": (earlier,),
        "table": table,
        "rerun": blind if made else unrelated,
        "matrices": (Matrix(("town",), towns, np.full((3, 3), 1 / 3)),),
    }
    return Scene.of(released, schema, original=original, **(facts | beside))


def _scene(attack: Attack, seed: int) -> Scene:
    """Return a small scene; 5 people if the attack reruns the method for every world."""
    reruns = attack.cost == "reruns"
    return noise(np.random.default_rng(seed), 5 if reruns else 60, made=reruns)


def _check_outcome(attack: Attack, outcome: Outcome) -> None:
    name = attack.name
    low, high = outcome.interval
    if not (0.0 <= outcome.success <= 1.0 and 0.0 <= outcome.control <= 1.0):
        raise AssertionError(f"{name}: success and control must be shares, from 0 to 1")
    if abs(outcome.excess - (outcome.success - outcome.control)) > 1e-12:
        raise AssertionError(f"{name}: the excess is not success less control")
    if not -1.0 <= low <= outcome.excess <= high <= 1.0:
        raise AssertionError(f"{name}: the interval does not hold the excess, or is no interval of shares")
    if outcome.people < 1:
        raise AssertionError(f"{name}: nobody was attacked")
    _words(attack, json.dumps(outcome.to_dict(), allow_nan=False) + str(outcome))
    if not outcome.says.endswith(".") or not outcome.knows:
        raise AssertionError(f"{name}: its result must be a sentence")


def _words(attack: Attack, text: str) -> None:
    if "secret-" in text or "7000" in text or "7,000" in text:
        raise AssertionError(f"{attack.name}: it shows a value of a table")


def _check_needs(attack: Attack) -> None:
    """Check that the attack, given only a release, runs or names its missing inputs."""
    full = noise(np.random.default_rng(1), 40)
    bare = Scene.of(full.released, full.schema)
    try:
        result = attack.run(bare, Context())
    except Inapplicable as error:
        if len(str(error)) < 20:
            raise AssertionError(f"{attack.name}: it must name its missing inputs") from None
        return
    _check_outcome(attack, result)


def _check_cancel(attack: Attack) -> None:
    """Check that an attack cancelled before it begins returns no outcome."""
    if attack.cost == "instant":
        return
    ctx = Context()
    ctx.cancel()
    try:
        attack.run(_scene(attack, 1), ctx)
    except (Cancelled, Inapplicable):
        return
    raise AssertionError(f"{attack.name}: it goes on after a request to cancel")
