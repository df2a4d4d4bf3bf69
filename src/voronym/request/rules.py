"""The rules about choices that exclude each other, with reasons: only this module refuses combinations."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from voronym.core.grammar import name_of
from voronym.errors import InputError, hint
from voronym.keyspaces import DEFAULT_SPACE
from voronym.method import METHODS
from voronym.request.checks import EVERY
from voronym.request.public_steps import uncounted_steps
from voronym.table.places.store import Store

if TYPE_CHECKING:
    from voronym.request.choices import ReleaseChoices
    from voronym.request.recipe import Recipe


@dataclass(frozen=True)
class Rule:
    """Choices that exclude each other.

    Parameters
    ----------
    choices : tuple of str
        The choices that exclude each other.
    breaks : callable
        Whether a recipe asks for all of them.
    reason : callable
        A sentence on why they exclude each other, and the alternative.
    """

    choices: tuple[str, ...]
    breaks: Callable[[Recipe], bool]
    reason: Callable[[Recipe], str]


GROUPS = ("intruder", "enforce", "publish", "hierarchies", "widths", "ends", "importance")
"""Choices about groups and their published values; methods without groups ignore them."""
COMPARED = (("records", "mixed"), ("lattice", "ranges"), ("local-suppression", "ranges"))
"""Methods without groups that use a space: `records` for distances, the others to publish ranges."""
HISTORY = ("headroom", "dissolved")
"""Choices about groups that are kept."""
BEFORE = ("waiting", "changed")
"""Choices about people of earlier releases."""


def _perturbs(recipe: Recipe) -> bool:
    return not recipe.makes_groups


def _alone(recipe: Recipe, name: str, way: str) -> bool:
    """Whether a key can be published in that way without a group: a number, or a key of given width."""
    bounds, private = (recipe.bounds or {}).get(name), recipe.private is not None
    if way == "interval":
        numbers = recipe.schema[name].kind == "numeric" if name in recipe.schema else False
        return name in (recipe.widths or {}) or (numbers and (bounds is not None or not private))
    return private and way in ("mean", "median")


def _useless(recipe: Recipe) -> list[str]:
    """Return the choices that a method without groups cannot use."""
    own = METHODS[recipe.method].options.names()
    stepped = any(set(step.columns) & set(recipe.hierarchies or {}) for step in recipe.column_steps)
    ways = recipe.publish or {}
    alone = bool(ways) and all(_alone(recipe, name, way) for name, way in ways.items())
    used = {*own, *(("hierarchies",) if stepped else ()), *(("publish", "widths") if alone else ())}
    return [name for name in GROUPS if name in recipe.given and name not in used]


def _regroups(name: str) -> bool:
    """Whether groups of a method exchange or join records until models hold."""
    return METHODS[name].groups or name == "local-suppression"


def _obeyed(recipe: Recipe) -> bool:
    """Whether groups must obey more than k: a model, or k households in groups of records."""
    models = any(model.required is not None and model.merging for model in recipe.required[1:])
    return models or (bool(recipe.schema.household) and any(METHODS[name].groups for name in recipe.methods))


def _never_ranged(recipe: Recipe, names: Iterable[str]) -> list[str]:
    """Return the keys that are not published as intervals."""
    usual = "interval" if recipe.space == "ranges" else "mean"
    return [name for name in names if recipe.way(name, usual) != "interval"]


PRIVATE = {
    "suppress": "the choice of records to leave out depends on the others, which ε does not count",
    "keep_groups": "kept groups reveal in every release which people stay, and ε does not count that",
    "seed": "anybody who has the seed could subtract the noise; noise is drawn from the system",
    "space": "records are compared by their public bounds, and spaces look at the data",
    "metrics": "records are compared by their public bounds, and metrics look at the data",
}
"""Choices that differential privacy excludes, each with the reason."""


def _uncounted(recipe: Recipe) -> list[str]:
    """Return the choices that use data in ways that differential privacy does not count."""
    return [name for name in PRIVATE if name in recipe.given]


RULES: list[Rule] = [
    Rule(
        ("method", "models"),
        lambda recipe: recipe.private is not None and recipe.method != "dp",
        lambda recipe: f"method {recipe.method!r} depends on single people, which dp does not allow: leave "
        f"out the method; {hint('grouping')} chooses how groups are made",
    ),
    Rule(
        ("method", "models"),
        lambda recipe: recipe.method == "dp" and recipe.private is None,
        lambda _: "method 'dp' needs the model that says how much is promised: "
        f"{hint('models', 'dp=1.0')}",
    ),
    Rule(
        ("models",),
        lambda recipe: sum(name_of(text) == "dp" for text in recipe.models) > 1,
        lambda _: "dp is asked for twice: a release has one ε",
    ),
    Rule(
        ("models",),
        lambda recipe: recipe.private is not None and recipe.private.required is None,
        lambda _: f"dp: say how much is promised, such as {hint('models', 'dp=1.0')}; no table shows it "
        "afterwards",
    ),
    Rule(
        ("bounds", "models"),
        lambda recipe: recipe.bounds is not None and recipe.private is None,
        lambda _: "bounds are for differential privacy only: give the model, too "
        f"({hint('models', 'dp=1.0')}), or leave them out",
    ),
    Rule(
        ("models", *PRIVATE),
        lambda recipe: recipe.private is not None and bool(_uncounted(recipe)),
        lambda recipe: f"{_uncounted(recipe)[0]} does not go with dp: {PRIVATE[_uncounted(recipe)[0]]}. "
        f"Leave out {', '.join(_uncounted(recipe))}",
    ),
    Rule(
        ("models", "blocks"),
        lambda recipe: recipe.private is not None and bool(recipe.blocks),
        lambda _: f"dp makes groups of all keys at once, by {hint('grouping')}: leave out the parts",
    ),
    Rule(
        ("models", "steps"),
        lambda recipe: recipe.private is not None and bool(uncounted_steps(recipe)),
        lambda recipe: f"step '{uncounted_steps(recipe)[0]}' does not go with dp: it looks at other rows, "
        "and ε does not count that. Give the numbers yourself (top age=90, recode cuts=20,40, pram "
        "matrix=FILE), or do it after, to published columns alone",
    ),
    Rule(
        ("models", "strata"),
        lambda recipe: recipe.private is not None and bool(recipe.strata)
        and (recipe.private.scope == "all" or recipe.private.hides_presence),
        lambda _: "a stratum is published as it is, row by row, and dp is to cover all columns or the number "
        "of rows, too: leave out strata, or scope=all and neighbours",
    ),
    Rule(
        ("models", "confidential", "other"),
        lambda recipe: recipe.private is not None and recipe.private.hides_presence
        and recipe.private.scope == "keys" and bool(recipe.schema.confidential or recipe.schema.other),
        lambda recipe: "dp: neighbours=add-remove hides how many rows there are, and columns that stay as "
        f"they are show it ({', '.join((*recipe.schema.confidential, *recipe.schema.other))}): add "
        "scope=all, or drop them",
    ),
    Rule(
        ("models", "pseudonyms"),
        lambda recipe: recipe.private is not None and recipe.schema.pseudonyms,
        lambda _: "pseudonyms show which rows belong together, which dp does not cover: leave them out",
    ),
    Rule(
        ("models",),
        lambda recipe: recipe.private is not None and len(recipe.models) > 1,
        lambda recipe: "dp does not go with other models: groups that are changed until these hold depend "
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
        lambda recipe: "every key is in a part, which has a method of its own: leave out the method"
        if recipe.blocks
        else "the method 'blocks' needs the parts of the keys: give some, such as "
        f"{hint('blocks', ['roof,walls: local-suppression', 'income: mdav'])}",
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
        and any(model.additive for model in recipe.required),
        lambda _: "mutual-information is a sum over all groups, which parts make one after the other: take a "
        "model that every group keeps by itself, such as t-closeness, or leave out the parts",
    ),
    Rule(
        ("method", "space"),
        lambda recipe: recipe.space != DEFAULT_SPACE
        and not any(METHODS[name].groups for name in recipe.methods)
        and (recipe.method, recipe.space) not in COMPARED,
        lambda recipe: f"method {recipe.method!r} does not compare records in a space: leave out the space",
    ),
    Rule(
        ("space", "metrics"),
        lambda recipe: bool(recipe.metrics) and recipe.space != "mixed" and recipe.method != "records",
        lambda _: "metrics belong to the space 'mixed': choose it, or leave them out",
    ),
    Rule(
        ("method", *GROUPS),
        lambda recipe: _perturbs(recipe) and bool(_useless(recipe)),
        lambda recipe: f"method {recipe.method!r} makes no groups and does not use "
        f"{', '.join(_useless(recipe))}: leave it out, or take a method that makes groups, such as 'auto'",
    ),
    Rule(
        ("keep_groups", *HISTORY),
        lambda recipe: not recipe.keep_groups and bool(set(HISTORY) & set(recipe.given)),
        lambda recipe: f"{', '.join(hint(name) for name in HISTORY if name in recipe.given)} is about "
        f"groups that are kept from one release to the next: add {hint('keep_groups')}, or leave it out",
    ),
    Rule(
        ("space", "publish"),
        lambda recipe: recipe.space == "ranges"
        and (recipe.publish or {}).get(EVERY) in ("mean", "median"),
        lambda _: "in the space 'ranges' keys are published as ranges: leave out the space, or name the keys "
        "that publish a mean or a median",
    ),
    Rule(
        ("publish", "widths"),
        lambda recipe: bool(_never_ranged(recipe, recipe.widths or ())),
        lambda recipe: f"{hint('widths')} is for intervals, and "
        f"{_never_ranged(recipe, recipe.widths or ())[0]!r} is not published as one: leave it out, or choose "
        f"{hint('publish', 'interval')}",
    ),
    Rule(
        ("publish", "ends"),
        lambda recipe: recipe.ends != "rounded" and len(_never_ranged(recipe, recipe.schema.keys)) ==
        len(recipe.schema.keys),
        lambda _: f"{hint('ends')} is for intervals, and no key is published as one: leave it out, or choose "
        f"{hint('publish', 'interval')}",
    ),
    Rule(
        ("weights", "publish_weights"),
        lambda recipe: recipe.publish_weights != "auto" and recipe.weights is None,
        lambda _: f"{hint('publish_weights')} needs the column of weights: add {hint('weights')}",
    ),
    Rule(
        ("method", "publish_weights"),
        lambda recipe: recipe.publish_weights == "mean" and _perturbs(recipe) and recipe.private is None,
        lambda recipe: f"method {recipe.method!r} makes no groups, so there is no mean weight to publish: "
        "publish weights as they are, or take a method that makes groups",
    ),
    Rule(
        ("intruder", "enforce"),
        lambda recipe: recipe.intruder == "method" and recipe.enforce not in ("auto", "blind"),
        lambda recipe: f"{recipe.enforce!r} looks at confidential values group by group, and an intruder who "
        f"knows the method learns from it: leave out {hint('enforce')}, or choose the intruder 'keys'",
    ),
    Rule(
        ("method", "blocks", "enforce"),
        lambda recipe: recipe.enforce not in ("auto", "blind") and recipe.makes_groups
        and not any(map(_regroups, recipe.methods)),
        lambda recipe: f"{recipe.enforce!r} joins groups or exchanges records until models hold, and "
        "'lattice' gives the same levels to everybody: leave out enforce, or take another method, such as "
        "'local-suppression' or 'auto'",
    ),
    Rule(
        ("enforce", "models"),
        lambda recipe: recipe.enforce != "auto" and recipe.makes_groups and not _obeyed(recipe),
        lambda _: "enforce says how groups are made to obey models, and no model is given that groups could "
            f"break: leave it out, or give a model, such as {hint('models', 'l-diversity=2')}",
    ),
    Rule(
        ("method", "keep_groups"),
        lambda recipe: recipe.keep_groups and _perturbs(recipe),
        lambda recipe: f"method {recipe.method!r} makes no groups that could keep what they published: take "
        f"another method, or leave out {hint('keep_groups')}",
    ),
    Rule(
        ("method", "keep_groups", "person"),
        lambda recipe: recipe.keep_groups and "lattice" in recipe.methods and bool(recipe.schema.person),
        lambda _: "method 'lattice' masks row by row, and groups that are kept have all rows of a person: "
        f"leave out {hint('keep_groups')}, or take another method",
    ),
    Rule(
        ("models", "keep_groups"),
        lambda recipe: recipe.keep_groups
        and any(model.additive for model in recipe.required),
        lambda _: "mutual-information is a sum over all groups, and those that are kept do not change: leave "
        f"out {hint('keep_groups')}, or take a model that every group keeps by itself, such as t-closeness",
    ),
    Rule(
        ("policy", "facts"),
        lambda recipe: recipe.facts is not None and recipe.policy is None,
        lambda _: f"facts are tables for a policy, and no policy is named: add {hint('policy')}",
    ),
    Rule(
        ("method", "pseudonyms"),
        lambda recipe: recipe.schema.pseudonyms and recipe.method == "lattice",
        lambda _: "method 'lattice' masks row by row, and pseudonyms show which rows belong together: leave "
        "out the pseudonyms, or take a method that makes groups",
    ),
]  # fmt: skip
"""The impossible combinations, with reasons. All others work."""


def check_ledger(recipe: Recipe, ledger: str | None) -> None:
    """Refuse a ledger for runs it cannot remember, and kept groups without a ledger."""
    if ledger is None and recipe.keep_groups:
        raise InputError(f"{hint('keep_groups')} needs a ledger of earlier groups: add {hint('ledger')}")
    if ledger is None and set(BEFORE) & set(recipe.given):
        given = ", ".join(hint(name) for name in BEFORE if name in recipe.given)
        raise InputError(f"{given} is about earlier releases, which a ledger knows: add {hint('ledger')}")


def check_parts(choices: ReleaseChoices, *, database: bool = False) -> None:
    """Refuse choices that a run over many parts cannot follow."""
    if choices.policy is not None and database:
        raise InputError(
            "a policy counts the cells of files, not of queries: write the result of the query to Parquet "
            "files first, and name these"
        )


def check_work(work: str | None, engine: str, workers: int | None) -> None:
    """Refuse a work folder in a store whose files cannot be shared safely by workers."""
    address = None if work is None else Store().address(work)
    if address is None:
        return
    kind = address.split("://", 1)[0]
    if kind not in STORES:
        raise InputError(
            f"a work folder is a folder of this machine, or in a store that gives a file its name once "
            f"({', '.join(f'{name}://' for name in STORES)}); {kind}:// is none"
        )
    if kind == "memory" and (engine != "local" or workers != 1):
        raise InputError(
            "memory:// is the memory of one process: take one worker on this machine, or another store"
        )


STORES = ("s3", "s3a", "gs", "gcs", "az", "abfs", "memory")
"""Stores that refuse to give a file a name that is taken."""


def check_recipe(recipe: Recipe) -> None:
    """Refuse a recipe whose choices exclude each other."""
    for rule in RULES:
        if rule.breaks(recipe):
            raise InputError(rule.reason(recipe))
