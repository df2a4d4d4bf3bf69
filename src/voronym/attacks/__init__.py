"""Intruders, one file each, and what they can learn from a release.

``base``       `Attack`, `Outcome` and the registry
``scene``      what there is to attack: a release and what its holder lays beside it
``interval``   how sure a success is, where people share groups
``run``        all attacks at once
``ladder``     the strongest attack of each kind of intruder, as every surface shows it
``worlds``     who else could have which values, given what was published

An attack is a function ``(scene, ctx) -> Found`` under the decorator `attack`, which says what the intruder
must know, what the data holder must give to measure it, and what it costs.
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
