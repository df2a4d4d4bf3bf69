"""Methods that take long say so before they begin; comparisons begin with what matters."""

from __future__ import annotations

import numpy as np
import pytest

import voronym as vr
from voronym import method as method_module
from voronym.core.context import Context, FinishEarly
from voronym.method import METHODS, Method
from voronym.partition import Partition
from voronym.problem import Problem


def sleepy(seconds, power, clock=None):
    """Return a method that takes so long for 1,000 records, by a clock, and grows with a power."""

    def function(problem, ctx):
        if clock is not None:
            clock[0] += seconds * (problem.n / 1000) ** power
        return Partition(np.arange(problem.n) // problem.k % (problem.n // problem.k), k=problem.k)

    return Method("sleepy", function, "", "", "")


@pytest.mark.parametrize("power", [1, 2])
def test_the_estimate_follows_the_growth(power, monkeypatch):
    monkeypatch.setattr(method_module, "PROBED", 5_000)
    problem = Problem.of(np.arange(16_000.0)[:, None], 5)
    clock = [0.0]
    monkeypatch.setattr("voronym.core.scope.now", lambda: clock[0])
    assert sleepy(0.5, power, clock).foresee(problem, Context()) == pytest.approx(0.5 * 16.0**power)


def test_long_work_is_announced_and_short_work_is_not(monkeypatch):
    monkeypatch.setattr(method_module, "PROBED", 1_000)
    problem = Problem.of(np.arange(2_000.0)[:, None], 5)
    for seconds, text in ((1.0, True), (0.0, False)):
        method = sleepy(0.0, 1)
        monkeypatch.setattr(Method, "foresee", lambda *_, s=seconds: 300.0 * s)
        stages = []

        def seen(_, ctx, stages=stages):
            stages.append(ctx.stage)
            return problem.one_group()

        object.__setattr__(method, "function", seen)
        method.partition(problem, Context().part(0.0, 1.0, stage="grouping"))
        assert stages == ["grouping, about 5 min" if text else "grouping"]
        method.partition(problem, Context(time_limit=5).part(0.0, 1.0, stage="grouping"))  # that says it all
        assert stages[1] == "grouping"


def test_asking_changes_nothing(monkeypatch):
    X = vr.datasets.gaussian(1500, 3, seed=1)
    before = vr.microaggregate(X, 4, method="mdav")
    monkeypatch.setattr(method_module, "PROBED", 500)
    monkeypatch.setattr(method_module, "LONG", 0.0)
    stages = []
    after = vr.microaggregate(X, 4, method="mdav", progress=lambda step: stages.append(step.stage))
    assert before == after
    assert any("about" in stage for stage in stages)


def test_a_comparison_that_is_ended_early_has_the_yardstick():
    order, wish = [], []

    def progress(step):
        name = step.stage.removeprefix("grouping by ").split(",")[0]
        if name in METHODS and name not in order:
            order.append(name)
        if len(order) == 3:
            wish.append(True)
            raise FinishEarly

    result = vr.compare(
        vr.datasets.hospital(80),
        keys=["age", "height"] if "height" in vr.datasets.hospital(5).columns else ["age"],
        k=[3],
        methods=["dba-1", "gsms", "mdav", "exchange", "icsm"],
        progress=progress,
    )
    assert wish
    assert order[0] == "mdav"
    assert order[-1] == "icsm"
    assert {row.method for row in result.rows} >= {"mdav"}
    assert "icsm" in " ".join(result.skipped)


def test_large_groups_need_no_probe():
    """A part of the records may be fewer than k: nothing is foreseen then, and nothing fails."""
    X = np.random.default_rng(1).normal(size=(30_000, 8))
    part = vr.microaggregate(X, 4_000, method="mdav")
    assert part.sizes.min() >= 4_000
