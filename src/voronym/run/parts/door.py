"""The entry point: read a data set of many files, write a release in many files."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from voronym.core.atomic import accompany, place_folder, together
from voronym.core.context import Context, ProgressCallback
from voronym.core.figures import NOTHING
from voronym.core.place import digest_of
from voronym.errors import InputError, ReadError, hint
from voronym.evaluate.moved import joined
from voronym.evaluate.risk import Risk
from voronym.history.ledger import Entering, Ledger
from voronym.policy.case import Facts
from voronym.policy.checklist import Added, Checklist
from voronym.policy.complete import complete
from voronym.policy.counted import count_files
from voronym.policy.judge import judge_folder
from voronym.policy.policy import Policy
from voronym.privacy import Finding
from voronym.release import Release
from voronym.request.choices import ReleaseChoices
from voronym.request.recipe import Recipe
from voronym.request.request import Request
from voronym.request.rules import check_parts, check_work
from voronym.result import Folder
from voronym.run import checks
from voronym.run.parts import spill
from voronym.run.parts.afar import fetch, is_afar, path_of, sent
from voronym.run.parts.database import is_database
from voronym.run.parts.engine import Engine
from voronym.run.parts.folders import check_place, folders
from voronym.run.parts.job import LEAF, ROUNDS, Job, needed
from voronym.run.parts.losses import key_losses
from voronym.run.parts.outcome import too_little
from voronym.run.parts.runners import RUNNERS, Runner
from voronym.run.parts.source import find, is_parquet
from voronym.run.parts.targets import check_address, check_output
from voronym.run.parts.texts import check_format
from voronym.run.parts.watching import watched
from voronym.table.places import Load, place_of, shown
from voronym.table.places.base import passing_till_the_end


def release_parts(
    source: Any,
    output: str | os.PathLike[str],
    request: Request,
    *,
    recipe: Recipe | None = None,
    reading: Mapping[str, Any] | None = None,
    format: str | None = None,  # noqa: A002 - what everybody calls it
    style: Mapping[str, Any] | None = None,
    overwrite: bool = False,
    report: bool = False,
    progress: ProgressCallback | None = None,
) -> Release:
    """Make a k-anonymous release of a data set that may exceed the memory.

    Files are read in parts and distributed to leaves of neighbouring records, through files in a work
    folder. Leaves are grouped several times with different borders, and written in a random order over
    all files. Then k and all models are counted over all written files. Only then the folder gets its
    name. A data set that fits one leaf is released like a table in memory.

    Parameters
    ----------
    source : path, pattern or sequence of them
        A folder, a pattern such as ``"people/*.parquet"``, or files: Parquet, or text (each file must fit the
        memory of a worker).
    output : path
        The folder to make.
    request : Request
        The request. Undeclared kinds, and doubts, are determined from a sample.
    recipe, reading, progress
        As in `voronym.anonymize`.
    format : {"parquet", "csv"}, optional
        Format of the release's files: text if the source is text, otherwise Parquet.
    style : mapping, optional
        Form of text files, if it differs from the source: ``delimiter``, ``encoding``, ``decimal``,
        ``thousands``, ``date_format``, ``newline``, ``guard``, as in `Release.write`.
    overwrite : bool
        Whether a folder that is there may be replaced.
    report : bool
        Whether to find the figures of `Release.report`; the data are then read twice more.
    """
    target, run = Path(output), request.run
    files = find(source)
    style = dict(style or {})
    table = style.pop("table", None) or "release"
    there = place_of(output)
    if there is None:
        check_output(target, files, request.asked, overwrite=overwrite)
    else:
        check_address(*there, table, request, overwrite=overwrite)
        target, format = Path(shown(output)), "parquet"  # noqa: A001
    check_parts(request.release if recipe is None else recipe, database=is_database(files[0]))
    added: tuple[Added, ...] = ()
    if recipe is None:
        request, added = completed(request, files, reading)
    name = engine_of(request, recipe)
    check_work(run.work, name, run.workers)
    work = None if run.work is None else path_of(run.work)
    if work is not None and not is_afar(work):
        check_place(work)
    ctx = Context(progress=progress)
    with watched(run, name) as watch, together():
        if there is None:
            final = target.absolute().parent.resolve() / target.name
        else:
            final = passing_till_the_end() / "release"
        place = final.parent if work is None else work.absolute()
        made = folders(place, final, resume=run.resume, output="" if there is None else there[1])
        job = job_of(
            files,
            made.work,
            made.work / "release" if is_afar(made.work) else made.release,
            request,
            target=final,
            recipe=recipe,
            reading=reading,
            format=format,
            style=style,
            report=report,
        )
        job = sent(job, files)
        _enter(job, made.before)
        crew = crew_of(name, run.workers, run.memory, job.leaf, run.address)
        lead = Engine(job, crew, ctx, watch)
        try:
            findings = lead.run()
            if is_afar(made.work):
                for part in lead.course.sealed:
                    fetch(job.release / part, made.release)
                lead.job = job = replace(job, release=made.release)
            out = _gather_figures(
                lead, findings, target, {"engine": name, "leaf": job.leaf, "rounds": job.wanted}
            )
            if out.recipe.policy is not None:
                out.checklist = _judged(job, out, added)
            if report:
                from voronym.run.parts.dossiers import dossier_of

                out._dossier = dossier_of(lead, out)
        finally:
            crew.close()
        _refuse_changed(job, files)
        if there is None:
            spill.clear(job.release)
            place_folder(job.release, final, overwrite=overwrite, sealed=lead.course.sealed)
        else:
            parts = {job.release / name: digest for name, digest in sorted(lead.course.sealed.items())}
            least = job.recipe.required_k
            there[0].send(Load(there[1], table, parts, tuple(job.recipe.schema.keys), least, overwrite))
        _enter_ledger(job, lead, final)
    ctx.done()
    return out


def completed(
    request: Request, files: Sequence[Path], reading: Mapping[str, Any] | None
) -> tuple[Request, tuple[Added, ...]]:
    """Add the demands of a policy to a request, with counts over all files; keep the user's choices."""
    if request.release.policy is None:
        return request, ()
    policy = Policy.load(request.release.policy)
    made = complete(request, count_files(files, reading), policy, Facts.of(policy, request.release.facts))
    return made.request, made.added


