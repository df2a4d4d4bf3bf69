"""Count the active people with the same history, as seen by intruders who keep everything.

``pseudonym``  follows each pseudonym, knows every home and everybody who joined or left
``linking``    also links a person's new pseudonym to the old one, for example by an IP address
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voronym.history.sets import alike
from voronym_location.population import Ints

NOTHING = -1


@dataclass(frozen=True)
class Seen:
    """An intruder's knowledge after an epoch.

    Parameters
    ----------
    smallest : int
        Smallest number of active people with the same seen history, over all served people.
    mean : float
        The mean of these numbers over everybody served.
    below : float
        Share of served people with fewer than k such people.
    single : float
        Share of served people without any other such person: they are singled out.
    """

    smallest: int
    mean: float
    below: float
    single: float


class Intruder:
    """Published histories as one kind of intruder sees them.

    Parameters
    ----------
    linking : bool
        Whether a new pseudonym is linked to the person's old one.
    """

    def __init__(self, *, linking: bool) -> None:
        self.linking = linking
        self.person = self.history = np.empty(0, np.int64)
        self.used = 0

    def see(self, person: Ints, place: Ints, fresh: NDArray[np.bool_], k: int) -> Seen:
        """Add an epoch: the active people, their published places (-1: none), and who has a new pseudonym."""
        before = np.full(len(person), NOTHING, np.int64)
        _, rows, at = np.intersect1d(person, self.person, assume_unique=True, return_indices=True)
        before[rows] = self.history[at]
        if not self.linking:
            before[fresh | (place < 0)] = NOTHING  # nothing is known yet of a new pseudonym
        codes = alike(np.stack([before, place], axis=1))
        served = place >= 0
        numbers = np.bincount(codes)[codes][served]
        self.person = person
        self.history = np.where(served, self.used + codes, before if self.linking else NOTHING)
        self.used += int(codes.max(initial=-1)) + 1
        if not len(numbers):
            return Seen(0, 0.0, 0.0, 0.0)
        return Seen(
            int(numbers.min()),
            float(numbers.mean()),
            float((numbers < k).mean()),
            float((numbers == 1).mean()),
        )
