"""Run all attacks on one release and summarise them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from textwrap import wrap
from zlib import crc32

import numpy as np

from voronym.attacks.base import ATTACKS, KNOWLEDGE, Attack, Inapplicable, Outcome, attacks
from voronym.attacks.scene import Scene
from voronym.core.context import Context
from voronym.core.display import chip, html_table
from voronym.core.jsonable import Plain
from voronym.core.percent import percent
from voronym.core.sentence import Sentence
from voronym.errors import MissingExtraError, worded


@dataclass(frozen=True)
class Exposure(Plain):
    """The success of intruders on a release, the least informed first. Not for publication.

    Parameters
    ----------
    outcomes : tuple of Outcome
        The outcome of each attack that could be run.
    skipped : mapping of str to str
        Each attack that could not, and why.
    notes : tuple of str
        Changes made to the tables for the comparison.
    seed : int
        Seed of all samples.
    """

    outcomes: tuple[Outcome, ...]
    skipped: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    seed: int = 0

    def __getitem__(self, name: str) -> Outcome:
        for outcome in self.outcomes:
            if outcome.attack == name:
                return outcome
        ATTACKS[name]  # raises with the known names if this is none
        raise KeyError(f"{name} was not made: {worded(self.skipped.get(name, 'it was not asked for'))}")

    def to_dict(self) -> dict[str, object]:
        """Return plain, JSON-able types, with reasons in the words of the surface."""
        skipped = {name: worded(why) for name, why in self.skipped.items()}
        return {**super().to_dict(), "skipped": skipped}

    def having(self, earlier: Exposure | None) -> Exposure:
        """Return these outcomes together with earlier ones of other attacks."""
        made = {outcome.attack for outcome in self.outcomes}
        kept = (
            ()
            if earlier is None
            else tuple(outcome for outcome in earlier.outcomes if outcome.attack not in made)
        )
        both = sorted((*self.outcomes, *kept), key=lambda outcome: (outcome.level, outcome.attack))
        return replace(self, outcomes=tuple(both))

    @property
    def worst(self) -> Outcome | None:
        """The outcome with the largest certain excess; see `Outcome.rank`."""
        return max(self.outcomes, key=lambda outcome: outcome.rank, default=None)

    def __str__(self) -> str:
        return self.text()

    def text(self, wide: int = 100) -> str:
        """Return everything as lines of text that fit the terminal."""
        room = max(40, min(wide, 100))
        lines = wrap(self.summary, room)
        for level, knows in enumerate(KNOWLEDGE):
            here = [outcome for outcome in self.outcomes if outcome.level == level]
            if here:
                lines += ["", *wrap(f"An intruder who knows {knows}", room), _head(room)]
            for outcome in here:
                lines += [*_figures(outcome, room), *_wrapped(outcome.says, room, " " * 6)]
        reasons: dict[str, list[str]] = {}
        for name, why in self.skipped.items():
            reasons.setdefault(worded(why), []).append(name)
        untried = [f"{', '.join(names)}: {why}" for why, names in reasons.items()]
        for title, texts in (("Not tried", untried), ("Notes", self.notes)):
            lines += ["", title] if texts else []
            for text in texts:
                lines += _wrapped(text, room, "    ", "      ")
        return "\n".join(lines)

    @property
    def summary(self) -> str:
        """The result in two sentences."""
        successful = [outcome for outcome in self.outcomes if outcome.claims]
        if not self.outcomes:
            return Sentence("No attack could be made; see what each of them needs.")
        if not successful:
            return Sentence(
                "Of {made} attacks, none certainly does better than guessing.", made=str(len(self.outcomes))
            )
        first = min(successful, key=lambda outcome: (outcome.level, -outcome.interval[0]))
        most = max(successful, key=lambda outcome: outcome.rank)
        return Sentence(
            "{many} of {made} attacks do better than guessing (marked !). The first of them needs to know "
            "{knows} ({first}); the strongest is {most}, by its certain excess of {least} or more "
            "(presence in the file counts last).",
            many=str(len(successful)),
            made=str(len(self.outcomes)),
            knows=Sentence(KNOWLEDGE[first.level]),
            first=first.attack,
            most=most.attack,
            least=percent(most.interval[0], whole=True),
        )

    def __repr__(self) -> str:
        successful = sum(outcome.claims for outcome in self.outcomes)
        return f"Exposure({len(self.outcomes)} attacks, {successful} of them with an excess beyond doubt)"

    def _repr_html_(self) -> str:
        head = ["intruder knows", "attack", "right", "control", "excess", "people", "what it means"]
        rows = [
            [
                KNOWLEDGE[outcome.level],
                chip(outcome.attack, "red" if outcome.claims else "green"),
                percent(outcome.success),
                f"{percent(outcome.control)} {outcome.instead}",
                f"{percent(outcome.excess)} ({_span(outcome)})",
                outcome.people,
                outcome.says,
            ]
            for outcome in self.outcomes
        ]
        return str(html_table(head, rows, wide=["intruder knows", "control", "what it means"]))


_WIDE = 78
"""Characters of a line that holds all figures of an attack."""


def _span(outcome: Outcome) -> str:
    """Return the interval of the excess."""
    return " to ".join(percent(end) for end in outcome.interval)


def _head(room: int) -> str:
    """Return the head of the columns of figures."""
    head = f"    {'attack':<19}{'right':>9}{'control':>9}{'excess':>9}"
    return f"{head}  {'interval':<19}{'people':>7}" if room >= _WIDE else head


def _figures(outcome: Outcome, room: int) -> list[str]:
    """Return the figures of an outcome in columns; the last two go below if they do not fit."""
    right = f"{'<=' if outcome.kind == 'at most' else ''}{percent(outcome.success)}"
    span = _span(outcome)
    mark = "!" if outcome.claims else " "
    figures = (
        f"  {mark} {outcome.attack:<19}{right:>9}{percent(outcome.control):>9}{percent(outcome.excess):>9}"
    )
    if room >= _WIDE:
        return [f"{figures}  {span:<19}{outcome.people:>7,}"]
    return [figures, f"      excess from {span}, {outcome.people:,} people"]


def _wrapped(text: str, room: int, first: str, rest: str | None = None) -> list[str]:
    """Return a text in lines that break only between words."""
    return wrap(
        text,
        room,
        initial_indent=first,
        subsequent_indent=first if rest is None else rest,
        break_long_words=False,
        break_on_hyphens=False,
    )


_BY_PLACE = ("row-order",)
"""Attacks that use the order of the rows."""
_SHARES = {"instant": 1.0, "seconds": 8.0, "minutes": 30.0, "reruns": 60.0}


def assault(
    scene: Scene, names: Sequence[str] | None = None, ctx: Context | None = None, *, seed: int = 0
) -> Exposure:
    """Run all attacks that are possible.

    Parameters
    ----------
    scene : Scene
        The release, and the tables that measure an intruder.
    names : sequence of str, optional
        Attacks to make; by default all.
    ctx : Context, optional
        Draws samples, reports progress, and may stop the attacks.
    seed : int
        The seed that the result records.
    """
    ctx = Context(seed=seed) if ctx is None else ctx
    chosen: list[Attack] = list(attacks().values()) if names is None else [ATTACKS[name] for name in names]
    chosen.sort(key=lambda attack: (attack.level, attack.name))
    lacking = {attack.name: why for attack in chosen if (why := _lacking(attack, scene)) is not None}
    todo = [attack for attack in chosen if attack.name not in lacking]
    total, done = sum(_SHARES[attack.cost] for attack in todo) or 1.0, 0.0
    outcomes, stirred = [], scene.stirred()
    for attack in todo:
        share = _SHARES[attack.cost]
        part = ctx.part(done / total, (done + share) / total, stage=f"attacking: {attack.name}")
        part.tell(0.0, whole=True)
        # Its own draws: what an attack finds does not depend on which others are made.
        part.rng = np.random.default_rng([seed, crc32(attack.name.encode())])
        try:
            outcomes.append(attack.run(scene if attack.name in _BY_PLACE else stirred, part))
        except (Inapplicable, MissingExtraError) as error:
            lacking[attack.name] = error.worded("marks")
        done += share
    skipped = {attack.name: lacking[attack.name] for attack in chosen if attack.name in lacking}
    return Exposure(tuple(outcomes), skipped, scene.notes, seed)


def _lacking(attack: Attack, scene: Scene) -> str | None:
    return next((why for need in attack.needs if (why := scene.lacks(need)) is not None), None)
