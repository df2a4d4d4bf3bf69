"""The public facts about a release; nothing here looks at its evidence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from voronym.core.context import Context
from voronym.core.figures import NOTHING
from voronym.dossier import methods, places, planes
from voronym.dossier.counts import Distribution, distribution, tally
from voronym.dossier.parts import CENTRE, KEPT, Cloud, Column, Public
from voronym.dossier.population import outlook
from voronym.errors import VoronymError
from voronym.generalize.publish import RANGED
from voronym.method import METHODS
from voronym.methods.blocks import Block
from voronym.methods.figures import PrivateFigures
from voronym.methods.local_suppression import FATE
from voronym.release import Release
from voronym.request.recipe import Recipe
from voronym.table.codec import Codec
from voronym.table.frame import Frame
from voronym.table.schema import Schema
from voronym.table.table import Table

GROUPS = "groups"


def public_of(release: Release, ctx: Context) -> Public:
    """Return the public facts about a release, and nothing else."""
    table, schema = release._held, release.schema
    ctx.tell(0.0, whole=True)
    counted = release.risk
    ctx.tell(0.2, whole=True)
    return replace(
        public_words(release, table.n),
        recipe=public_recipe(release.recipe, lambda name: _present(table.frame, name)),
        plane=_cloud(table, ctx),
        distributions=distributions_of(schema, table.frame, None, ctx.part(0.5, 0.8)),
        places=places.published(table.frame, schema)
        if story_of(release.recipe) == GROUPS and counted.k > 1
        else None,
        population=outlook(table, release.recipe, ctx.part(0.8, 1.0)),
    )


def public_words(release: Release, records: int) -> Public:
    """Return the public facts about a release of this many records, without looking at its rows."""
    recipe, schema = release.recipe, release.schema
    story = story_of(recipe)
    options = recipe.options or {}
    private = release.figures.of(PrivateFigures)
    published_as = methods.published_as(story, release.figures, options, schema) if story != GROUPS else {}
    return Public(
        story=story,
        method=recipe.method,
        guarantee=METHODS[recipe.method].guarantee if recipe.method in METHODS else "",
        k=recipe.k,
        columns=columns_of(schema, {**published_as, **fates_of(release)}, recipe),
        records=records,
        risk=release.risk,
        findings=tuple(release.findings),
        information_loss=None if recipe.private is not None else release.information_loss,
        group_loss=None if release.figures != NOTHING else release.group_loss,  # elsewhere it is no variance
        gap=release.gap,
        closeness=release.closeness,
        by_published=release.by_published,
        least=release.least,
        warnings=release.public_warnings,
        steps=(*(column_step.says() for column_step in recipe.column_steps), *release.log),
        seeded=recipe.seed is not None,
        recipe={},
        channel=methods.channel_of(release.figures, options),
        stirred=methods.stirred_of(release.figures, options, schema),
        private=None if private is None else private.private,
    )


def limits_wanted(recipe: Recipe) -> bool:
    """Whether to compute limits of randomised rules; the convex programmes behind them are slow.

    True if the method is a channel, or if a model limits the information of the keys.
    """
    return recipe.method == "channel" or any(model.additive for model in recipe.required)


def story_of(recipe: Recipe) -> str:
    """Return the vocabulary of a page about a release: groups, or a method without them."""
    return GROUPS if recipe.makes_groups else recipe.method


def fates_of(release: Release) -> dict[str, str]:
    """Describe the columns that groups do not publish in the usual way."""
    figures, recipe = release.figures, release.recipe
    ways = dict.fromkeys(release.schema.keys, recipe.method)
    ways |= {name: block.method for block in map(Block.parse, recipe.blocks) for name in block.columns}
    out = {name: FATE for name, method in ways.items() if method == "local-suppression"}
    if figures.mean_weights is not None:
        out[figures.mean_weights] = "the mean of all with the same keys"
    return out


def columns_of(schema: Schema, published_as: Mapping[str, str], recipe: Recipe) -> tuple[Column, ...]:
    """Return the role, the kind and the treatment of each column."""
    usual = {"key": CENTRE, "identifier": "dropped"}
    done: dict[str, list[str]] = {}
    for step in recipe.column_steps:
        for name in step.columns:
            done.setdefault(name, []).append(step.says().partition(": ")[2])
    if schema.pseudonyms:
        published_as = {**published_as, **dict.fromkeys(schema.units.values(), "a fresh random pseudonym")}
    published_as = {
        **{column.name: RANGED for column in schema.columns if column.note == RANGED},
        **published_as,
    }

    def fate(name: str, role: str) -> str:
        result = published_as.get(name) or usual.get(role)
        if name not in done:
            return result or KEPT
        return "; ".join([*done[name], *([] if result is None else [result])])

    return tuple(
        Column(item.name, item.role, item.kind, fate(item.name, item.role)) for item in schema.columns
    )


def _cloud(table: Table, ctx: Context) -> Cloud | None:
    classes = table.classes
    try:
        X = Codec.fit(table).encode(table.rows(classes.first))
    except VoronymError:  # a figure less is better than no report
        return None
    ctx.tell(0.4, whole=True)
    return planes.cloud(X, classes.sizes)


def distributions_of(
    schema: Schema, after: Frame, before: Frame | None, ctx: Context
) -> tuple[Distribution, ...]:
    """Count the values of each key in the release, and in the originals if given."""
    out = []
    for number, name in enumerate(schema.keys):
        ctx.tell(number / len(schema.keys), whole=True)
        result = schema[name]
        # Ranges are no categories of the original.
        old = None if before is None or result.note == RANGED else before[name]
        out.append(distribution(name, after[name], old, kind=result.kind, order=result.categories))
    return tuple(out)


def _present(table: Frame, name: str) -> set[str | None]:
    return set(tally(table[name])) if name in table.columns else set()


def public_recipe(recipe: Recipe, present: Callable[[str], set[str | None]]) -> dict[str, Any]:
    """Return the recipe without levels that no released record has: they could identify a person."""
    plain: dict[str, Any] = dict(recipe.to_dict())
    if recipe.steps:  # their texts may name values that were suppressed or recoded
        plain["steps"] = [column_step.says() for column_step in recipe.column_steps]
    plain = methods.public_choices(plain)
    plain.pop("facts", None)  # where files of the data holder lie
    if not recipe.makes_groups:  # anybody who has the seed can undo the draw
        plain.pop("seed", None)
    columns = []
    for row in plain.get("schema", {}).get("columns", ()):
        kept = {key: value for key, value in row.items() if key != "note"}
        if kept.get("categories") is not None:
            there = present(str(kept["name"]))
            kept["categories"] = [level for level in kept["categories"] if level in there]
        columns.append(kept)
    plain["schema"] = {"columns": columns}
    return plain
