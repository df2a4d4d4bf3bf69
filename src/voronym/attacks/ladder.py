"""The ladder of risk: the strongest attack of each kind of intruder, the least informed first.

It is a view of an `Exposure`. Report, page, notebook and terminal show it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from voronym.attacks.base import ATTACKS, KNOWLEDGE, Outcome
from voronym.attacks.run import Exposure
from voronym.core.grammar import quoted
from voronym.core.jsonable import Plain
from voronym.core.percent import percent
from voronym.errors import Surface, hint, worded

QUICK = ("instant", "seconds")
"""The cost of attacks that run by default."""
COLUMNS = "the columns that are published as they are"
LARGER = "ask for a larger k"
LEDGER = "keep a ledger, which checks each release against the earlier ones: {option}"
DIFFER = "ask that groups differ in {columns}: {option}"
REMEDIES = {
    "extremes": ("top- and bottom-code {columns} by a step, such as {option}", ""),
    "leftovers": ("write the file in another format, such as Parquet, and search it again", ""),
    "matrix-inversion": ("limit the channel more, with a smaller {option}", hint("max_risk")),
    "range-ends": (
        "publish rounded ends, which is the default, instead of {option}", hint("ends", "exact")
    ),
    "row-order": ("write the rows in a random order", ""),
    "singling-out": ("give {columns} the role key, or leave out or coarsen what singles people out", ""),
    "group-guess": (DIFFER, hint("models", "t-closeness=0.3")),
    "homogeneous-groups": ("ask for two values in every group: {option}", hint("models", "p-sensitive=2")),
    "household-pattern": (
        "name the column of households, so that k counts them: {option}", hint("household")
    ),
    "learned-guess": (DIFFER, hint("models", "t-closeness=0.3")),
    "linkage": (LARGER, ""),
    "linkage-assignment": (LARGER, ""),
    "linkage-exact": (LARGER, ""),
    "linkage-columns": ("give {columns} the role key, or leave out the columns that identify people", ""),
    "membership": (
        "ask for a larger k, or for differential privacy: {option}", hint("models", "dp=1")
    ),
    "means": ("publish ranges instead of means: {option}", hint("publish", "interval")),
    "differencing": (LEDGER, hint("ledger")),
    "intersection": (LEDGER, hint("ledger")),
    "minimality": ("make groups by the keys alone: {option}", hint("intruder", "method")),
    "reconstruction": (
        "publish ranges, or ask for differential privacy: {option}", hint("models", "dp=1")
    ),
}  # fmt: skip
"""Advice against each attack, and the option it names (marks of `hint`); ``columns`` lists the columns at
fault.
"""

NOTHING = "No attack was made."
NO_MORE = "No attack certainly learned more about people than a guess would."
RIGHT = "An intruder who knows {knows} is right about {success} of {people} people ({control} {instead})."
AT_MOST = (
    "An intruder who knows {knows} is right about at most {success} of {people} people ({control} {instead})."
)
CAUSE = "The cause: {columns}."
HELPS = "What would help: {remedy}."
MORE = "{many} more"
MESSAGES = (NOTHING, NO_MORE, RIGHT, AT_MOST, CAUSE, HELPS, COLUMNS, MORE)
"""The sentences of the ladder, except remedies and intruders' knowledge."""
Phrase = Callable[..., str]
"""Fills the places of a message, perhaps in another language."""


def plain(message: str, **given: str) -> str:
    """Fill the places of a message."""
    return message.format(**given) if given else message


PRESENCE_SAYS = (
    "An intruder who holds a person’s whole record can tell whether that person is in the file: of two "
    "people, one of whom is in it, they name the right one in {success} of the cases (a coin: in half of "
    "them). This matters if being in the file is a secret, not if the file is known to hold everybody."
)
"""The sentences about the attack `membership`."""


@dataclass(frozen=True)
class Rung(Plain):
    """A kind of intruder, and their strongest attack.

    Parameters
    ----------
    level : int
        Place in `KNOWLEDGE`.
    knows : str
        The intruder's knowledge.
    outcome : Outcome or None
        The outcome of the attack with the surely largest excess; None if none was run.
    columns : tuple of str
        The columns that cause it, if the attack names them.
    advice : str
        The remedy, if the release gives something away: a sentence without a full stop, with the places
        ``columns`` and ``option``.
    option : str
        The option that it names, with marks of `hint`.
    """

    level: int
    knows: str
    outcome: Outcome | None
    columns: tuple[str, ...] = ()
    advice: str = ""
    option: str = ""

    @property
    def remedy(self) -> str:
        """The remedy, in the words of the surface that shows it."""
        return self.helps()

    def helps(self, surface: Surface | None = None, phrase: Phrase = plain) -> str:
        """Return the remedy in the words of a surface; see `voronym.errors.worded`."""
        columns = _listed(self.columns, phrase) or phrase(COLUMNS)
        return phrase(self.advice, columns=columns, option=worded(self.option, surface))

    def to_dict(self) -> dict[str, object]:
        """Return the fields as plain types, with the remedy in words."""
        given = super().to_dict()
        del given["advice"], given["option"]
        return {**given, "remedy": self.remedy}

    @property
    def between(self) -> tuple[float, float]:
        """The interval of the share that the intruder finds, from 0 to 1."""
        if self.outcome is None:
            return 0.0, 1.0
        low, high = (self.outcome.control + end for end in self.outcome.interval)
        return max(0.0, low), min(1.0, high)


