"""The printed summary of a finished release: promises, cost, steps and files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from voronym.cli import common, signals
from voronym.core.percent import percent
from voronym.errors import worded

if TYPE_CHECKING:
    from voronym.release import Release
    from voronym.table.write import WriteReceipt

SHOWN = 8
"""Largest number of solutions of uniform coding that are printed."""
Lines = Iterator[tuple[str, object]]
"""Names and their texts; a line without a name continues the one before."""


def show(
    release: Release, receipt: WriteReceipt, others: list[Path], *, progress: common.Progress = "auto"
) -> None:
    """Print the promises and the cost of a release, and then, once proven, its distance from the optimum."""
    units = release.schema.units
    counted = "" if not units else " households" if "household" in units else " people"
    rows = []
    for part in (
        _promises(release, receipt, counted),
        _exposed(release, counted),
        _intruders(release),
        cost_lines(release),
        _files(release, receipt, counted, others),
    ):
        rows += [(name, _visible(str(text))) for name, text in part]
    width = max(len(name) for name, _ in rows)
    _print(rows, width)
    if not _is_proven(release):
        _prove(release, width, progress)


def _print(rows: list[tuple[str, str]], width: int) -> None:
    from rich.table import Table

    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", min_width=width)
    grid.add_column(overflow="fold")  # a setting must stay readable
    for name, text in rows:
        grid.add_row(name, text)
    common.console().print(grid)


def _is_proven(release: Release) -> bool:
    """Whether the gap is known; asking for it would begin a proof, which may take seconds."""
    return "gap" in vars(release)


def _prove(release: Release, width: int, progress: common.Progress) -> None:
    """Prove how near the loss is to the best possible, and print it under the summary."""
    from voronym.core.context import Context

    def prove() -> None:
        common.show_progress(progress)
        with common.ticker() as bar:
            release.prove(Context(progress=bar.part(0.0, 1.0)).part(0.0, 1.0, stage="proving"))

    if not signals.ends(prove):
        common.say(
            "the release is written; how near it is to the best possible was not proven",
            word="stopped",
            style="yellow",
        )
    elif release.closeness is not None:
        _print([("proof", _visible(release.closeness))], width)


def cost_lines(release: Release) -> Lines:
    """Yield lines about the losses of the keys, the work done, and the policy."""
    for part in (_losses(release), _done(release), _policy(release)):
        for name, text in part:
            yield name, _visible(str(text))


def _visible(text: str) -> str:
    """Return a text without control characters; file names can contain them."""
    words = worded(text)
    return "".join(sign if sign.isprintable() or sign == "\n" else repr(sign)[1:-1] for sign in words)


def _promises(release: Release, receipt: WriteReceipt, counted: str) -> Lines:
    risk = release.risk
    classes = "1 class" if risk.n_classes == 1 else f"{risk.n_classes:,} classes"
    yield "records", f"{receipt.rows:,} in {classes} of {risk.k}{counted} or more"
    method = release.recipe.method
    if not release.recipe.makes_groups:
        from voronym.method import METHODS
        from voronym.records.figures import RecordsFigures

        yield "method", f"{method}, which promises: {METHODS[method].guarantee}"
        if (stirred := release.figures.of(RecordsFigures)) is not None:
            now = stirred.linkage.after
            words = f"{percent(now.low)} to {percent(now.high)}, {percent(now.confidence)} confidence"
            yield "an attack", f"links {percent(now.value)} of the records to the right one ({words})"
    for finding in release.findings:
        yield "holds" if finding.required is not None else "measured", str(finding).removesuffix(": holds")


def _exposed(release: Release, counted: str) -> Lines:
    """Count unique records before and after; households or people if k counts those."""
    if release.exposed is None:
        return
    before, after = release.exposed
    single = {" households": "in classes of one household", " people": "in classes of one person"}
    pairs = [(single.get(counted, "unique on the keys"), before.unique, after.unique)]
    pairs += [("in classes below 3", before.below_3, after.below_3)] if after.k != 2 else []
    pairs += [(f"below {after.k}", before.below_k, after.below_k)] if after.k > 3 else []
    counts = ", ".join(f"{name}: {was:,} → {now:,}" for name, was, now in pairs)
    yield "exposed", f"{counts} (original → release)"


def _intruders(release: Release) -> Lines:
    """Yield the worst intruder's success, if the release was attacked."""
    if release.exposure is None:
        return
    from voronym.dossier import ladder_of

    if (ladder := ladder_of(release.exposure, release.schema.keys)) is not None:
        yield "an intruder", ladder.sentence
        if ladder.presence_sentence:
            yield "", ladder.presence_sentence


