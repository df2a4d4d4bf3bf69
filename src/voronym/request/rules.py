"""Which choices exclude each other, and why: the one place that refuses a combination."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from voronym.errors import InputError
from voronym.keyspaces import DEFAULT_SPACE
from voronym.method import METHODS

if TYPE_CHECKING:
    from voronym.request.recipe import Recipe


@dataclass(frozen=True)
class Rule:
    """Choices that cannot be had together.

    Parameters
    ----------
    choices : tuple of str
        The choices that exclude each other.
    breaks : callable
        Whether a recipe asks for all of them.
    reason : callable
        Why they exclude each other, and what to do instead: a sentence.
    """

    choices: tuple[str, ...]
    breaks: Callable[[Recipe], bool]
    reason: Callable[[Recipe], str]


def _perturbs(recipe: Recipe) -> bool:
    return not recipe.makes_groups


def _publishes_itself(recipe: Recipe) -> bool:
    return METHODS[recipe.method].makes == "release"


RULES: list[Rule] = [
    Rule(
        ("method", "space"),
        lambda recipe: recipe.space != DEFAULT_SPACE and not METHODS[recipe.method].groups
        and (recipe.method, recipe.space) != ("records", "mixed"),
        lambda recipe: f"method {recipe.method!r} compares no records in a space: leave out the space",
    ),
    Rule(
        ("space", "metrics"),
        lambda recipe: bool(recipe.metrics) and recipe.space != "mixed" and recipe.method != "records",
        lambda _: "metrics belong to the space 'mixed': choose it, or leave them out",
    ),
    Rule(
        ("method", "publish"),
        lambda recipe: _perturbs(recipe) and bool(recipe.publish or recipe.hierarchies or recipe.widths),
        lambda recipe: f"method {recipe.method!r} makes no groups, which could publish a median or a range: "
        "leave out publish and hierarchies, or take a method that makes groups",
    ),
    Rule(
        ("space", "publish"),
        lambda recipe: recipe.space == "ranges"
        and bool({"mean", "median"} & set((recipe.publish or {}).values())),
        lambda _: "in the space 'ranges' every key is published as a range: leave out the space, or publish "
        "no mean and no median",
    ),
    Rule(
        ("method", "importance"),
        lambda recipe: recipe.method == "channel" and bool(recipe.importance),
        lambda _: "method 'channel' weighs keys by what they tell about the confidential columns: leave out "
        "importance",
    ),
    Rule(
        ("weights", "publish_weights"),
        lambda recipe: recipe.publish_weights != "auto" and recipe.weights is None,
        lambda _: "publish_weights is about weights, and no column is named: give weights, too",
    ),
    Rule(
        ("method", "publish_weights"),
        lambda recipe: recipe.publish_weights == "mean" and _perturbs(recipe),
        lambda recipe: f"method {recipe.method!r} makes no groups, whose mean weight could be published: "
        "publish weights as they are, or take a method that makes groups",
    ),
    Rule(
        ("intruder", "enforce"),
        lambda recipe: recipe.intruder == "method" and recipe.enforce not in ("auto", "blind"),
        lambda recipe: f"{recipe.enforce!r} looks at confidential values group by group, and an intruder who "
        "knows the method learns from it: leave out enforce, or choose the intruder 'keys'",
    ),
    Rule(
        ("method", "keep_groups"),
        lambda recipe: recipe.keep_groups and not METHODS[recipe.method].groups,
        lambda recipe: f"method {recipe.method!r} divides no records into groups that could be kept: take "
        "another method, or leave out keep_groups",
    ),
    Rule(
        ("models", "keep_groups"),
        lambda recipe: recipe.keep_groups
        and any(model.name == "mutual-information" for model in recipe.required),
        lambda _: "mutual-information is a sum over all groups, and those that are kept do not change: leave "
        "out keep_groups, or take a model that every group keeps by itself, such as t-closeness",
    ),
    Rule(
        ("method", "pseudonyms"),
        lambda recipe: recipe.schema.pseudonyms and recipe.method == "lattice",
        lambda _: "method 'lattice' masks row by row, and pseudonyms show which rows belong together: leave "
        "out the pseudonyms, or take a method that makes groups",
    ),
]  # fmt: skip
"""What cannot be, and why. What is not here works."""


def check_ledger(recipe: Recipe, ledger: str | None) -> None:
    """Refuse a ledger for what it cannot remember, and kept groups without one."""
    if ledger is None and recipe.keep_groups:
        raise InputError("keep_groups needs the ledger that knows the earlier groups: give ledger, too")
    if ledger is not None and not recipe.makes_groups:
        raise InputError(
            f"method {recipe.method!r} makes no groups, and a ledger remembers groups: leave out one of them"
        )


def check_recipe(recipe: Recipe) -> None:
    """Refuse a recipe whose choices exclude each other."""
    for rule in RULES:
        if rule.breaks(recipe):
            raise InputError(rule.reason(recipe))
