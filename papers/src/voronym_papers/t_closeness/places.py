"""Section 4.4: X is a user's place, W is the user's identity."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from voronym.channel import information_bound, privacy_distortion
from voronym.core.context import Context
from voronym_papers.base import at
from voronym_papers.items import Cell, Chart, Curve, Floats, Item, Table
from voronym_papers.marks import Mark

SIDE = 6.0
"""Width of the town in kilometres."""
SHARES = (0.0, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9, 1.0)
"""Shares of the distortion at which nothing is revealed."""


def town(squares: int, people: int, seed: int = 0) -> tuple[Floats, Floats]:
    """Return the joint law of user and square, and the squares' centres in kilometres.

    Everybody has a home and a place of work. Two thirds of the requests come from home, and a fifth of
    the others from the middle of the town.
    """
    rng = np.random.default_rng(seed)
    step = SIDE / squares
    line = (np.arange(squares) + 0.5) * step
    places = np.stack(np.meshgrid(line, line, indexing="ij"), axis=-1).reshape(-1, 2)
    homes, works = rng.uniform(0, SIDE, (2, people, 2))

    def near(centres: Floats, spread: float) -> Floats:
        law = np.exp(-np.square(places - centres[:, None]).sum(axis=2) / (2 * spread**2))
        return np.asarray(law / law.sum(axis=1, keepdims=True))

    middle = near(np.full((people, 2), SIDE / 2), SIDE / 4)
    law = 2 / 3 * near(homes, 0.6) + 4 / 15 * near(works, 0.6) + 1 / 15 * middle
    return law / people, places


def risk(p: Floats, matrix: Floats) -> float:
    """Return I(W; X̂) in nats, from its definition."""
    joint = p @ matrix
    product = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
    some = joint > 0
    return float((joint[some] * np.log(joint[some] / product[some])).sum())


def coarser(places: Floats, width: float) -> Floats:
    """Return the rule of a coarser grid: publish the square nearest to the middle of a larger square."""
    middle = (np.floor(places / width) + 0.5) * width
    near = np.square(places[None] - middle[:, None]).sum(axis=2).argmin(axis=1)
    return np.asarray(np.eye(len(places))[near])


def shaken(places: Floats, spread: float) -> Floats:
    """Return the rule of noise: publish a square with a probability that falls by e every ``spread`` km."""
    law = np.exp(-distances(places) / spread)
    return np.asarray(law / law.sum(axis=1, keepdims=True))


def distances(places: Floats) -> Floats:
    """Return distances between squares, in kilometres."""
    return np.asarray(np.sqrt(np.square(places[:, None] - places).sum(axis=2)))


def users(squares: int, people: int, ctx: Context) -> Iterator[Item]:
    """Find the rules that reveal least about the user, and compare a coarser grid and noise."""
    p, places = town(squares, people)
    d = distances(places)
    law = p.sum(axis=0)
    silent = float((law @ d).min())  # one square for everybody
    unmasked = risk(p, np.eye(len(places)))
    best = []
    for number, share in enumerate(SHARES):
        at(ctx, f"places: {share:.0%} of the way to silence", number / len(SHARES))
        channel = privacy_distortion(p, d, max_distortion=share * silent)
        best.append((channel.distortion, channel.risk, channel.gap))
    others: dict[str, list[tuple[float, float]]] = {"coarser grid": [], "noise": []}
    for width in (SIDE / 4, SIDE / 3, SIDE / 2):
        others["coarser grid"].append(_point(p, d, law, coarser(places, width)))
    for spread in (0.3, 0.6, 1.2, 2.4):
        others["noise"].append(_point(p, d, law, shaken(places, spread)))
    yield from _marks(best, others, unmasked)
    part = f"Section 4.4: {people} users on {squares} x {squares} squares"
    line = tuple((D, information_bound(unmasked, D / silent)) for D in (0.0, silent))
    yield Chart(
        "What a place tells about who asks",
        (
            Curve("least risk", tuple((D, R) for D, R, _ in best)),
            Curve("MIUB", line),
            *(Curve(name, tuple(points), joined=False) for name, points in others.items()),
        ),
        "mean error, km",
        "I(user; published place), nats",
        "The curve is theorem 1's: convex, falling from I(W; X) to nothing. A coarser grid and noise that "
        "does not look at who is where tell more at the same error. It may reach nothing before the error of "
        "one place for everybody: with fewer users than squares there are rules that say something about the "
        "place and nothing about the user.",
        part,
    )
    rows: list[tuple[Cell, ...]] = [("least risk", D, R, gap) for D, R, gap in best]
    rows += [(name, D, R, None) for name, points in others.items() for D, R in points]
    yield Table("Figures", ("rule", "mean error, km", "risk, nats", "proven gap"), tuple(rows), "", part,
                ("", ".3f", ".4f", ".0e"))  # fmt: skip


def _point(p: Floats, d: Floats, law: Floats, matrix: Floats) -> tuple[float, float]:
    return float(law @ (matrix * d).sum(axis=1)), risk(p, matrix)


def _marks(
    best: list[tuple[float, float, float]], others: dict[str, list[tuple[float, float]]], unmasked: float
) -> Iterator[Mark]:
    D, R, _ = (np.array(column) for column in zip(*best, strict=True))
    apart = np.diff(D) > 1e-9  # beyond the least error at which nothing is told there is nothing to gain
    slopes = np.diff(R)[apart] / np.diff(D)[apart]
    yield Mark("Section 4.4", "R(0) less I(W; X), nats", None, R[0] - unmasked, ".1e", alone=True)
    yield Mark("Section 4.4", "R at the error of one place for all, nats", None, R[-1], ".1e", alone=True)
    yield Mark("Section 4.4", "rises of the curve", None, int((slopes > 1e-6).sum()), ".0f", alone=True)
    yield Mark(
        "Section 4.4",
        "bends of the wrong kind",
        None,
        int((np.diff(slopes) < -1e-4).sum()),
        ".0f",
        alone=True,
    )
    for name, points in others.items():
        saved = [100 * (1 - np.interp(x, D, R) / y) for x, y in points]
        what = f"the best rule tells less than {name}, at least"
        yield Mark("Section 4.4", what, None, float(min(saved)), ".0f", " %", alone=True)
