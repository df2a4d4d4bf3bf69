"""The verb `attack`: attack a release of voronym or of another tool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray

from voronym.attacks import Exposure, Scene, assault
from voronym.attacks.scene import TARGETS, Remake, Rerun
from voronym.core.context import Context, ProgressCallback
from voronym.dossier import scene_of
from voronym.errors import InputError
from voronym.evaluate.measure import Columns, schema_of
from voronym.evaluate.pair import plain, row_map
from voronym.release import Release
from voronym.request.recipe import Recipe
from voronym.run.memory import make_release
from voronym.table.classes import check_keys
from voronym.table.frame import as_frame
from voronym.table.read import read
from voronym.table.schema import Schema
from voronym.table.table import Table

FIRST = ("membership", "reconstruction")
"""Attacks whose results are in every internal report."""
SECONDS = 1.5
"""Approximate seconds for each of them, if one cell of each column takes no longer."""
_QUICK_TARGETS = 100  # people attacked there


def attack(
    release: Any,
    *,
    keys: Sequence[str] = (),
    confidential: Sequence[str] = (),
    original: Any = None,
    aligned: bool | ArrayLike = False,
    control: Any = None,
    earlier: Sequence[Any] = (),
    recipe: Recipe | str | Path | None = None,
    file: str | Path | None = None,
    attacks: Sequence[str] | None = None,
    targets: int = TARGETS,
    confidence: float = 0.95,
    seed: int = 0,
    progress: ProgressCallback | None = None,
    **columns: Unpack[Columns],
) -> Exposure:
    """Attack a release as intruders would, from the least to the best informed.

    The release may come from any tool. Every attack reports its success rate, the success rate of a guess
    without the release, and the difference with an interval. Attacks that need more data are listed with
    the missing data. A `Release` stores the outcomes, and its internal report shows them.

    Parameters
    ----------
    release : Release, DataFrame, str or Path
        The published table. A new `Release` knows its columns, its original, the owner of each row and its
        recipe: it needs no other argument.
    keys, confidential : sequences of str
        Columns that an intruder may know; columns that an intruder wants to learn.
    original : DataFrame, str or Path, optional
        The table it was made from.
    aligned : bool or array
        True: row i of both tables is the same person. An array: the original row of each released row.
        Otherwise rows are matched by columns that were published unchanged, if these identify people.
    control : DataFrame, str or Path, optional
        Similar people who are not in the original: guesses that are also right for them are true of people in
        general.
    earlier : sequence of DataFrame, str, Path or Release
        Earlier releases about some of the same people.
    recipe : Recipe, str or Path, optional
        The recipe of the release, for the attack that repeats it.
    file : str or Path, optional
        The published file, if the release is given as a table: the attack searches its bytes for leftovers.
    attacks : sequence of str, optional
        Names of the attacks to make; by default all of `voronym.attacks.attacks`.
    targets : int
        People attacked at most.
    confidence : float
        Coverage of the intervals.
    seed : int
        Seed of all samples.
    progress : callable, optional
        Called with a `voronym.Progress` now and then.
    **columns
        ``kinds``, ``orders``, ``locations``, ``person`` and ``household``, as for `voronym.anonymize`.

    Returns
    -------
    Exposure

    Examples
    --------
    >>> import voronym as vr
    >>> patients = vr.datasets.hospital(200, seed=1)
    >>> release = vr.anonymize(patients, keys=["age", "sex"], confidential=["diagnosis"],
    ...                        drop_undeclared=True, k=5)
    >>> found = attack(release, attacks=["linkage"])
    >>> found["linkage"].success <= 1 / 5
    True
    """
    if not 0.0 < confidence < 1.0:
        raise InputError(f"confidence is a probability between 0 and 1, not {confidence!r}")
    if targets < 10:
        raise InputError(f"targets must be 10 or more, not {targets}: fewer people prove nothing")
    ctx = Context(seed=seed, progress=progress)
    beside: dict[str, Any] = {
        "control": None if control is None else _polars(_open(control)),
        "earlier": tuple(_polars(_open(item)) for item in earlier),
        "targets": targets,
        "confidence": confidence,
        "file": _path(release if file is None else file),
    }
    cook = Recipe.load(recipe) if isinstance(recipe, (str, Path)) else recipe
    if isinstance(release, Release):
        if keys or confidential:
            raise InputError("a Release knows its keys and confidential columns: leave them out")
        scene = _ours(release, original, aligned, cook, beside)
    else:
        scene = _theirs(_open(release), keys, confidential, original, aligned, cook, columns, beside)
    exposure = assault(scene, attacks, ctx, seed=seed)
    ctx.done()
    if isinstance(release, Release) and original is None:  # its report shows the outcomes
        release.exposure = exposure.having(release.exposure)
    return exposure


def expose(release: Release, progress: ProgressCallback | None = None) -> None:
    """Add the results of the attacks `membership` and `reconstruction` to a release.

    The attacks run as in `attack`, but on a sample, within seconds; call `attack` for more exact figures.
    Earlier results stay. Without the original in memory nothing is added.
    """
    made = () if release.exposure is None else release.exposure.outcomes
    lacking = [name for name in FIRST if name not in {outcome.attack for outcome in made}]
    if not lacking or release._evidence is None or release.recipe.private is not None:
        return
    beside = {"targets": _QUICK_TARGETS, "brief": SECONDS}
    exposure = assault(_ours(release, None, False, None, beside), lacking, Context(seed=0, progress=progress))
    release.exposure = exposure.having(release.exposure)


def rerun_of(recipe: Recipe, records: int = 0) -> Rerun:
    """Return a function that repeats a recipe, for attacks that rerun it: row i belongs to person i.

    ``records`` is the size of the released table: samples are searched like that table.
    """
    bare = replace(recipe, policy=None, facts=None)  # which is judged once

    def rerun(table: Table) -> nw.DataFrame[Any]:
        return _in_order(_again(table, bare, records))

    return rerun


def remake_of(recipe: Recipe, records: int = 0) -> Remake:
    """Return the tool with a recipe and the figures of its public report; see `rerun_of`."""

    def remake(table: Table) -> tuple[nw.DataFrame[Any], str]:
        made = _again(table, recipe, records)
        losses = [
            None if loss is None else f"{loss:.3g}" for loss in (made.information_loss, made.group_loss)
        ]
        return _in_order(made), repr((losses, made.public_warnings, made.log))

    return remake


def _again(table: Table, recipe: Recipe, records: int) -> Release:
    """Make a release of another table with the same recipe, and allow all losses and near-unique values.

    Nothing is proven about its groups: an intruder does not need that.
    """
    keys = recipe.schema.keys
    lenient = replace(recipe, allow_loss=keys, allow_near_unique=keys)
    return make_release(table, lenient, Context(seed=recipe.seed, threads=1, stands_for=records))


def _in_order(made: Release) -> nw.DataFrame[Any]:
    """Return the published rows of people in the original's order, without pseudonyms."""
    evidence = made._evidence
    assert evidence is not None  # noqa: S101 - made just now
    return made.unnamed.rows(np.argsort(evidence.order)).frame


