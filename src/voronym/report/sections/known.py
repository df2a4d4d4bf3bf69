"""Sections about values that groups reveal, the success of intruders, and further advice."""

from __future__ import annotations

import shlex
from collections.abc import Collection
from dataclasses import replace
from itertools import islice

from voronym.core.sentence import Sentence
from voronym.dossier import Dossier, Public
from voronym.errors import hint, spoken, worded
from voronym.evaluate.disclosed import Disclosed
from voronym.privacy.base import beyond_sizes
from voronym.report.bars import Range, ranges
from voronym.report.language import phrase
from voronym.report.section import Data, section
from voronym.report.svg import percent
from voronym.report.write import Table, names, plural, share
from voronym.request.command import anonymize_words, compare_words, words_of
from voronym.request.recipe import Recipe

MOST_PROPOSALS = 3
_MANY_CERTAIN = 0.01
"""Share of people whose value is certain above which the report proposes a stronger model."""
_LOSSY = 20.0
"""Percent of the variance lost above which the report questions a key."""
_FAR_FROM_OPTIMUM = 20.0
"""Percent above the optimum from which the report proposes a longer search."""
_MANY_LINKED = 0.05
"""Share of people linked by an attack above which the report warns about a release without groups."""


@section("known", "What a group gives away", needs=("inside.disclosed",), place=26)
def known(_: Dossier, result: tuple[Disclosed, ...]) -> Data:
    """Show how many people's confidential value is certain, because their whole group shares it."""
    drawn = ranges(
        [
            Range(entry.column, None if entry.before is None else 100 * entry.before, 100 * entry.share)
            for entry in result
        ],
        title="People whose value is certain to anybody who knows their keys",
        unit=" %",
        limits=(
            0.0,
            min(
                100.0, max(10.0, 110.0 * max(max(element.share, element.before or 0.0) for element in result))
            ),
        ),
        hints=("with the original keys", "in this release"),
    )
    rows = [
        (item.column, item.people, *map(share, (item.before, item.share, item.chance, item.usual)))
        for item in result
    ]
    head = ("column", "people", "before", "after", "chance", "usual")
    near = any(item.width > 0.0 for item in result)
    return {"figure": drawn, "table": Table.of(head, rows), "worst": result[0], "near": near}


@section("intruder", "What an intruder could still do", needs=("public",), place=28, shape="text")
def intruder(d: Dossier, public: Public) -> Data:
    """Describe the remaining success of intruders, by how much they know."""
    return {
        "linked": None if d.inside is None else d.inside.linkage,
        "worst": _worst(d),
        "models": beyond_sizes(public.findings),
    }


@section("next", "What to do next", needs=("inside",), audience="internal", place=29, shape="text")
def following(d: Dossier, _: object) -> Data | None:
    """Return up to three sentences, each with its command."""
    steps = (step(d) for step in (_attacked, _vary, _tied, _group, _search, _keys, _remember))
    result = list(islice((step for step in steps if step is not None), MOST_PROPOSALS))
    return {"steps": result} if result else None


def _worst(d: Dossier) -> Disclosed | None:
    """Return the column that groups give away most; for the data holder only."""
    return d.inside.disclosed[0] if d.inside is not None and d.inside.disclosed else None


Advice = tuple[str, str]


def _attacked(d: Dossier) -> Advice | None:
    """Name the remedy against the worst attack, and the command that runs all of them."""
    rung = None if d.ladder is None else d.ladder.worst
    if rung is None or rung.outcome is None or not rung.outcome.claims or not rung.remedy:
        return None
    if rung.outcome.presence:
        return None
    return (
        Sentence(
            "The attack “{attack}” is right about {share} of the people. What would help: {remedy}. Then "
            "attack the release again, also by what takes minutes:",
            attack=rung.outcome.attack,
            share=share(rung.outcome.success),
            remedy=rung.helps(phrase=phrase),
        ),
        "“Judge a release” on the first screen"
        if spoken() == "page"
        else "voronym attack OUTPUT --original INPUT --recipe recipe.toml",
    )


