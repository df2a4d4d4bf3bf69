"""Find releases that satisfy a policy at different prices, by a bounded search."""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from voronym.core.clock import now
from voronym.core.context import Context, Progress, ProgressCallback
from voronym.core.validate import checked
from voronym.errors import Cancelled, GuaranteeError, InputError
from voronym.policy.alternatives import Advice, Alternative
from voronym.policy.complete import Completed
from voronym.policy.others import RecordsLost
from voronym.policy.policy import Policy
from voronym.policy.recognise import recognise
from voronym.release import Release
from voronym.request.command import words_of
from voronym.request.request import Request
from voronym.run.door import completed, released
from voronym.table.frame import as_frame
from voronym.table.read import read
from voronym.table.table import Table

__all__ = ["Advice", "Alternative", "advise"]

Groups = Sequence[tuple[str, tuple[str, ...]]]
"""Named sets of keys, such as places, that a reader may want in detail."""
IMPORTANCE = (4, 16, 2, 64)
"""Importance of favoured keys, in the order of trial."""
LEFT_OUT = (0.01, 0.02, 0.05)
"""Shares of records to leave out that are tried, up to the policy's limit."""
SCREEN = 3_000
"""Sample size: for larger tables, candidates are compared on a sample and only the best run in full."""
SHARE = 8.0
"""A run on a larger table may use 1/SHARE of the search time to make groups."""
LOOK = 0.25
"""The share of the search time spent on screening candidates for larger tables."""
LONGER = 1.5
"""The search may take up to this many times its time limit while it has fewer than three different releases.
"""
LARGER = (1.5, 2.0, 3.0)
"""Multiples of k to try if the plain run is refused."""
FAVOURS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("ages", ("age", "birth")),
    ("places", ("zip", "place")),
    ("dates", ("date",)),
    ("amounts of money", ("income",)),
)
"""Kinds of columns that readers may want in detail, recognised by content; then numbers and categories."""


class _Late(Cancelled):
    """Raised when the time for the search is over."""


@dataclass(eq=False)
class _Made:
    """A run that satisfies the policy."""

    choices: dict[str, Any]
    release: Release
    penalties: dict[str, float]

    def over(self, keys: Sequence[str]) -> float:
        held = [self.penalties[key] for key in keys if key in self.penalties]
        return sum(held) / len(held) if held else 0.0


@checked
def advise(
    data: Any,
    *,
    policy: Any,
    seconds: float = 60.0,
    source: str = "FILE",
    progress: ProgressCallback | None = None,
    **choices: Any,
) -> Advice:
    """Find three releases that satisfy a policy at different prices.

    The first run uses the policy alone. Further runs give more weight to some keys, leave out some
    records, or use the smallest groups that the policy allows, until the time is over. Each alternative
    keeps its favoured columns at least as well as the first run.

    Parameters
    ----------
    data : DataFrame, str or Path
        The original table.
    policy : str or Path
        The name of a policy that is shipped, or a file.
    seconds : float
        Seconds for the search, and half as much again while it lacks three different releases. The plain run
        is always finished. For tables above 3,000 records, every run may improve its groups for an eighth of
        this time.
    source : str
        Name of the table in commands.
    progress : callable, optional
        Called with a `voronym.Progress` now and then.
    **choices
        As for `voronym.anonymize`.

    Returns
    -------
    Advice
    """
    started = now()
    if not seconds > 0:
        raise InputError(f"seconds must be above 0, not {seconds!r}")
    frame = read(data) if isinstance(data, str) or hasattr(data, "__fspath__") else data
    search = _Search(frame, Policy.load(policy), {**choices, "policy": str(policy)}, seconds, progress)
    plain, note = search.plain()
    groups = favoured(frame, plain.release, search.policy)
    search.run(plain, groups)
    made = search.chosen(plain, groups)
    words = search.choices
    keys = plain.release.recipe.schema.keys
    result = [
        _alternative(title, favours, item, plain, words, source, len(as_frame(frame)))
        for title, favours, item in made
    ]
    first = _alternative("the policy alone", keys, plain, plain, words, source, len(as_frame(frame)))
    search.ctx.done()
    return Advice(
        search.policy.name, tuple(result), first, search.tried, search.refused, now() - started, note
    )


