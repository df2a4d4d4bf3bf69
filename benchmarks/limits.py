"""How soon a method answers: time limits, and the wishes to cancel and to finish."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterable
from time import perf_counter, process_time
from typing import Any, ClassVar

import voronym as vr
from benchmarks.base import Benchmark, Case, Row
from voronym.core.context import Context
from voronym.errors import Cancelled, Unfinished
from voronym.method import METHODS
from voronym.problem import Problem
from voronym.request.recipe import Recipe
from voronym.run.memory import make_release
from voronym.table.table import Table

K = 5
WAIT = 1.0
"""Seconds before somebody cancels or wishes to finish."""
WARM = 2
"""Runs beforehand."""
ALLOWED = {"cancel": 1.0, "finish": 2.0}
RELEASE = "auto, t-closeness=0.2"
"""The case of a whole release whose groups must obey a model."""
KEYS = ["age", "sex", "zip", "admitted", "weight"]
OPTIONS = {"channel": {"max_distortion": 0.3}}
"""What methods cannot do without."""


class Limits(Benchmark):
    """Every method that takes a time limit, and every method's answer to somebody who waits no longer."""

    name = "limits"
    title = "Seconds granted and taken (allowed: limit + 10 % + 1 s); seconds to cancel (1) and finish (2)"
    columns: ClassVar[dict[str, str]] = {
        "method": "method",
        "n": "n",
        "asked": "asked",
        "granted": "granted, s",
        "seconds": "taken, s",
        "cpu": "CPU, s",
        "kept": "kept",
        "answer": "answer",
    }

    def cases(self, *, quick: bool) -> Iterable[Case]:
        """Return limits at both sizes, then both wishes at the larger; without methods that take minutes."""
        small, large = (200, 2_000) if quick else (1_000, 100_000)
        for n in (small, large):
            for name in (*(name for name in _practical(n) if METHODS[name].timed), RELEASE):
                for seconds in (1.0,) if quick else (2.0, 8.0):
                    yield {"method": name, "n": n, "asked": "limit", "granted": seconds}
        for name in (*_practical(large), RELEASE):
            for wish in ALLOWED:
                yield {"method": name, "n": large, "asked": wish, "granted": ALLOWED[wish]}

    @staticmethod
    def measure(*, method: str, n: int, asked: str, granted: float) -> Row:
        """Run a few times to compile one stage after the other, each cut short, and once more to measure."""
        if asked == "limit":
            warm = _work(method, n, 0.5)
            for _ in range(WARM):
                warm(Context(time_limit=0.5))
            work = _work(method, n, granted)
            start, cpu = perf_counter(), process_time()
            work(Context(time_limit=granted))
            taken = perf_counter() - start
            kept = taken <= 1.1 * granted + 1.0
            return {"seconds": taken, "cpu": process_time() - cpu, "kept": kept, "answer": "result"}
        work = _work(method, n, None)
        for _ in range(WARM):
            _wish(work, asked)
        taken, cpu, answer = _wish(work, asked)
        return {"seconds": taken, "cpu": cpu, "kept": taken <= granted, "answer": answer}


def _practical(n: int) -> list[str]:
    """Return the methods that do not take minutes for so many records."""
    return [name for name, one in METHODS.items() if one.most(K) >= n]


def _work(method: str, n: int, limit: float | None) -> Callable[[Context], Any]:
    """Return the work of a method under a context, the data made before."""
    if method == RELEASE or not METHODS[method].groups:
        groups = method == RELEASE
        table = Table.build(
            vr.datasets.hospital(n, seed=1), keys=KEYS, confidential=["diagnosis"], drop_undeclared=True
        )
        recipe = Recipe(
            table.schema,
            k=K if groups else None,
            method="auto" if groups else method,
            options=OPTIONS.get(method, {}),
            models=("t-closeness=0.2",) if groups else (),
            seed=0 if groups else None,
            time_limit=limit,
        )
        return lambda ctx: make_release(table, recipe, ctx)
    one = METHODS[method]
    problem = Problem.of(vr.standardize(vr.datasets.gaussian(n, 1 if one.univariate else 3, seed=1)), K)
    return lambda ctx: one.partition(problem, ctx)


def _wish(work: Callable[[Context], Any], wish: str) -> tuple[float, float, str]:
    """Return the seconds from the wish to the answer, those of the processor, and the answer."""
    ctx = Context()
    asked: list[tuple[float, float]] = []

    def ask() -> None:
        asked.append((perf_counter(), process_time()))
        ctx.cancel() if wish == "cancel" else ctx.finish()

    timer = threading.Timer(WAIT, ask)
    timer.start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            work(ctx)
        answer = "result"
    except (Cancelled, Unfinished) as error:
        answer = type(error).__name__.lower()
    ended, cpu = perf_counter(), process_time()
    timer.cancel()
    return (ended - asked[0][0], cpu - asked[0][1], answer) if asked else (0.0, 0.0, "done before")