def _judged(job: Job, release: Release, added: Sequence[Added]) -> Checklist:
    """Judge the files of a release, before its folder gets its name."""
    if job.decided("checklist"):  # it fits one leaf, and was judged as a table in memory is
        made: Checklist = job.recall("checklist")
        return replace(made, added=tuple(added))
    policy = Policy.load(release.recipe.policy or "")
    files = sorted(path for path in job.release.iterdir() if path.suffix in (".parquet", ".csv", ".tsv"))
    return judge_folder(
        release,
        policy,
        Facts.of(policy, release.recipe.facts),
        files,
        added,
        original_rows=job.rows,
        ledger=job.ledger is not None,
    )


def _enter_ledger(job: Job, lead: Engine, target: Path) -> None:
    """Enter the release in its ledger: the folder gets its name and the ledger its entry, or neither."""
    answer = lead.course.answers["published"][0]
    if job.ledger is not None and answer.get("entry") is not None:
        # It was checked against the releases that were there then, and no others may have come since.
        ledger, seen = Ledger.open(job.ledger), answer["seen"]
        accompany(Entering(ledger, answer["entry"], target, digest_of(job.release), seen))


def job_of(
    files: Sequence[Path],
    work: Path,
    release: Path,
    request: Request,
    *,
    target: Path | None = None,
    recipe: Recipe | None = None,
    reading: Mapping[str, Any] | None = None,
    format: str | None = None,  # noqa: A002
    style: Mapping[str, Any] | None = None,
    report: bool = False,
) -> Job:
    """Write down the request in the form that every worker reads."""
    text = not is_parquet(files[0]) and not is_database(files[0])
    plan: ReleaseChoices = request.release if recipe is None else recipe
    own = {name: getattr(request.release, name) or getattr(plan, name) for name in ("leaf", "rounds")}
    return Job(
        work=work,
        release=release,
        target=target,
        files=tuple(str(file.absolute()) for file in files),
        names=tuple(file.name for file in files),
        # A run may go on with other workers, of another engine.
        request=Request(request.columns, replace(request.release, engine="local", leaf=None, rounds=None)),
        reading={**({} if recipe is None else recipe.reading), **(reading or {})},
        leaf=own["leaf"] or LEAF,
        wanted=own["rounds"] or ROUNDS,
        fixed=recipe,
        format=check_format(format, style or {}, text=text),
        style=dict(style or {}),
        report=report,
        stamps=tuple((file.stat().st_size, file.stat().st_mtime_ns) for file in files),
        ledger=request.run.ledger,
        strangers=request.run.strangers,
        workers=request.run.workers or 1 if plan.time_limit is not None else 1,
    )


def engine_of(request: Request, recipe: Recipe | None) -> str:
    """Return the engine: the requested one, or the recipe's."""
    return request.release.engine if recipe is None or "engine" in request.asked else recipe.engine


def _refuse_changed(job: Job, files: Sequence[Path]) -> None:
    """Refuse a release if its files changed after the run began."""
    for file, name, stamp in zip(files, job.names, job.stamps, strict=True):
        try:
            about = file.stat()
            same = (about.st_size, about.st_mtime_ns) == tuple(stamp)
        except OSError:
            same = False
        if not same:
            raise ReadError(f"{name!r} changed while it was read: nothing was released. Run it again")


def _enter(job: Job, before: Job | None) -> None:
    """Store the job; if one is stored already, check that it is the same."""
    if before is None:
        spill.keep(job.work / spill.JOB, job)
    elif before != job:
        raise InputError(
            "the work folder belongs to another run, with other files or choices: leave out "
            f"{hint('resume')} to start again"
        )


