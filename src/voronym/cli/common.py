"""Shared parts of the verbs: roles, progress, messages and exit codes."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from voronym.cli import signals
from voronym.cli.declared import names as names
from voronym.cli.declared import pairs as pairs
from voronym.cli.help import program, wrapped
from voronym.cli.line import Bar, JsonLines, Line, keys
from voronym.core.locks import sweep
from voronym.core.options import Shape, read_value
from voronym.errors import (
    Cancelled,
    GuaranteeError,
    InputError,
    Unfinished,
    VoronymError,
    WriteError,
    speaking,
)

if TYPE_CHECKING:
    from rich.console import Console

Source = Annotated[
    str,
    typer.Argument(
        help="The table: text, Parquet, Arrow, Excel, SPSS, Stata, SAS, a database file or address, or -."
    ),
]
Query = Annotated[str | None, typer.Option("--query", help="SQL query, if the source is a database.")]
Progress = Annotated[
    str,
    typer.Option(
        "--progress",
        help="Show progress on stderr: auto (a line on a terminal), json (lines of JSON with stage, share "
        "and seconds left), or none.",
        metavar="auto|json|none",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON on stdout.")]
Seed = Annotated[int, typer.Option("--seed", help="Seed of the random choices.")]

STOPPED = 130
"""The exit code after Ctrl-C, as in shells."""


def console() -> Console:
    """Return a console on stderr: stdout is for results."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def run(app: typer.Typer) -> None:
    """Run the application and turn every outcome into an exit code."""
    warnings.showwarning = _show_warning
    for stream in (sys.stdout, sys.stderr):  # a terminal that lacks a sign gets another, not a traceback
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    with speaking("command"):
        _run(app)


def _run(app: typer.Typer) -> None:
    try:
        if any("\0" in word for word in sys.argv):
            raise InputError("an argument contains a character that no file name and no column can have")
        with signals.obeyed():
            ended = app(standalone_mode=False)
        sys.exit(ended if isinstance(ended, int) else 0)
    except BaseException as error:
        message, code, word, style = _outcome(error)
        message = re.sub(r"[\x00-\x09\x0b-\x1f\x7f]", lambda sign: repr(sign[0])[1:-1], message)
        if message:
            say(message, word=word, style=style)
        sys.exit(code)


def _outcome(error: BaseException) -> tuple[str, int, str, str]:
    """Return the report of an exception: the sentence, the exit code, the word before it and its style."""
    if isinstance(error, (signals.Stopped, KeyboardInterrupt)):
        code = STOPPED if isinstance(error, KeyboardInterrupt) else int(error.code or STOPPED)
        return "nothing was written", code, "stopped", "yellow"
    if isinstance(error, (Cancelled, Unfinished)):
        return str(error), STOPPED, "stopped", "yellow"
    for sort, code in ((GuaranteeError, 3), (InputError, 2), (VoronymError, 1)):
        if isinstance(error, sort):
            return str(error), code, "error", "bold red"
    if hasattr(error, "format_message"):  # of the library that reads the command
        return usage(error), int(getattr(error, "exit_code", 2)), "error", "bold red"
    if isinstance(error, MemoryError):
        return "there is not enough memory for this table", 1, "error", "bold red"
    if isinstance(error, SystemExit) or os.environ.get("VORONYM_DEBUG"):
        raise error
    # The text of a foreign exception may quote a cell: show only its type and place.
    where = traceback.extract_tb(error.__traceback__)[-1]
    return (
        f"this is a defect of voronym, not of your table: {type(error).__name__} in "
        f"{Path(where.filename).name}, line {where.lineno}. Nothing was written. Set VORONYM_DEBUG=1 to see "
        "the whole trace, which may quote values of the table",
        1,
        "error",
        "bold red",
    )


