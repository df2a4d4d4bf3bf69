"""The roles, steps, k and models that a policy adds to a run, each with its reason."""

from __future__ import annotations

import datetime as dt
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

import narwhals as nw

from voronym.errors import GuaranteeError, hint
from voronym.method import METHODS
from voronym.policy.base import Demand
from voronym.policy.case import Facts
from voronym.policy.checklist import Added
from voronym.policy.counted import Counted
from voronym.policy.policy import Policy
from voronym.policy.recognise import Seen, recognise, recognise_cells
from voronym.request.command import ROLES, choices_of, words_of
from voronym.request.request import Request
from voronym.request.wording import DECLARED
from voronym.steps import parse_step
from voronym.table.frame import as_frame
from voronym.table.proposal import Proposal
from voronym.table.schema import Schema

__all__ = ["Completed", "Draft", "complete"]

USUAL = 5
"""Default k if neither user nor policy names one."""
PROPOSED = "proposed by voronym"


@dataclass(frozen=True)
class Completed:
    """A request with a policy's additions, and their reasons.

    Parameters
    ----------
    request : Request
        The request with all choices.
    added : tuple of Added
        The added choices.
    """

    request: Request
    added: tuple[Added, ...]

    def command(self, source: str, output: str = "release.csv") -> str:
        """Return the equivalent command, word by word."""
        return shlex.join(["voronym", "anonymize", source, "-o", output, *words_of(self.request.given)])


