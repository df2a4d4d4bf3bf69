"""Tables 1 and 2: one run of ICSM from MDAV."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from time import perf_counter
from typing import Literal

import numpy as np

from voronym import datasets
from voronym.core.context import Context
from voronym.partitioners import information_loss, microaggregate, standardize
from voronym.problem import Problem
from voronym.refiners import refine
from voronym.refiners.icsm import IcsmOptions, Run
from voronym.refiners.work import Work
from voronym_papers.base import at
from voronym_papers.icsm import published
from voronym_papers.icsm.literal import literally
from voronym_papers.items import Cell, Floats, Highlight, Item, Table
from voronym_papers.marks import Mark

LITERAL = (
    "The paper does not say in which order pairs are met, nor how ties are broken; another order ends in "
    "another local optimum."
)
WIDTH = 0.191
"""Standard deviation of the synthetic clusters: not printed, but with it MDAV has the published loss."""
ROUNDS = (
    "Ours takes the best move of every cell in a round, and not the first hundred that are met; it ends in "
    "another local optimum."
)
MACHINE = "Another machine, and compiled code: times are compared in kind only."
DRAWN = (
    "The data are drawn again as the paper describes them, and a round of ours takes the best move of every "
    "cell."
)


CLUSTERS = (
    f"The paper does not print its clusters: ours have a deviation of {WIDTH}, with which MDAV loses within "
    "3 % of what was published. " + LITERAL
)


def warm_up() -> None:
    """Compile everything that is timed later."""
    X = np.random.default_rng(0).normal(size=(60, 2))
    start = microaggregate(X, 3, method="mdav")
    for options in ({"method": "icsm", "sources": 1}, {"method": "exchange", "iterations": 5}):
        refine(X, start, **options)  # type: ignore[arg-type]


def load(name: str) -> Floats:
    """Return a reference file, each column with mean 0 and variance 1."""
    return standardize(getattr(datasets, name)().to_numpy())


def table_1() -> Iterator[Item]:
    """Count records and columns."""
    for name, sizes in published.TABLE_1.items():
        shape = make_synthetic().shape if name == "synthetic" else getattr(datasets, name)().to_numpy().shape
        for what, item, ours in zip(("records", "columns"), sizes, shape, strict=True):
            yield Mark("Table 1", f"{what} of {name}", item, ours, ",.0f")


def table_2(ctx: Context) -> Iterator[Item]:
    """Run ICSM once from MDAV, with chains from one cell as the authors do."""
    rows: list[tuple[Cell, ...]] = []
    for number, ((name, k), (mdav, icsm, iterations, gain, seconds)) in enumerate(published.TABLE_2.items()):
        at(ctx, f"table 2: {name}, k={k}", number / len(published.TABLE_2))
        X = load(name)
        before = perf_counter()
        start = microaggregate(X, k, method="mdav")
        first = perf_counter() - before
        losses, rounds, taken = once(X, k, start.labels)
        case = f"{name}, k = {k}"
        yield Mark("Table 2", f"MDAV, {case}", mdav, losses[0], ".2f", " %", within=0.005)
        yield Mark(
            "Table 2", f"ICSM, {case}", icsm, losses[1], ".2f", " %", within=0.005, better="less", why=ROUNDS
        )
        ours = 100 * (1 - losses[1] / losses[0])
        yield Mark(
            "Table 2", f"seconds, {case}", seconds, taken, ".1f", " s", within=0.5, better="less", why=MACHINE
        )
        rows.append((name, k, iterations, rounds, gain, ours, "<1", first, seconds, taken))
    yield Table(
        "Table 2: rounds, gains over MDAV and seconds of one run of ICSM",
        ("data", "k", "iterations", "ours", "gain %", "ours", "s, MDAV", "ours", "s, ICSM", "ours"),
        tuple(rows),
        "The paper counts rounds with an improvement. A round of ours may apply a move for every pair of "
        "cells, so there are fewer of them. " + MACHINE,
        formats=("", "", "", "", ".1f", ".1f", "", ".3f", ".0f", ".2f"),
        keys=2,
    )


def literal_runs(ctx: Context, only: Sequence[str]) -> Iterator[Item]:
    """Run ICSM to the letter from MDAV: losses, gains and the rounds with an improvement."""
    rows: list[tuple[Cell, ...]] = []
    for number, ((name, k), (mdav, icsm, iterations, gain, _)) in enumerate(published.TABLE_2.items()):
        if name not in only:
            continue
        at(ctx, f"table 2, as published: {name}, k={k}", number / len(published.TABLE_2))
        X = load(name)
        before, after, rounds = literally(X, k, microaggregate(X, k, method="mdav").labels)
        case = f"{name}, k = {k}, as published"
        ours = 100 * (1 - after / before)
        yield Mark("Table 2", f"ICSM, {case}", icsm, after, ".2f", " %", 0.005, "less", why=LITERAL)
        yield Mark("Table 2", f"gain, {case}", gain, ours, ".1f", " %", 0.05, "more", why=LITERAL)
        yield Mark("Table 2", f"iterations, {case}", iterations, rounds, ".0f", why=LITERAL)
        rows.append((name, k, mdav, before, icsm, after, iterations, rounds, gain, ours))
    yield Table(
        f"Table 2: ICSM to the letter, {', '.join(only)}",
        ("data", "k", "MDAV", "ours", "ICSM", "ours", "iterations", "ours", "gain %", "ours"),
        tuple(rows),
        "A round collects the first hundred moves that it meets. Iterations are rounds with an improvement.",
        formats=("", "", "", "", "", "", "", "", ".1f", ".1f"),
        keys=2,
    )
    if only == ("tarragona", "census"):
        always = 100.0 * np.mean([float(str(row[5])) < float(str(row[3])) for row in rows])
        yield Mark("Table 2", "cases in which ICSM improves on MDAV", 100.0, float(always), ".0f", " %",
                   claim="always improves", why="In one case it does not.")  # fmt: skip


def literal_synthetic(k: int, limits: Sequence[int], ctx: Context) -> Iterator[Item]:
    """Run 20 and 400 rounds of ICSM to the letter on ten clusters of a thousand records."""
    X = standardize(make_synthetic())
    mdav, result = published.TABLE_2_SYNTHETIC[k]
    start = microaggregate(X, k, method="mdav").labels
    for number, limit in enumerate(limits):
        at(ctx, f"table 2, as published: synthetic, k={k}, {limit} rounds", number / len(limits))
        icsm, gain, _ = result[limit]
        before, after, _ = literally(X, k, start, limit)
        if number == 0:
            what = f"MDAV, synthetic, k = {k}, as published"
            yield Mark("Table 2", what, mdav, before, ".2f", " %", 0.03 * mdav, why=CLUSTERS)
        case = f"synthetic, k = {k}, {limit} rounds, as published"
        yield Mark("Table 2", f"ICSM, {case}", icsm, after, ".2f", " %", 0.03 * icsm, "less", why=CLUSTERS,
                   alike=False)  # fmt: skip
        ours = 100 * (1 - after / before)
        yield Mark("Table 2", f"gain, {case}", gain, ours, ".1f", " %", 0.5, "more", why=CLUSTERS,
                   alike=False)  # fmt: skip


def once(X: Floats, k: int, labels: np.ndarray) -> tuple[tuple[float, float], int, float]:
    """Run ICSM once; return the losses before and after in percent, the improving rounds, the seconds."""
    ctx = Context()
    work = Work(Problem.of(X, k), labels, ctx)
    run = Run(work, ctx, IcsmOptions(sources=1))
    first = work.loss
    before = perf_counter()
    run.finish()
    return (first, work.loss), run.rounds, perf_counter() - before


def simulated(sets: int, ctx: Context) -> Iterator[Item]:
    """Average over small data sets drawn as in the paper: Sim-1, Sim-2 and Sim-3."""
    rows: list[tuple[Cell, ...]] = []
    for number, ((name, k), (mdav, icsm, gain)) in enumerate(published.TABLE_2_SIMULATED.items()):
        at(ctx, f"table 2: {name}, k={k}", number / len(published.TABLE_2_SIMULATED))
        losses, literal = np.empty((2, sets, 2))
        for seed in range(sets):
            X = standardize(simulate(name, seed))
            start = microaggregate(X, k, method="mdav").labels
            losses[seed], literal[seed] = once(X, k, start)[0], literally(X, k, start)[:2]
        yield _mean(f"MDAV, {name}, k = {k}", mdav, losses[:, 0], ".2f", "")
        for how, own in (("", losses), (", as published", literal)):
            yield _mean(f"ICSM, {name}, k = {k}{how}", icsm, own[:, 1], ".2f", "less")
            gains = 100 * (1 - own[:, 1] / own[:, 0])
            yield _mean(f"gain over MDAV, {name}, k = {k}{how}", gain, gains, ".1f", "more")
        rows.append((name, k, mdav, *losses.mean(axis=0).tolist()[:1], icsm, float(losses[:, 1].mean()),
                     float(literal[:, 1].mean())))  # fmt: skip
    yield Table(
        f"Table 2: averages over simulated data sets (25 published, {sets} ours)",
        ("data", "k", "MDAV", "ours", "ICSM", "ours", "to the letter"),
        tuple(rows),
        "The data are drawn again as the paper describes them, so compare the gains over MDAV. That "
        "description puts the clusters of sim-3 farther apart than those of sim-2, where MDAV loses less; "
        "the published losses do not show it.",
        keys=2,
    )


def _mean(what: str, known: float, values: Floats, form: str, better: Literal["less", "more", ""]) -> Mark:
    """Compare a published mean with ours: the same within two standard errors, as both are of draws."""
    spread = float(values.std(ddof=1))
    within = 2 * spread / math.sqrt(len(values))
    return Mark("Table 2", what, known, float(values.mean()), form, " %", within, better, spread, why=DRAWN,
                alike=False)  # fmt: skip


def simulate(name: str, seed: int) -> Floats:
    """Draw 100 records: uniform (Sim-1), or five Gaussian clusters in a cube of side 1, 2 (Sim-2, Sim-3)."""
    rng = np.random.default_rng(seed)
    if name == "sim-1":
        return rng.uniform(-1000.0, 1000.0, (100, 10))
    d = int(rng.integers(4, 9))
    centres = rng.uniform(0.0, {"sim-2": 1.0, "sim-3": 2.0}[name], (5, d))
    spread = rng.uniform(0.1, 0.3, 5)
    each = np.repeat(np.arange(5), 20)
    return np.asarray(centres[each] + spread[each, None] * rng.standard_normal((100, d)))


def make_synthetic() -> Floats:
    """Draw ten clusters of a thousand records; the paper does not print their `WIDTH`."""
    rng = np.random.default_rng(0)
    each = np.repeat(np.arange(10), 1000)
    return np.asarray(rng.uniform(0.0, 1.0, (10, 10))[each] + rng.normal(0.0, WIDTH, (10_000, 10)))


def synthetic(sizes: tuple[int, ...], rounds: tuple[int, ...], ctx: Context) -> Iterator[Item]:
    """Run 20 and 400 rounds on ten clusters of a thousand records."""
    X = standardize(make_synthetic())
    rows: list[tuple[Cell, ...]] = []
    for number, k in enumerate(sizes):
        mdav, result = published.TABLE_2_SYNTHETIC[k]
        start = microaggregate(X, k, method="mdav")
        first = information_loss(X, start)
        for limit in rounds:
            at(ctx, f"table 2: synthetic, k={k}, {limit} rounds", number / len(sizes))
            icsm, gain, seconds = result[limit]
            before = perf_counter()
            part = refine(X, start, method="icsm", iterations=limit, sources=1)
            taken = perf_counter() - before
            last = information_loss(X, part)
            yield Mark(
                "Table 2", f"gain over MDAV, synthetic, k = {k}, {limit} rounds", gain,
                100 * (1 - last / first), ".1f", " %", within=0.05, better="more", alike=False,
                why="A round of ours takes the best move of every cell, and not the best of a hundred.",
            )  # fmt: skip
            yield Mark("Table 2", f"seconds, synthetic, k = {k}, {limit} rounds", seconds, taken, ".1f", " s",
                       within=0.5, better="less", why=MACHINE)  # fmt: skip
            rows.append((k, limit, mdav, first, icsm, last, seconds, taken))
    yield Table(
        "Table 2: 10,000 synthetic records in 10 columns",
        ("k", "rounds", "MDAV", "ours", "ICSM", "ours", "seconds", "ours"),
        tuple(rows),
        f"The paper does not print its clusters; a deviation of {WIDTH} gives its losses of MDAV. " + MACHINE,
        formats=("", "", "", "", "", "", ".0f", ".1f"),
        keys=2,
    )
    slowest = max(rows, key=lambda row: float(str(row[-1])))
    yield Highlight(f"{float(str(slowest[-1])):.1f} s", f"for {slowest[1]} rounds on 10,000 records",
                    f"{slowest[-2]} s published")  # fmt: skip