@dataclass(frozen=True)
class Ladder(Plain):
    """The success of each kind of intruder, the least informed first. Not for publication.

    Parameters
    ----------
    rungs : tuple of Rung
        One for each entry of `KNOWLEDGE`.
    presence : Outcome or None
        The outcome of the attack that reveals who is in the file, if it was run. It is separate from the
        rungs: it is often right about everybody, and does not matter if the file is known to hold everybody.
    """

    rungs: tuple[Rung, ...]
    presence: Outcome | None = None

    @classmethod
    def of(cls, exposure: Exposure, keys: Sequence[str] = ()) -> Ladder:
        """Build the ladder from the attacks that were run.

        Parameters
        ----------
        exposure : Exposure
            The outcomes of the attacks.
        keys : sequence of str
            The keys of the release: a larger k helps people who are unique by them alone.
        """
        rungs = tuple(_rung(level, exposure, keys) for level in range(len(KNOWLEDGE)))
        return cls(rungs, next((outcome for outcome in exposure.outcomes if outcome.presence), None))

    @property
    def measured(self) -> tuple[Rung, ...]:
        """The rungs with a result."""
        return tuple(rung for rung in self.rungs if rung.outcome is not None)

    @property
    def worst(self) -> Rung | None:
        """The rung whose attack exceeds its control most, with certainty; None without results.

        Facts about people rank above presence in the file, see `Outcome.rank`.
        """
        return max(self.measured, key=_rank, default=None)

    @property
    def sentence(self) -> str:
        """The worst rung in words: intruder, success, control, columns and remedy."""
        return self.worded()

    @property
    def presence_sentence(self) -> str:
        """A sentence on whether an intruder can tell who is in the file; "" without that attack."""
        made = self.presence
        if made is None or not made.claims:
            return ""
        return PRESENCE_SAYS.replace("{success}", percent(made.success, whole=True))

    def worded(self, surface: Surface | None = None, phrase: Phrase = plain) -> str:
        """Return `sentence` in the words of a surface; see `voronym.errors.worded`."""
        rung = self.worst
        if rung is None or rung.outcome is None:
            return phrase(NOTHING)
        made = rung.outcome
        if not made.claims or made.presence:
            return phrase(NO_MORE)
        sentence = phrase(
            AT_MOST if made.kind == "at most" else RIGHT,
            knows=phrase(rung.knows),
            success=percent(made.success, whole=True),
            people=f"{made.people:,}",
            control=percent(made.control, whole=True),
            instead=phrase(made.instead),
        )
        cause = phrase(CAUSE, columns=_listed(rung.columns, phrase)) if rung.columns else ""
        helps = phrase(HELPS, remedy=rung.helps(surface, phrase)) if rung.advice else ""
        return " ".join(filter(None, (sentence, cause, helps)))


def _rank(rung: Rung) -> tuple[bool, float]:
    """Return the sort key of a rung."""
    return (False, -1.0) if rung.outcome is None else rung.outcome.rank


def _rung(level: int, exposure: Exposure, keys: Sequence[str]) -> Rung:
    here = [outcome for outcome in exposure.outcomes if outcome.level == level]
    made = max(here, key=lambda outcome: outcome.rank, default=None)
    if made is None:
        return Rung(level, KNOWLEDGE[level], None)
    columns = columns_of(made)
    if not made.claims:
        return Rung(level, KNOWLEDGE[level], made, columns)
    advice, option = REMEDIES.get(made.attack, ("", ""))
    if made.attack == "singling-out" and not [name for name in columns if name not in keys]:
        advice = LARGER
    if made.attack == "extremes":
        option = hint("steps", f"top {quoted(columns[0]) if columns else 'COLUMN'}=VALUE")
    return Rung(level, KNOWLEDGE[level], made, columns, advice, option)


def columns_of(outcome: Outcome) -> tuple[str, ...]:
    """Return the columns that cause an attack's success, if it names them."""
    given = outcome.details.get("columns") or outcome.details.get("column") or ()
    return (given,) if isinstance(given, str) else tuple(map(str, given))


def quick_attacks() -> list[str]:
    """Return the names of the attacks that a report runs by default."""
    return [name for name in ATTACKS if ATTACKS[name].cost in QUICK]


def _listed(names: Sequence[str], phrase: Phrase = plain, most: int = 4) -> str:
    shown = [f"“{name}”" for name in names[:most]]
    rest, last = len(names) - len(shown), f" {phrase('and')} "
    if rest > 0:
        return f"{', '.join(shown)}{last}{phrase(MORE, many=str(rest))}"
    return last.join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)
