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


GROUPING = (
    "intruder", "enforce", "publish", "hierarchies", "widths", "ends", "metrics", "importance", "weights",
    "publish_weights", "strata", "suppress", "sampling_fraction", "population", "keep_groups", "headroom",
    "dissolved", "waiting",
)  # fmt: skip
"""Choices that methods which make groups of records heed."""
HEEDED = {
    "lattice": ("hierarchies", "suppress", "importance", "sampling_fraction", "population"),
    "local-suppression": ("importance", "sampling_fraction", "population"),
}
"""Those that methods heed which say themselves what groups publish."""


def unheeded(recipe: Recipe) -> list[str]:
    """Return what is asked of a method that has no use for it, and would pass over it in silence."""
    method = METHODS[recipe.method]
    if method.groups or (method.keeps_k and recipe.method not in HEEDED):
        return []
    heeded = {*HEEDED.get(recipe.method, ()), *method.options.names()}
    if any(set(step.columns) & set(recipe.hierarchies or {}) for step in recipe.column_steps):
        heeded.add("hierarchies")
    return [name for name in GROUPING if name in recipe.given and name not in heeded]


def _measured(names: list[str]) -> str:
    """Say where the risk in the population is told of a table whose keys are published with noise."""
    if not {"population", "sampling_fraction"} & set(names):
        return ""
    return (
        ". Keys with noise cannot be looked up in a population: `voronym measure` tells that risk of the "
        "table as it is now, and `voronym attack` what an intruder finds in the release"
    )


RULES: list[Rule] = [
    Rule(
        ("method", *GROUPING),
        lambda recipe: bool(unheeded(recipe)),
        lambda recipe: (
            f"method {recipe.method!r} has no use for {', '.join(unheeded(recipe))}: leave it out, or take "
            f"another method, such as 'auto'{_measured(unheeded(recipe))}"
        ),
    ),
    Rule(
        ("space", "metrics"),
        lambda recipe: (
            bool(recipe.metrics)
            and recipe.space in (DEFAULT_SPACE, "ranges")
            and METHODS[recipe.method].groups
        ),
        lambda _: (
            "metrics are for the space 'mixed', where every key has one: choose that space, or leave them out"
        ),
    ),
    Rule(
        ("space", "weights"),
        lambda recipe: recipe.weights is not None and recipe.space in ("mixed", "ranges"),
        lambda recipe: (
            f"weights are how many people a record stands for, which the space {recipe.space!r} does not "
            "heed: leave out the space, or the weights"
        ),
    ),
    Rule(
        ("intruder", "enforce"),
        lambda recipe: recipe.intruder == "method" and recipe.enforce not in ("auto", "blind"),
        lambda recipe: (
            f"{recipe.enforce!r} looks at confidential values group by group, and an intruder who knows the "
            "method learns from it: leave out enforce, or choose the intruder 'keys'"
        ),
    ),
    Rule(
        ("method", "space"),
        lambda recipe: recipe.space != DEFAULT_SPACE and not METHODS[recipe.method].groups,
        lambda recipe: (
            f"method {recipe.method!r} makes no groups: leave out the space"
            if not METHODS[recipe.method].keeps_k
            else f"method {recipe.method!r} compares no records: leave out the space"
        ),
    ),
    Rule(
        ("weights", "publish_weights"),
        lambda recipe: recipe.publish_weights != "auto" and recipe.weights is None,
        lambda _: "publish_weights is about weights, and no column is named: give weights, too",
    ),
]


def check_recipe(recipe: Recipe) -> None:
    """Refuse a recipe whose choices exclude each other."""
    for rule in RULES:
        if rule.breaks(recipe):
            raise InputError(rule.reason(recipe))
