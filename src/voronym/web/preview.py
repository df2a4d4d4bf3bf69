"""The preview of a release by the present choices, made like the release itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from voronym.attacks import assault
from voronym.attacks.ladder import quick_attacks
from voronym.core.context import Context, Progress
from voronym.core.grammar import quoted
from voronym.core.percent import percent
from voronym.dossier import ladder_of, quick_exposure, scene_of
from voronym.dossier.population import in_population
from voronym.errors import Cancelled, VoronymError, worded
from voronym.evaluate.population.figures import people
from voronym.method import METHODS
from voronym.privacy import split_models
from voronym.release import Release
from voronym.report.rungs import rungs
from voronym.request.choices import PARTS
from voronym.request.wording import DECLARED
from voronym.run.door import anonymize
from voronym.web.book import MONTHLY
from voronym.web.judged import verdicts
from voronym.web.settings import Settings
from voronym.web.shown import rows_of

QUICK, SAMPLE, MANY = 1_000, 5_000, 20_000
"""Rows of the first look, rows of a sample, and rows above which a preview uses a sample."""
SEEN = 0.01
"""Least percent of loss that is shown."""
SEARCHED = 2_000
"""Up to this number of rows, other k are tried with the chosen method instead of a quick one."""
SIZES = (3, 5, 10, 20)
LOOK = 2.0
"""Most seconds of a search at another k, if the release has a time limit."""
BY_PARTS = tuple(name for name, declared in DECLARED.items() if declared.purpose == PARTS)
"""Choices about runs over parts; a preview in memory ignores them."""
LATER = ("learned-guess",)
"""Attacks that train a model for about a second: they run only on the release of the whole table."""
WORST, MEMBERS = 6, 12
Tell = Callable[[dict[str, Any]], None]


def preview(
    frame: pl.DataFrame,
    chosen: Settings,
    tell: Tell,
    check: Callable[[], None],
    ledger: str | None = None,
    rows: int | None = None,
    everything: bool = False,
) -> tuple[Release, bool]:
    """Preview the result of choices: a quick look first, then the release itself.

    Parameters
    ----------
    frame : DataFrame
        The table.
    chosen : Settings
        All choices.
    tell : callable
        Hears "sample", "point" (the loss at one k) and "shown" (all figures at the k chosen).
    check : callable
        Raises an exception to end the work.
    ledger : str, optional
        The ledger of earlier releases, for the release itself; samples and other k are tried without it.
    rows : int, optional
        Number of rows of a data set of many parts, if the table holds only some: the preview is then that of
        a sample.
    everything : bool
        Whether a large table is tried whole, and not by a sample.

    Returns
    -------
    (Release, bool)
        The release, and whether it is of the whole table.
    """
    whole_given = {**chosen.choices, "models": split_models(chosen.models)}
    given = {name: value for name, value in whole_given.items() if name not in (*MONTHLY, *BY_PARTS)}
    many = len(frame) if rows is None else rows
    brief = _brief(given, chosen.method)
    hasty = {**brief, "method": "mdav"} if chosen.method == "auto" else brief
    first = sampled(frame, chosen, QUICK, QUICK)
    rest = frame if everything else sampled(frame, chosen, MANY, SAMPLE)
    tell({"sample": {"rows": len(rest), "of": many}})
    guess: dict[int | None, float] = {}

    def show(release: Release, original: pl.DataFrame, *, whole: bool) -> None:
        """Show the loss at once, and the attacks when they are done."""
        known = figures(release, original, whole=whole, of=many)
        tell({"shown": known})
        check()
        tell({"shown": {**known, **risks(release, check, whole=whole)}})

    if len(first) < len(frame) or hasty != given:
        made = _try(first, hasty, chosen.k, check)
        if made is not None:
            tell({"point": _point(chosen.k, made, exact=False)})
            show(made, first, whole=False)
            guess[chosen.k] = _loss(made) or 0.0
    sizes = [k for k in SIZES if k != chosen.k] if _by_k(chosen) else []
    for k in sizes:
        made = _try(first, hasty, k, check)
        if made is not None:
            tell({"point": _point(k, made, exact=False)})
            guess[k] = _loss(made) or 0.0
    whole = rows is None and len(rest) == len(frame)

    def step(given: Progress) -> None:
        check()
        if everything:
            tell({"progress": {"stage": given.stage, "done": given.done}})

    if whole:
        final = anonymize(rest, **whole_given, ledger=ledger, progress=step)
    else:
        final = anonymize(rest, **given, progress=lambda _: check())
    check()
    tell({"point": _point(chosen.k, final, exact=whole)})
    show(final, rest, whole=whole)
    if guess.get(chosen.k):  # how far off the quick look was here, it is about elsewhere
        ratio = (_loss(final) or 0.0) / guess[chosen.k]
        for k in sizes:
            if k in guess:
                tell({"point": {"k": k, "loss": ratio * guess[k], "exact": False}})
    between = None if whole else expected(guess, _loss(final), len(rest), many)
    if between is not None:
        tell({"between": between})
    for k in sizes if len(rest) <= SEARCHED and hasty != brief else ():
        made = _try(rest, brief, k, check)
        if made is not None:
            tell({"point": _point(k, made, exact=whole and brief == given)})
    return final, whole


def expected(
    guess: Mapping[int | None, float], loss: float | None, sample: int, rows: int
) -> tuple[float, float] | None:
    """Return the expected range of the whole table's loss, estimated from a sample.

    The loss grows like a power of k, and falls with the number of rows by the same power: doubling the
    rows acts like halving k. The losses at other k give the power. Keys with few values follow it only
    roughly, so the range reaches from half of the estimate up to 1.1 times the loss of the sample. None
    without two losses to compare.

    Examples
    --------
    >>> low, high = expected({5: 2.0, 10: 4.0}, 2.0, 1000, 10_000)
    >>> round(low, 3), round(high, 3)
    (0.1, 2.2)
    """
    tried = {k: value for k, value in guess.items() if k and value > 0.0}
    if loss is None or len(tried) < 2:
        return None
    slope = float(np.polyfit(np.log(list(tried)), np.log(list(tried.values())), 1)[0])
    low = 0.5 * loss * (sample / rows) ** max(slope, 0.0)
    return low if low >= SEEN else 0.0, max(1.1 * loss, SEEN)


def _brief(given: Mapping[str, Any], method: str) -> dict[str, Any]:
    """Return the choices for a look at some k: only the release itself may spend its time limit."""
    limit = given.get("time_limit")
    if method == "auto":  # whose search ends by itself
        return {name: value for name, value in given.items() if name != "time_limit"}
    return {**given, "time_limit": min(limit, LOOK)} if isinstance(limit, (int, float)) else dict(given)


def _by_k(chosen: Settings) -> bool:
    return isinstance(chosen.k, int) and METHODS[chosen.method].keeps_k and chosen.policy is None


def _try(
    frame: pl.DataFrame, given: Mapping[str, Any], k: int | None, check: Callable[[], None]
) -> Release | None:
    """Make a release of a sample or at another k; return None if voronym refuses it."""
    check()
    try:
        return anonymize(frame, **{**given, **({} if k is None else {"k": k})}, progress=lambda _: check())
    except Cancelled:
        raise
    except VoronymError:  # the release itself reports the error
        return None


def _loss(release: Release) -> float | None:
    return release.group_loss if release.information_loss is None else release.information_loss


def _point(k: int | None, release: Release, *, exact: bool) -> dict[str, Any]:
    return {"k": k or 0, "loss": _loss(release), "exact": exact}


def figures(release: Release, original: pl.DataFrame, *, whole: bool, of: int) -> dict[str, Any]:
    """Return the figures of an unwritten release, without attacks."""
    return {
        "whole": whole,
        "rows": len(original),
        "of": of,
        "loss": _loss(release),
        "smallest": release.risk.k,
        "groups": release.risk.n_classes,
        "left_out": len(original) - release.rows,
        "counted": "households" if release.schema.household else "people",
        "changes": [str(change) for change in release.changes],
        "steps": [str(effect) for effect in release.effects],
        "findings": [str(finding) for finding in release.findings],
        "warnings": [worded(warning, "page") for warning in release.warnings],
        "effect": None,
        "checklist": verdicts(release.checklist),
        "population": population_words(release),
        "worst": groups(release, original),
        "table": rows_of(release, original),
    }


def risks(release: Release, check: Callable[[], None], *, whole: bool) -> dict[str, Any]:
    """Attack a release, and return the view of the outcome."""
    ctx = Context(progress=lambda _: check())
    if whole:
        exposure = release.exposure = quick_exposure(release, ctx)
    else:
        exposure = assault(scene_of(release), [name for name in quick_attacks() if name not in LATER], ctx)
    ladder = ladder_of(exposure, release.schema.keys)
    worst = None if ladder is None else ladder.worst
    outcome = None if worst is None else worst.outcome
    return {
        "sentence": "" if ladder is None else ladder.worded("page"),
        "ladder": "" if ladder is None else str(rungs(ladder, title="What an intruder finds")),
        "rungs": [] if ladder is None else [rung.to_dict() for rung in ladder.measured],
        "effect": {
            "loss": _loss(release),
            "risk": None if outcome is None else outcome.success,
            "attack": "" if outcome is None else outcome.attack,
        },
    }


def population_words(release: Release) -> list[str]:
    """Return sentences on the success of an intruder who cannot know who is in the table; maybe none."""
    if release._evidence is None:
        return []
    made = in_population(release.recipe, release._evidence, release._held, Context())
    if made is None:
        return []
    old, new = made.before.matches, made.after.matches
    most = "at most " if made.bound else ""
    return [
        f"{made.before.population:,.0f} people in the population, "
        f"{percent(made.before.fraction)} in the table",
        f"correct matches to expect: {people(old.expected)} in the table as it is, {most}"
        f"{people(new.expected)} in the release",
        f"rows with a risk above {percent(new.threshold)}: {old.at_risk:,} as it is, "
        f"{most}{new.at_risk:,} in the release",
    ]


def groups(release: Release, original: pl.DataFrame) -> list[dict[str, Any]]:
    """Return the groups whose people moved furthest, with their original rows; for the data holder only."""
    evidence, table = release._evidence, release._held
    if evidence is None or not release.recipe.makes_groups or len(evidence.order) > len(original):
        return []
    labels = table.classes.labels
    after = nw.from_native(table.frame.to_native(), eager_only=True)
    keys = [name for name in release.schema.keys if name in original.columns]
    moved = np.stack([_moved(original[name], after[name], evidence.order) for name in keys])
    many = np.bincount(labels)
    by_key = np.stack([np.bincount(labels, own) / many for own in moved])
    secret = [name for name in release.schema.confidential if name in original.columns][:3]
    out = []
    for group in np.argsort(-by_key.sum(axis=0), kind="stable")[:WORST].tolist():
        members = np.flatnonzero(labels == group)
        far = members[np.argsort(-moved[:, members].sum(axis=0), kind="stable")]
        widest = keys[int(by_key[:, group].argmax())]
        shown = original[evidence.order[far[:MEMBERS]].tolist()]
        out.append(
            {
                "size": len(members),
                "widest": widest,
                "coarser": _coarser(original[widest], widest),
                "keys": keys,
                "secret": secret,
                "members": [[_text(value) for value in row] for row in shown.select([*keys, *secret]).rows()],
                "published": [_text(after[name][int(members[0])]) for name in keys],
                "alike": [name for name in secret if shown[name].n_unique() == 1 and len(members) <= MEMBERS],
                "alone": bool(moved[:, far[0]].sum() > 3 * moved[:, far[1:]].sum(axis=0).mean())
                if len(far) > 1
                else False,
            }
        )
    return out


def _coarser(column: pl.Series, name: str) -> str:
    """Return a step that makes a column coarser: round to half a deviation, or suppress rare values."""
    if not column.dtype.is_numeric():
        return f"suppress {quoted(name)} rare=5"
    half = 0.5 * float(np.nanstd(column.cast(pl.Float64).to_numpy()))
    unit = 10.0 ** np.floor(np.log10(half)) if half > 0.0 else 1.0
    return f"round {quoted(name)}={max(n for n in (1, 2, 5) if n * unit <= max(half, unit)) * unit:g}"


def _moved(before: pl.Series, after: Any, order: Any) -> Any:
    """Return how far each released row moved: in squared deviations, or 1 for another value."""
    own = before[order.tolist()]
    published = after.to_native()
    published = published if isinstance(published, pl.Series) else pl.Series(list(published))
    if own.dtype.is_numeric() and published.dtype.is_numeric():
        x, y = own.cast(pl.Float64), published.cast(pl.Float64)
        spread = float(np.nanstd(before.cast(pl.Float64).to_numpy(), ddof=1)) if len(before) > 1 else 0.0
        return np.square(((x - y) / (spread or 1.0)).fill_null(1.0).fill_nan(1.0).to_numpy())
    return (own.cast(pl.String, strict=False) != published.cast(pl.String, strict=False)).fill_null(
        False
    ).to_numpy() * 1.0


def _text(value: object) -> str:
    result = "–" if value is None else str(value)
    return result if len(result) <= 32 else result[:31] + "…"


def sampled(frame: pl.DataFrame, chosen: Settings, most: int, size: int) -> pl.DataFrame:
    """Return a sample of a large table, with all rows of a person or household."""
    if len(frame) <= most:
        return frame
    rng = np.random.default_rng(0)
    unit: str | None = chosen.household or chosen.person
    if unit is None:
        rows = np.sort(rng.choice(len(frame), min(size, len(frame)), replace=False))
        return frame.filter(pl.Series(np.isin(np.arange(len(frame)), rows)))
    units = frame[unit].unique(maintain_order=True)
    many = max(1, int(size * len(units) / len(frame)))
    some = units[np.sort(rng.choice(len(units), min(many, len(units)), replace=False)).tolist()]
    return frame.filter(pl.col(unit).is_in(some.implode()))
