"""What can still be done with a differentially private table, beside its rivals at equal ε.

Every way publishes a training table of two thirds of the records. Means, marginals and correlations are
compared with the originals; a regression and a classifier are fitted to the release, and judged on the third
of the originals that nobody published. Synthetic records are drawn by MST of the package dpmm, which runs in
a Python of its own: VORONYM_SYNTHETIC_PYTHON names it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.base import Benchmark, Case, Row
from benchmarks.private import WIDER, stacked

DATA = ("adult", "census", "tarragona", "eia", "patients")
EPSILONS = (0.1, 1.0, 3.0, 10.0)
SIZES = (0.3, 1.0, 3.0)
"""Sizes of groups, as shares of the usual one."""
RUNS, DELTA = 3, 1e-5
FIGURES = ("means", "marginals", "queries", "correlations", "regression", "classifier")
QUERIES = 300


def load(data: str) -> Any:
    """Return a table of numbers and, last, whether something is above its middle: what is classified."""
    import polars as pl

    import voronym as vr

    if data == "adult":
        frame = vr.datasets.adult().select("age", "education-num", "hours-per-week", "income")
        target = frame["income"].str.contains(">")
    elif data == "patients":
        frame = vr.datasets.hospital(5000, seed=1).select("age", "weight", "days", "cost").drop_nulls()
        target = frame["cost"] > frame["cost"].median()
    else:
        frame = getattr(vr.datasets, data)()
        chosen = {
            "census": ["AGI", "FEDTAX", "FICA", "INTVAL", "WSALVAL"],
            "tarragona": ["FIXED.ASSETS", "CURRENT.ASSETS", "SALES", "LABOR.COSTS", "NET.PROFIT"],
            "eia": ["RESREVENUE", "RESSALES", "COMREVENUE", "COMSALES", "TOTREVENUE"],
        }[data]
        frame = frame.select(chosen)
        target = frame[chosen[-1]] > frame[chosen[-1]].median()
    last = frame.columns[-1]
    numbers = frame.drop(last).cast(pl.Float64)
    return numbers.with_columns(target.cast(pl.Int64).alias("target"))


def released(way: str, X: Any, y: Any, low: Any, high: Any, k: int, epsilon: float) -> Any:
    """Return what a way publishes: numbers, and the target."""
    import voronym as vr
    from voronym.dp import GROUPINGS, BoundedRecords, Budget, meet
    from voronym.dp.cells import STEPS, steps_of
    from voronym.dp.noise import largest, noisy

    d = X.shape[1]
    if way == "microaggregation":
        both = np.column_stack([X, y])
        part = vr.microaggregate(both, k, method="mdav")
        means = np.stack([both[part.labels == cell].mean(axis=0) for cell in range(part.n_cells)])[
            part.labels
        ]
        return means[:, :-1], (means[:, -1] > 0.5).astype(np.int64)
    places = (X - low) / (high - low)
    share = epsilon / (d + 1)
    if way == "records":
        drawn, _ = noisy(steps_of(2.0 * places - 1.0), 2 * STEPS * d, 0.0, d * share, pure=True)
        scores = np.column_stack([1 - y, y]).astype(np.int64)
        return low + np.clip(drawn / STEPS / 2.0 + 0.5, 0, 1) * (high - low), largest(
            scores, share, pure=True
        )
    records = BoundedRecords(places, y[:, None].astype(np.int64), (2,))
    cells = GROUPINGS[way].function(records, k, Budget(epsilon))
    of = meet(cells.of, cells.counts, np.random.default_rng())
    return low + cells.ordered[of] * (high - low), cells.nominal[of, 0]


def synthetic(X: Any, y: Any, low: Any, high: Any, epsilons: Iterable[float]) -> dict[float, Any]:
    """Return synthetic records for each ε, drawn in a Python that has dpmm."""
    import polars as pl

    names = [f"x{column}" for column in range(X.shape[1])]
    with tempfile.TemporaryDirectory() as folder:
        table = pl.DataFrame({name: X[:, column] for column, name in enumerate(names)})
        file = Path(folder) / "in.csv"
        table.with_columns(pl.Series("target", y)).write_csv(file)
        job = {
            "file": str(file),
            "out": [(epsilon, str(Path(folder) / f"{epsilon}.csv")) for epsilon in epsilons],
            "delta": DELTA,
            "nominal": {"target": ["0", "1"]},
            "bounds": {name: [float(low[j]), float(high[j])] for j, name in enumerate(names)},
        }
        python = os.environ.get("VORONYM_SYNTHETIC_PYTHON", sys.executable)
        side = Path(__file__).with_name("synthetic_side.py")
        subprocess.run([python, str(side), json.dumps(job)], check=True, stdout=subprocess.DEVNULL)
        made = {epsilon: pl.read_csv(out) for epsilon, out in job["out"]}
    return {
        epsilon: (
            frame.select(names).to_numpy().astype(np.float64),
            frame["target"].to_numpy().astype(np.int64),
        )
        for epsilon, frame in made.items()
    }


def queries(before: Any, after: Any) -> float:
    """Return the mean error of counting queries, in percent of all records.

    Each asks how many records are in random ranges of two columns, between quantiles of the originals and
    half a step beyond: a release of means has no value that is 40 to the last digit.
    """
    rng, errors = np.random.default_rng(0), []
    steps = [np.diff(np.unique(column)).min() / 2.0 for column in before.T]
    for _ in range(QUERIES):
        columns = rng.choice(before.shape[1], 2, replace=False)
        ranges = [
            np.quantile(before[:, column], np.sort(rng.random(2))) + np.array([-1, 1]) * steps[column]
            for column in columns
        ]
        shares = []
        for table in (before, after):
            inside = [(table[:, column] >= low) & (table[:, column] <= high)
                      for column, (low, high) in zip(columns, ranges, strict=True)]  # fmt: skip
            shares.append(float(np.mean(inside[0] & inside[1])))
        errors.append(100.0 * abs(shares[0] - shares[1]))
    return float(np.mean(errors))


def judged(train: Any, test: Any, made: Any) -> list[float]:
    """Return the figures of a release: four errors, R² and area under the curve on held-out originals."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    (X, y), (Z, w), (Y, v) = train, test, made
    spread = X.std(axis=0)
    means = float(np.mean(np.abs(Y.mean(axis=0) - X.mean(axis=0)) / spread))
    apart = [0.5 * np.abs(np.bincount(y, minlength=2) / len(y) - np.bincount(v, minlength=2) / len(v)).sum()]
    for column in range(X.shape[1]):
        cuts = np.unique(np.quantile(X[:, column], np.arange(0.1, 1.0, 0.1)))
        bins = [np.bincount(np.searchsorted(cuts, A[:, column]), minlength=len(cuts) + 1) for A in (X, Y)]
        apart.append(0.5 * np.abs(bins[0] / len(X) - bins[1] / len(Y)).sum())
    with np.errstate(all="ignore"):
        moved = np.abs(
            np.nan_to_num(np.corrcoef(np.column_stack([Y, v]).T)) - np.corrcoef(np.column_stack([X, y]).T)
        )
    design = np.column_stack([np.ones(len(Y)), Y[:, :-1]])
    weights = np.linalg.lstsq(design, Y[:, -1], rcond=None)[0]
    guess = np.column_stack([np.ones(len(Z)), Z[:, :-1]]) @ weights
    left = np.square(Z[:, -1] - guess).sum() / np.square(Z[:, -1] - Z[:, -1].mean()).sum()
    area = 0.5
    if len(np.unique(v)) == 2:
        model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)).fit(Y, v)
        area = float(roc_auc_score(w, model.decision_function(Z)))
    upper = moved[np.triu_indices(len(moved), 1)].mean()
    asked = queries(np.column_stack([X, y]), np.column_stack([Y, v]))
    return [means, float(np.mean(apart)), asked, float(upper), float(max(1.0 - left, -1.0)), area]


