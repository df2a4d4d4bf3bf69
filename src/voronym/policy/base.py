"""Demands, their verdicts, and the registry of demands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

from voronym.core.jsonable import Plain
from voronym.core.options import Options, option
from voronym.core.registry import meant
from voronym.errors import InputError, worded

if TYPE_CHECKING:
    from voronym.policy.case import Case
    from voronym.policy.complete import Draft

SECTIONS = ("columns", "groups", "attacks", "loss", "process")
"""The subjects of demands, in the order of a policy and of a checklist."""

Verdict = Literal["holds", "fails", "open", "person", "nothing"]
SPOKEN: dict[str, str] = {
    "holds": "holds",
    "fails": "fails",
    "open": "open",
    "person": "a person decides",
    "nothing": "does not apply",
}
"""Verdicts in the words of a checklist. Open means: not decidable with the given data."""


def text(name: str, value: Any) -> str:
    """Check for a text that is not blank."""
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{name} must be a text, not {value!r}")
    return value.strip()


@dataclass(frozen=True)
class Item(Plain):
    """A line of a checklist: a demand and its verdict.

    Parameters
    ----------
    section : str
        Its subject: columns, groups, attacks, loss or process.
    demand : str
        Its name, such as "risk".
    says : str
        The demand, in words.
    source : str
        The paragraph of the text behind the policy.
    verdict : {"holds", "fails", "open", "person", "nothing"}
        The verdict.
    figure : str
        The count or measurement.
    evidence : str
        The evidence for it.
    decide : str
        The decision left to a person.
    change : str
        The change to make if it fails, or the input to give if it is open.
    value, required : float, optional
        The figure and its limit as numbers, if there are any.
    line : int
        Line of the demand in the policy's file.
    """

    section: str
    demand: str
    says: str
    source: str
    verdict: Verdict
    figure: str = ""
    evidence: str = ""
    decide: str = ""
    change: str = ""
    value: float | None = None
    required: float | None = None
    line: int = 0

    def __post_init__(self) -> None:
        """Replace the hints in all sentences by words."""
        for name in ("figure", "evidence", "decide", "change"):
            object.__setattr__(self, name, worded(getattr(self, name)))

    @property
    def spoken(self) -> str:
        """The verdict in words."""
        return SPOKEN[self.verdict]


@dataclass(frozen=True)
class Demand(Options):
    """A demand of a policy.

    A subclass is a frozen dataclass under the decorator `demand`. Its fields, made by
    `voronym.core.options.option`, are the entries of a policy file.

    Parameters
    ----------
    says : str
        The demand, in words.
    source : str
        The paragraph of the text behind the policy.
    decide : str
        The decision about it left to a person.
    """

    says: str = option("", "the demand, in words", check=text)
    source: str = option("", "the paragraph it comes from", check=text)
    decide: str = option("", "the decision left to a person", check=text)
    line: int = field(default=0, compare=False, kw_only=True)

    section: ClassVar[str] = ""
    name: ClassVar[str] = ""
    needed: ClassVar[tuple[str, ...]] = ()
    """Required entries of a file."""

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Return the entries that a file may have."""
        return tuple(name for name in super().names() if name != "line")

    def check(self) -> None:
        """Refuse entries that exclude each other."""

    def about(self) -> tuple[Any, ...]:
        """Return the subject of the demand; two demands on one subject repeat or contradict each other."""
        return (self.section, self.name)

    def judge(self, case: Case) -> Item:
        """Return the verdict on a table."""
        raise NotImplementedError

    def complete(self, draft: Draft) -> None:
        """Add this demand to a run, if no choice of the user covers it."""

    def item(self, verdict: Verdict, figure: str = "", **more: Any) -> Item:
        """Return a line of the checklist."""
        decide = "; ".join(filter(None, (more.pop("decide", ""), self.decide)))
        return Item(
            self.section,
            self.name,
            self.says,
            self.source,
            verdict,
            figure,
            decide=decide,
            line=self.line,
            **more,
        )

    def __str__(self) -> str:
        where = f", {self.source}" if self.source else ""
        return f"“{self.says}” ({self.section}: {self.name}{where})"


DEMANDS: dict[str, dict[str, type[Demand]]] = {section: {} for section in SECTIONS}
"""Classes of demands by section and name."""
D = TypeVar("D", bound=type[Demand])


def demand(section: str, name: str, *, needed: tuple[str, ...] = ()) -> Callable[[D], D]:
    """Register a class of demands under the section and the name that a file has."""

    def add(cls: D) -> D:
        cls.section, cls.name, cls.needed = section, name, needed
        DEMANDS[section][name] = cls
        return cls

    return add


def demand_of(section: str, name: Any) -> type[Demand]:
    """Return a class of demands; refuse an unknown name."""
    known = DEMANDS[section]
    if not isinstance(name, str) or name not in known:
        raise InputError(
            f"{section} has no demand {name!r}; there are: {', '.join(known)}{meant(name, known)}"
        )
    return known[name]


def rows(count: int) -> str:
    """Return a count with its unit: "1 cell", "2,000 cells"."""
    return "1 cell" if count == 1 else f"{count:,} cells"
