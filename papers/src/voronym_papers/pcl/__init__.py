"""Rebollo-Monedero and others, 2011 and 2013: probability-constrained Lloyd against MDAV.

``published``  the papers' figures             ``runs``      a run with its distortion and time
``gaussian``   2013, figures 3 to 6            ``adult``     2013, figures 7 and 8
``ten``        2011, figures 9 and 10          ``plane``     2011, figures 11 to 18
``census``     2011, tables 1 and 2, figures 19 and 20
``rationale``  2011, figures 21 to 28          ``literal``   experiments exactly as published
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from voronym.core.context import Context
from voronym_papers.base import Exhibit, Paper, paper
from voronym_papers.items import Item
from voronym_papers.pcl import published

CODE = (
    "voronym_papers.limits",
    "voronym_papers.pcl",
    "voronym_papers.solvers",
    "voronym._kernels",
    "voronym.certify",
    "voronym.datasets",
    "voronym.partition",
    "voronym.partitioners",
    "voronym.quantize",
)

FIRST = paper(
    "pcl-2011",
    number="003",
    code=CODE,
    reference=published.FIRST,
    subject="Microaggregation and clustering by quantizers",
    exhibits=(
        Exhibit("Figure 1", "k-anonymous quantization of key attributes", where="quantize.md"),
        Exhibit("Figure 2", "devices that ask about a fixed place", where="location.md"),
        Exhibit("Figure 3", "access through a trusted third party", where="location.md"),
        Exhibit("Figure 4", "users who perturb their place themselves", where="location-together.md"),
        Exhibit("Figure 5", "a quantizer, formally and by example", where="quantize.md"),
        Exhibit("Figure 6", "the architecture, informally", where="location.md"),
        Exhibit("Figure 7", "the architecture: who sends what to whom", where="location.md"),
        Exhibit("Figure 8", "the location anonymizer", where="location.md"),
        Exhibit("Figure 9", "ten points, k = 2"),
        Exhibit("Figure 10", "ten points, k = 3"),
        Exhibit("Figure 11", "10,000 uniform points, 2 to 10 cells"),
        Exhibit("Figure 12", "the same, drawn for 7 cells"),
        Exhibit("Figure 13", "10,000 Gaussian points, 2 to 10 cells"),
        Exhibit("Figure 14", "the same, drawn for 9 cells"),
        Exhibit("Figure 15", "250 uniform points, k = 2 to 10"),
        Exhibit("Figure 16", "the same, drawn for k = 3"),
        Exhibit("Figure 17", "250 Gaussian points, k = 2 to 10"),
        Exhibit("Figure 18", "the same, drawn for k = 4"),
        Exhibit("Table 1", "Census by MDAV"),
        Exhibit("Table 2", "Census by noisy PCL"),
        Exhibit("Figure 19", "Census: distortion from five starts"),
        Exhibit("Figure 20", "Census: time from five starts"),
        Exhibit("Figure 21", "ten points and two fixed centroids"),
        Exhibit("Figure 22", "its objective over one cost"),
        Exhibit("Figure 23", "fifteen points and three fixed centroids"),
        Exhibit("Figure 24", "its objective over two costs"),
        Exhibit("Figure 25", "two points in clouds of falling noise"),
        Exhibit("Figure 26", "its objective, sharpened"),
        Exhibit("Figure 27", "fifteen points in clouds of falling noise"),
        Exhibit("Figure 28", "its objective, sharpened"),
    ),
)
SECOND = paper(
    "pcl-2013",
    number="000",
    code=CODE,
    reference=published.SECOND,
    subject="A Lloyd algorithm with cells of given sizes",
    exhibits=(
        Exhibit("Figure 1", "k-anonymous quantization of key attributes", where="quantize.md"),
        Exhibit("Figure 2", "a quantizer of the plane", where="quantize.md"),
        Exhibit("Table 1", "words of compression, statistics and disclosure control", where="glossary.md"),
        Exhibit("Figure 3", "65,536 Gaussian points in 16 cells"),
        Exhibit("Figure 4", "the gain by cells and dimension"),
        Exhibit("Figure 5", "the distortion, round by round"),
        Exhibit("Figure 6", "time against the number of points"),
        Exhibit("Figure 7", "Adult against MDAV"),
        Exhibit("Figure 8", "Adult against V-MDAV"),
    ),
)


@SECOND.experiment("cells", "Gaussian points in 16 cells", shows=("Figure 3",))
def _cells(_: bool, ctx: Context) -> Iterator[Item]:
    from voronym_papers.pcl import gaussian, runs  # numba and solvers, when asked for

    runs.warm_up()
    yield from gaussian.figure_3(ctx)


@SECOND.experiment("dimensions", "The gain over MDAV, by cells and dimension", shows=("Figure 4",))
def _dimensions(full: bool, ctx: Context) -> Iterator[Item]:
    from voronym_papers.pcl import gaussian

    yield from gaussian.figure_4(gaussian.POINTS if full else gaussian.POINTS // 4, ctx)


@SECOND.experiment("rounds", "The distortion never rises", shows=("Figure 5",))
def _rounds(full: bool, ctx: Context) -> Iterator[Item]:
    from voronym_papers.pcl import gaussian

    yield from gaussian.figure_5(gaussian.POINTS if full else gaussian.POINTS // 4, ctx)


@SECOND.experiment("time", "Running time", shows=("Figure 6",))
def _time(full: bool, ctx: Context) -> Iterator[Item]:
    from voronym_papers.pcl import gaussian, runs

    runs.warm_up()
    sizes = tuple(range(30_000, 100_001, 5000 if full else 35_000))
    yield from gaussian.figure_6(sizes, ctx.part(0.0, 0.4))
    yield from gaussian.figure_6(sizes[::7] if full else (15_000, 30_000), ctx.part(0.4, 1.0), d=10)


@SECOND.experiment("adult", "Adult, 48,842 people", shows=("Figure 7", "Figure 8"), data=True)
def _adult(full: bool, ctx: Context) -> Iterator[Item]:
    from voronym_papers.pcl import adult, runs

    runs.warm_up()
    yield from adult.figures_7_8(full, ctx)


def _literal(
    name: str, title: str, of: Paper, shows: Sequence[str], *arguments: Any, data: bool = False
) -> None:
    """Register an experiment to the letter: a function of `literal`, by the name before the dot."""

    @of.experiment(f"{title}-as-published", f"To the letter: {title}", shows=shows, data=data, literal=True)
    def run(_: bool, ctx: Context) -> Iterator[Item]:
        from voronym_papers.pcl import literal, runs

        runs.warm_up()
        yield from getattr(literal, name)(*arguments, ctx)


_literal("adult_values", "adult-table", SECOND, ("Figure 7",), data=True)
for _ks in ((500,), (1000, 1500), (2000, 2500), (3000, 3500, 4000)):
    _literal("adult_figures", f"adult-{_ks[0]}", SECOND, ("Figure 7",), _ks, data=True)
for _d in (2, 3, 4):
    _literal("dimensions", f"dimensions-{_d}", SECOND, ("Figure 4",), _d)
_literal("ten_points", "ten", FIRST, ("Figure 9", "Figure 10"), 200)
for _kind, _at in (("uniform", 11), ("gaussian", 13)):
    _here = [f"Figure {number}" for number in (_at, _at + 1, _at + 4, _at + 5, 28)]
    _literal("large", f"large-{_kind}", FIRST, _here[:2], f"large-{_kind}")
    _literal("small", f"small-{_kind}", FIRST, _here[2:], f"small-{_kind}")
for _k, _size in published.TABLE_2:
    _name = f"census-{_k}" + (f"-{_size}" if _size else "")
    _literal("census", _name, FIRST, ("Table 2", "Figure 19"), _k, _size, data=True)


@FIRST.experiment("ten", "Ten points", shows=("Figure 9", "Figure 10"))
def _ten(full: bool, ctx: Context) -> Iterator[Item]:
    from voronym_papers.pcl import ten

    yield from ten.figures_9_10(200 if full else 30, ctx)


def _plane(name: str, title: str, first: int) -> None:
    """Register a pair of figures about points in the plane."""

    @FIRST.experiment(name, title, shows=(f"Figure {first}", f"Figure {first + 1}"))
    def sweep(full: bool, ctx: Context) -> Iterator[Item]:
        from voronym_papers.pcl import plane, runs

        runs.warm_up()
        it = plane.EXPERIMENTS[name]
        swept = range(2, 11) if full else sorted({it.drawn, 10} if not it.clusters else {2, it.drawn, 10})
        often = {2, 3, it.drawn} if not it.clusters else set(swept)
        draws = {value: 3 if not full else 12 if value in often else 4 for value in swept}
        yield from plane.sweep(it, draws, 5 if full else 2, ctx)


for _name, _title, _first in (
    ("large-uniform", "10,000 uniform points in large cells", 11),
    ("large-gaussian", "10,000 Gaussian points in large cells", 13),
    ("small-uniform", "250 uniform points in small cells", 15),
    ("small-gaussian", "250 Gaussian points in small cells", 17),
):
    _plane(_name, _title, _first)


@FIRST.experiment("census", "Census", shows=("Table 1", "Table 2", "Figure 19", "Figure 20"), data=True)
def _census(full: bool, ctx: Context) -> Iterator[Item]:
    from voronym_papers.pcl import census, runs

    runs.warm_up()
    yield from census.tables_1_2(full, ctx)


@FIRST.experiment("limits", "What nothing exceeds: Census", shows=("Table 2",), data=True)
def _limits(full: bool, ctx: Context) -> Iterator[Item]:
    from voronym import datasets
    from voronym.partitioners import standardize
    from voronym_papers import limits

    X = standardize(datasets.census().to_numpy())
    rows = {k: row for (k, size), row in published.TABLE_2.items() if size is None or k < 25}
    chosen = [(f"k = {k}", X, k, 100 * row[1], "noisy PCL") for k, row in rows.items()]
    yield from limits.limits("Table 2", chosen if full else chosen[:1], limits.SECONDS if full else 3.0, ctx)


@FIRST.experiment(
    "rationale", "Why noise helps derivatives", shows=tuple(f"Figure {number}" for number in range(21, 29))
)
def _rationale(full: bool, ctx: Context) -> Iterator[Item]:
    from voronym_papers.pcl import rationale

    yield from rationale.figures_21_to_28(200 if full else 40, ctx)