def _losses(release: Release) -> Lines:
    for number, change in enumerate(release.changes):
        yield "" if number else "changed", change
    loss = release.information_loss
    if loss is not None:
        yield "information loss", f"{loss:.2f} % of the keys' variance, as published"
    if loss is not None and loss > 100:
        yield "", "above 100 %: a wrong category is further from the truth than the average of all records is"
    within = release.group_loss
    if within is not None and loss is None:  # ranges are published, which have no variance
        yield "information loss", f"{within:.2f} % of the keys' variance in the groups, by their centres"
    elif within is not None:
        yield "", f"{within:.2f} % before group means were rounded to real values"
    for cost in release.costs[:-1] if len(release.costs) > 1 else ():
        word = "alone" if cost is release.costs[0] else "added"
        yield "", f"{cost.loss:.2f} % with {cost.guarantee} {word}"
    ranged = release.schema != release.recipe.schema  # ranges or gaps are published
    if ranged and release.penalty is not None:
        yield "detail lost", release.penalty
    if _is_proven(release) and release.closeness is not None:
        yield "", release.closeness


def _done(release: Release) -> Lines:
    from voronym.methods.figures import LatticeFigures

    for number, effect in enumerate(release.effects):
        yield "" if number else "steps", effect
    for number, done in enumerate(release.log):
        yield "" if number else "what was done", done
    uniform = release.figures.of(LatticeFigures)
    for number, other in enumerate(() if uniform is None else uniform.lattice.frontier[::-1][1:SHOWN]):
        levels = ", ".join(f"{name} {level}" for name, level in other.levels.items())
        text = f"{other.suppressed:,} suppressed, penalty {other.loss:.2f} %: {levels}"
        yield "" if number else "other levels", text
    if release.booking is not None:
        from voronym.history.figures import figures_of

        figures = figures_of(release.booking)
        yield (
            "with earlier releases",
            f"{figures.known_to_ledger:,} of {figures.in_table:,} people are known; each shares their "
            f"group history with at least {figures.smallest_history} people"
            if figures.earlier_releases
            else "none yet: this is the first in the ledger",
        )


def _policy(release: Release) -> Lines:
    """Yield the verdict on the policy, the settings it added, and decisions left to a person."""
    if (made := release.checklist) is None:
        return
    yield "policy", f"{made.title}: {made.summary}"
    for number, choice in enumerate(made.added):
        yield "" if number else "chosen by the policy", choice
    for number, decision in enumerate(made.decisions):
        yield "" if number else "a person must decide", decision


def _files(release: Release, receipt: WriteReceipt, counted: str, others: list[Path]) -> Lines:
    none = ", none promised" if release.recipe.k is None else ""
    yield "counted in the file", f"k = {receipt.k_counted}{counted}{none}"
    if receipt.guarded_cells:
        yield (
            "guarded",
            f"an apostrophe was put before {receipt.guarded_cells:,} texts that a spreadsheet could take for "
            "formulas",
        )
    if release.source is not None and (sentence := release.source.says()):
        yield "read", sentence
    from voronym.table.places import shown

    place = shown(receipt.path)
    yield "written", "to standard output" if place == "-" else place
    for path in others:
        yield "", path
