"""From a table to a release, in a straight line."""

# promise: doc-anonymize
from __future__ import annotations

import os
import shutil
import tempfile
import warnings
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voronym._cuda.device import choose
from voronym.core.clock import now
from voronym.core.context import Context, ProgressCallback
from voronym.core.validate import checked
from voronym.errors import InputError
from voronym.release import Release
from voronym.request.choices import PARTS
from voronym.request.recipe import Recipe
from voronym.request.request import Request, takes_choices
from voronym.request.rules import check_ledger
from voronym.request.wording import DECLARED
from voronym.run.memory import make_release
from voronym.run.source import as_files, collected, engine_of_frame, has_parts, home_of, is_frame
from voronym.table.places import place_of
from voronym.table.read import fitting, load, read
from voronym.table.table import Table

if TYPE_CHECKING:
    from voronym.history.booking import Booking
    from voronym.policy.checklist import Added
    from voronym.policy.complete import Completed
    from voronym.run.parts.plan import Plan


@takes_choices
@checked
def anonymize(
    data: Any,
    *,
    recipe: Recipe | None = None,
    reading: Mapping[str, Any] | None = None,
    output: str | Path | None = None,
    format: str | None = None,  # noqa: A002 - what everybody calls it
    style: Mapping[str, Any] | None = None,
    overwrite: bool = False,
    report: bool = False,
    progress: ProgressCallback | None = None,
    **choices: Any,
) -> Release:
    """Make a k-anonymous release of a table.

    Identifiers are dropped. The keys, which an intruder may know from elsewhere, are replaced by the centre
    of a group of at least k records, so that no combination of keys points to fewer than k of them.
    Confidential and other columns are kept as they are. The rows come out in a fresh random order.

    Two methods make no groups: "channel" adds noise to the keys (see `voronym.channel`), "records" moves and
    shuffles values (see `voronym.records`). They promise no k; a requested k is measured, and the release
    refused if it does not hold.

    Parameters
    ----------
    data : dataframe, str, Path or sequence of paths
        A pandas, Polars or PyArrow table, or a file or address that `voronym.read` reads. A folder, a pattern
        such as ``"people/*.parquet"``, here or in a store, several files, or a frame of Dask or Spark are a
        data set of many parts, which may exceed the memory: the release is a folder, too. The release of any
        table is a folder if a choice about parts is made, such as ``leaf``.
    {choices}
    recipe : Recipe, optional
        Take all choices about columns and release from a recipe; then none of them may be given.
    reading : mapping, optional
        Options for reading the file, if ``data`` is one, such as ``{"decimal": ","}``: see `voronym.read`.
    output : str or Path, optional
        The place of the release: a file, an address (see `Release.write`), or a folder for a data set of many
        parts. Without it, that folder is temporary, and removed with the `Release`.
    format : {"parquet", "csv"}, optional
        Format of the files of a data set of many parts: by default text if the source is text, otherwise
        Parquet.
    style : mapping, optional
        The form of a text file, if it should differ from the source: see `Release.write`.
    overwrite : bool
        Whether an existing output may be replaced.
    report : bool
        Whether to prepare the figures of a report. Data of many parts are then read two more times.
    progress : callable, optional
        Called with a `voronym.Progress` now and then. It may raise `voronym.FinishEarly` to finish with the
        best so far, or anything else to end the work.

    Returns
    -------
    Release
        Its table meets every required model; otherwise the call raises.

    Raises
    ------
    SchemaError
        A column is undeclared, unknown, in two roles or of a kind that cannot be a key.
    GuaranteeError
        A required guarantee cannot be met.
    Unfinished
        A request to finish came before there was a release that keeps all promises.

    Examples
    --------
    >>> import voronym as vr
    >>> patients = vr.datasets.hospital(200, seed=1)
    >>> release = vr.anonymize(patients, keys=["age", "sex"], confidential=["diagnosis"],
    ...                        drop_undeclared=True, k=5)
    >>> release.risk.k >= 5
    True
    """
    started = now()
    request = Request.of(choices)
    request.refuse_beside(recipe)
    if _over_parts(data, request):
        with _no_empty_ledger(request.run.ledger):
            release = _in_parts(
                data,
                output,
                request,
                recipe=recipe,
                reading=reading,
                format=format,
                style=style,
                overwrite=overwrite,
                report=report,
                progress=progress,
            )
        return _warned(release)
    data = collected(data)
    if isinstance(data, (str, os.PathLike)):
        data = read(data, **{**({} if recipe is None else fitting(recipe.reading, data)), **(reading or {})})
    elif reading:
        raise InputError(
            "reading is for files, and the table is in memory: give the path, or use voronym.read"
        )
    added: tuple[Added, ...] = ()
    if recipe is None and request.release.policy is not None:
        made = completed(request, data)
        request, added = made.request, made.added
    with _no_empty_ledger(request.run.ledger):
        release = released(data, request, recipe, added=added, started=started, progress=progress)
        if output is not None:
            release.write(output, overwrite=overwrite, **(style or {}))
    return _warned(release)


def completed(request: Request, data: Any) -> Completed:
    """Add the demands of a policy to a request, except where the user chose a value."""
    from voronym.policy.case import Facts  # with the attacks, which take a while to load
    from voronym.policy.complete import complete
    from voronym.policy.policy import Policy

    policy = Policy.load(str(request.release.policy))
    return complete(request, data, policy, Facts.of(policy, request.release.facts))


