"""The help pages: options by purpose, with defaults and examples, wrapped between words.

Texts are printed literally, without markup. `Group` is the class of the whole program: it finds every verb in
the registry, gives it this help, and loads a verb's libraries only when it runs.
"""

from __future__ import annotations

import inspect
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from functools import partial
from typing import Any

import typer
from typer.core import TyperGroup

from voronym.cli import signals
from voronym.cli.verbs import VERBS, by_purpose, examples_of
from voronym.core import plugin
from voronym.errors import InputError
from voronym.request.choices import METHOD, PROTECTION, PURPOSES, SURVEY

WIDEST, LABEL = 110, 26
"""Widest page in characters, and the width of the option names if they fit."""
OTHERS: dict[str, tuple[str, ...]] = {
    "Compared with": ("original", "aligned", "control", "earlier"),
    "Output": (
        "output", "report", "public_report", "save_recipe", "json", "overwrite", "on_interrupt", "progress",
        "folder",
        "out_delimiter", "out_encoding", "out_decimal", "out_thousands", "out_date_format",
        "out_line_ends", "out_table", "no_guard",
    ),
    "Reading": (
        "recipe", "query", "delimiter", "encoding", "decimal", "thousands", "date_format", "missing",
        "no_header", "header", "skip_rows", "skip_footer", "sheet",
    ),
    PROTECTION: ("k", "risk"),
    METHOD: ("method", "seed", "all_methods", "only", "targets"),
    SURVEY: ("suda",),
}  # fmt: skip
"""The purposes of undeclared options, and their order."""
ORDER = (*PURPOSES[:-1], "Compared with", "Output", "Reading", PURPOSES[-1])
"""All purposes in the order of the help page; options without a purpose stand under "Options"."""
_NAMED = {
    **dict.fromkeys(("weight", "capacity", "minimum"), "COLUMN"),
    **dict.fromkeys(("original", "control", "population", "earlier"), "FILE"),
    **dict.fromkeys(("missing", "original_missing", "places_missing"), "CODES"),
    "folder": "FOLDER", "store": "FOLDER",
}  # fmt: skip
_VALUES = {"int": "N", "float": "NUMBER", "str": "TEXT", "Path": "FILE", "list[str]": "NAMES"}


class Commands(MutableMapping[str, Any]):
    """The commands of all verbs, each built on first use: building all of them takes long."""

    def __init__(self) -> None:
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            if name not in VERBS:
                raise KeyError(name)
            try:
                made = VERBS[name].commands()[name]
            except Exception as error:
                if not plugin.expel(VERBS, name, error):
                    raise
                raise KeyError(name) from error
            for command in _all_of(made):
                command.format_help = partial(format_help, command)
                if not hasattr(command, "commands"):
                    command.invoke = partial(_begin, command.invoke)
            self._made[name] = made
        return self._made[name]

    def __setitem__(self, name: str, command: Any) -> None:
        self._made[name] = command

    def __delitem__(self, name: str) -> None:
        del self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter([name for name in list(VERBS) if name in self])

    def __len__(self) -> int:
        return len(list(iter(self)))


class Group(TyperGroup):
    """The program: its verbs come from the registry, and plug-ins add theirs."""

    def __init__(self, *args: Any, **given: Any) -> None:
        super().__init__(*args, **given)
        plugin.load(verbs=True)
        self.commands = Commands()
        self.format_help = partial(format_help, self)  # type: ignore[method-assign]

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the typed verb; if it is missing, name the distribution that provides it."""
        if args[0] not in self.commands and not ctx.resilient_parsing:
            plugin.warn()
            if hint := plugin.distribution_hint("verb", args[0]):
                raise InputError(f"no verb is called {args[0]!r}{hint}")
        return super().resolve_command(ctx, args)


def _begin(invoke: Callable[[Any], Any], ctx: Any) -> Any:
    """Load the numerical libraries once the command has been read, and let it run."""
    with signals.leaving():
        import voronym.run.door  # noqa: F401
    return invoke(ctx)


def _all_of(command: Any) -> Iterator[Any]:
    yield command
    for below in getattr(command, "commands", {}).values():
        yield from _all_of(below)


def format_help(command: Any, ctx: Any, formatter: Any) -> None:
    """Write the help of a command: usage, description, examples, arguments and options by purpose."""
    paint = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    wide = min(shutil.get_terminal_size().columns, WIDEST)
    lines: list[str] = []

    def head(words: str) -> None:
        lines.extend(["", typer.style(words, bold=True) if paint else words])

    name = program(ctx)
    lines.append(f"Usage: {name} {' '.join(_pieces(command, ctx))}")
    lines += _paragraphs(command.help or "", wide)
    examples = examples_of(name.removeprefix("voronym").strip())
    if examples:
        head("Examples" if len(examples) > 1 else "Example")
        for example in examples:
            lines += command_lines(example, wide)
    for purpose, rows in _rows(command, ctx).items():
        head(purpose)
        for label, words in rows:
            lines += _row(label, words, wide, paint)
    lines += _paragraphs(command.epilog or "", wide)
    formatter.write("\n".join(lines) + "\n")


def program(ctx: Any) -> str:
    """Return the command path as typed, without options and with the program's name."""
    words = []
    while ctx is not None:
        words.append("voronym" if ctx.parent is None else str(ctx.info_name))
        ctx = ctx.parent
    return " ".join(reversed(words))


