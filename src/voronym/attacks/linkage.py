"""Linkage by keys: an intruder claims a released record for a person.

The intruder knows the keys of a person exactly. They claim a record with the same keys, one of the nearest
records, or the record from an assignment of all people to all records.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from voronym.attacks.base import Found, attack
from voronym.attacks.interval import judge
from voronym.attacks.scene import Floats, Ints, Scene
from voronym.core import later, numerics
from voronym.core.context import Context
from voronym.core.sentence import Sentence
from voronym.evaluate.attacks import link
from voronym.evaluate.matching import Matcher
from voronym.table.classes import equivalence_classes
from voronym.table.frame import as_frame

linear_sum_assignment = later.called("scipy.optimize", "linear_sum_assignment")
cdist = later.called("scipy.spatial.distance", "cdist")

_KNOWS = "the exact keys of the people they look for"
_DOMINGO = "Domingo-Ferrer, Torra, in: Confidentiality, Disclosure and Data Access, 2001"
BLOCK = 500
"""Number of people in one assignment problem; its time grows with the cube of this number."""


def _sentence(what: Sentence, right: float, guess: float, scene: Scene) -> str:
    if right <= 2 * guess:
        return Sentence("{what} finds hardly more of the records than a blind guess.", what=what)
    least = int(scene.classes.sizes.min())
    given = {"what": what, "many": f"{1 / right:,.1f}", "least": str(least)}
    if least <= 1:
        return Sentence("{what} finds the right record of 1 person in {many}.", **given)
    return Sentence(
        "{what} finds the right record of 1 person in {many}. Groups of {least} or more allow 1 in {least}.",
        **given,
    )


@attack("linkage-exact", level=1, knows=_KNOWS, needs=("original",), cost="instant", reference=_DOMINGO)
def exact(scene: Scene, ctx: Context) -> Found:
    """Claim a released record with the same keys."""
    if scene.matcher is not None:
        return _fitting(scene, scene.matcher, ctx)
    targets = _targets(scene, ctx)
    wanted, groups = scene.people[targets].select(scene.keys), scene.released[scene.classes.first]
    both = pl.concat([wanted, groups.select(scene.keys)])
    labels = equivalence_classes(as_frame(both), list(scene.keys)).labels
    mine, released = labels[: len(targets)], labels[len(targets) :]
    size = np.zeros(len(both), np.int64)
    size[released] = scene.classes.sizes
    here = size[mine]
    credit = 1.0 / np.maximum(here, 1)
    right = here > 0
    clusters = mine
    if scene.own is not None:
        clusters = scene.classes.labels[scene.own[targets]]
        right &= released[clusters] == mine
    return judge(
        np.where(right, credit, 0.0),
        1.0 / len(scene.released),
        lambda s, c: _sentence(Sentence("Looking for records with the same keys"), s, c, scene),
        clusters=clusters,
        confidence=scene.confidence,
        kind="measured" if scene.own is not None else "at most",
        details={"same_keys": int((here > 0).sum())},
    )


def _fitting(scene: Scene, matcher: Matcher, ctx: Context) -> Found:
    """Claim a record whose published ranges and sets contain all keys of a person."""
    targets = _targets(scene, ctx)
    fits = matcher.fitting(targets)
    classes = matcher.classes
    here = np.array([int(classes.sizes[some].sum()) for some in fits])
    right = here > 0
    if scene.own is not None:
        own = classes.labels[scene.own[targets]]
        right &= np.array([label in some for label, some in zip(own, fits, strict=True)])
    clusters = None if scene.own is None else classes.labels[scene.own[targets]]
    return judge(
        np.where(right, 1.0 / np.maximum(here, 1), 0.0),
        1.0 / len(scene.released),
        lambda s, c: _sentence(
            Sentence("Looking for records whose ranges and codes hold the keys"), s, c, scene
        ),
        clusters=clusters,
        confidence=scene.confidence,
        kind="measured" if scene.own is not None else "at most",
        details={"same_keys": int((here > 0).sum())},
    )


@attack("linkage", level=1, knows=_KNOWS, needs=("original",), cost="seconds", reference=_DOMINGO)
def nearest(scene: Scene, ctx: Context) -> Found:
    """Claim one of the nearest released records."""
    X, Y = scene.points
    targets = _targets(scene, ctx)
    own = None if scene.own is None else scene.own[targets]
    if scene.matcher is None:
        credit, near, classes = link(X[targets], Y, own, ctx, scene.classes)
    else:
        credit, near, classes = scene.matcher.link(targets, own, ctx)
    return judge(
        credit if own is None else credit * near,
        1.0 / len(Y),
        lambda s, c: _sentence(Sentence("Claiming the record with the nearest keys"), s, c, scene),
        clusters=None if own is None else classes.labels[own],
        confidence=scene.confidence,
        ceiling=1.0 / int(classes.sizes.min()),
        kind="at most" if own is None else "measured",
        details={} if own is None else {"own_group_nearest": float(near.mean())},
    )


@attack(
    "linkage-assignment",
    level=1,
    knows="the exact keys of everybody in the table",
    needs=("original", "links"),
    cost="seconds",
    reference=_DOMINGO,
)
def assigned(scene: Scene, ctx: Context) -> Found:
    """Give every person another record, at the least sum of distances.

    Up to 500 people at once; larger tables are cut into blocks of people and records that lie side by side.
    """
    X, Y = scene.points
    labels, sizes = scene.classes.labels, scene.classes.sizes
    # Several assignments may have the least sum. The choice must not depend on the order of the rows.
    ranks = np.argsort(np.lexsort([sizes, *Y[scene.classes.first].T]))
    rows = np.argsort(ranks[labels], kind="stable")
    blocks = neighbours(X, Y[rows])
    chosen = ctx.rng.permutation(len(blocks))[: max(1, -(-scene.targets // BLOCK))]
    some = [blocks[i] for i in np.sort(chosen)]

    def solve(block: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
        people, records = block[0], rows[block[1]]
        which, columns = linear_sum_assignment(cdist(X[people], Y[records], "sqeuclidean"))
        return people[which], records[columns]

    result = ctx.map(solve, some)
    people, claims = (np.concatenate([pair[side] for pair in result]) for side in (0, 1))
    there = scene.links[people] >= 0
    people, claims = people[there], claims[there]
    own = scene.links[people]
    # Records with equal keys are exchangeable: the claim is one of them at random.
    credit = np.where(labels[claims] == labels[own], 1.0 / sizes[labels[claims]], 0.0)
    return judge(
        credit,
        1.0 / len(Y),
        lambda s, c: _sentence(Sentence("Giving every person one record, all at once,"), s, c, scene),
        clusters=labels[own],
        confidence=scene.confidence,
        ceiling=1.0 / int(sizes.min()),
    )


def neighbours(X: Floats, Y: Floats, size: int = BLOCK) -> list[tuple[Ints, Ints]]:
    """Cut people and records into blocks that lie side by side, at the medians of the widest coordinate."""
    out: list[tuple[Ints, Ints]] = []
    waiting: list[tuple[Ints, Ints]] = [(np.arange(len(X)), np.arange(len(Y)))]
    while waiting:
        people, rows = waiting.pop()
        if max(len(people), len(rows)) <= size or min(len(people), len(rows)) < 2:
            out.append((people, rows))
            continue
        axis = int(np.argmax(numerics.spread(Y if len(rows) == len(Y) else Y[rows])))
        halves: list[NDArray[np.int64]] = []
        for points, some in ((X, people), (Y, rows)):
            order = some[np.argsort(points[some, axis], kind="stable")]
            halves += [order[: len(order) // 2], order[len(order) // 2 :]]
        waiting += [(halves[1], halves[3]), (halves[0], halves[2])]
    return out


def _targets(scene: Scene, ctx: Context) -> Ints:
    known = None if scene.own is None else np.flatnonzero(scene.own >= 0)
    return scene.sample(ctx.rng, known)
