"""Judge a table by a policy, demand by demand."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voronym.core.context import Context, ProgressCallback
from voronym.errors import GuaranteeError, InputError
from voronym.policy.case import Case, Facts
from voronym.policy.checklist import Added, Checklist
from voronym.policy.counted import count_files
from voronym.policy.policy import Policy
from voronym.policy.recognise import WHAT
from voronym.request.choices import ReleaseChoices
from voronym.table.read import read

if TYPE_CHECKING:
    from voronym.release import Release

__all__ = ["check", "judge", "judge_folder", "judge_release"]


def check(
    table: Any,
    policy: str | Path | Policy,
    *,
    keys: Sequence[str] = (),
    confidential: Sequence[str] = (),
    original: Any = None,
    population: Any = None,
    facts: Mapping[str, str] | None = None,
    holds: Mapping[str, str] | None = None,
    sampling_fraction: float | str | None = None,
    label: str = "",
    progress: ProgressCallback | None = None,
    **columns: Any,
) -> Checklist:
    """Judge a table of any tool by a policy.

    Parameters
    ----------
    table : DataFrame, str or Path
        The table to publish.
    policy : str, Path or Policy
        The name of one that is shipped, or a file.
    keys, confidential : sequences of str
        Columns that an intruder may know; columns that an intruder wants to learn. Where no keys are named,
        they are proposed, and the checklist asks a person to confirm them.
    original : DataFrame, str or Path, optional
        The original table, for attacks and losses.
    population : DataFrame, str or Path, optional
        A table of the whole population, for the risk in it.
    facts : mapping, optional
        Files with the tables that the policy needs, by name.
    holds : mapping, optional
        The content of columns that their names do not reveal, such as ``{"box": "zip"}``.
    sampling_fraction : float or str, optional
        The share of the population that is in the table, such as 0.05 or "5%".
    label : str
        Name of the table on the checklist.
    progress : callable, optional
        Called with a `voronym.Progress` now and then.
    **columns
        ``kinds``, ``orders``, ``locations``, ``person`` and ``household``, as for `voronym.measure`.

    Returns
    -------
    Checklist

    Examples
    --------
    >>> import polars as pl
    >>> table = pl.DataFrame({"age": [30, 30, 91], "ill": ["a", "b", "a"]})
    >>> [one.figure for one in check(table, "hipaa-safe-harbor", keys=["age"]).of("fails")]
    ["1 cell of 'age' with an age above 89"]
    """
    chosen = Policy.load(policy)
    ctx = Context(progress=progress)
    name = label or (str(table) if isinstance(table, (str, Path)) else "a table")
    case = Case.of_table(
        _opened(table),
        chosen,
        keys=keys,
        confidential=confidential,
        original=_opened(original),
        population=_opened(population),
        facts=Facts.of(chosen, facts),
        words=dict(holds or {}),
        sampling_fraction=None if sampling_fraction is None else _fraction(sampling_fraction),
        columns={what: value for what, value in columns.items() if value},
        context=ctx,
    )
    made = judge(case, name)
    ctx.done()
    return made


def _fraction(value: float | str) -> float:
    check = ReleaseChoices.declared()["sampling_fraction"].check
    assert check is not None  # noqa: S101 - it is declared with one
    return float(check("sampling_fraction", value))


def _opened(data: Any) -> Any:
    return read(data) if isinstance(data, (str, Path)) else data


def judge(case: Case, label: str, added: Sequence[Added] = ()) -> Checklist:
    """Judge a case, demand by demand."""
    policy = case.policy
    strange = [name for name in case.words if name not in case.frame.columns]
    if strange:
        raise InputError(
            f"the table has no column {strange[0]!r}, which was declared to hold {case.words[strange[0]]}"
        )
    items = []
    for number, entry in enumerate(policy.demands):
        case.context.tell(number / len(policy.demands), whole=False)
        items.append(entry.judge(case))
    held = {
        name: "not recognised" if item.what is None else f"{WHAT[item.what][0]} ({item.why})"
        for name, item in case.seen.items()
    }
    return Checklist(
        policy.name,
        policy.title,
        policy.version,
        policy.date.isoformat(),
        policy.source,
        policy.link,
        policy.note,
        tuple(items),
        label,
        case.rows,
        held,
        tuple(added),
        dt.date.today().isoformat(),
    )


def judge_release(
    release: Release, policy: Policy, facts: Facts, added: Sequence[Added] = (), **about: Any
) -> Checklist:
    """Judge a new release; raise if a demand fails, so that nothing is released."""
    made = judge(Case.of_release(release, policy, facts, **about), "the release", added)
    if failed := made.of("fails"):
        raise GuaranteeError(f"{refusal(policy, failed[0])}{_more(len(failed) - 1)}. Nothing was released.")
    return made


def judge_folder(
    release: Release,
    policy: Policy,
    facts: Facts,
    files: Sequence[Path],
    added: Sequence[Added] = (),
    **about: Any,
) -> Checklist:
    """Judge a release of many files before it gets its name; raise if a demand fails."""
    case = Case.of_folder(release, policy, facts, count_files(files), **about)
    made = judge(case, "the release", added)
    if failed := made.of("fails"):
        raise GuaranteeError(f"{refusal(policy, failed[0])}{_more(len(failed) - 1)}. Nothing was released.")
    return made


def refusal(policy: Policy, item: Any) -> str:
    """Return a sentence about a failed demand: its name, the figure and the change needed."""
    where = f", {item.source}" if item.source else ""
    change = f". To change: {item.change}" if item.change else ""
    named = f"policy {policy.name}: “{item.says}” ({item.section}: {item.demand}{where})"
    return f"{named} fails: {item.figure}{change}"


def _more(count: int) -> str:
    return "" if not count else f". {count} more {'demand fails' if count == 1 else 'demands fail'}, too"