def bytes_of(memory: int | str) -> int:
    """Return a size in bytes from a number or a text such as "4GB".

    Examples
    --------
    >>> bytes_of("1.5GB"), bytes_of("512 MiB")
    (1500000000, 536870912)
    """
    if isinstance(memory, int) and not isinstance(memory, bool) and memory > 0:
        return memory
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?\s*", str(memory).lower())
    if match is None or float(match[1]) == 0.0:
        raise InputError(f"memory is a size such as 4GB or 512MB, not {memory!r}")
    power = " kmgt".index(match[2] or " ")
    return int(float(match[1]) * (1024 if match[3] else 1000) ** power)


def crew_of(name: str, workers: int | None, memory: int | str, leaf: int, address: str | None) -> Runner:
    """Start the workers: as many as processors and memory allow."""
    held = bytes_of(memory)
    most = max(1, held // needed(leaf))
    wanted = (os.cpu_count() or 1) if workers is None else workers
    if address is None and held < needed(0):  # it would wait for memory without end
        raise InputError(too_little(held, 0))
    crew = RUNNERS[name](workers=int(min(wanted, most)), memory=held, address=address)
    if workers is not None and most < wanted:
        crew.notes.append(
            f"{crew.workers} instead of {wanted} workers: {memory} of memory is not enough for more, with "
            f"leaves of {leaf:,} records"
        )
    return crew


def _gather_figures(
    lead: Engine, findings: tuple[Finding, ...], target: Path, plan: Mapping[str, Any]
) -> Release:
    """Gather the figures of the run."""
    course, job = lead.course, lead.job
    answers = course.answers["published"]
    recipe = replace(job.recipe, **plan)
    sampled = {"kinds of columns and doubts": int(spill.recall(job.work / "look-000000.done")["looked_at"])}
    losses: dict[str, float] = {}
    loss = group = None
    if "spreads" in answers[0]:
        total = float(sum(answer["spread"] for answer in answers))
        group = 100.0 * sum(answer["error"] for answer in answers) / total if total else 0.0
        losses = {name: lost for name, (lost, _) in key_losses(lead).items()}
        if losses:
            lost = float(np.sum([answer["lost"] for answer in answers]))
            loss = 100.0 * lost / total if total else 0.0
        leaves = [(answer["rows"], answer["groups"] or 0, answer["error"]) for answer in answers]
        warned = checks.useless(list(losses.values())), checks.single_leaves(leaves, recipe.required_k)
        course.notes += [note for note in warned if note is not None]
        sampled["cuts into leaves"] = int(spill.recall(job.work / "cut-000000.done")["sampled"])
        course.notes += _of_leaves([answer["notes"] for answer in answers])
        course.log += _of_leaves([answer["log"] for answer in answers], partly=False)
        changes = joined([answer.get("changes", ()) for answer in answers])
    else:
        loss, group = answers[0]["information_loss"], answers[0]["group_loss"]
        course.notes = (
            [*course.notes, *answers[0]["notes"]] if job.rows > job.leaf else list(answers[0]["notes"])
        )
        course.log += answers[0]["log"]
        course.effects += answers[0]["effects"]
        changes = tuple(answers[0]["changes"])
    if recipe.time_limit is not None and job.rows > job.leaf:
        course.notes.append("a time limit makes the release depend on the machine and the number of workers")
    groups = [answer["groups"] for answer in answers]
    folder = Folder(
        path=target,
        rows=sum(answer["rows"] for answer in answers),
        groups=None if groups[0] is None else sum(groups),
        files=sum(1 for _ in job.release.iterdir()),
        key_losses=losses,
        seconds=course.seconds,
        bytes_read=course.bytes_read,
        bytes_spilled=course.bytes_spilled,
        bytes_written=course.bytes_written,
        guarded_cells=course.guarded,
        sampled=sampled,
    )
    return Release.of_folder(
        folder,
        recipe,
        findings,
        Risk.of_sizes(course.sizes),
        information_loss=loss,
        group_loss=group,
        notes=(*dict.fromkeys(course.notes), *lead.runner.notes),
        log=course.log,
        effects=course.effects,
        changes=changes,
        schema=job.released_schema,
        figures=answers[0].get("figures", NOTHING),
        costs=answers[0].get("costs", ()),
        public_notes=_of_leaves([answer["public_notes"] for answer in answers], partly=False),
    )


def _of_leaves(notes: Sequence[Sequence[str]], *, partly: bool = True) -> list[str]:
    """Return the notes about all leaves; notes about some, with their number."""
    often = Counter(note for leaf in notes for note in dict.fromkeys(leaf))
    shared = [note for note, many in often.items() if many == len(notes)]
    some = [f"in {many} of {len(notes)} leaves: {note}" for note, many in often.most_common(MOST_NOTES)
            if many < len(notes)]  # fmt: skip
    return shared + (some if partly else [])


MOST_NOTES = 8
"""Most notes about single leaves that are shown."""