class PrivateUse(Benchmark, alone=True):
    """Errors of means, marginals and correlations; a regression and a classifier on held-out originals."""

    name = "private-use"
    title = "Use of differentially private tables, mean of 3 releases (synthetic: one)"
    columns = {  # noqa: RUF012 - a constant of the class
        "data": "data", "method": "way", "epsilon": "ε", "k": "k", "means": "means", "marginals": "marginals",
        "queries": "queries (%)", "correlations": "correlations", "regression": "R²",
        "classifier": "AUC", "seconds": "seconds",
    }  # fmt: skip

    def cases(self, *, quick: bool) -> Iterable[Case]:
        """Return every data set with every way."""
        ways = ("originals", "microaggregation", "records", "order", "individual", "tree", "synthetic (MST)")
        for data in ("patients",) if quick else DATA:
            for way in ways[:-1] if quick else ways:
                yield {"data": data, "method": way, "quick": quick}

    @staticmethod
    def measure(**case: Any) -> Row:
        """Measure a way on a data set at all ε and k; rows are under "rows"."""
        import time

        from voronym.dp import GROUPINGS

        table = load(case["data"])
        X, y = table.drop("target").to_numpy(), table["target"].to_numpy()
        order = np.random.default_rng(0).permutation(len(X))
        cut = 2 * len(X) // 3
        train, test = (X[order[:cut]], y[order[:cut]]), (X[order[cut:]], y[order[cut:]])
        low, high = X.min(axis=0), X.max(axis=0)  # looked up for this comparison alone
        middle, half = (low + high) / 2, WIDER * (high - low) / 2
        low, high = middle - half, middle + half
        way, n, d = case["method"], cut, X.shape[1] + 1
        epsilons = (1.0,) if case["quick"] else EPSILONS
        asked: list[tuple[float | None, int]] = [(epsilon, 0) for epsilon in epsilons]
        if way == "originals":
            asked = [(None, 0)]
        elif way == "microaggregation":
            asked = [(None, k) for k in (5, 50)]
        elif way in GROUPINGS:
            usual = [(epsilon, GROUPINGS[way].size(n, d, epsilon)) for epsilon in epsilons]
            shares = (1.0,) if case["quick"] else SIZES
            asked = [(e, max(min(round(share * k), n), 2)) for e, k in usual for share in shares]
        rows, runs = [], RUNS if way == "records" or way in GROUPINGS else 1
        drawn = synthetic(*train, low, high, epsilons) if way.startswith("synthetic") else {}
        for epsilon, k in asked:
            started = time.process_time()
            figures = []
            for _ in range(runs):
                if way == "originals":
                    made = train
                elif drawn:
                    made = drawn[epsilon or 1.0]
                else:
                    made = released(way, *train, low, high, k, epsilon or 1.0)
                figures.append(judged(train, test, made))
            mean = dict(zip(FIGURES, np.mean(figures, axis=0).tolist(), strict=True))
            seconds = (time.process_time() - started) / runs
            rows.append({"method": way, "epsilon": epsilon, "k": k, **mean, "seconds": seconds})
        return {"n": n, "d": d, "rows": rows}

    def rows(self, results: list[Row]) -> list[Row]:
        """Return one row for each way, k and ε."""
        return [{"data": result["data"]} | row for result in results for row in result["rows"]]