@dataclass(eq=False)
class Draft:
    """A run being completed. Demands look at it, and add to it.

    Parameters
    ----------
    request : Request
        The user's request.
    policy : Policy
        The policy.
    facts : Facts
        Tables that the policy needs.
    seen : mapping
        The recognised content of each column of the original.
    proposal : Proposal
        Roles and kinds that voronym proposes.
    """

    request: Request
    policy: Policy
    facts: Facts
    seen: Mapping[str, Seen]
    proposal: Proposal
    rows: int
    year: int = field(default_factory=lambda: dt.date.today().year)
    oldest: dict[str, int] = field(default_factory=dict)
    """Year of birth for each column; people born earlier form one category."""
    added: list[Added] = field(default_factory=list)
    roles: dict[str, str] = field(default_factory=dict)
    kinds: dict[str, Any] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)
    steps: list[str] = field(default_factory=list)
    models: list[str] = field(default_factory=list)
    _least: list[tuple[int, Demand, bool]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.request = self.request.with_weights
        columns, release = self.request.columns, self.request.release
        self.given = {name: role for role, choice in ROLES.items() for name in getattr(columns, choice)}
        self.given |= {name: "identifier" for name in (columns.person, columns.household) if name}
        self.roles = dict(self.given)
        self.kinds = dict(columns.kinds or {})
        self.steps, self.models = list(release.steps), list(release.models)
        self._touched = {name for step in self.steps for name in parse_step(step).columns}

    # -- questions of demands------------------------------------------------------------------------------

    def people(self, name: str) -> Mapping[str, float]:
        """Return how many people live under each code of a table of the policy."""
        return self.facts.people(name)

    def role(self, name: str) -> str:
        """Return the role of a column: as declared, "identifier" if it is to be dropped, or as proposed."""
        if name in self.roles:
            return self.roles[name]
        if self.request.columns.drop_undeclared:
            return "identifier"
        return self.proposal.schema[name].role

    def of(self, role: str) -> list[str]:
        """Return the columns of a role."""
        return [name for name in self.seen if self.role(name) == role]

    def has(self, name: str) -> bool:
        """Whether the release will have a column."""
        return self.role(name) != "identifier"

    def touched(self, name: str) -> bool:
        """Whether the user chose a step for a column: then its result is judged, and no step is added."""
        return name in self._touched

    def kind(self, name: str) -> str:
        """Return the kind of a column."""
        if name in self.kinds:
            return str(self.kinds[name])
        if name in (self.request.columns.orders or {}):
            return "ordinal"
        return self.proposal.schema[name].kind

    # -- additions by demands------------------------------------------------------------------------------

    def drop(self, name: str, why: Demand, reason: str) -> None:
        """Drop a column; refuse if the user wants to keep it."""
        if self.given.get(name, "identifier") != "identifier":
            self.refuse(
                why,
                f"column {name!r} is asked for, and {reason}",
                f"leave it out: {hint('identifiers', [name])}",
            )
        if self.roles.get(name) != "identifier" and not self.request.columns.drop_undeclared:
            self.roles[name] = "identifier"
            self.add("identifiers", name, reason, why)

    def step(self, text: str, why: Demand, reason: str) -> None:
        """Add a step on a column."""
        self.steps.append(text)
        self.add("steps", text, reason, why)

    def declare(self, name: str, kind: str, why: Demand, reason: str) -> None:
        """Declare the kind of a column."""
        if name not in self.kinds:
            self.kinds[name] = kind
            self.add("kinds", f"{name}={kind}", reason, why)

    def model(self, text: str, why: Demand) -> None:
        """Require a model."""
        self.models.append(text)
        self.add("models", text, why.says, why)

    def need_k(self, least: int, why: Demand) -> None:
        """Require at least this k; refuse a smaller k of the user."""
        self._least.append((least, why, True))

    def wish_k(self, least: int, why: Demand) -> None:
        """Propose this k; a smaller k of the user is accepted and judged."""
        self._least.append((least, why, False))

    def add(self, choice: str, value: str, reason: str, why: Demand | None = None) -> None:
        """Record a choice and its reason."""
        self.added.append(Added(DECLARED[choice].flag, value, reason, "" if why is None else why.source))

    def refuse(self, why: Demand, figure: str, change: str) -> NoReturn:
        """Refuse a run that cannot keep a demand."""
        where = f", {why.source}" if why.source else ""
        raise GuaranteeError(
            f"policy {self.policy.name}: “{why.says}” ({why.section}: {why.name}{where}) fails: {figure}. To "
            f"change: {change}. Nothing was released."
        )

    # -- the whole ----------------------------------------------------------------------------------------

    def completed(self) -> Completed:
        """Return the request with all that was added."""
        order = {"top": 0, "extremes": 2}  # limits of ages come before dates, which need them
        for item in sorted(
            self.policy.demands, key=lambda demand: (demand.name != "absent", order.get(demand.name, 1))
        ):
            item.complete(self)
        changed = self._columns()
        changed |= {"k": self._k()} | {"steps": tuple(self.steps), "models": tuple(self.models)}
        given = {**self.request.given, **{name: value for name, value in changed.items() if value}}
        heavy = self.proposal.weights
        if heavy is not None and heavy not in self.given and "weights" not in self.request.asked:
            given["weights"] = heavy
            self.add("weights", heavy, f"{PROPOSED}: {self.proposal.reasons[heavy]}")
        made = Request.of(given)
        return Completed(made, tuple(self.added))

    def _k(self) -> int | None:
        """Return the user's k, or the k that all demands need (at least the default); None without one."""
        release = self.request.release
        known = METHODS[release.method].keeps_k if release.method in METHODS else True
        if not self._least:
            return release.k
        least, why, _ = max(self._least, key=lambda entry: entry[0])
        if release.k is not None:
            hard = [(number, item) for number, item, needed in self._least if needed and number > release.k]
            if hard:
                number, result = max(hard, key=lambda pair: pair[0])
                self.refuse(result, f"k = {release.k}", f"-k {number}, or leave out -k")
            return release.k
        if not known:
            return None
        wanted = max(least, USUAL)
        reason = why.says if least >= USUAL else f"{why.says}; voronym's usual k is larger"
        self.add("k", str(wanted), reason, why)
        return wanted

    def _columns(self) -> dict[str, Any]:
        """Return the choices about columns, completed by proposals."""
        columns = self.request.columns
        if columns.drop_undeclared:
            return {**self._lists(), "kinds": self.kinds}
        new = [name for name in self.seen if name not in self.roles]
        proposed = choices_of(self.proposal.schema)
        units = {what: name for what, name in self.proposal.schema.units.items() if name not in self.given}
        if columns.person or columns.household:
            units = {}
        for name in new:
            self.roles[name] = self.proposal.schema[name].role
        by_role: dict[str, list[str]] = {}
        for name in new:
            by_role.setdefault(self.roles[name], []).append(name)
        for role, names in by_role.items():
            for name in names:
                self.add(ROLES[role], name, f"{PROPOSED}: {self.proposal.reasons[name]}")
        for name, kind in proposed["kinds"].items():
            if name in new and name not in self.kinds and self.roles[name] != "identifier":
                self.kinds[name] = kind
                self.add("kinds", f"{name}={kind}", self.proposal.reasons[name])
        orders = dict(columns.orders or {})
        places = list(columns.locations)
        for pair in proposed["locations"]:
            if all(self.roles.get(name) == "key" and name in new for name in pair):
                places.append(pair)
                self.add("locations", ",".join(pair), PROPOSED)
        for what, name in units.items():
            self.add(what, name, f"{PROPOSED}: {self.proposal.reasons[name]}")
        about = {"kinds": self.kinds, "orders": orders, "locations": tuple(places)}
        return {**self._lists(units.values()), **about, **units}

    def _lists(self, without: Any = ()) -> dict[str, Any]:
        columns = self.request.columns
        own = {*without, columns.person, columns.household}
        return {
            choice: tuple(name for name in self.seen if self.roles.get(name) == role and name not in own)
            for role, choice in ROLES.items()
        }


def complete(request: Request, frame: Any, policy: Policy, facts: Facts) -> Completed:
    """Add the demands of a policy to a request, except where the user chose a value.

    Parameters
    ----------
    request : Request
        The user's request.
    frame : DataFrame or Counted
        The original table, or counts over its files.
    policy : Policy
        The policy.
    facts : Facts
        Tables that the policy needs.

    Raises
    ------
    GuaranteeError
        A choice of the user breaks a demand; the message names the change.
    """
    counted = frame if isinstance(frame, Counted) else None
    table: nw.DataFrame[Any] = as_frame(frame if counted is None else counted.sample)
    result = {name: what for name, what in policy.recognise.items() if name in table.columns}
    rows = len(table) if counted is None else counted.rows
    seen = recognise(table, result) if counted is None else recognise_cells(counted.cells, rows, result)
    unknown = _unknown(request, table.columns)
    if unknown:  # building the table raises, with all columns
        return Completed(request, ())
    proposal = Schema.infer(frame if counted is None else counted.sample)
    draft = Draft(request, policy, facts, seen, proposal, rows)
    return draft.completed()


def _unknown(request: Request, present: Sequence[str]) -> list[str]:
    columns = request.columns
    named = [name for choice in ROLES.values() for name in getattr(columns, choice)]
    named += [name for name in (columns.person, columns.household) if name]
    return [name for name in named if name not in present]
