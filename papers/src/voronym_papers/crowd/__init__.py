"""Anonymization of mixed records as vector quantization: outliers pushed back into the crowd.

``example``   table 1, and every equation on records with distances that can be computed by hand
``pictures``  figures 1 and 2: a flattened cluster, and a shuffled cluster
``hospital``  the paper's future work: the method on larger tables
``adult``     the method on a real table         ``leaves``  the method over parts of a data set
"""

from __future__ import annotations

from collections.abc import Iterator

from voronym.core.context import Context
from voronym_papers.base import Exhibit, paper
from voronym_papers.items import Item

EQUATIONS = {
    1: "distances mapped to Euclidean ones",
    2: "clusters: pairs within epsilon in every column",
    3: "the centroid",
    4: "the nearest large cluster",
    5: "only values outside the radius change",
    6: "the new value: centroid and noise",
    7: "the new value: the centroid's",
    8: "the new value: a member's",
    9: "flattening to the centroid",
    10: "shuffling within a bound",
}

PAPER = paper(
    "crowd",
    number="004",
    code=("voronym_papers.crowd", "voronym.datasets", "voronym.records"),
    reference="The paper on data anonymization from a vector quantization point of view, for health data, "
    "which speaks of pushing outliers back into the crowd; the copy that we have names no authors",
    subject="Outliers pushed back into the crowd",
    exhibits=(
        Exhibit("Table 1", "five health records, one of which stands out"),
        *(Exhibit(f"Equation {number}", what) for number, what in EQUATIONS.items()),
        Exhibit("Figure 1", "a cluster flattened in one dimension"),
        Exhibit("Figure 2", "a cluster shuffled"),
        Exhibit("Section 5", "later work: large tables of mixed columns"),
    ),
)


@PAPER.experiment(
    "example", "Table 1 and the equations, by hand",
    shows=("Table 1", *(f"Equation {number}" for number in EQUATIONS)),
)  # fmt: skip
def _example(full: bool, ctx: Context) -> Iterator[Item]:
    from voronym_papers.crowd import example

    yield from example.table_1(ctx)
    yield from example.equations(10 if full else 3, ctx)


@PAPER.experiment("pictures", "A cluster flattened, a cluster shuffled", shows=("Figure 1", "Figure 2"))
def _pictures(_: bool, ctx: Context) -> Iterator[Item]:
    from voronym_papers.crowd import pictures

    yield from pictures.figures_1_2(ctx)


@PAPER.experiment("hospital", "A hospital at three sizes", shows=("Section 5",))
def _hospital(full: bool, ctx: Context) -> Iterator[Item]:
    from voronym_papers.crowd import hospital

    yield from hospital.sizes((600, 5_000, 100_000) if full else (300, 600, 2_000), ctx)


@PAPER.experiment("adult", "A real table of mixed columns", shows=("Section 5",), data=True)
def _adult(full: bool, ctx: Context) -> Iterator[Item]:
    from voronym_papers.crowd import adult

    yield from adult.real_table((1_000, 10_000) if full else (500,), ctx)


@PAPER.experiment("leaves", "A hospital in leaves", shows=("Section 5",))
def _leaves(full: bool, ctx: Context) -> Iterator[Item]:
    from voronym_papers.crowd import leaves

    yield from leaves.over_leaves(1_000_000 if full else 1_500, 20_000 if full else 500, ctx)
