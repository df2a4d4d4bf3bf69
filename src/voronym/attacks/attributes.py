"""Attribute inference from groups: if all members share a value, the intruder need not find the record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from voronym.attacks.base import Found, Inapplicable, attack
from voronym.attacks.interval import Share, judge, share
from voronym.attacks.scene import Floats, Ints, Scene
from voronym.core.context import Context
from voronym.core.percent import percent
from voronym.core.sentence import Sentence
from voronym.evaluate.attacks import nearest_released
from voronym.evaluate.disclosed import LABEL_LIKE, NARROW, Disclosed, certain
from voronym.evaluate.pair import codes, common, numbers
from voronym.table.units import first_of_each


@dataclass(frozen=True, eq=False)
class Secret:
    """A confidential column of both tables, as labels or as numbers with a tolerance."""

    name: str
    before: Floats
    after: Floats
    width: float
    strangers: Floats
    """Figures for people outside the table; empty if none were given."""

    @classmethod
    def of(cls, scene: Scene, name: str) -> Secret:
        """Take a column; without an original, the released column serves as both."""
        after = scene.released[name]
        before = after if scene.original is None else scene.original[name]
        n, others = len(before), scene.control
        if others is not None and name in others.columns:
            before = pl.concat([*common(before, others[name].alias(name))[:2]])
            before, after, _ = common(before, after)
        x, y = numbers(before), numbers(after)
        if x is not None and y is not None and len(np.unique(y[~np.isnan(y)])) > LABEL_LIKE:
            return cls(name, x[:n], y, NARROW * float(np.nanstd(x[:n])), x[n:])
        a, b, _, _ = codes(before, after)
        labels, published = a.astype(np.float64), b.astype(np.float64)
        return cls(name, labels[:n], published, 0.0, labels[n:])

    def right(self, guess: Floats, truth: Floats) -> Floats:
        """Return 1 if a guess is right; a guess of a missing number never is."""
        with np.errstate(invalid="ignore"):
            return np.asarray(np.abs(guess - truth) <= self.width, np.float64)

    def best(self, values: Floats) -> float:
        """Return the guess that is right for most of the values."""
        known = np.sort(values[~np.isnan(values)])
        if len(known) == 0:
            return np.nan
        stop = np.searchsorted(known, known + 2 * self.width, "right")
        at = int(np.argmax(stop - np.arange(len(known))))
        return float((known[at] + known[stop[at] - 1]) / 2)

    @cached_property
    def constant(self) -> float:
        """The best single guess for everybody, without the release."""
        return self.best(self.before)


def secrets(scene: Scene) -> list[Secret]:
    """Return the confidential columns that are published."""
    return [Secret.of(scene, name) for name in scene.confidential]


def worst(outcomes: Sequence[Found]) -> Found:
    """Return the outcome of the column that gives away most."""
    return max(outcomes, key=lambda outcome: (outcome.low, outcome.success - outcome.control))


def corrected(confidence: float, columns: int) -> float:
    """Return the confidence for each of several intervals when only the most striking one is shown."""
    return 1.0 - (1.0 - confidence) / max(1, columns)


@attack(
    "homogeneous-groups",
    level=1,
    knows="the keys of the people they look for",
    needs=("confidential",),
    cost="instant",
    reference="Machanavajjhala, Gehrke, Kifer, Venkitasubramaniam, l-diversity, ICDE 2006",
    instead="if values fell on groups by chance",
)
def homogeneous(scene: Scene, ctx: Context) -> Found:
    """Count the people in groups whose members share a confidential value, or nearly the same number.

    If confidential columns were masked too, the value of a group counts only if it is the person's true
    value. The control is then the best single guess for everybody.
    """
    del ctx
    labels = scene.classes.labels
    if scene.classes.sizes.max() == len(labels):
        raise Inapplicable("all records share all keys, so there are no groups to compare")
    level = corrected(scene.confidence, len(scene.confidential))
    persons, rows = scene.persons, np.arange(len(labels))
    if persons is not None:  # everybody once
        rows = first_of_each(persons)
    outcomes = []
    for name in scene.confidential:
        made = certain(name, scene.released[name], labels, persons)
        credit, counted = made.groups[labels][rows].astype(np.float64), made.counted
        chance: float | Share = counted.chance
        secret = Secret.of(scene, name)
        truth = _truth(scene, secret)
        if truth is not None:
            credit = credit * secret.right(secret.after, truth)[rows]
            blind = secret.right(np.full(len(rows), secret.constant), truth[rows])
            chance = share(blind, labels[rows], confidence=level)
        people, theirs = int(credit.sum()), "" if truth is None else Sentence(", which is theirs")

        def says(
            success: float,
            control: float,
            counted: Disclosed = counted,
            people: int = people,
            theirs: str = theirs,
        ) -> str:
            del control
            same = Sentence("the same value") if counted.width == 0.0 else Sentence("nearly the same value")
            if people == 0:
                return Sentence(
                    "In no group do all have {same} of any confidential column{theirs}.",
                    same=same,
                    theirs=theirs,
                )
            return Sentence(
                "{people} people ({success}) are in groups where all have {same} of {column}{theirs}.",
                people=f"{people:,}",
                success=percent(success, whole=True),
                same=same,
                column=repr(counted.column),
                theirs=theirs,
            )

        details = {"column": name, "people": people}
        outcomes.append(judge(credit, chance, says, clusters=labels[rows], confidence=level, details=details))
    return worst(outcomes)


def _truth(scene: Scene, secret: Secret) -> Floats | None:
    """Return the true value of each released row, if some published values differ from it."""
    if scene.own is None or scene.original is None:
        return None
    known = scene.own >= 0
    if np.array_equal(secret.after[scene.own[known]], secret.before[known], equal_nan=True):
        return None
    out = np.full(len(scene.released), np.nan)
    out[scene.own[known]] = secret.before[known]
    return out


@attack(
    "group-guess",
    level=1,
    knows="the exact keys of the people they look for",
    needs=("original", "confidential"),
    cost="seconds",
)
def guess(scene: Scene, ctx: Context) -> Found:
    """Guess the confidential value that is most frequent in the nearest group.

    A guess is right if it has the same label, or a number within a tenth of a standard deviation. The
    control makes the best single guess for everybody.
    """
    X, Y = scene.points
    targets = scene.sample(ctx.rng)
    group = scene.classes.labels[nearest_released(X[targets], Y, ctx, scene.point_classes)]
    level = corrected(scene.confidence, len(scene.confidential))
    members = Members.of(scene.classes.labels)
    outcomes = []
    for secret in secrets(scene):
        guesses = members.each(group, lambda rows, secret=secret: secret.best(secret.after[rows]))  # type: ignore[misc]
        truth = secret.before[targets]
        outcomes.append(
            judge(
                secret.right(guesses, truth),
                secret.right(np.full(len(targets), secret.constant), truth),
                lambda s, c, secret=secret: _surer(s, c, secret),  # type: ignore[misc]
                clusters=group,
                confidence=level,
                details={"column": secret.name},
            )
        )
    return worst(outcomes)


def _surer(success: float, control: float, secret: Secret) -> str:
    near = "" if secret.width == 0.0 else Sentence("(to a tenth of a standard deviation) ")
    return Sentence(
        "Guesses of {column} {near}by the group are right for {success} of the people, {control} without.",
        column=repr(secret.name),
        near=near,
        success=percent(success, whole=True),
        control=percent(control, whole=True),
    )


@dataclass(frozen=True, eq=False)
class Members:
    """The group of each row."""

    order: Ints
    starts: Ints

    @classmethod
    def of(cls, labels: Ints) -> Members:
        """Sort rows by group."""
        sizes = np.bincount(labels)
        return cls(np.argsort(labels, kind="stable"), np.concatenate([[0], np.cumsum(sizes)]))

    def rows(self, group: int) -> Ints:
        """Return the rows of a group."""
        return self.order[self.starts[group] : self.starts[group + 1]]

    def each(self, groups: Ints, function: Callable[[Ints], float]) -> Floats:
        """Compute a function once for the rows of each group, and return its values."""
        different, back = np.unique(groups, return_inverse=True)
        return np.array([function(self.rows(int(group))) for group in different])[back.reshape(-1)]