def _ours(
    release: Release,
    original: Any,
    aligned: bool | ArrayLike,
    recipe: Recipe | None,
    beside: dict[str, Any],
) -> Scene:
    """Build a scene from a release of voronym, with its originals in memory or those given."""
    evidence = release._evidence
    if original is not None or evidence is None:
        return _theirs(
            as_frame(release.table), release.schema.keys, release.schema.confidential, original, aligned,
            recipe or release.recipe, {}, beside, schema=release.recipe.schema,
        )  # fmt: skip
    cook = recipe or release.recipe
    tools = {"rerun": rerun_of(cook, release.rows), "remake": remake_of(cook, release.rows)}
    return scene_of(release, hierarchies=cook.trees, **tools, **beside)


def _theirs(
    frame: nw.DataFrame[Any],
    keys: Sequence[str],
    confidential: Sequence[str],
    original: Any,
    aligned: bool | ArrayLike,
    recipe: Recipe | None,
    columns: Columns,
    beside: dict[str, Any],
    schema: Schema | None = None,
) -> Scene:
    """Describe any table as a release."""
    if recipe is not None and not keys:
        schema = recipe.schema
        keys, confidential = schema.keys, schema.confidential
    source = None if original is None else _open(original)
    if source is None and aligned is not False:
        raise InputError("aligned says how rows correspond to an original, but no original was given")
    notes: list[str] = []
    if schema is not None:
        check_keys(frame, keys)
    else:
        schema = schema_of(frame, frame if source is None else source, keys, confidential, columns, notes)
    if source is None:
        return Scene.of(frame, schema, notes=tuple(notes), **beside)
    rows = row_map(aligned, len(source), len(frame))
    if recipe is not None:
        table = Table.of(source, recipe.schema)
        records = len(source)
        beside |= {"table": table, "rerun": rerun_of(recipe, records), "remake": remake_of(recipe, records)}
        beside["hierarchies"] = recipe.trees
    elif schema.units:
        beside["table"] = Table.of(source, schema)
    return Scene.of(frame, schema, original=source, own=_inverse(rows, len(source)), **beside)


def _path(given: Any) -> Path | None:
    """Return a given file as a path; None for data in memory."""
    return Path(given) if isinstance(given, (str, Path)) and Path(given).is_file() else None


def _inverse(rows: NDArray[np.int64] | None, n: int) -> NDArray[np.int64] | None:
    """Invert a mapping from released rows to original rows."""
    if rows is None:
        return None
    own = np.full(n, -1, np.int64)
    own[rows] = np.arange(len(rows))
    return own


def _open(data: Any) -> nw.DataFrame[Any]:
    """Return a table, read from its file if need be, as a narwhals frame."""
    if isinstance(data, Release):
        return data._held.frame
    return as_frame(read(data) if isinstance(data, (str, Path)) else data)


def _polars(frame: nw.DataFrame[Any]) -> Any:
    import polars as pl

    return pl.DataFrame([plain(frame[name]) for name in frame.columns])
