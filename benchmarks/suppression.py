"""Local suppression: gaps, the proven bound and time, on made-up surveys; and an integer programme beside it.

On small tables the programme is solved to its end, by code that shares nothing with the search, so that its
distance from the optimum is known. On large ones the proven bound is all there is.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from benchmarks.base import Benchmark, Case, Row

Ints = NDArray[np.int64]
LARGE = ((4_580, 7, 3), (4_580, 7, 5), (30_000, 6, 3), (100_000, 5, 3))
SMALL = tuple((n, 4, k, seed) for n in (60, 120) for k in (3, 5) for seed in range(3))


def survey(n: int, d: int, seed: int = 1) -> tuple[Ints, Ints]:
    """Make up a survey: the keys of n people, and their households. A house's keys follow its wealth."""
    rng = np.random.default_rng(seed)
    sizes = (2, 5, 4, 7, 2, 9, 2)[:d]  # urban, roof, walls, water, electricity, relation, sex
    home = np.unique(np.sort(rng.integers(0, max(1, n // 5), n)), return_inverse=True)[1].reshape(-1)
    wealth = rng.normal(size=int(home.max()) + 1)
    columns = []
    for at, size in enumerate(sizes):
        steep = 1.0 / np.arange(1, size + 1) ** 2.2
        steep = np.array([0.5, 0.5]) if at == 6 else steep / steep.sum()
        if at >= 5:
            columns.append(rng.choice(size, n, p=steep))
        else:
            house = wealth + 0.6 * rng.normal(size=len(wealth))
            columns.append(np.searchsorted(np.quantile(house, np.cumsum(steep)[:-1]), house)[home])
    return np.column_stack(columns).astype(np.int64), home


def optimum(codes: Ints, k: int, seconds: float) -> tuple[float, bool]:
    """Return the fewest gaps by an integer programme of HiGHS, and whether it was solved to the end."""
    import highspy

    rows, counts = np.unique(codes, axis=0, return_counts=True)
    model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    model.setOptionValue("time_limit", seconds)
    d, used, inside = codes.shape[1], {}, {}
    placed: list[list[Any]] = [[] for _ in rows]
    for r, row in enumerate(rows.tolist()):
        for kept in itertools.product((False, True), repeat=d):
            name = tuple(value if keep else None for value, keep in zip(row, kept, strict=True))
            if name not in used:
                used[name] = model.addBinary(obj=0.0)
                inside[name] = []
            x = model.addIntegral(lb=0.0, ub=float(counts[r]), obj=float(d - sum(kept)))
            placed[r].append(x)
            inside[name].append(x)
            model.addConstr(x <= float(counts[r]) * used[name])
    for r, own in enumerate(placed):
        model.addConstr(sum(own[1:], start=own[0] * 1.0) == float(counts[r]))
    for name, own in inside.items():
        model.addConstr(sum(own[1:], start=own[0] * 1.0) >= float(k) * used[name])
    model.minimize()
    return model.getInfo().objective_function_value, model.modelStatusToString(
        model.getModelStatus()
    ) == "Optimal"


class Suppression(Benchmark):
    """Gaps and seconds of local suppression."""

    name = "suppression"
    title = "Local suppression: gaps, what is proven, and time"
    columns: ClassVar[dict[str, str]] = {
        "n": "records", "d": "keys", "k": "k", "counts": "k counts", "gaps": "gaps", "least": "at least",
        "optimum": "programme", "solved": "solved", "seconds": "processor s",
    }  # fmt: skip

    def cases(self, *, quick: bool) -> Iterable[Case]:
        """Return small tables, whose optimum is known, and large ones, by records and by households."""
        small = SMALL[::4] if quick else SMALL
        for n, d, k, seed in small:
            yield {"n": n, "d": d, "k": k, "seed": seed, "counts": "records", "programme": True}
        for n, d, k in LARGE[:1] if quick else LARGE:
            for counts in ("records", "households"):
                yield {"n": n, "d": d, "k": k, "seed": 1, "counts": counts, "programme": False}

    @staticmethod
    def measure(**case: Any) -> Row:
        """Suppress once to compile, then again on the clock."""
        from voronym.core.context import Context
        from voronym.methods.local_suppression import suppress_locally

        codes, home = survey(case["n"], case["d"], case["seed"])
        homes = home if case["counts"] == "households" else None
        few = np.arange(min(60, len(codes)))
        suppress_locally(codes[few], 2, Context(seed=0), homes=None if homes is None else homes[few])
        begun = time.process_time()
        # A small table is solved by a programme of our own: the search alone is what is compared.
        found = suppress_locally(codes, case["k"], Context(seed=0), homes=homes, solve=not case["programme"])
        row: Row = {
            "gaps": round(found.cost), "least": found.least, "seconds": time.process_time() - begun,
        }  # fmt: skip
        if case["programme"]:
            row["optimum"], row["solved"] = optimum(codes, case["k"], 120.0)
        return row
