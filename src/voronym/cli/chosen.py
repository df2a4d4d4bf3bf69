"""The options of the method that was chosen, as they stand on the command line."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from voronym.cli import common
from voronym.errors import InputError


def method_options(
    method: str,
    space: str | None,
    pairs: Sequence[str],
    own: Sequence[tuple[str, str]],
    columns: Sequence[str],
    flags: Sequence[str],
) -> dict[str, Any]:
    """Read the options of a method from ``--option NAME=VALUE`` and ``--NAME VALUE``, by its dataclass.

    An option that takes columns may be repeated or take commas; one that takes a value for each column is
    written ``--metrics COLUMN=VALUE``, and may be repeated.
    """
    from voronym.methods.grouped import options_of

    known = options_of(method, space)
    said: dict[str, list[str]] = {}
    for name, text in common.pairs(pairs, "--option").items():
        said.setdefault(name, []).append(text)
    for name, text in own:
        if name not in known:
            raise InputError(_unknown(name, method, known, flags))
        said.setdefault(name, []).append(text)
    return {name: common.option_value(name, texts, known.get(name), columns) for name, texts in said.items()}


def _unknown(name: str, method: str, known: Collection[str], flags: Sequence[str]) -> str:
    """Say that a method has no such option, which it has, and who has this one."""
    from difflib import get_close_matches

    from voronym.core.options import other_word
    from voronym.keyspaces import KEY_SPACES
    from voronym.method import METHODS
    from voronym.methods.grouped import options_of

    wanted = common.flag(name)
    said = f"there is no option {wanted} for the method {method!r}, which takes: "
    said += ", ".join(map(common.flag, known)) or "none of its own"
    if word := other_word([name], known):
        return said + word
    methods = [one for one in METHODS if name in METHODS[one].options.names()]
    spaces = [one for one in KEY_SPACES if METHODS[method].groups and name in options_of(method, one)]
    able = [f"--method {one}" for one in methods] + [f"--space {one}" for one in spaces]
    if not METHODS[method].groups and name in options_of("auto"):
        able.insert(0, "every method that makes groups, such as --method auto,")
    if able:
        told = " and of ".join(able).removesuffix(",")
        return f"{said}. It is one of {told}{_measured(name)}"
    there = [*map(common.flag, known), *flags]
    # the beginning of a word is nearer to it than letters tell: --drop to --drop-undeclared
    near = get_close_matches(wanted, there, 1, 0.75) or [one for one in there if one.startswith(f"{wanted}-")]
    if near and near[0] in flags:  # of the verb itself: what the method takes is beside the point
        return f"there is no option {wanted}. Did you mean {near[0]}?"
    if near:
        return f"{said}. Did you mean {near[0]}?"
    return f"{said}. See voronym anonymize --help"


def _measured(name: str) -> str:
    """Say where the risk in the population is told of a table whose keys are published with noise."""
    from voronym.methods.sampled import SampleOptions

    if name not in SampleOptions.names():
        return ""
    return (
        ". Keys with noise cannot be looked up in a population: `voronym measure` tells that risk of the "
        "table as it is now, and `voronym attack` what an intruder finds in the release"
    )