@dataclass(eq=False)
class _Search:
    frame: Any
    policy: Policy
    choices: dict[str, Any]
    seconds: float
    progress: ProgressCallback | None
    made: list[_Made] = field(default_factory=list)
    tried: int = 0
    refused: int = 0
    base: Completed | None = None
    """The choices, completed by the policy: the same for all runs."""

    def __post_init__(self) -> None:
        self.ctx = Context(progress=self.progress)
        self._table: Table | None = None
        if len(as_frame(self.frame)) > SCREEN and self.choices.get("time_limit") is None:
            # groups of large tables may be improved for minutes: all runs, the plain one, too, get the same
            self.choices = {**self.choices, "time_limit": max(round(self.seconds / SHARE, 1), 1.0)}

    def attempt(
        self, more: Mapping[str, Any], share: tuple[float, float], stage: str, until: float | None = None
    ) -> _Made:
        """Make a release with further choices; raise if the policy refuses it or time is up."""
        here = self.ctx.part(*share, stage=stage)
        here.tell(0.0, whole=True)
        self.tried += 1

        def tell(given: Progress) -> None:
            if until is not None and now() > until:
                raise _Late("the time for the search is over")
            here.tell(given.done, whole=True)

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            base = self.base or completed(Request.of({**self.choices, **more}), self.frame)
            request = Request.of({**base.request.given, **more})
            self._table = request.table(self.frame) if self._table is None else self._table
            release = released(
                self.frame, request, table=self._table, added=base.added, progress=tell, trial=True
            )
        self.base = base
        result = release.penalty
        return _Made(dict(more), release, {} if result is None else dict(result.by_key))

    def plain(self) -> tuple[_Made, str]:
        """Make the plain run; if the policy refuses it, the run with the smallest k that passes."""
        try:
            made = self.attempt({}, (0.0, 0.2), "the plain run")
            self.made.append(made)
            return made, ""
        except GuaranteeError as error:
            self.refused += 1
            why = error
        given = self.choices.get("k") or max(
            (getattr(item, "least", 5) for item in self.policy.of("groups")), default=5
        )
        for factor in LARGER:
            try:
                made = self.attempt({"k": round(factor * given)}, (0.0, 0.2), "a larger k")
            except GuaranteeError:
                self.refused += 1
                continue
            self.made.append(made)
            return made, f"The plain run was refused: {why} With -k {made.choices['k']} it is not."
        raise why

    def run(self, plain: _Made, groups: Groups) -> None:
        """Try candidates while time remains; screen those for large tables on a sample."""
        begun, waiting = now(), list(self.candidates(plain, groups))
        if len(as_frame(self.frame)) > SCREEN:
            waiting = self.screened(plain, groups, waiting, begun + LOOK * self.seconds)
        first = now()
        for number, more in enumerate(waiting):
            wanted = self.chosen(plain, groups)
            three = len({id(item) for _, _, item in wanted if item is not plain}) == len(wanted)
            end = begun + self.seconds * (1.0 if three else LONGER)
            spent = now() - first
            if number and now() + spent / number > end:  # the next would not be done in time
                break
            share = (0.4 + 0.55 * number / len(waiting), 0.4 + 0.55 * (number + 1) / len(waiting))
            try:
                self.made.append(self.attempt({**plain.choices, **more}, share, "alternatives", end))
            except (GuaranteeError, InputError):
                self.refused += 1
            except _Late:
                break

    def screened(
        self, plain: _Made, groups: Groups, waiting: list[dict[str, Any]], until: float
    ) -> list[dict[str, Any]]:
        """Return the candidates, best first by their results on a sample."""
        limit = {} if "time_limit" in plain.choices else {"time_limit": 1.0}
        small = replace(self, frame=self.sample(), made=[])
        small.ctx = self.ctx
        looked = 0
        for number, more in enumerate(waiting):
            if number and now() > until:
                break
            looked += 1
            share = (0.2 + 0.2 * number / len(waiting), 0.2 + 0.2 * (number + 1) / len(waiting))
            with suppress(GuaranteeError, InputError, _Late):
                done = small.attempt(
                    {**plain.choices, **more, **limit}, share, "candidates on a sample", until
                )
                small.made.append(replace(done, choices=more))
        whole = [item for item in small.made if "suppress" not in item.choices]
        wishes = [*((members, small.made) for _, members in groups[:2])]
        wishes.append((plain.release.recipe.schema.keys, whole))
        ranked: list[_Made] = []
        for _ in range(2):
            for keys, among in wishes:
                order = sorted(among, key=lambda element, keys=keys: element.over(keys))  # type: ignore[misc]
                ranked += [entry for entry in order if entry not in ranked][:1]
        return [item.choices for item in ranked] + waiting[looked:]

    def sample(self) -> Any:
        """Return a random sample of records, with all rows of each person."""
        frame = as_frame(self.frame)
        rng = np.random.default_rng(0)
        person = self.choices.get("household") or self.choices.get("person")
        if person is None or person not in frame.columns:
            rows = np.sort(rng.permutation(len(frame))[:SCREEN])
        else:
            _, who = np.unique(np.array(frame[person].to_list(), dtype=str), return_inverse=True)
            share = SCREEN / len(frame)
            rows = np.flatnonzero((rng.random(int(who.max()) + 1) < share)[who])
        return frame[rows].to_native()

    def candidates(self, plain: _Made, groups: Groups) -> Iterator[dict[str, Any]]:
        """Return further choices to try, the most promising first."""
        least = self._least(plain)
        small = {} if least is None else {"k": least}
        most = min(
            (demand.most for demand in self.policy.demands if isinstance(demand, RecordsLost)), default=0.05
        )
        left = [share for share in LEFT_OUT if share <= most and "suppress" not in self.choices]
        for number, weight in enumerate(IMPORTANCE):
            for _, keys in groups[:2]:
                yield {**small, "importance": dict.fromkeys(keys, weight)}
            if number == 0:
                yield {**small, "space": "ranges"}
                for _, keys in groups[:2]:
                    yield {**small, "space": "ranges", "importance": dict.fromkeys(keys, weight)}
                if small:
                    yield small
                yield {"publish": {"*": "median"}}
            if number < len(left):
                for _, keys in groups[:2]:
                    more = {"importance": dict.fromkeys(keys, IMPORTANCE[0]), "suppress": left[number]}
                    yield {**small, **more}

    def _least(self, plain: _Made) -> int | None:
        """Return the smallest k that the policy allows if the first run used a larger one; otherwise None."""
        if "k" in self.choices or "k" in plain.choices:
            return None
        from voronym.policy.groups import GroupRisk, K

        wanted = [demand.least for demand in self.policy.demands if isinstance(demand, K)]
        wanted += [
            next(k for k in range(2, 10**6) if 1.0 / k <= item.most + 1e-12)
            for item in self.policy.demands
            if isinstance(item, GroupRisk)
        ]
        least = max(wanted, default=None)
        return least if least is not None and least < plain.release.recipe.required_k else None

    def chosen(self, plain: _Made, groups: Groups) -> list[tuple[str, tuple[str, ...], _Made]]:
        """Return the best run for each favoured set of keys, and the best that leaves nobody out."""
        keys = plain.release.recipe.schema.keys
        out: list[tuple[str, tuple[str, ...], _Made]] = []
        taken: list[_Made] = []
        for name, members in groups[:2]:
            best = min(
                (entry for entry in self.made if entry not in taken),
                key=lambda run: run.over(members),
                default=plain,
            )
            if best.over(members) > plain.over(members):
                best = plain
            taken.append(best)
            out.append((f"keeps detail in {name}", members, best))
        whole = [item for item in self.made if not item.choices.get("suppress") and item not in taken]
        best = min(whole, key=lambda element: element.over(keys), default=plain)
        if best.over(keys) > plain.over(keys):
            best = plain
        out.append(("leaves nobody out and loses least over all keys", keys, best))
        return out


