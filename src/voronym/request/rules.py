"""Which choices exclude each other, and why: the one place that refuses a combination."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from voronym.errors import InputError
from voronym.keyspaces import DEFAULT_SPACE
from voronym.method import METHODS

if TYPE_CHECKING:
    from voronym.request.choices import ReleaseChoices
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


GROUPS = ("intruder", "enforce", "publish", "hierarchies", "widths", "ends", "importance",
          "sampling_fraction", "population")  # fmt: skip
"""Choices about groups and what they publish: a method that makes none has no use for them."""
HISTORY = ("headroom", "dissolved")
"""Choices about groups that are kept."""
BEFORE = ("waiting", "changed")
"""Choices about people of earlier releases."""


def _perturbs(recipe: Recipe) -> bool:
    return not recipe.makes_groups


def _useless(recipe: Recipe) -> list[str]:
    """Return what is asked of a method without groups that it has no use for."""
    own = METHODS[recipe.method].options.names()
    stepped = any(set(step.columns) & set(recipe.hierarchies or {}) for step in recipe.column_steps)
    used = {*own, *(("hierarchies",) if stepped else ())}
    return [name for name in GROUPS if name in recipe.given and name not in used]


def _about_population(names: list[str]) -> str:
    if not {"population", "sampling_fraction"} & set(names):
        return ""
    return (
        ". Keys with noise cannot be looked up in a population: `voronym measure` tells that risk of the "
        "table as it is now, and `voronym attack` what an intruder finds in the release"
    )


def _useless_private(recipe: Recipe) -> list[str]:
    """Return what looks at data in ways that differential privacy does not count."""
    names = (
        "steps",
        "weights",
        "strata",
        "suppress",
        "keep_groups",
        "seed",
        "space",
        "metrics",
        "time_limit",
    )
    return [name for name in names if name in recipe.given]


RULES: list[Rule] = [
    Rule(
        ("method", "models"),
        lambda recipe: recipe.private is not None and recipe.method != "dp",
        lambda recipe: f"method {recipe.method!r} looks at single people, and dp publishes what nobody can "
        "change alone: leave out the method; --grouping chooses how groups are made",
    ),
    Rule(
        ("method", "models"),
        lambda recipe: recipe.method == "dp" and recipe.private is None,
        lambda _: "method 'dp' needs the model that says how much is promised: --model dp=1.0 "
        "(models=['dp=1.0'] in Python)",
    ),
    Rule(
        ("models",),
        lambda recipe: sum(text.partition("=")[0].strip() == "dp" for text in recipe.models) > 1,
        lambda _: "dp is asked for twice: a release has one ε",
    ),
    Rule(
        ("models",),
        lambda recipe: recipe.private is not None and recipe.private.required is None,
        lambda _: "dp: say how much is promised, such as --model dp=1.0; no table shows it afterwards",
    ),
    Rule(
        ("bounds", "models"),
        lambda recipe: recipe.bounds is not None and recipe.private is None,
        lambda _: "bounds are what differential privacy needs: give the model, too (--model dp=1.0), or "
        "leave them out",
    ),
    Rule(
        ("models", "steps", "weights", "strata", "suppress", "keep_groups", "seed", "space", "metrics"),
        lambda recipe: recipe.private is not None and bool(_useless_private(recipe)),
        lambda recipe: f"{', '.join(_useless_private(recipe))} cannot be had with dp: what it looks up in "
        "the data, or lets others draw again, is not counted in ε. Leave it out; change columns by public "
        "rules before, in the table itself",
    ),
    Rule(
        ("models", "pseudonyms"),
        lambda recipe: recipe.private is not None and recipe.schema.pseudonyms,
        lambda _: "pseudonyms show which rows belong together, which dp does not cover: leave them out",
    ),
    Rule(
        ("models",),
        lambda recipe: recipe.private is not None and len(recipe.models) > 1,
        lambda recipe: "dp cannot be had with other models: groups that are changed until these hold depend "
        "on single people, and that is not counted in ε. Leave out "
        f"{', '.join(text for text in recipe.models if not text.strip().startswith('dp'))}",
    ),
    Rule(
        ("like", "method"),
        lambda recipe: recipe.like == "sdcmicro" and recipe.method != "local-suppression",
        lambda recipe: "like=sdcmicro publishes true values or gaps, which is the method "
        f"'local-suppression', and {recipe.method!r} is asked for: leave out one of them",
    ),
    Rule(
        ("like", "method"),
        lambda recipe: recipe.like == "arx" and not METHODS[recipe.method].groups,
        lambda recipe: f"like=arx publishes ranges of groups, and method {recipe.method!r} makes none: leave "
        "out one of them",
    ),
    Rule(
        ("method", "blocks"),
        lambda recipe: bool(recipe.blocks) != (recipe.method == "blocks"),
        lambda recipe: "parts of the keys have methods of their own: leave out the method"
        if recipe.blocks
        else "the method 'blocks' needs the parts of the keys: give some, such as --part 'roof,walls: "
        "local-suppression' --part 'income: mdav'",
    ),
    Rule(
        ("blocks", "keep_groups"),
        lambda recipe: recipe.keep_groups and bool(recipe.blocks),
        lambda _: "groups of parts lie within each other, and those that are kept would not: leave out "
        "keep_groups, or the parts",
    ),
    Rule(
        ("blocks", "intruder"),
        lambda recipe: bool(recipe.blocks) and (recipe.intruder == "method" or recipe.enforce != "auto"),
        lambda _: "parts obey models by leaving classes whole, and know no other way: leave out intruder and "
        "enforce, or the parts",
    ),
    Rule(
        ("blocks", "pseudonyms"),
        lambda recipe: bool(recipe.blocks) and recipe.schema.pseudonyms and bool(recipe.schema.household),
        lambda _: "parts group people one by one, and pseudonyms of households show them together: leave "
        "out the pseudonyms, or the parts",
    ),
    Rule(
        ("blocks", "models"),
        lambda recipe: bool(recipe.blocks)
        and any(model.name == "mutual-information" for model in recipe.required),
        lambda _: "mutual-information is a sum over all groups, which parts make one after the other: take a "
        "model that every group keeps by itself, such as t-closeness, or leave out the parts",
    ),
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
        ("method", *GROUPS),
        lambda recipe: _perturbs(recipe) and bool(_useless(recipe)),
        lambda recipe: f"method {recipe.method!r} makes no groups and has no use for "
        f"{', '.join(_useless(recipe))}: leave it out, or take a method that makes groups, such as 'auto'"
        f"{_about_population(_useless(recipe))}",
    ),
    Rule(
        ("keep_groups", *HISTORY),
        lambda recipe: not recipe.keep_groups and bool(set(HISTORY) & set(recipe.given)),
        lambda recipe: f"{', '.join(name for name in HISTORY if name in recipe.given)} is about groups that "
        "are kept from one release to the next: give keep_groups, too, or leave it out",
    ),
    Rule(
        ("space", "publish"),
        lambda recipe: recipe.space == "ranges"
        and bool({"mean", "median"} & set((recipe.publish or {}).values())),
        lambda _: "in the space 'ranges' every key is published as a range: leave out the space, or publish "
        "no mean and no median",
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
        lambda recipe: recipe.keep_groups and (_perturbs(recipe) or recipe.method == "lattice"),
        lambda recipe: f"method {recipe.method!r} makes no groups that could keep what they published: take "
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
        ("policy", "facts"),
        lambda recipe: recipe.facts is not None and recipe.policy is None,
        lambda _: "facts are tables that a policy needs, and none is named: give policy, too",
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
    if ledger is None and set(BEFORE) & set(recipe.given):
        given = ", ".join(name for name in BEFORE if name in recipe.given)
        raise InputError(f"{given} is about earlier releases, which a ledger knows: give ledger, too")
    if ledger is not None and not recipe.makes_groups and recipe.private is None:
        raise InputError(
            f"method {recipe.method!r} makes no groups, and a ledger remembers groups: leave out one of them"
        )


def check_parts(choices: ReleaseChoices) -> None:
    """Refuse what a run over many parts cannot do."""
    if choices.policy is not None:
        raise InputError(
            "a policy is judged on a table in memory, and a data set of many parts need not fit it: leave "
            "out policy, take the roles, steps and k that `voronym inspect --policy` proposes for a file, "
            "and look at the release with `voronym check`"
        )


def check_recipe(recipe: Recipe) -> None:
    """Refuse a recipe whose choices exclude each other."""
    for rule in RULES:
        if rule.breaks(recipe):
            raise InputError(rule.reason(recipe))