def _vary(d: Dossier) -> Advice | None:
    """Propose variety if many people's value is certain."""
    worst = _worst(d)
    if d.public.story != "groups" or worst is None or worst.share < _MANY_CERTAIN:
        return None
    return (
        Sentence(
            "For {people}, the value of {column} is certain to anybody who knows the keys. Ask for at least "
            "two values in every group:",
            column=worst.column,
            people=plural(worst.people, "person", "people"),
        ),
        command(d, models=[f"p-sensitive=2,column={worst.column}"]),
    )


def _tied(d: Dossier) -> Advice | None:
    """Propose to shuffle, as keys, the columns that depend on the keys."""
    made = d.public.stirred
    if made is None or made.beyond is None or not made.telling or made.beyond.value <= 1 / (made.m + 1):
        return None
    telling, both = names(made.telling), (*made.shuffled, *made.telling)
    return (
        Sentence(
            "Whoever knows the relation of {columns} to the keys finds {share} of the people. Shuffle that, "
            "too:",
            columns=telling,
            share=share(made.beyond.value),
        ),
        command(d, instead=["shuffle"], options={"shuffle": both}),
    )


def _group(d: Dossier) -> Advice | None:
    """Propose groups if a method without them leaves many people linkable."""
    linked = None if d.inside is None else d.inside.linkage
    if d.public.story == "groups" or linked is None or linked.value < _MANY_LINKED:
        return None
    sentence = Sentence(
        "An attack with the original keys finds {share} of the people. If that is too many, make groups:",
        share=share(linked.value),
    )
    return sentence, command(d, method=False, k=5)


def _search(d: Dossier) -> Advice | None:
    """Propose a longer search if the loss may be far from the optimum."""
    gap, least = d.public.gap, d.public.least
    loss = d.public.information_loss if d.public.by_published else d.public.group_loss
    if gap is None or least is None or loss is None or gap < _FAR_FROM_OPTIMUM or loss < 0.1:
        return None
    return (
        Sentence(
            "The groups lose {loss}, and at best {least}. Search for a minute:",
            loss=percent(loss),
            least=percent(least),
        ),
        command(d, limited=True, time_limit=60),
    )


def _keys(d: Dossier) -> Advice | None:
    """Propose other k, and name the key that lost most."""
    lost = d.public.information_loss
    if lost is None or lost < _LOSSY or d.inside is None or not d.inside.losses:
        return None
    most = d.inside.losses[0]
    return (
        Sentence(
            "{lost} of the keys’ variance is lost, most of it in {key}. See what other methods and k lose:",
            lost=percent(lost),
            key=most.key,
        ),
        "“Protection”: the loss at other k stands beside the choices"
        if spoken() == "page"
        else shlex.join([*compare_words(_recipe(d)), "-k", "3,5,10"]),
    )


def _remember(d: Dossier) -> Advice | None:
    """Propose a ledger for the next release of the same people; None if there is one, or for many files."""
    if d.public.story != "groups" or d.public.recipe.get("leaf"):
        return None
    if d.public.counted == "households" or (
        d.inside is not None and d.inside.ledger
    ):  # none, or there is one
        return None
    return (
        Sentence(
            "Will these people be in another release? Two together can tell them apart. Keep a ledger, and "
            "the next one is checked against it:"
        ),
        command(d, ledger="releases.ledger"),
    )


def command(
    d: Dossier, *, instead: Collection[str] = (), limited: bool = False, method: bool = True, **more: object
) -> str:
    """Return the command that made the release, with further options; on the page, the fields to fill in.

    Parameters
    ----------
    d : Dossier
        About the release.
    instead : collection of str
        Options that these stand for, and that are left out.
    limited : bool
        Whether they say how long to search.
    method : bool
        Whether the method stays, with k and all that goes with it.
    **more
        Choices that are added.
    """
    if spoken() == "page":  # readers of the page click instead
        return "; ".join(worded(hint(name, value)) for name, value in more.items())
    recipe, ledger = _recipe(d), d.inside is not None and d.inside.ledger
    options = {name: value for name, value in (recipe.options or {}).items() if name not in instead}
    recipe = replace(recipe, options=options or None, time_limit=None if limited else recipe.time_limit)
    return shlex.join([*anonymize_words(recipe, ledger=ledger, protection=method), *words_of(more)])


def _recipe(d: Dossier) -> Recipe:
    """Return the recipe of the release; in a public report, the public recipe."""
    return d.own_recipe
