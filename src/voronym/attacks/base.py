"""Attacks, their outcomes, and the registry of attacks."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from voronym.core.jsonable import Plain
from voronym.core.percent import percent
from voronym.core.registry import Registry
from voronym.errors import InputError

if TYPE_CHECKING:
    from voronym.attacks.scene import Scene
    from voronym.core.context import Context

Cost = Literal["instant", "seconds", "minutes", "reruns"]
"""The cost of an attack on 100,000 records; "reruns" makes the release many times."""

KNOWLEDGE = (
    "nothing but the published file",
    "the keys of the people they look for",
    "the keys and some people's records",
    "the keys and the other people of a group",
    "the keys and other releases",
    "everybody's keys and the method",
    "everything but one cell, and the method",
)
"""Levels of an intruder's knowledge, from little to much; each attack names its level."""
PRESENCE = "membership"
"""The attack that reveals only whether a person is in the file."""


class Inapplicable(InputError):  # noqa: N818 - a word for the reader, not a failure
    """Raised if an attack does not fit the table; the message gives the reason."""


@dataclass(frozen=True)
class Outcome(Plain):
    """The success of an attack and of its control.

    Parameters
    ----------
    attack : str
        Name of the attack.
    success : float
        Success rate of the intruder.
    control : float
        Success rate of the best guess without the release.
    excess : float
        ``success - control``: the effect of the release.
    interval : tuple of float
        Confidence interval of the excess. It speaks of people like these; an attack that looked at everybody
        has no sampling error for this very table.
    people : int
        Number of people attacked.
    knows : str
        The knowledge that the intruder needs.
    says : str
        The result in a sentence, with names of columns and counts, never a person's values.
    kind : {"measured", "at most"}
        "measured" if the owner of each released row was known, otherwise "at most".
    level : int
        Place in `KNOWLEDGE`.
    instead : str
        The method of the control.
    details : mapping
        Further figures, JSON-able.
    """

    attack: str
    success: float
    control: float
    excess: float
    interval: tuple[float, float]
    people: int
    knows: str
    says: str
    kind: Literal["measured", "at most"] = "measured"
    level: int = 0
    instead: str = "without the release"
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def claims(self) -> bool:
        """Whether the attack certainly succeeds beyond its control: the interval is above 0."""
        return self.interval[0] > 0.0

    @property
    def presence(self) -> bool:
        """Whether the intruder learns only that a person is in the file."""
        return self.attack == PRESENCE

    @property
    def rank(self) -> tuple[bool, float]:
        """The order of outcomes: certain facts about people before presence in the file."""
        return self.claims and not self.presence, self.interval[0]

    def to_dict(self) -> dict[str, Any]:
        """Return plain, JSON-able types."""
        return {**super().to_dict(), "claims": self.claims}

    def __str__(self) -> str:
        low, high = self.interval
        most = "at most " if self.kind == "at most" else ""
        return (
            f"{self.attack}: {most}{percent(self.success)}, {percent(self.control)} {self.instead}; "
            f"excess {percent(self.excess)} ({percent(low)} to {percent(high)}), {self.people:,} people"
        )


@dataclass(frozen=True)
class Attack:
    """A registered attack: an intruder with stated knowledge.

    Parameters
    ----------
    name : str
        The name that users type.
    function : callable
        ``(scene, ctx) -> Found``; it raises `Inapplicable` if the table does not fit.
    level : int
        Place in `KNOWLEDGE`.
    knows : str
        The knowledge that the intruder needs, for a reader.
    needs : tuple of str
        Inputs from the data holder that are needed to measure it, see `Scene.lacks`.
    cost : {"instant", "seconds", "minutes", "reruns"}
        Time for 100,000 records.
    reference : str
        The publication that describes it.
    instead : str
        The control: the best guess without the knowledge that the attack uses.
    """

    name: str
    function: Callable[[Scene, Context], Found]
    level: int
    knows: str
    needs: tuple[str, ...]
    cost: Cost
    reference: str = ""
    instead: str = "without the release"

    @property
    def summary(self) -> str:
        """The first line of the function's docstring."""
        return (inspect.getdoc(self.function) or "").split("\n", 1)[0]

    def run(self, scene: Scene, ctx: Context) -> Outcome:
        """Run the attack and return its outcome.

        Raises
        ------
        Inapplicable
            An input is missing; the message names it.
        """
        for need in self.needs:
            lacking = scene.lacks(need)
            if lacking is not None:
                raise Inapplicable(lacking)
        result = self.function(scene, ctx)
        return Outcome(
            self.name,
            result.success,
            result.control,
            result.success - result.control,
            (
                min(result.low, result.success - result.control),
                max(result.high, result.success - result.control),
            ),
            result.people,
            self.knows,
            result.says,
            result.kind,
            self.level,
            self.instead,
            result.details,
        )


@dataclass(frozen=True)
class Found:
    """The figures of an `Outcome` that an attack measured itself.

    ``low`` and ``high`` are the ends of the interval of the excess.
    """

    success: float
    control: float
    low: float
    high: float
    people: int
    says: str
    kind: Literal["measured", "at most"] = "measured"
    details: Mapping[str, Any] = field(default_factory=dict)


ATTACKS: Registry[Attack] = Registry("attack")
Function = Callable[["Scene", "Context"], Found]


def attack(
    name: str,
    *,
    level: int,
    knows: str,
    needs: tuple[str, ...],
    cost: Cost,
    reference: str = "",
    instead: str = "without the release",
) -> Callable[[Function], Function]:
    """Register an attack, a function ``(scene, ctx) -> Found``; see `Attack` for the arguments."""

    def register(function: Function) -> Function:
        ATTACKS.add(name, Attack(name, function, level, knows, needs, cost, reference, instead))
        return function

    return register


def attacks() -> dict[str, Attack]:
    """Return the registered attacks by name, ordered by how little the intruder knows.

    Examples
    --------
    >>> attacks()["minimality"].cost
    'reruns'
    """
    return {name: ATTACKS[name] for name in sorted(ATTACKS, key=lambda name: (ATTACKS[name].level, name))}
