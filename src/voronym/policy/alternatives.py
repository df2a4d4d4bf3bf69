"""Alternatives that satisfy a policy at different prices, as they are printed and drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from voronym.core.jsonable import Plain
from voronym.core.percent import percent

__all__ = ["Advice", "Alternative"]


@dataclass(frozen=True)
class Alternative(Plain):
    """A release that satisfies the policy.

    Parameters
    ----------
    title : str
        Its purpose.
    favours : tuple of str
        The keys that it keeps in detail.
    choices : mapping
        Its choices in addition to the policy.
    command : str
        The command to type.
    k, rows : int
        The smallest class, and the records of the release.
    risk, mean_risk : float
        The largest and the mean risk to be found.
    left_out : float
        The share of the records that are left out.
    penalties : mapping of str to float
        The certainty penalty of each key in percent: 0 is the original, 100 hides everything.
    favoured, overall : float
        The mean of these over the favoured keys, and over all.
    plain : float
        The mean over the favoured keys in the plain run.
    summary : str
        The verdicts on the demands.
    """

    title: str
    favours: tuple[str, ...]
    choices: Mapping[str, Any]
    command: str
    k: int
    rows: int
    risk: float
    mean_risk: float
    left_out: float
    penalties: Mapping[str, float]
    favoured: float
    overall: float
    plain: float
    summary: str

    @property
    def spared(self) -> float:
        """By how many percent less the favoured keys lose than in the plain run."""
        return 100.0 * (1.0 - self.favoured / self.plain) if self.plain > 0 else 0.0


@dataclass(frozen=True)
class Advice(Plain):
    """Alternatives that satisfy a policy, and the plain run.

    Parameters
    ----------
    policy : str
        Its name.
    alternatives : tuple of Alternative
        Releases at different prices.
    plain : Alternative
        The run by the policy alone, or with the smallest k that passes if that is refused.
    tried, refused : int
        Number of runs, and of runs that did not satisfy the policy.
    seconds : float
        Seconds taken.
    note : str
        A remark about the plain run.
    """

    policy: str
    alternatives: tuple[Alternative, ...]
    plain: Alternative
    tried: int
    refused: int
    seconds: float
    note: str = ""

    def __str__(self) -> str:
        lines = [f"{self.tried} runs in {self.seconds:.0f} s, {self.refused} refused by {self.policy}."]
        lines += [self.note] if self.note else []
        names = list(self.plain.penalties)
        for number, item in enumerate((self.plain, *self.alternatives)):
            spared = ""
            if number and abs(item.spared) >= 0.05:
                word = "less" if item.spared > 0 else "more"
                whole = set(item.favours) == set(names)
                what = "" if whole else f" of {', '.join(item.favours)}"
                spared = f"; loses {abs(item.spared):.0f} % {word}{what} than the plain run"
            head = "plain" if not number else f"{number}."
            lines += ["", f"{head} {item.title}{spared}"]
            left_out = f"{percent(item.left_out)} of the records left out"
            figures = f"k = {item.k}, largest risk {item.risk:.4f}, {left_out}"
            lines += [f"   {figures}"]
            lost = ", ".join(f"{name} {item.penalties[name]:.1f}" for name in names if name in item.penalties)
            lines += [f"   certainty penalty in %: {lost}; all {item.overall:.1f}", f"   {item.command}"]
        return "\n".join(lines)
