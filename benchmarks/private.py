"""Differential privacy: what noisy centres lose at equal ε, beside noise on every record."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.base import Benchmark, Case, Row

DATA = ("adult", "census", "census-4", "tarragona", "eia", "eia-4", "patients")
FOUR = {
    "census-4": ["FEDTAX", "FICA", "INTVAL", "POTHVAL"],
    "eia-4": ["RESREVENUE", "RESSALES", "TOTREVENUE", "TOTSALES"],
}
"""Four columns of a data set, for which noise is a third of that for all."""
SIZES = (5, 20, 50, 100, 200, 400, 800, 1600, 3200, 6400, 12800)
EPSILONS = (0.1, 1.0, 10.0)
RUNS = 3
WIDER = 1.5
"""Bounds are so many times as wide as the data, as in the paper. Looked up for this comparison alone."""


def load(data: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the numeric columns of a data set."""
    import voronym as vr

    if data == "patients":
        frame = vr.datasets.hospital(5000, seed=1).select("age", "weight", "days", "cost").drop_nulls()
    elif data == "adult":
        frame = vr.datasets.adult().select("age", "education-num", "hours-per-week")
    elif data in FOUR:
        frame = getattr(vr.datasets, data.removesuffix("-4"))().select(FOUR[data])
    elif data == "eia":
        frame = vr.datasets.eia()
        frame = frame.select([name for name in frame.columns if name.endswith(("REVENUE", "SALES"))])
    else:
        frame = getattr(vr.datasets, data)()
    return frame.to_numpy().astype(np.float64)


def released(way: str, X: Any, low: Any, high: Any, k: int, epsilon: float) -> Any:
    """Return what is published of each record."""
    import voronym as vr
    from voronym.dp import GROUPINGS, BoundedRecords, Budget, meet
    from voronym.dp.cells import STEPS, steps_of
    from voronym.dp.noise import noisy

    n, d = X.shape
    if way == "microaggregation":
        part = vr.microaggregate(X, k, method="mdav")
        return np.stack([X[part.labels == cell].mean(axis=0) for cell in range(part.n_cells)])[part.labels]
    places = (X - low) / (high - low)
    if way.startswith("records"):
        drawn, _ = noisy(steps_of(2.0 * places - 1.0), 2 * STEPS * d, 0.0, epsilon, pure=True)
        out = drawn / STEPS / 2.0 + 0.5
        shown = np.clip(out, 0.0, 1.0) if way.endswith("clipped") else out
    else:
        records = BoundedRecords(places, np.empty((n, 0), np.int64))
        cells = GROUPINGS[way].function(records, k, Budget(epsilon))
        shown = cells.ordered[meet(cells.of, cells.counts, np.random.default_rng())]
    return low + shown * (high - low)


