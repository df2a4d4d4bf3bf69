"""The door: a data set of many files in, a release in many files out."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from voronym import cautions
from voronym.core.context import Context, ProgressCallback
from voronym.core.validate import checked
from voronym.errors import InputError, WriteError
from voronym.facts import ALLOW, ColumnFacts
from voronym.privacy import Finding, Model, listed_models
from voronym.recipe import Recipe
from voronym.scale import spill
from voronym.scale.database import is_database
from voronym.scale.engine import Engine
from voronym.scale.folders import folders, place
from voronym.scale.job import LEAF, ROUNDS, Job, needed
from voronym.scale.outcome import FilesRelease, too_little
from voronym.scale.runners import RUNNERS, Runner
from voronym.scale.source import find, is_parquet
from voronym.scale.texts import check_format

ROLES = ("keys", "confidential", "identifiers", "other")


@checked
def anonymize_files(
    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    keys: Sequence[str] = (),
    confidential: Sequence[str] = (),
    identifiers: Sequence[str] = (),
    other: Sequence[str] = (),
    k: int | None = None,
    method: str | None = None,
    options: Mapping[str, Any] | None = None,
    models: Model | str | Sequence[Model | str] | Mapping[str, Any] = (),
    steps: str | Sequence[str] = (),
    seed: int | None = None,
    recipe: Recipe | None = None,
    reading: Mapping[str, Any] | None = None,
    format: str | None = None,  # noqa: A002 - what everybody calls it
    style: Mapping[str, Any] | None = None,
    engine: str | None = None,
    address: str | None = None,
    workers: int | None = None,
    memory: int | str = "4GB",
    leaf: int | None = None,
    rounds: int | None = None,
    work: str | os.PathLike[str] | None = None,
    resume: bool = False,
    overwrite: bool = False,
    report: bool = False,
    progress: ProgressCallback | None = None,
    **columns: Unpack[ColumnFacts],
) -> FilesRelease:
    """Make a k-anonymous release of a data set that need not fit the memory.

    The files are read in parts, shared out to leaves of neighbouring records through files in a work folder,
    grouped leaf by leaf, several times with other borders, and written in a fresh random order over all
    files. Then k, and all models, are counted in the written files, all of them together, and only then the
    folder gets its name. A data set that fits one leaf is released as `voronym.anonymize` does it.

    Parameters
    ----------
    source : path, pattern or sequence of them
        A folder, a pattern such as ``"people/*.parquet"``, or files: Parquet, or text (each file of which
        must fit the memory of a worker).
    output : path
        The folder to make.
    keys, confidential, identifiers, other, k, method, options, models, seed, recipe, reading, **columns
        As in `voronym.anonymize`. Kinds that are not declared, and doubts, are found in a sample.
    steps : str or sequence of str
        As in `voronym.anonymize`, where one leaf holds all records.
    format : {"parquet", "csv"}, optional
        Of the files of the release: text where the source is text, else Parquet.
    style : mapping, optional
        Of text files, where they are not to be written as those that were read: ``delimiter``, ``encoding``,
        ``decimal``, ``thousands``, ``date_format``, ``newline``, ``guard``, as in `Release.write`.
    engine : {"local", "dask", "spark"}, optional
        Who does the work: processes on this machine (by default), a Dask cluster, a Spark cluster.
    address : str, optional
        Of the Dask scheduler, or the Spark master; without one a cluster is started on this machine.
    workers : int, optional
        How many tasks are done at a time; the result does not depend on it.
    memory : int or str
        For all workers together, as in ``"4GB"``; fewer workers are started where it is too little for all.
    leaf : int, optional
        Records of a leaf, 250,000 by default.
    rounds : int, optional
        How often leaves are cut anew, 3 by default; only for methods that search ("auto", "pairs").
    work : path, optional
        The work folder, which all workers must reach; beside the output by default.
    resume : bool
        Go on from what an earlier run of the same kind left there, and leave it when this one is interrupted.
    overwrite : bool
        Whether a folder that is there may be replaced.
    report : bool
        Whether to find the figures of `FilesRelease.report`; the data are then read twice more.
    progress : callable, optional
        Called with a `voronym.Progress` now and then.

    Returns
    -------
    FilesRelease
        Figures about the release; the records are in the folder.

    Examples
    --------
    >>> import pathlib, tempfile, voronym as vr
    >>> patients = vr.datasets.hospital(300, seed=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     here = pathlib.Path(folder)
    ...     patients[:150].write_parquet(here / "a.parquet")
    ...     patients[150:].write_parquet(here / "b.parquet")
    ...     release = vr.anonymize_files(f"{here}/?.parquet", here / "release", keys=["age", "sex"],
    ...                                  confidential=["diagnosis"], drop_undeclared=True, k=5, workers=1)
    ...     release.rows, release.k >= 5, sorted(one.name for one in release.path.iterdir())
    (300, True, ['part-00000.parquet'])
    """
    target = Path(output)
    facts = dict(columns)
    asked: dict[str, Any] = {
        "keys": keys, "confidential": confidential, "identifiers": identifiers, "other": other, "k": k,
        "method": method, "options": options, "models": models, "steps": steps, "seed": seed,
        "recipe": recipe, "reading": reading, "leaf": leaf, "rounds": rounds, "format": format,
        "style": style, "report": report, **facts,
    }  # fmt: skip
    files = find(source)
    _check_output(target, files, overwrite=overwrite)
    folder = target.parent / f".{target.name}.work" if work is None else Path(work)
    job = job_of(files, folder.absolute(), target.absolute().parent / f".{target.name}.new", **asked)
    name = engine or ("local" if recipe is None else recipe.engine.get("name", "local"))
    ctx = Context(progress=progress)
    with folders(job.work, target.absolute(), resume=resume) as made:
        _enter(job, resume)
        crew = crew_of(name, workers, memory, job.leaf, address)
        lead = Engine(job, crew, ctx)
        try:
            found = lead.run()
            out = _told(lead, found, target, {"name": name, "leaf": job.leaf, "rounds": job.rounds})
            if report:
                from voronym.scale.telling import dossier_of

                out = replace(out, dossier=dossier_of(lead, out))
        finally:
            crew.close()
        place(made, target.absolute(), overwrite=overwrite)
    ctx.done()
    for note in out.notes:
        warnings.warn(note, stacklevel=2)
    return out


def job_of(
    files: Sequence[Path],
    work: Path,
    release: Path,
    *,
    recipe: Recipe | None = None,
    reading: Mapping[str, Any] | None = None,
    leaf: int | None = None,
    rounds: int | None = None,
    models: Any = (),
    format: str | None = None,  # noqa: A002
    style: Mapping[str, Any] | None = None,
    report: bool = False,
    **asked: Any,
) -> Job:
    """Write down what is asked for, as every worker will read it."""
    allow = {name: asked.pop(word, ()) for word, name in ALLOW.items()}
    said = {name: asked.pop(name, None) for name in ("k", "method", "options", "seed")}
    said |= {
        "models": tuple(map(str, listed_models(models))),
        "time_limit": None,
        "space": None,
        "device": None,
    }
    said["steps"] = tuple(_list(asked.pop("steps", ())))
    said["allow"] = {name: one for name, one in allow.items() if one}
    roles = {name: _list(one) if name in ROLES else one for name, one in asked.items()}
    if recipe is not None and any(_given(one) for one in (*roles.values(), *said.values())):
        raise InputError(
            "a recipe states columns, k, method, models and seed: give it alone, or write another"
        )
    plan = {} if recipe is None else dict(recipe.engine)
    text = not is_parquet(files[0]) and not is_database(files[0])
    return Job(
        work=work,
        release=release,
        files=tuple(str(one.absolute()) for one in files),
        names=tuple(one.name for one in files),
        roles=roles,
        said=said,
        reading={**({} if recipe is None else recipe.reading), **(reading or {})},
        leaf=_whole("leaf", leaf if leaf is not None else plan.get("leaf", LEAF), 20),
        rounds=_whole("rounds", rounds if rounds is not None else plan.get("rounds", ROUNDS), 1),
        fixed=recipe,
        format=check_format(format, style or {}, text=text),
        style=dict(style or {}),
        report=report,
        stamps=tuple((one.stat().st_size, one.stat().st_mtime_ns) for one in files),
    )


def _list(names: Sequence[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _given(argument: Any) -> bool:
    return argument is not None and argument is not False and argument not in ((), [], {})


def _whole(name: str, value: object, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InputError(f"{name} must be a whole number of {least} or more, not {value!r}")
    return value


def _check_output(target: Path, files: Sequence[Path], *, overwrite: bool) -> None:
    """Refuse a folder that cannot be, before the work."""
    if not target.absolute().parent.is_dir():
        raise WriteError(f"the folder of {str(target)!r} does not exist; make it first")
    if target.exists() and not overwrite:
        raise WriteError(f"{target.name!r} exists already; choose another name, or allow overwriting")
    place_ = target.resolve()
    if any(place_ == one.resolve() or place_ in one.resolve().parents for one in files):
        raise InputError("the output has the place of the source; the originals are never written over")


def _enter(job: Job, resume: bool) -> None:
    """Write the job down, or find that the one that is there is the same."""
    path = job.work / "job.pickle"
    if resume and path.exists():
        if spill.recall(path) != job:
            raise InputError(
                "what is in the work folder is of another run, with other files or wishes: leave out "
                "--resume to begin anew"
            )
        return
    spill.keep(path, job)


def bytes_of(memory: int | str) -> int:
    """Return a size in bytes from a number or a text such as "4GB".

    Examples
    --------
    >>> bytes_of("1.5GB"), bytes_of("512 MiB")
    (1500000000, 536870912)
    """
    if isinstance(memory, int) and not isinstance(memory, bool) and memory > 0:
        return memory
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?\s*", str(memory).lower())
    if found is None or float(found[1]) == 0.0:
        raise InputError(f"memory is a size such as 4GB or 512MB, not {memory!r}")
    power = " kmgt".index(found[2] or " ")
    return int(float(found[1]) * (1024 if found[3] else 1000) ** power)


def crew_of(name: str, workers: int | None, memory: int | str, leaf: int, address: str | None) -> Runner:
    """Start who does the work: as many as there are processors, and memory for."""
    import voronym.scale.runners.dask
    import voronym.scale.runners.local
    import voronym.scale.runners.spark  # noqa: F401 - they register themselves

    held = bytes_of(memory)
    most = max(1, held // needed(leaf))
    wanted = (os.cpu_count() or 1) if workers is None else _whole("workers", workers, 1)
    if address is None and held < needed(0):  # it would wait for memory without end
        raise InputError(too_little(held, 0))
    crew = RUNNERS[name](workers=int(min(wanted, most)), memory=held, address=address)
    if workers is not None and most < wanted:
        crew.notes.append(
            f"{crew.workers} instead of {wanted} workers: {memory} of memory is not enough for more, with "
            f"leaves of {leaf:,} records"
        )
    return crew


def _told(lead: Engine, found: tuple[Finding, ...], target: Path, plan: Mapping[str, Any]) -> FilesRelease:
    """Gather the figures."""
    course, job = lead.course, lead.job
    answers = course.answers["published"]
    recipe = replace(job.recipe, engine=plan)
    sampled = {"kinds of columns and doubts": int(spill.recall(job.work / "look-000000.done")["looked_at"])}
    losses: dict[str, float] = {}
    if "spreads" in answers[0]:
        lost = np.sum([one["lost"] for one in answers], axis=0)
        had = np.sum([one["spreads"] for one in answers], axis=0)
        total = float(had.sum())
        loss = 100.0 * float(lost.sum()) / total if total else 0.0
        group = 100.0 * sum(one["error"] for one in answers) / total if total else 0.0
        losses = {name: loss for name, (loss, _) in lead.key_losses().items()}
        leaves = [(one["rows"], one["groups"], one["error"]) for one in answers]
        said = cautions.useless(list(losses.values())), cautions.single_leaves(leaves, recipe.required_k)
        course.notes += [one for one in said if one is not None]
        sampled["cuts into leaves"] = int(spill.recall(job.work / "cut-000000.done")["sampled"])
    else:
        loss, group = answers[0]["information_loss"], answers[0]["group_loss"]
        course.notes = list(answers[0]["notes"])
    groups = [one["groups"] for one in answers]
    return FilesRelease(
        path=target,
        recipe=recipe,
        rows=sum(one["rows"] for one in answers),
        groups=None if groups[0] is None else sum(groups),
        files=sum(1 for one in job.release.iterdir()),
        findings=found,
        information_loss=loss,
        group_loss=group,
        key_losses=losses,
        notes=(*course.notes, *lead.runner.notes),
        seconds=course.seconds,
        bytes_read=course.bytes_read,
        bytes_spilled=course.bytes_spilled,
        bytes_written=course.bytes_written,
        guarded_cells=course.guarded,
        sampled=sampled,
    )
