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


RULES: list[Rule] = [
    Rule(
        ("method", "space"),
        lambda recipe: recipe.space != DEFAULT_SPACE and not METHODS[recipe.method].groups,
        lambda recipe: f"method {recipe.method!r} compares no records: leave out the space",
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
