"""Mortazavi and Jalili 2015: ICSM against MDAV, LS and the classical methods.

``published``  the paper's figures             ``moves``     figures 1 to 4, by example
``tables``     tables 1 and 2                  ``literal``   ICSM exactly as printed
``classical``  figure 5                        ``restarts``  table 4: the best of 1600 starts
"""

from __future__ import annotations

from collections.abc import Iterator

from voronym.core.context import Context
from voronym_papers.base import Exhibit, Reproduce, paper
from voronym_papers.icsm import published
from voronym_papers.items import Item

PAPER = paper(
    "icsm",
    number="001",
    code=(
        "voronym_papers.icsm",
        "voronym_papers.limits",
        "voronym_papers.solvers.kernels",
        "voronym.certify",
        "voronym._kernels",
        "voronym.datasets",
        "voronym.partitioners",
        "voronym.refiners",
    ),
    reference=published.REFERENCE,
    subject="A local search for microaggregation",
    exhibits=(
        Exhibit("Figure 1", "an exchange as a cycle of two edges"),
        Exhibit("Figure 2", "a migration as a cycle"),
        Exhibit("Figure 3", "a cycle that meets a cell twice"),
        Exhibit("Figure 4", "a chain through three cells"),
        Exhibit("Table 1", "the data sets"),
        Exhibit("Table 2", "one run of ICSM from MDAV"),
        Exhibit("Table 3", "what the methods cost", where="methods.md"),
        Exhibit("Figure 5", "ICSM against nine methods"),
        Exhibit("Table 4", "the best of many starts"),
        Exhibit("Table 5", "symbols", where="glossary.md"),
    ),
)


@PAPER.experiment("moves", "Moves as cycles", shows=tuple(f"Figure {number}" for number in range(1, 5)))
def _moves(_: bool, ctx: Context) -> Iterator[Item]:
    from voronym_papers.icsm import moves

    yield from moves.figures_1_to_4(ctx)


@PAPER.experiment("runs", "One run from MDAV", shows=("Table 1", "Table 2"), data=True)
def _runs(_: bool, ctx: Context) -> Iterator[Item]:
    from voronym_papers.icsm import tables

    tables.warm_up()
    yield from tables.table_1()
    yield from tables.table_2(ctx)


@PAPER.experiment("simulated", "Data drawn as the paper says", shows=("Table 2",))
def _simulated(full: bool, ctx: Context) -> Iterator[Item]:
    from voronym_papers.icsm import tables

    tables.warm_up()
    yield from tables.simulated(published.SETS if full else 10, ctx)


@PAPER.experiment("synthetic", "10,000 records in ten clusters", shows=("Table 2",))
def _synthetic(full: bool, ctx: Context) -> Iterator[Item]:
    from voronym_papers.icsm import tables

    tables.warm_up()
    yield from tables.synthetic((3, 5, 10) if full else (10,), (20, 400) if full else (20,), ctx)


def _literal_synthetic(k: int) -> Reproduce:
    """Return the literal experiment for one k on the synthetic data."""

    def run(_: bool, ctx: Context) -> Iterator[Item]:
        from voronym_papers.icsm import tables

        yield from tables.literal_synthetic(k, (20, 400), ctx)

    return run


for _k in (3, 5, 10):
    PAPER.experiment(
        f"synthetic-{_k}-as-published", f"To the letter: ten clusters, k = {_k}", shows=("Table 2",),
        literal=True,
    )(_literal_synthetic(_k))  # fmt: skip


@PAPER.experiment(
    "runs-as-published", "To the letter: one run from MDAV", shows=("Table 2",), data=True, literal=True
)
def _literal_runs(_: bool, ctx: Context) -> Iterator[Item]:
    from voronym_papers.icsm import tables

    yield from tables.literal_runs(ctx, ("tarragona", "census"))


@PAPER.experiment(
    "eia-as-published", "To the letter: one run from MDAV, EIA", shows=("Table 2",), data=True, literal=True
)
def _literal_eia(_: bool, ctx: Context) -> Iterator[Item]:
    from voronym_papers.icsm import tables

    yield from tables.literal_runs(ctx, ("eia",))


def _limits(name: str) -> Reproduce:
    """Return the experiment that proves an upper bound on the gain for one data set."""

    def run(full: bool, ctx: Context) -> Iterator[Item]:
        from voronym_papers import limits
        from voronym_papers.icsm import tables

        cases = [
            (f"{name}, k = {k}", tables.load(name), k, row[1], "ICSM")
            for (data, k), row in published.TABLE_2.items()
            if data == name
        ]
        chosen = cases if full else cases[-1:]
        yield from limits.limits("Table 2", chosen, limits.SECONDS if full else 3.0, ctx)

    return run


for _name in ("tarragona", "census", "eia"):
    PAPER.experiment(f"limits-{_name}", f"What nothing exceeds: {_name}", shows=("Table 2",), data=True)(
        _limits(_name)
    )


@PAPER.experiment("classical", "The classical methods", shows=("Figure 5",), data=True)
def _classical(full: bool, ctx: Context) -> Iterator[Item]:
    from voronym_papers.icsm import classical

    yield from classical.figure_5((3, 5, 10) if full else (3, 10), ctx)


def _restarts(name: str, k: int) -> Reproduce:
    """Return the experiment for one row of table 4; a full one takes 5 to 15 minutes."""

    def run(full: bool, ctx: Context) -> Iterator[Item]:
        from voronym_papers.icsm import restarts, tables

        tables.warm_up()
        yield from restarts.row(name, k, full, ctx)

    return run


for _name, _k in published.TABLE_4:
    PAPER.experiment(
        f"starts-{_name}-{_k}", f"Many starts: {_name}, k = {_k}", shows=("Table 4",), data=True
    )(_restarts(_name, _k))