def draw(rows: list[Row], path: Path, figure: str = "marginals") -> None:
    """Draw an error against ε, one panel for each data set, with k beside the points of the tree."""
    from voronym.report.curves import Series, chart

    panels = []
    for data in dict.fromkeys(row["data"] for row in rows):
        own = [row for row in rows if row["data"] == data]
        series = []
        for row in own:
            if row["method"] == "microaggregation":
                name = f"no ε, k = {row['k']}"
                series.append(Series(name, [(e, row[figure]) for e in EPSILONS], published=True))
        for way in dict.fromkeys(row["method"] for row in own if row["epsilon"] is not None):
            best = []
            for epsilon in EPSILONS:
                some = [row for row in own if row["method"] == way and row["epsilon"] == epsilon]
                if some:
                    best.append(min(some, key=lambda row: float(row[figure])))
            words = [f"{row['k']:,}" if row["k"] and way == "tree" else "" for row in best]
            series.append(Series(way, [(row["epsilon"], row[figure]) for row in best], words=words))
        panels.append(chart(series, title=data, x_name=f"{data}: ε", y_name=f"error of {figure}", log="x"))
    path.write_text(stacked([str(panel) for panel in panels]), encoding="utf-8")


if __name__ == "__main__":  # python -m benchmarks.private_use ROWS.json FIGURE.svg
    draw(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))["rows"], Path(sys.argv[2]))
