"""Epochs on a road graph: homes are vertices, distances are the shortest ways, and a place is a vertex.

A small version of `plan`, on the cohorts of `voronym.history`: groups below k are dissolved, their people and
newcomers form new groups or wait. Living groups are not dissolved for the sake of others, so over many
epochs places are farther from home than on the sphere. For graphs of some thousand vertices.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from voronym.core.context import Context
from voronym.errors import InputError
from voronym.history import Policy, advance
from voronym.partition import Partition
from voronym.problem import Problem
from voronym.space import Graph
from voronym.space.points import records_of
from voronym_location.epochs import Epoch, Figures, Standing
from voronym_location.population import Floats, Ints, Population
from voronym_location.rules import Settings


def plan_on_roads(
    population: Population,
    vertex: ArrayLike,
    corners: ArrayLike,
    graph: Graph,
    standing: Standing,
    settings: Settings,
    ctx: Context | None = None,
) -> Epoch:
    """Return the next epoch of people who live at the vertices of a graph; `check` is for it, too.

    Parameters
    ----------
    population : Population
        Those who are active; k counts addresses of people who count, as on the sphere.
    vertex : array of int, shape (n,)
        Where each lives.
    corners : array, shape (v, 2)
        Latitude and longitude of every vertex: what is published of one.
    graph : Graph
        Roads, with lengths in metres; power 2 for the least squared distance.
    standing, settings, ctx
        As in `voronym_location.plan`. ``k``, ``headroom``, ``wait`` and ``homes`` are used; different homes
        are different vertices.
    """
    at, known = np.asarray(vertex, np.int64), np.asarray(corners, np.float64)
    if at.shape != (len(population),) or known.shape != (len(graph.paths), 2):
        raise InputError("give a vertex for everybody, and latitude and longitude for every vertex")
    now = standing.epoch + 1
    before = population.group.copy()
    few = standing.groups[_places(before, at, population, standing.groups) < settings.homes]
    before[np.isin(before, few)] = -1
    rows = np.flatnonzero(population.counts)
    pairs = np.stack([before[rows], population.household[rows]], axis=1)
    unit, first, codes = np.unique(pairs, axis=0, return_index=True, return_inverse=True)
    codes = codes.reshape(-1)
    waited = np.where(before[rows][first] < 0, np.maximum(now - population.since[rows][first], 0), 0)
    group = np.full(len(population), -1, np.int64)
    if len(rows):
        policy = Policy(headroom=settings.headroom, patience=settings.wait, neighbours=0)
        records = records_of(graph, at[rows][first, None].astype(np.float64))
        work = Context() if ctx is None else ctx
        result = advance(
            records, unit[:, 0], settings.k, work, policy=policy, waited=waited, number=standing.top + 1,
            divide=lambda problem, _, ctx: divided(problem, ctx).labels,
        )  # fmt: skip
        group[rows] = result.groups[codes]
    group = _whole(group, before, at, population, settings)
    return _published(population, group, at, known, graph, standing, now)


def divided(problem: Problem, ctx: Context) -> Partition:
    """Divide records by their costs alone: the farthest from the middle and its nearest, again and again."""
    cost = problem.space.cost(problem.X, problem.X)
    labels = np.full(problem.n, -1, np.int64)
    rest, group = np.arange(problem.n), 0
    while len(rest) >= 2 * problem.k:
        ctx.check()
        near = cost[np.ix_(rest, rest)]
        far = int(near[near.sum(axis=1).argmin()].argmax())
        chosen = np.argsort(near[far], kind="stable")[: problem.k]
        labels[rest[chosen]] = group
        rest, group = np.delete(rest, chosen), group + 1
    labels[rest] = group
    return Partition(labels, k=problem.k)


def _places(group: Ints, at: Ints, population: Population, numbers: Ints) -> Ints:
    """Return at how many different vertices the people who count of each group live."""
    rows = (group >= 0) & population.counts
    pairs = np.unique(np.stack([group[rows], at[rows]], axis=1), axis=0)
    return np.bincount(np.searchsorted(numbers, pairs[:, 0]), minlength=len(numbers)).astype(np.int64)


def _whole(group: Ints, before: Ints, at: Ints, population: Population, settings: Settings) -> Ints:
    """Let new groups wait that have too few addresses or too few places; a home may be there twice."""
    numbers = np.unique(group[group >= 0])
    homes = _places(group, population.household, population, numbers)
    bad = numbers[(homes < settings.k) | (_places(group, at, population, numbers) < settings.homes)]
    out = np.where(np.isin(group, bad), -1, group)
    # people who do not count stay in a group that lives
    return np.where(~population.counts & np.isin(before, out[out >= 0]), before, out)


def _published(
    population: Population, group: Ints, at: Ints, corners: Floats, graph: Graph, standing: Standing, now: int
) -> Epoch:
    """Give new groups their vertices, and count."""
    living = np.unique(group[group >= 0])
    kept = np.isin(standing.groups, living)
    fresh = np.setdiff1d(living, standing.groups)
    middle = [int(graph.centroid(at[group == item, None].astype(np.float64))[0]) for item in fresh]
    after = Standing.of(
        now,
        np.concatenate([standing.groups[kept], fresh]),
        np.concatenate([standing.centroids[kept], corners[middle].reshape(-1, 2)]),
        np.concatenate([standing.born[kept], np.full(len(fresh), now, np.int64)]),
        top=int(fresh.max(initial=standing.top)),
    )
    result = (group >= 0) & (group != population.group)
    inside = np.flatnonzero(group >= 0)
    index = {tuple(place): number for number, place in enumerate(corners.tolist())}
    ends = np.array([index[tuple(place)] for place in after.centroids.tolist()], np.int64)
    ways = graph.paths[at[inside], ends[np.searchsorted(after.groups, group[inside])]]
    away = ways ** (1.0 / graph.power)
    rms = float(np.sqrt(np.square(away).mean())) if len(away) else 0.0
    smallest = _places(group, population.household, population, after.groups).min(initial=len(group))
    gone = standing.groups[~kept]
    figures = Figures(
        now, len(group), len(inside), len(group) - len(inside), int(result.sum()), 0, len(after), len(fresh),
        len(gone), int(smallest) if len(after) else 0, rms, float(np.median(away)) if len(away) else 0.0,
        False,
    )  # fmt: skip
    after = after if len(standing) else replace(after, designed=now, rms=rms)
    since = np.where(group != population.group, now, population.since)
    return Epoch(group, since, after, gone, result, figures)


def nearest(corners: ArrayLike, latitude: ArrayLike, longitude: ArrayLike) -> Ints:
    """Return the vertex nearest to each home, as the crow flies.

    Examples
    --------
    >>> nearest([[48.0, 11.0], [48.1, 11.0]], [48.09], [11.0]).tolist()
    [1]
    """
    from scipy.spatial import cKDTree

    from voronym_location.population import points

    return np.asarray(cKDTree(points(*np.asarray(corners).T)).query(points(latitude, longitude))[1], np.int64)