def _pieces(command: Any, ctx: Any) -> list[str]:
    arguments = [
        get_param for get_param in command.get_params(ctx) if get_param.param_type_name == "argument"
    ]
    named = [
        argument.name.upper() if argument.required else f"[{argument.name.upper()}]" for argument in arguments
    ]
    verbs = getattr(command, "commands", None)
    return [*named, "[OPTIONS]"] if verbs is None else ["VERB", "..."]


def _rows(command: Any, ctx: Any) -> dict[str, list[tuple[str, str]]]:
    """Return names and texts by purpose: arguments, options and, for a group, its verbs."""
    purposes = by_purpose() if ctx.parent is None else {}
    order = (*purposes, "Verbs", "Arguments", "Options", *ORDER)
    result: dict[str, list[tuple[str, str]]] = {name: [] for name in order}
    for item in sorted(command.get_params(ctx), key=lambda get_param: _place(get_param.name)):
        if getattr(item, "hidden", False):
            continue
        if item.param_type_name == "argument":
            result["Arguments"].append((item.name.upper(), item.help or ""))
        else:
            outcome = getattr(item, "rich_help_panel", None) or _purpose(item.name)
            result.setdefault(outcome, []).append((_label(item), _words(item)))
    verbs = getattr(command, "commands", {})
    headings = {name: purpose for purpose, names in purposes.items() for name in names}
    for name in [*headings, *(name for name in verbs if name not in headings)]:
        if name not in verbs:  # a plug-in's verb that could not be made
            continue
        first = inspect.cleandoc(verbs[name].help or "").split("\n\n")[0]
        result[headings.get(name, "Verbs")].append((name, " ".join(first.split())))
    result["Options"] = result.pop("Options")  # options without a purpose, such as --help, come last
    return {name: rows for name, rows in result.items() if rows}


def _place(name: str) -> int:
    """Return the position of an option within its purpose; unlisted options keep their order."""
    return next((names.index(name) for names in OTHERS.values() if name in names), len(OTHERS["Output"]))


def _purpose(name: str) -> str:
    for prefix, what in (("original_", "the original"), ("places_", "the places")):
        plain = name.removeprefix(prefix)
        if plain != name and plain in OTHERS["Reading"]:
            return f"Reading {what}"
    return next((purpose for purpose, names in OTHERS.items() if name in names), "Options")


def _label(option: Any) -> str:
    names = ", ".join(sorted([*option.opts, *option.secondary_opts], key=len))
    if option.is_flag or option.count:
        return names
    sort = option.metavar or _NAMED.get(option.name) or _sort(option)
    return f"{names} {sort}"


def _sort(option: Any) -> str:
    """Return the type of an option's value as one word."""
    head = (option.help or "").split(":")[0]
    if ("=" in head or "," in head) and head.split("=")[0].isupper() and " " not in head:
        return str(head)  # a help that opens with its form, such as COLUMN=KIND
    written = getattr(option, "bare_type", lambda: getattr(option.type, "name", "text"))()
    return _VALUES.get(str(written), "NAMES" if option.multiple else "VALUE")


def _words(option: Any) -> str:
    """Return the help of an option with its default."""
    result = " ".join((option.help or "").split())
    form = f"{_sort(option)}: "
    result = result.removeprefix(form)
    default = option.show_default if isinstance(option.show_default, str) else option.default
    if option.required:
        return f"{result} Required."
    if default in (None, False, (), [], "") or option.is_flag or callable(default):
        return result
    shown = f"{default:g}" if isinstance(default, float) else str(default)
    return f"{result} Default: {shown}."


def _paragraphs(text: str, wide: int) -> list[str]:
    """Return running text as wrapped lines, with a blank line before each paragraph."""
    out: list[str] = []
    for part in inspect.cleandoc(text.partition("\f")[0]).split("\n\n"):
        if part.strip():
            out += ["", *wrapped(" ".join(part.split()), wide)]
    return out


def _row(label: str, words: str, wide: int, paint: bool) -> list[str]:
    """Return an option with its help next to it, or below it on a narrow terminal."""
    beside = wide >= 72
    room = LABEL if beside else 6
    lines = wrapped(words, wide, " " * (room + 4), " " * (room + 4))
    shown = typer.style(label, fg="cyan") if paint else label
    if beside and len(label) <= LABEL and lines:
        return [f"  {shown}{lines[0][2 + len(label) :]}", *lines[1:]]
    return [f"  {shown}", *lines]


def command_lines(command: str, wide: int) -> list[str]:
    r"""Return a command in lines that can be pasted: options stay with their values, quotes stay closed.

    Examples
    --------
    >>> command_lines("voronym measure table.csv --key age,sex", 30)
    ['  voronym measure table.csv \\', '      --key age,sex']
    >>> command_lines("voronym inspect t.db --query 'select a from b'", 30)
    ['  voronym inspect t.db \\', "      --query 'select a from b'"]
    """
    whole = re.sub(r"'[^']*'|\"[^\"]*\"", lambda item: item.group().replace(" ", "\0"), command)
    tied = re.sub(r"(?<= )(--?[a-z][a-z-]*) (?=[^-])", "\\1\0", whole)
    lines = wrapped(tied, wide, "  ", "      ", end=" \\")
    return [line.replace("\0", " ") for line in lines]


def wrapped(text: str, wide: int, first: str = "", rest: str = "", *, end: str = "") -> Sequence[str]:
    """Return a text in lines that break only between words; ``end`` closes all but the last."""
    lines = textwrap.wrap(
        text,
        max(wide - len(end), 20),
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line + end for line in lines[:-1]] + lines[-1:]