class Private(Benchmark, alone=True):
    """Loss, and the errors of means, correlations and a regression, at equal ε."""

    name = "private"
    title = "Differential privacy: loss at equal ε, mean of 3 releases"
    columns = {  # noqa: RUF012 - a constant of the class
        "data": "data",
        "method": "way",
        "epsilon": "ε",
        "k": "k",
        "loss": "loss %",
        "means": "means",
        "correlations": "correlations",
        "regression": "R²",
        "seconds": "seconds",
    }

    def cases(self, *, quick: bool) -> Iterable[Case]:
        """Return every data set: all ways at all k and ε = 1, and at every ε with their usual k."""
        for data in ("patients",) if quick else DATA:
            yield {"data": data, "quick": quick}

    @staticmethod
    def measure(**case: Any) -> Row:
        """Measure all ways on one data set; rows are under "rows"."""
        X = load(case["data"])
        n, d = X.shape
        low, high = X.min(axis=0), X.max(axis=0)
        middle, half = (low + high) / 2, WIDER * (high - low) / 2
        low, high = middle - half, middle + half
        runs = 2 if case["quick"] else RUNS
        rows = [_row(X, low, high, way, 0, 1.0, runs) for way in ("records", "records clipped")]
        sizes = [k for k in SIZES if k <= n // 2] + [n]
        rows += [_row(X, low, high, "microaggregation", k, None, 1) for k in (5, 50) if not case["quick"]]
        for way in ("order", "individual", "tree"):
            rows += [_row(X, low, high, way, k, 1.0, runs) for k in sizes]
            for epsilon in EPSILONS:
                k = _usual(way, n, d, epsilon)
                rows.append(_row(X, low, high, way, k, epsilon, runs) | {"auto": True})
        for epsilon in EPSILONS:
            rows.append(_row(X, low, high, "records clipped", 0, epsilon, runs) | {"auto": True})
        return {"n": n, "d": d, "rows": rows}

    def rows(self, results: list[Row]) -> list[Row]:
        """Return one row for each way, k and ε."""
        return [{"data": result["data"]} | row for result in results for row in result["rows"]]


def _usual(way: str, n: int, d: int, epsilon: float) -> int:
    from voronym.dp import GROUPINGS

    return min(n, GROUPINGS[way].size(n, d, epsilon))


def _row(X: Any, low: Any, high: Any, way: str, k: int, epsilon: float | None, runs: int) -> Row:
    """Return the mean figures of some releases."""
    import time

    started = time.perf_counter()
    figures = []
    for _ in range(runs):
        Y = released(way, X, low, high, k, epsilon or 1.0)
        spread = X.std(axis=0)
        with np.errstate(all="ignore"):
            moved = np.abs(np.nan_to_num(np.corrcoef(Y.T)) - np.corrcoef(X.T))
        figures.append(
            (
                100.0 * np.mean(np.square(Y - X) / np.square(spread)),
                np.mean(np.abs(Y.mean(axis=0) - X.mean(axis=0)) / spread),
                moved[np.triu_indices(X.shape[1], 1)].mean(),
                _fit(X, Y),
            )
        )
    loss, means, correlations, regression = np.mean(figures, axis=0).tolist()
    return {
        "method": way, "k": k, "epsilon": epsilon, "loss": loss, "means": means,
        "correlations": correlations, "regression": regression,
        "seconds": (time.perf_counter() - started) / runs,
    }  # fmt: skip


def _fit(X: Any, Y: Any) -> float:
    """Return R² on the originals of a regression of the last column on the others, fitted to the release."""
    design = np.column_stack([np.ones(len(Y)), Y[:, :-1]])
    weights = np.linalg.lstsq(design, Y[:, -1], rcond=None)[0]
    guess = np.column_stack([np.ones(len(X)), X[:, :-1]]) @ weights
    left = np.square(X[:, -1] - guess).sum() / np.square(X[:, -1] - X[:, -1].mean()).sum()
    return float(max(1.0 - left, -1.0))


def draw(rows: list[Row], path: Path) -> None:
    """Draw loss against k at ε = 1, one panel for each data set, as one SVG file."""
    from voronym.report.curves import Series, chart

    panels = []
    for data in dict.fromkeys(row["data"] for row in rows):
        own = [row for row in rows if row["data"] == data and row["epsilon"] == 1.0 and not row.get("auto")]
        flat = next(row["loss"] for row in own if row["method"] == "records clipped")
        ks = sorted({row["k"] for row in own if row["k"]})
        series = [Series("noise on records", [(k, flat) for k in ks], published=True)]
        for way in ("order", "individual", "tree"):
            points = sorted((row["k"], row["loss"]) for row in own if row["method"] == way)
            series.append(Series(way, points))
        panels.append(
            chart(series, title=data, x_name=f"{data}: k", y_name="loss, % of the variance", log="xy")
        )
    path.write_text(stacked([str(panel) for panel in panels]), encoding="utf-8")


STYLE = (
    "text{font:11px sans-serif;fill:#333}.l,.lp{fill:none;stroke-width:1.8}.lp{stroke-dasharray:4 3}"
    ".c0{stroke:#777}.c1{stroke:#b35900}.c2{stroke:#1b7f4d}.c3{stroke:#1f5fbf}"
    ".c4{stroke:#7a3fb0}.c5{stroke:#c0392b}"
)


def stacked(panels: list[str]) -> str:
    """Return drawings one below the other, in a file of its own."""
    import re

    top, out, wide = 0.0, [], 0.0
    for panel in panels:
        box = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', panel)
        assert box is not None  # noqa: S101 - every drawing has one
        wide = max(wide, float(box[1]))
        inner = re.sub(r"^<svg[^>]*>|</svg>$", "", panel.strip())
        out.append(f'<g transform="translate(0 {top:g})">{inner}</g>')
        top += float(box[2]) + 12
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:g} {top:g}"><style>{STYLE}</style>'
    return f'{head}<rect width="100%" height="100%" fill="#fff"/>{"".join(out)}</svg>\n'


if __name__ == "__main__":  # python -m benchmarks.private ROWS.json FIGURE.svg
    draw(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))["rows"], Path(sys.argv[2]))
