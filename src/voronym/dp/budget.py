"""The budget of a release, and the meaning of ε and δ for a person."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Budget:
    """The budget of a release: ε without δ, or with δ the ρ that it corresponds to.

    Parameters
    ----------
    epsilon, delta : float
        The promise for a unit.
    rows : int
        The most rows of a unit. A release that is private for a row is so for `rows` of them at that many
        times the ε, or at its square times the ρ; so each row gets a part of the budget.
    left : float
        The part of the budget that is not spent yet.

    Examples
    --------
    >>> Budget(1.0, 0.0, 4).share
    0.25
    """

    epsilon: float
    delta: float = 0.0
    rows: int = 1
    left: float = 1.0

    @property
    def pure(self) -> bool:
        """Whether the budget is a pure ε, without δ."""
        return self.delta == 0.0

    @property
    def rho(self) -> float:
        """The booked cost: the ρ of the whole release, for a unit."""
        return self.epsilon**2 / 2.0 if self.pure else rho_of(self.epsilon, self.delta)

    @property
    def share(self) -> float:
        """Budget that mechanisms may spend per row: an ε, or a ρ if there is a δ."""
        return self.left * (self.epsilon / self.rows if self.pure else self.rho / self.rows**2)

    def after(self, spent: float) -> Budget:
        """Return the budget that remains for the groups after ``spent`` of a row's share."""
        return replace(self, left=self.left - spent / self.share * self.left)


def rho_of(epsilon: float, delta: float) -> float:
    """Return the ρ whose releases are (ε, δ)-differentially private: ε = ρ + 2 √(ρ ln 1/δ), solved for ρ.

    Examples
    --------
    >>> round(epsilon_of(rho_of(1.0, 1e-6), 1e-6), 9)
    1.0
    """
    log = math.log(1.0 / delta)
    return (math.sqrt(log + epsilon) - math.sqrt(log)) ** 2


def epsilon_of(rho: float, delta: float) -> float:
    """Return the ε at δ for a cost of ρ (Bun and Steinke 2016, proposition 1.3)."""
    return rho + 2.0 * math.sqrt(rho * math.log(1.0 / delta))


@dataclass(frozen=True)
class Spent:
    """The joint cost of some releases, for a person in all of them.

    Parameters
    ----------
    epsilon, delta : float
        The sums, by basic composition.
    rho : float
        The sum, by zero-concentrated composition.
    """

    epsilon: float = 0.0
    delta: float = 0.0
    rho: float = 0.0

    def add(self, epsilon: float, delta: float, rho: float) -> Spent:
        """Return the total cost after one more release."""
        return Spent(self.epsilon + epsilon, self.delta + delta, self.rho + rho)

    def at(self, delta: float) -> float:
        """Return the ε spent at a δ, by the better of two ways to add up; infinite if neither applies."""
        ways = [self.epsilon] if self.delta <= delta else []
        if delta > 0.0:
            ways.append(epsilon_of(self.rho, delta) if self.rho > 0.0 else 0.0)
        return min(ways, default=math.inf)

    @classmethod
    def of(cls, releases: Iterable[tuple[float, float, float]]) -> Spent:
        """Return the joint cost of releases."""
        out = cls()
        for release in releases:
            out = out.add(*release)
        return out


def odds(epsilon: float) -> float:
    """Return the largest factor by which a release can change the odds about a person (apart from δ)."""
    return math.exp(epsilon)


def caught(epsilon: float, delta: float, wrong: float = 0.01) -> float:
    """Return the largest share of members that a test can find at a given share of errors.

    Any test of "this record rather than that" with a share ``wrong`` of false alarms (Kairouz, Oh and
    Viswanath 2015, theorem 2.1).

    Examples
    --------
    >>> round(caught(1.0, 0.0), 4)
    0.0272
    """
    return min(1.0, math.exp(epsilon) * wrong + delta, 1.0 - math.exp(-epsilon) * (1.0 - delta - wrong))
