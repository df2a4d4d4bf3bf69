"""The dossier of a release in files: its public part, and the part for the data holder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import narwhals as nw

from voronym.core.context import Context
from voronym.dossier.parts import Dossier, Inside, Loss
from voronym.dossier.public import GROUPS, public_recipe, public_words, story_of
from voronym.evaluate.disclosed import LABEL_LIKE, Disclosed, Profile, by_chance, in_order, people_by_chance
from voronym.evaluate.risk import Risk
from voronym.evaluate.utility import Utility, utility
from voronym.release import Release
from voronym.result import Folder
from voronym.run.parts import counting, portrait
from voronym.run.parts.engine import Engine
from voronym.table.table import Table


def dossier_of(lead: Engine, made: Release) -> Dossier:
    """Compute all figures about a written and counted release; this reads the data twice more.

    The public part uses counts in the written files, and sums over all records.
    """
    job, data = lead.job, lead.job.dataset
    if data.rows <= job.leaf:
        dossier: Dossier = lead.job.recall("dossier")
        return _engined(dossier, made)
    recipe, files, parts = job.recipe, int(job.recall("files")), job.pieces
    schema = recipe.schema
    for side, tasks in ((portrait.RELEASED, files), (portrait.ORIGINAL, parts)):
        lead.perform(f"draw@{side}", tasks)
    after = portrait.drawn(job, portrait.RELEASED, files)
    before = portrait.drawn(job, portrait.ORIGINAL, parts)
    if not job.decided("edges"):
        job.decide("edges", portrait.edges_of(schema, after, before))
    edges = job.recall("edges")
    new = portrait.merged(lead.perform(f"bars@{portrait.RELEASED}", files))
    old = portrait.merged(lead.perform(f"bars@{portrait.ORIGINAL}", parts))
    dates = {name: after.frame[name].dtype in (nw.Date, nw.Datetime) for name in schema.keys}
    public = replace(
        public_words(made, made.rows),
        recipe=public_recipe(recipe, lambda name: set(new.get(name, {}).get("names") or ())),
        distributions=portrait.distributions(schema, edges, dates, new, None),
        sampled=_sampled(made),
    )
    inside = _inside(lead, made, (after, before), new, _counted_before(lead))
    inside = replace(inside, distributions=portrait.distributions(schema, edges, dates, new, old))
    return _engined(Dossier(public, inside, dict(recipe.versions or {})), made)


def _folder(made: Release) -> Folder:
    assert made.folder is not None  # noqa: S101 - for the type checker
    return made.folder


def _engined(dossier: Dossier, made: Release) -> Dossier:
    """Return the dossier with the engine in its recipes."""
    plan = {name: getattr(made.recipe, name) for name in ("engine", "leaf", "rounds")}
    inside = (
        None if dossier.inside is None else replace(dossier.inside, recipe={**dossier.inside.recipe, **plan})
    )
    return replace(
        dossier, public=replace(dossier.public, recipe={**dossier.public.recipe, **plan}), inside=inside
    )


def _turn(stage: str) -> str:
    """Return the name of a stage for people: ``round@0`` is the first round."""
    name, _, turn = stage.partition("@")
    return f"{name} {int(turn) + 1}" if turn else name


def _sampled(made: Release) -> tuple[str, ...]:
    """Return sentences about figures that come from a sample only."""
    looked = {**_folder(made).sampled, "where bars begin and end": portrait.BESIDE}
    few = {what: many for what, many in looked.items() if many < made.rows}
    return tuple(f"{what}: {many:,} of {made.rows:,} records" for what, many in few.items())


def _counted_before(lead: Engine) -> list[dict[str, Any]]:
    """Count the records that shared the original keys, over all parts."""
    job = lead.job
    for name, value in (("measured", job.schema), ("models", [])):
        if not job.decided(name):
            job.decide(name, value)
    parts = job.pieces
    lead.perform("bucket", parts)
    answers = lead.perform("tally", int(job.recall("buckets")))
    lead.forget("sorted", parts)
    return answers


def _inside(
    lead: Engine,
    made: Release,
    drawn: tuple[Table, Table],
    new: Mapping[str, Any],
    before: Sequence[dict[str, Any]],
) -> Inside:
    """Compare a release with its originals."""
    recipe = lead.job.recipe
    known = _disclosed(lead, made, drawn[0], new, before) if story_of(recipe) == GROUPS else ()
    counted = {column.column for column in known}
    silent = [name for name in recipe.schema.confidential if name not in counted]
    silent = silent if story_of(recipe) == GROUPS else []
    unseen = [f"{', '.join(silent)}: too many different values to look for people whose value is certain"]
    drawn_from = [
        f"statistics before and after, and whether a model can tell both apart: {drawn[0].n:,} records of "
        f"the release and {drawn[1].n:,} of the data, of {made.rows:,}"
    ]
    return Inside(
        recipe=recipe.to_dict(),
        columns=public_words(made, made.rows).columns,
        warnings=made.warnings,
        figures=made.figures,
        seconds={_turn(name): item for name, item in _folder(made).seconds.items()},
        risk=Risk.of_sizes(counting.sizes(before)),
        linkage=None,
        losses=tuple(
            sorted(
                (Loss(name, loss) for name, loss in _folder(made).key_losses.items()),
                key=lambda key_loss: -key_loss.published,
            )
        ),
        costs=made.costs,
        effects=made.effects,
        ledger=lead.job.ledger is not None,
        utility=_utility(lead, made, *drawn),
        told=None,
        distributions=(),
        disclosed=known,
        sampled=(
            *_sampled(made),
            *(drawn_from if drawn[0].n < made.rows else ()),
            "record linkage, and what keys tell about confidential columns, were left out: they need all "
            "records at one place",
            *(unseen if silent else ()),
        ),
    )


def _utility(lead: Engine, made: Release, after: Table, before: Table) -> Utility:
    """Estimate the changes on samples."""
    recipe = lead.job.recipe
    names = [name for name in after.columns if name not in recipe.schema.identifiers]  # no pseudonyms
    changes = utility(
        before.frame, after.select(names).frame, recipe.schema, ctx=Context(seed=recipe.seed or 0)
    )
    if after.n == before.n == made.rows:
        return changes
    note = f"Estimated on random samples, {after.n:,} and {before.n:,} of {made.rows:,} records."
    return replace(changes, notes=(note, *changes.notes))


def _disclosed(
    lead: Engine, made: Release, after: Table, new: Mapping[str, Any], before: Sequence[dict[str, Any]]
) -> tuple[Disclosed, ...]:
    """For each confidential column, count the people whose value is certain because their group shares it.

    Numbers with many distinct values are omitted, because nearly equal values can be judged only with all
    records.
    """
    now = lead.course.answers["count"]
    several = lead.job.recipe.schema.person is not None
    profiles = sum((answer["profiles"] for answer in now), Counter[Profile]())
    everybody = sum(times * people for profile, times in profiles.items() for _, people in profile)
    sizes = {profile[0][1]: times for profile, times in profiles.items()}
    out = []
    for name in lead.job.recipe.schema.confidential:
        counts, numeric = new[name]["names"], after.frame[name].dtype.is_numeric()
        if counts is None or (
            (numeric or after.frame[name].dtype.is_temporal()) and len(counts) > LABEL_LIKE
        ):
            continue
        groups, people, known = (
            sum(answer["alone"][name][i] for answer in answers if answer["rows"])
            for answers, i in ((now, 0), (now, 1), (before, 1))
        )
        many = list(counts.values())
        chance = people_by_chance(profiles, many) if several else by_chance(sizes, many)
        out.append(
            Disclosed(
                name,
                groups,
                people,
                people / everybody,
                chance,
                max(many) / made.rows,  # of rows, where people have several: people were not counted by value
                None if several else known / made.rows,
                several,
            )
        )
    return in_order(out)
