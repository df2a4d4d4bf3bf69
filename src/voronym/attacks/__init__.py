"""Attacks on a release, one file each.

``base``       `Attack`, `Outcome` and the registry
``scene``      the target of attacks: a release, and the holder's tables that measure success
``interval``   confidence intervals of successes, if people share groups
``run``        all attacks at once
``ladder``     the strongest attack of each kind of intruder, as every surface shows it
``worlds``     possible assignments of values to people, given the release

An attack is a function ``(scene, ctx) -> Found`` under the decorator `attack`, which states the intruder's
knowledge, the tables that measure its success, and its cost.
"""

from voronym.attacks import (  # noqa: F401 - importing registers
    attributes,
    columns,
    ends,
    extremes,
    guesser,
    households,
    intersection,
    inversion,
    leftovers,
    linkage,
    means,
    membership,
    minimality,
    order,
    reconstruction,
    singling,
)
from voronym.attacks.base import (
    ATTACKS,
    KNOWLEDGE,
    Attack,
    Found,
    Inapplicable,
    Outcome,
    attack,
    attacks,
)
from voronym.attacks.ladder import Ladder, Rung
from voronym.attacks.run import Exposure, assault
from voronym.attacks.scene import Scene
from voronym.attacks.worlds import Posteriors, posteriors

__all__ = [
    "ATTACKS",
    "KNOWLEDGE",
    "Attack",
    "Exposure",
    "Found",
    "Inapplicable",
    "Ladder",
    "Outcome",
    "Posteriors",
    "Rung",
    "Scene",
    "assault",
    "attack",
    "attacks",
    "posteriors",
]
