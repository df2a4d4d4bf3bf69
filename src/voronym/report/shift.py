"""The same records before and after masking, side by side on the same axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voronym.report.plane import cell_colours, hull
from voronym.report.svg import Scale, escape, line, num, path, picture, text

WIDE, HIGH, PAD = 380.0, 322.0, 12.0
MOST_LINES = 80
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Side:
    """One of the two pictures: its name and a few words."""

    name: str
    words: str


def before_and_after(
    before: Floats,
    after: Floats,
    groups: Ints,
    lonely: Ints,
    *,
    sides: tuple[Side, Side],
    axes: tuple[str, str],
    title: str,
) -> str:
    """Draw records twice: where they were and where they are published.

    Parameters
    ----------
    before, after : arrays, shape (n, 2)
        Places of the same records.
    groups : array of int, shape (n,)
        Group of each record that is drawn in colour, with its hull; -1 for those drawn in grey.
    lonely : array of int
        Rows to ring; after, a line leads back to where they were.
    sides : (Side, Side)
        Names and words under the pictures.

    Examples
    --------
    >>> drawn = before_and_after(np.zeros((3, 2)), np.ones((3, 2)), np.array([0, 0, -1]), np.array([2]),
    ...                          sides=(Side("Before", ""), Side("After", "")), axes=("a", "b"), title="t")
    >>> drawn.count("<svg"), drawn.count("<circle"), drawn.count('class="mv"')
    (2, 2, 1)
    """
    x, y = _scales(np.vstack([before, after]))
    shown = np.unique(groups[groups >= 0])
    middle = np.zeros((int(shown.max(initial=0)) + 1, 2))
    for group in shown:
        middle[group] = after[groups == group].mean(axis=0)
    colours = cell_colours(middle, shown)
    drawn = []
    for at, side in enumerate(sides):
        points = (before, after)[at]
        places = np.column_stack([_clip(x, points[:, 0]), _clip(y, points[:, 1])])
        body = [f'<rect class="p" x="1" y="1" width="{num(WIDE - 2)}" height="{num(HIGH - 20)}" rx="3"/>']
        body.append(_spots(places[groups < 0], "dg"))
        calm = np.setdiff1d(np.arange(len(groups)), lonely)
        for group in shown:
            corners = hull(np.round(places[calm[groups[calm] == group]], 1))
            body.append(
                path([(float(a), float(b)) for a, b in corners], f"h c{colours[int(group)]}", closed=True)
            )
        body += [_spots(places[groups == group], f"d c{colours[int(group)]}") for group in shown]
        if at:
            for row in lonely[:MOST_LINES]:
                old = (float(_clip(x, before[row, 0])), float(_clip(y, before[row, 1])))
                body.append(line(*old, float(places[row, 0]), float(places[row, 1]), "mv"))
        body += [f'<circle class="x" cx="{num(a)}" cy="{num(b)}" r="3.2"/>' for a, b in places[lonely]]
        body.append(text(WIDE - 4, HIGH - 5, f"{axes[0]} →", "t", "end"))
        body.append(text(4, HIGH - 5, f"↑ {axes[1]}", "t"))
        figure = picture(WIDE, HIGH, body, title=f"{title}: {side.name.lower()}", desc=side.words)
        drawn.append(
            f'<div class="panel">{figure}<p><strong>{escape(side.name)}.</strong> '
            f"{escape(side.words)}</p></div>"
        )
    return f'<div class="panels">{"".join(drawn)}</div>'


def _spots(places: Floats, look: str) -> str:
    spots = "".join(f"M{num(a)} {num(b)}h0" for a, b in places)
    return f'<path class="{look}" d="{spots}"/>' if spots else ""


def _scales(both: Floats) -> tuple[Scale, Scale]:
    """Return scales over nearly all places, with room around them; the rest stands at the border."""
    low, high = both.min(axis=0), both.max(axis=0)
    if len(both) > 200:
        inner, outer = np.percentile(both, [1.0, 99.0], axis=0)
        room = 0.6 * np.where(outer > inner, outer - inner, 1.0)
        low, high = np.maximum(low, inner - room), np.minimum(high, outer + room)
    return Scale(low[0], high[0], PAD, WIDE - PAD), Scale(low[1], high[1], HIGH - 20 - PAD, PAD)


def _clip(scale: Scale, values: Floats) -> Floats:
    span = scale.high - scale.low
    if not span > 0.0:
        return np.full(np.shape(values), (scale.start + scale.stop) / 2)
    share = (np.clip(values, scale.low, scale.high) - scale.low) / span
    return np.asarray(scale.start + share * (scale.stop - scale.start))


def by_distance(costs: Floats) -> tuple[Floats, tuple[str, str]]:
    """Place records in the plane by their distances alone (classical scaling), and name the axes.

    Parameters
    ----------
    costs : array, shape (n, n)
        Distances.

    References
    ----------
    Torgerson, W. S.: Multidimensional scaling: I. Theory and method. Psychometrika 17, 1952.

    Examples
    --------
    >>> places, _ = by_distance(np.array([[0.0, 3.0], [3.0, 0.0]]))
    >>> round(float(abs(places[0, 0] - places[1, 0])), 6)
    3.0
    """
    squared = np.square(costs)
    centred = -0.5 * (squared - squared.mean(axis=0) - squared.mean(axis=1, keepdims=True) + squared.mean())
    values, vectors = np.linalg.eigh(0.5 * (centred + centred.T))
    order = np.argsort(values)[::-1][:2]
    places = vectors[:, order] * np.sqrt(np.maximum(values[order], 0.0))
    if places.shape[1] < 2:
        places = np.column_stack([places, np.zeros(len(places))])
    return np.asarray(places), ("by distances, first axis", "second")


def shown_groups(labels: Ints, n_groups: int, most: int, seed: int = 0) -> Ints:
    """Choose the groups to colour: the largest few, and others at random, with a fixed seed; -1 elsewhere."""
    if n_groups <= most:
        return labels
    sizes = np.bincount(labels, minlength=n_groups)
    large = np.argsort(-sizes, kind="stable")[: most // 2]
    rest = np.setdiff1d(np.arange(n_groups), large)
    drawn: Sequence[int] = np.random.default_rng(seed).permutation(rest)[: most - len(large)].tolist()
    kept = np.concatenate([large, np.array(drawn, dtype=np.int64)])
    place = np.full(n_groups, -1, np.int64)
    place[kept] = np.arange(len(kept))
    return place[labels]
