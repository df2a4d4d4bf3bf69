"""Linkage by all columns: other published columns betray the keys.

The intruder knows the records of some people: colleagues, relatives, or a leaked part of the table. From
these they learn how each published column depends on the keys, such as years insured on age, or an invoice
number on the date. They predict the true keys of each record from its published columns, and claim the record
whose prediction is nearest to the keys of the target.
"""

from __future__ import annotations

from dataclasses import dataclass

import narwhals as nw
import numpy as np
import polars as pl

from voronym.attacks.base import Found, Inapplicable, attack
from voronym.attacks.interval import judge
from voronym.attacks.scene import Floats, Ints, Scene
from voronym.attacks.smooth import Smoother
from voronym.core.context import Context
from voronym.core.percent import percent
from voronym.core.sentence import Sentence
from voronym.evaluate.attacks import equal_points, link, link_classes
from voronym.evaluate.pair import numbers
from voronym.table.classes import Classes, equivalence_classes

LEAST = 20
"""Smallest number of people to learn from."""
MOST_LEARNED = 10_000
_RIDGE = 1e-3
_TELLS = 0.05  # a column that explains a smaller share of the masked part is not named
_SPREAD = 1e-3  # of a standard deviation: residuals below it are no better known


@attack(
    "linkage-columns",
    level=2,
    knows="the exact keys of the people they look for, and whole records of others in the table",
    needs=("original", "links"),
    cost="seconds",
)
def columns(scene: Scene, ctx: Context) -> Found:
    """Learn from half of the people how published columns depend on the keys; link the other half."""
    X, Y = scene.points
    known = np.flatnonzero(scene.links >= 0)
    if len(known) < 2 * LEAST:
        raise Inapplicable(
            f"it learns on half of the people, and {len(known)} whose rows are known are too few: "
            f"it takes {2 * LEAST}"
        )
    order = ctx.rng.permutation(known)
    half = order[: min(len(order) // 2, MOST_LEARNED)]
    targets = np.sort(order[len(order) // 2 :][: scene.targets])
    result, predicted = KeyPrediction.learn(scene, X, Y, half)
    own, classes = scene.links[targets], predicted.classes(scene.point_classes)
    credit, near = link_classes(X[targets] @ result.spread, predicted.of, classes, own, ctx)
    right, ceiling, by = credit * near, 1.0 / int(classes.sizes.min()), "prediction"
    ranks = Ranks.learn(scene, X, half)
    if ranks is not None and ranks.right > _tried(
        X[half] @ result.spread, predicted.of(scene.links[half]), ctx
    ):
        rest = order[len(order) // 2 :]
        matched = ranks.match(scene, X, rest)
        place = {int(person): at for at, person in enumerate(rest)}
        right, ceiling, by = (
            matched[[place[int(target)] for target in targets]],
            1.0,
            f"order of {ranks.column!r}",
        )
    bare, near_bare = link_classes(
        X[targets] @ result.spread_keys, lambda rows: result.from_keys(Y[rows]), scene.classes, own, ctx
    )
    names = list(result.tells)
    return judge(
        right,
        1.0 / len(Y),
        lambda s, c: _sentence(s, c, float((bare * near_bare).mean()), result),
        clusters=scene.classes.labels[own],
        confidence=scene.confidence,
        ceiling=ceiling,
        details={
            "by": by,
            "columns": names,
            "explains": result.tells,
            "by_keys_alone": float((bare * near_bare).mean()),
            "learned_on": len(half),
        },
    )


def _tried(truth: Floats, predicted: Floats, ctx: Context) -> float:
    """Return the linkage rate by the prediction among the people that it was learned from."""
    credit, near, _ = link(truth, predicted, np.arange(len(truth)), ctx)
    return float((credit * near).mean())


@dataclass(frozen=True, eq=False)
class Ranks:
    """People and rows in the order of a key and of a column related to it.

    An invoice number in order of dates need not be predicted: the hundredth number is of the hundredth date.
    """

    column: str
    key: int
    sign: float
    right: float

    @classmethod
    def learn(cls, scene: Scene, X: Floats, half: Ints) -> Ranks | None:
        """Return the column and key with the most similar orders in ``half``; None if too few rows match."""
        rows, best = scene.links[half], None
        for name in scene.beside:
            values, ordered = _values(scene.released[name])
            if not ordered:
                continue
            for key in range(X.shape[1]):
                for sign in (1.0, -1.0):
                    right = float(_side_by_side(sign * X[half, key], values[rows]).mean())
                    if right > (2.0 / len(half) if best is None else best.right):
                        best = cls(name, key, sign, right)
        return best

    def match(self, scene: Scene, X: Floats, people: Ints) -> Floats:
        """Return the success on people whose rows were not used for learning."""
        values, _ = _values(scene.released[self.column])
        return _side_by_side(self.sign * X[people, self.key], values[scene.links[people]])


def _side_by_side(keys: Floats, values: Floats) -> Floats:
    """Return each person's chance to get their own value if people and values are matched in order.

    Person i has key and value i. People with equal keys, and rows with equal values, are taken at random.
    """
    order, levels = np.sort(keys), np.sort(values)
    first, last = np.searchsorted(order, keys, "left"), np.searchsorted(order, keys, "right")
    low, high = np.searchsorted(levels, values, "left"), np.searchsorted(levels, values, "right")
    both = np.maximum(0, np.minimum(last, high) - np.maximum(first, low))
    return np.asarray(both / ((last - first) * (high - low)), np.float64)


def _sentence(success: float, control: float, alone: float, values: KeyPrediction) -> str:
    if success <= 2 * control:
        return Sentence("All published columns together find hardly more records than a blind guess.")
    result = Sentence("{share} of the people", share=percent(success, whole=True))
    if success < 0.5:
        result = Sentence("1 person in {many}", many=f"{1 / success:,.0f}")
    if not values.tells or success < 1.2 * alone + 0.02:
        return Sentence(
            "Other columns than the keys add little: {result} is found, {alone} by the keys alone.",
            result=result,
            alone=percent(alone),
        )
    named = ", ".join(f"{name!r} → {values.keys[name]!r}" for name in values.tells)
    return Sentence(
        "Found: {result}, {alone} by the keys alone. These columns reveal a key: {columns}. Make them "
        "keys, or drop them.",
        result=result,
        alone=percent(alone),
        columns=named,
    )


@dataclass(frozen=True, eq=False)
class KeyPrediction:
    """A learned prediction of the true keys of every released row.

    ``weights_keys`` predict from the published keys alone. ``tells`` has, for each betraying column, the
    share of the masked part that it explains, and ``keys`` the key it betrays. ``spread`` and
    ``spread_keys`` scale errors to independent ones of size 1, with all columns and with the keys alone.
    """

    weights_keys: Floats
    spread: Floats
    spread_keys: Floats
    tells: dict[str, float]
    keys: dict[str, str]

    def from_keys(self, published: Floats) -> Floats:
        """Return the predictions by published keys alone, in units of their errors."""
        result = published @ (self.weights_keys[1:] @ self.spread_keys)
        result += self.weights_keys[0] @ self.spread_keys
        return np.asarray(result)

    @classmethod
    def learn(cls, scene: Scene, X: Floats, Y: Floats, half: Ints) -> tuple[KeyPrediction, Predicted]:
        """Learn from the people in ``half``, whose released rows are known.

        The second result predicts the keys of any released row, in units of its error.
        """
        rows, truth = scene.links[half], X[half]
        smooth = {name: Smoother.fit(_values(scene.released[name]), rows, truth) for name in scene.beside}
        shared = np.column_stack([np.ones(len(half)), Y[rows]])
        normal = Normal(shared, truth, [item.left_out for item in smooth.values()])
        alone = normal.solve(())
        every = normal.solve(tuple(range(len(smooth))))
        gains = {name: normal.gain(alone, i) for i, name in enumerate(smooth)}
        p = shared.shape[1]
        spread = _whitening(truth - normal.fitted(every))
        terms = []
        for weight, item in zip(every[p:], smooth.values(), strict=True):
            # Such as the guesses of all values that were never seen; sums of many differ in their last bits.
            alike = equal_points(item.guesses.round(12))
            terms.append(((item.guesses[alike.first] * weight) @ spread, alike.labels[item.place]))
        predicted = Predicted(Y, every[1:p] @ spread, every[0] @ spread, terms)
        of = {j: block.name for block in scene.codec.blocks for j in range(block.start, block.stop)}
        strong = sorted((name for name in gains if gains[name].max() > _TELLS), key=lambda n: -gains[n].max())
        result = cls(
            alone[:p],
            spread,
            _whitening(truth - normal.fitted(alone)),
            {name: float(gains[name].max()) for name in strong},
            {name: of[int(gains[name].argmax())] for name in strong},
        )
        return result, predicted


@dataclass(frozen=True, eq=False)
class Predicted:
    """The predicted keys of released rows, computed for some rows at a time to save memory.

    ``matrix`` and ``constant`` turn published keys ``Y`` into predictions; ``terms`` has for each other
    column what its different guesses add, and which guess belongs to every row.
    """

    Y: Floats
    matrix: Floats
    constant: Floats
    terms: list[tuple[Floats, Ints]]

    def of(self, rows: Ints) -> Floats:
        """Return the predictions for some rows."""
        result = self.Y[rows] @ self.matrix
        result += self.constant
        for added, which in self.terms:
            result += added[which[rows]]
        return np.asarray(result)

    def classes(self, known: Classes | None) -> Classes:
        """Return the classes of rows with equal predictions, from those with equal keys if they are known."""
        labels = (equal_points(self.Y) if known is None else known).labels
        columns = [labels, *(which for _, which in self.terms)]
        frame = pl.DataFrame({f"x{j}": column for j, column in enumerate(columns)})
        return equivalence_classes(nw.from_native(frame, eager_only=True), frame.columns)


@dataclass(frozen=True, eq=False)
class Normal:
    """Regressions of each key on the published keys and some columns, by normal equations.

    ``shared``: the published keys (t, p). ``truth``: the true keys (t, d). ``fits``: the estimates of the
    keys by each column, (t, d) each.
    """

    shared: Floats
    truth: Floats
    fits: list[Floats]

    def solve(self, columns: tuple[int, ...]) -> Floats:
        """Return weights, shape (p + number of columns, d); 0 for unused columns.

        A small shrinkage allows columns that depend on each other.
        """
        p, d = self.shared.shape[1], self.truth.shape[1]
        out = np.zeros((p + len(self.fits), d))
        gram, right = self.shared.T @ self.shared, self.shared.T @ self.truth
        taken = [*range(p), *(p + i for i in columns)]
        whole = np.empty((len(taken), len(taken)))
        whole[:p, :p] = gram
        for j in range(d):
            extra = np.array([self.fits[i][:, j] for i in columns]).reshape(len(columns), len(self.truth)).T
            whole[:p, p:] = self.shared.T @ extra
            whole[p:, :p] = whole[:p, p:].T
            whole[p:, p:] = extra.T @ extra
            shrink = _RIDGE * np.maximum(np.diag(whole), 1e-9)
            shrink[0] = 0.0
            target = np.concatenate([right[:, j], extra.T @ self.truth[:, j]])
            out[taken, j] = np.linalg.solve(whole + np.diag(shrink), target)
        return out

    def fitted(self, weights: Floats) -> Floats:
        """Return the predictions of some weights for the people learned from."""
        p = self.shared.shape[1]
        out = self.shared @ weights[:p]
        for weight, fit in zip(weights[p:], self.fits, strict=True):
            out += fit * weight
        return np.asarray(out)

    def gain(self, before: Floats, column: int) -> Floats:
        """Return, for each key, the share of the errors that a column removes.

        An informative column has a weight above 0. A weight below 0 is an artefact of the left-out
        means: the mean of all other people is low if a person's own value is high, even in a constant
        column.
        """
        after = self.solve((column,))
        hidden = ((self.truth - self.fitted(before)) ** 2).sum(axis=0)
        left = ((self.truth - self.fitted(after)) ** 2).sum(axis=0)
        there = (hidden > 1e-12 * len(self.truth)) & (after[self.shared.shape[1] + column] > 0)
        return np.asarray(np.where(there, 1.0 - left / np.where(there, hidden, 1.0), 0.0))


def _whitening(rests: Floats) -> Floats:
    """Return the matrix that makes errors independent and of size 1."""
    covariance = rests.T @ rests / len(rests) + _SPREAD**2 * np.eye(rests.shape[1])
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(vectors / np.sqrt(np.maximum(values, _SPREAD**2)))


def _values(column: pl.Series) -> tuple[Floats, bool]:
    """Return a column as numbers, and whether their order means something."""
    result = numbers(column)
    if result is not None:
        return np.where(np.isnan(result), np.inf, result), True
    return column.cast(pl.String).rank("dense").fill_null(0).to_numpy().astype(np.float64), False