def released(
    data: Any,
    request: Request,
    recipe: Recipe | None = None,
    *,
    table: Table | None = None,
    added: tuple[Added, ...] = (),
    started: float | None = None,
    progress: ProgressCallback | None = None,
    trial: bool = False,
) -> Release:
    """Make the release of a table in memory, of a request that its policy has completed.

    Parameters
    ----------
    data : dataframe
        The original.
    request : Request
        All choices, or only those about the run if a recipe has the others.
    recipe : Recipe, optional
        States the choices about columns and release.
    table : Table, optional
        The original with its roles, if an earlier run built it.
    added : tuple of Added
        The choices of the policy.
    started : float, optional
        Start time of the run; now by default.
    progress : callable, optional
        Called with a `voronym.Progress` now and then.
    trial : bool
        Whether nothing will be published.
    """
    begun = now() if started is None else started
    if recipe is None:
        table = request.table(data) if table is None else table
        recipe = request.recipe(table, device=choose(request.release.device))
        declared: Sequence[str] = request.columns.identifiers
    else:
        table = Table.of(data, recipe.schema)
        declared = recipe.schema.identifiers
    booking = _booking(request.run.ledger, data, recipe, declared, strangers=request.run.strangers)
    ctx = Context(
        seed=recipe.seed,
        time_limit=recipe.time_limit,
        progress=progress,
        started=begun,
        device=choose(recipe.device),
    )
    release = make_release(table, recipe, ctx, booking, added, trial=trial)
    ctx.done()
    return release


@contextmanager
def _no_empty_ledger(ledger: str | Path | None) -> Iterator[None]:
    """Remove an empty ledger that a refused run made."""
    new = ledger is not None and not Path(ledger).exists()
    try:
        yield
    except BaseException:
        if new and ledger is not None and Path(ledger).is_file():
            from voronym.history.ledger import Ledger

            if not Ledger.open(ledger).entries:
                for end in ("", *_BESIDE):
                    Path(f"{ledger}{end}").unlink(missing_ok=True)
        raise


_BESIDE = ("-journal", "-wal", "-shm")
"""The companion files of a database."""


def _in_parts(data: Any, output: str | Path | None, request: Request, **how: Any) -> Release:
    """Make a release over parts, from files or from a frame written to temporary files."""
    place = None if is_frame(data) or isinstance(data, (list, tuple)) else place_of(data)
    if request.run.resume and (is_frame(data) or (place is not None and place[0].source)):
        raise InputError(
            "a run over a frame or an address cannot be resumed: write the table to files, and name these"
        )
    if is_frame(data):
        if how["reading"]:
            raise InputError("reading is for files, and the table is in memory: give the path")
        engine = engine_of_frame(data)
        if engine is not None and "engine" not in request.asked and how["recipe"] is None:
            request = replace(request, release=replace(request.release, engine=engine))
    private = tempfile.mkdtemp(prefix="voronym-") if output is None else None
    target = Path(private) / "release" if private is not None else Path(output)  # type: ignore[arg-type]
    try:
        with as_files(data, home_of(request.run.work, target), how["reading"]) as files:
            from voronym.run.parts.door import release_parts  # not waited for by a table in memory

            release = release_parts(files, target, request, **how)
    except BaseException:
        if private is not None:
            shutil.rmtree(private, ignore_errors=True)
        raise
    if private is not None:  # it lives as long as the release
        weakref.finalize(release, shutil.rmtree, private, ignore_errors=True)
    return release


def _warned(release: Release) -> Release:
    """Show the warnings of a release, and return it."""
    for note in release.warnings:
        warnings.warn(note, stacklevel=4)
    return release


def _over_parts(data: Any, request: Request) -> bool:
    """Whether a run goes over parts: the source has several, or an option about parts was given."""
    scaled = any(declared.purpose == PARTS for name, declared in DECLARED.items() if name in request.asked)
    return has_parts(data) or (scaled and not isinstance(data, (list, tuple)))


def plan(
    data: Any,
    *,
    recipe: Recipe | None = None,
    reading: Mapping[str, Any] | None = None,
    rows: int | None = None,
    price: float | None = None,
    **choices: Any,
) -> Plan:
    """Estimate what a run over many parts would do and cost; change nothing.

    Parameters
    ----------
    data, recipe, reading, **choices
        As for `voronym.anonymize`.
    rows : int, optional
        Number of rows to plan for, such as a billion, with rows like those of the data.
    price : float, optional
        Price of an hour of a worker, to estimate the money.

    Returns
    -------
    Plan
        Its times are estimates from a probe on this machine.
    """
    request = Request.of(choices, function="plan")
    request.refuse_beside(recipe)
    from voronym.run.parts.plan import plan_parts

    with as_files(data, None, reading) as files:
        return plan_parts(files, request, recipe=recipe, reading=reading, rows=rows, price=price)


def _booking(
    ledger: str | None, data: Any, recipe: Recipe, declared: Sequence[str], *, strangers: bool
) -> Booking | None:
    """Ask the ledger about the people of a table."""
    check_ledger(recipe, ledger)
    if ledger is None:
        return None
    from voronym.history.booking import Booking  # most releases have no ledger
    from voronym.history.kept import check_steps
    from voronym.history.ledger import Ledger
    from voronym.history.people import naming_columns

    frame = load(data)
    if not Path(ledger).exists():  # a mistaken command must not create a ledger
        naming_columns(recipe.schema, frame, declared)
    booking = Booking(Ledger.open(ledger), frame, recipe.schema, declared, strangers=strangers)
    if recipe.keep_groups:
        check_steps(booking.entries, recipe.steps)
    return booking