def favoured(frame: Any, release: Release, policy: Policy) -> list[tuple[str, tuple[str, ...]]]:
    """Return named sets of keys that readers may want in detail."""
    keys, schema = release.recipe.schema.keys, release.recipe.schema
    table = as_frame(frame)
    known = {name: what for name, what in policy.recognise.items() if name in table.columns}
    held = {name: item.what for name, item in recognise(table.select(list(keys)), {
        name: what for name, what in known.items() if name in keys}).items()}  # fmt: skip
    out = []
    for name, words in FAVOURS:
        members = tuple(key for key in keys if held[key] in words)
        out += [(name, members)] if members else []
    rest = [key for key in keys if not any(key in members for _, members in out)]
    numbers = tuple(key for key in rest if schema[key].kind in ("numeric", "datetime", "location"))
    others = tuple(key for key in rest if key not in numbers)
    out += [(", ".join(members), members) for members in (numbers, others) if members]
    return out or [(", ".join(keys), keys)]


def _alternative(
    title: str,
    favours: tuple[str, ...],
    item: _Made,
    plain: _Made,
    words: Mapping[str, Any],
    source: str,
    rows: int,
) -> Alternative:
    release = item.release
    typed = words_of({**words, **item.choices})
    return Alternative(
        title=title
        if item is not plain or title == "the policy alone"
        else f"{title}: the plain run already does this",
        favours=favours,
        choices=item.choices,
        command=shlex.join(["voronym", "anonymize", source, "-o", "release.csv", *typed]),
        k=release.k,
        rows=release.rows,
        risk=release.risk.prosecutor_max,
        mean_risk=release.risk.prosecutor_mean,
        left_out=1.0 - release.rows / rows,
        penalties=item.penalties,
        favoured=item.over(favours),
        overall=item.over(release.recipe.schema.keys),
        plain=plain.over(favours),
        summary=release.checklist.summary,
    )