def usage(error: Any) -> str:
    """Return a sentence about a command that cannot be parsed; the help if the command is empty."""
    sentence, ctx = str(error.format_message()).strip(), getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError":
        typer.echo(sentence, err=True)
        return ""
    typed = program(ctx) or "voronym"  # errors about the value of an option come without their command
    if option := getattr(error, "option_name", None) if "No such" in sentence else None:
        near = list(getattr(error, "possibilities", None) or ())[:1]
        sentence = f"there is no option {option}" + (f"; did you mean {near[0]}?" if near else "")
    sort = re.search(r"should be a valid (integer|number)", sentence)
    if sort and (param := getattr(error, "param", None)) is not None:
        name = max(param.opts, key=len)
        sentence = f"{name} takes {'a whole number' if sort[1] == 'integer' else 'a number'}, as in {name} 5"
    sentence = (sentence[:1].lower() + sentence[1:]).rstrip(".")
    return f"{sentence}{'' if sentence.endswith('?') else '.'} See {typed} -h"


def say(message: str, *, word: str = "error", style: str = "bold red") -> None:
    """Print a message on stderr."""
    from rich.text import Text

    out = console()  # on a terminal lines break between words; elsewhere they are whole
    text = Text(f"{word}: ", style=style).append(message, style="default")
    out.print(text, soft_wrap=not out.is_terminal)


def show_log(name: str) -> None:
    """Print the information that a logger gets as notes, at once."""
    import logging

    class Notes(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            say(record.getMessage(), word="note", style="bold")

    logger = logging.getLogger(name)
    logger.handlers = [Notes(logging.INFO)]
    logger.setLevel(logging.INFO)


def _show_warning(message: object, *_: Any, **__: Any) -> None:
    say(str(message), word="warning", style="yellow")


def words(given: Sequence[str], flags: Sequence[str]) -> tuple[str, list[tuple[str, str]]]:
    """Split undeclared arguments into the source and ``--name value`` items.

    ``flags`` lists the flags that the verb declares. Without that list a misspelt flag would swallow the
    next argument.
    """
    alone: list[str] = []
    out: list[tuple[str, str]] = []
    waiting = list(given)
    while waiting:
        word = waiting.pop(0)
        if not word.startswith("-") or word == "-":
            alone.append(word)
            continue
        name, result, value = word.removeprefix("--").partition("=")
        if not word.startswith("--") or not name:
            raise InputError(f"there is no option {word}; options of a method are written --NAME VALUE")
        if not result and (not waiting or waiting[0].startswith("--")):
            raise InputError(f"--{name} needs a value{_meant([name], flags)}")
        out.append((name.replace("-", "_"), value if result else waiting.pop(0)))
    if not alone:
        raise InputError(f"name the table to read{_meant([name for name, _ in out], flags)}")
    if len(alone) > 1:
        raise InputError(
            f"{alone[1]!r} is not understood: one table at a time; several columns are written with commas, "
            "--key age,zip, and names with spaces in quotes"
        )
    return alone[0], out


def _meant(names: Sequence[str], flags: Sequence[str]) -> str:
    """Return "; did you mean FLAG instead of NAME?" if a name resembles a flag; otherwise ""."""
    for name in map(flag, names):
        near = get_close_matches(name, flags, 1, 0.8)
        if near and near[0] != name:
            return f"; did you mean {near[0]} instead of {name}?"
    return ""


def flag(name: str) -> str:
    """Return the name of an option as typed."""
    return "--" + name.replace("_", "-")


def option_value(name: str, texts: Sequence[str], shape: Shape | None, columns: Sequence[str]) -> Any:
    """Read the value of an option, given once or several times, by its shape."""
    if shape == "by column" and not texts[0].startswith("{"):
        return {column: read_value(text) for column, text in pairs(texts, flag(name)).items()}
    if shape == "columns" and not texts[0].startswith("["):
        return names(texts, columns)
    if len(texts) > 1:
        raise InputError(f"{flag(name)} is given twice")
    return read_value(texts[0])


def width() -> int:
    """Return the width of the terminal in characters; without a terminal, the largest width of a line."""
    return shutil.get_terminal_size((100, 24)).columns


def print_lines(text: str) -> None:
    """Print lines on stdout; on a terminal, wrap long lines between words and keep their indent."""
    wide = shutil.get_terminal_size((1_000, 24)).columns
    for line in text.split("\n"):
        start = " " * (len(line) - len(line.lstrip()))
        fits = len(line) <= wide or not line.strip()
        typer.echo(line if fits else "\n".join(wrapped(line.strip(), wide, start, start + "  ")))


def emit(data: Any) -> None:
    """Print JSON on stdout; add the version of voronym to an object."""
    if isinstance(data, dict):
        from voronym.core.formats import program_version

        data = {"voronym": program_version(), **data}
    typer.echo(json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False, default=str))


@contextmanager
def ticker(enabled: bool = True, *, search: bool = False) -> Iterator[Bar]:
    """Show a progress line on stderr for anything that takes more than a second.

    Files written in this block get their names together at its end, or not at all.

    Parameters
    ----------
    enabled : bool
        Whether to show anything.
    search : bool
        Whether the command has a best so far, which a key takes.
    """
    from voronym.core.atomic import together

    out = console()
    shown = Line(out) if enabled and out.is_terminal and _progress.get() == "auto" else None
    lines = JsonLines(sys.stderr) if _progress.get() == "json" else None
    try:
        with keys() if search and shown is not None else nullcontext(False) as watched:
            if shown is not None:
                shown.keys = watched
            with together(before=signals.close):
                yield Bar(shown.tell if shown is not None else None if lines is None else lines.tell)
    finally:
        _progress.set("auto")  # for the next command of this process
        if shown is not None:
            shown.close()


_progress: ContextVar[str] = ContextVar("voronym_progress", default="auto")


def show_progress(choice: str) -> None:
    """Choose how a command shows progress."""
    if choice not in ("auto", "json", "none"):
        raise InputError(f"--progress takes auto, json or none, not {choice!r}")
    _progress.set(choice)


def on_interrupt(choice: str) -> None:
    """Choose whether the first Ctrl-C writes nothing or the best release so far."""
    if choice not in ("nothing", "best"):
        raise InputError(f"--on-interrupt takes nothing or best, not {choice!r}")
    signals.take_best(choice == "best")


def check_outputs(
    paths: Sequence[Path | None], *, source: str, overwrite: bool, also: Sequence[str | Path] = ()
) -> None:
    """Refuse impossible outputs before the work is done; ``also`` names further files that are read."""
    from voronym.table.places import place_of
    from voronym.table.write import refuse_long

    given = [path for path in paths if path is not None]
    places_ = {path: place for path in given if (place := place_of(path)) is not None}
    if not set(places_.values()).isdisjoint([place_of(source)]):
        raise InputError("an output has the name of the source; the original is never written over")
    for kind, address in places_.values():
        if kind.holds_files:
            kind.check(address, "", overwrite=overwrite)
    given = [path for path in given if path not in places_]

    for path in given:
        refuse_long(path)
    places = [_resolved(path) for path in given]
    for folder in {place.parent for place in places}:
        sweep(folder)
    if len(set(places)) < len(places):
        raise InputError("two outputs have the same name; give each output another name")
    if _resolved(source) in places:
        raise InputError("an output has the name of the source; the original is never written over")
    read = [str(item) for item in also if _resolved(item) in places]
    if read:
        raise InputError(f"an output has the name of {read[0]}, which is read; it is never written over")
    homeless = [str(path) for path in given if not os.path.isdir(_resolved(path).parent)]  # noqa: PTH112
    if homeless:
        raise WriteError(f"the folder of {', '.join(homeless)} does not exist; make it first")
    closed = sorted({str(place.parent) for place in places if not os.access(place.parent, os.W_OK)})
    if closed:
        raise WriteError(f"cannot write to the folder {', '.join(closed)}: you have no permission")
    there = [str(path) for path in given if os.path.lexists(path)]
    if there and not overwrite:
        raise InputError(f"{', '.join(there)} exists already; use --overwrite to replace it")


def _resolved(path: str | Path) -> Path:
    """Return the path with symbolic links resolved; keep a circular or overlong path unchanged."""
    return Path(os.path.realpath(path))
