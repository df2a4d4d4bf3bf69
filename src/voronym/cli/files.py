"""Options for reading and writing files."""

from __future__ import annotations

import inspect
import re
import shlex
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from voronym.errors import InputError, VoronymError

Verb = Callable[..., None]
READING: dict[str, tuple[Any, Any, str]] = {
    "delimiter": (str | None, None, "Character between the cells of a text file. Default: detected."),
    "encoding": (str | None, None, "Encoding of a text file, such as cp1252. Default: detected."),
    "decimal": (str | None, None, "Decimal separator. Default: detected."),
    "thousands": (str | None, None, "Thousands separator, or COLUMN=SEPARATOR. Default: detected."),
    "date_format": (str | None, None, "Format of dates, such as dd.mm.yyyy, if it cannot be guessed."),
    "missing": (
        list[str] | None,
        None,
        "Codes that mean no value: -999,NA or COLUMN=CODE. Repeat, or use commas.",
    ),
    "no_header": (bool, False, "Read the first line as a record; columns are called column_1, column_2, ..."),
    "header": (bool, False, "Read the first line as the names of the columns, whatever it looks like."),
    "skip_rows": (int, 0, "Lines to skip before the header."),
    "skip_footer": (int, 0, "Lines to skip at the end, such as a source."),
    "sheet": (str | None, None, "Name or number of the sheet of a spreadsheet."),
}
WRITING: dict[str, tuple[Any, Any, str]] = {
    "out_delimiter": (
        str | None,
        None,
        "Character between the cells of the written file. Default: as read.",
    ),
    "out_encoding": (str | None, None, "Encoding of the written file. Default: as read."),
    "out_decimal": (str | None, None, "Decimal separator of the written file. Default: as read."),
    "out_thousands": (
        str | None,
        None,
        "Thousands separator of the written file; '' for none. Default: as read.",
    ),
    "out_date_format": (str | None, None, "Format of written dates, such as yyyy-mm-dd. Default: as read."),
    "out_line_ends": (str | None, None, "Line ends of the written file: lf or crlf. Default: as read."),
    "out_table": (str | None, None, "Name of the table, or sheet, that is written. Default: release."),
    "no_guard": (bool, False, "Put no apostrophe before texts that a spreadsheet could run as formulas."),
}


def reads(verb: Verb, *, prefix: str = "") -> Verb:
    """Add the options about a file that a verb reads; the verb gets them as a dict, ``reading``.

    Parameters
    ----------
    verb : callable
        Takes ``reading``, or ``PREFIX_reading``.
    prefix : str
        Before the name of every option: "original" makes --original-encoding.
    """
    start = f"{prefix}_" if prefix else ""
    return _extended(verb, f"{start}reading", {start + name: how for name, how in READING.items()}, _reading)


def read_beside(source: str, prefix: str, **reading: Any) -> Any:
    """Read the second table; hints name the options about it."""
    from voronym.table.read import read

    try:
        return read(source, **reading)
    except VoronymError as error:
        text = error.worded("command")
        flags = "|".join(name.replace("_", "-") for name in READING)
        text = re.sub(rf"(?<![\w-])--({flags})\b", rf"--{prefix}-\1", text)
        raise type(error)(text) from None


def writes(verb: Verb) -> Verb:
    """Add the options about the release that a verb writes; the verb gets them as a dict, ``writing``."""
    return _extended(verb, "writing", WRITING, _writing)


def _extended(
    verb: Verb,
    into: str,
    options: dict[str, tuple[Any, Any, str]],
    gather: Callable[[list[Any]], dict[str, Any]],
) -> Verb:
    """Return the verb with more options in its signature; their values arrive as one argument, ``into``."""
    signature = inspect.signature(verb, eval_str=True)
    known = [parameter for parameter in signature.parameters.values() if parameter.name != into]
    more = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=default,
            annotation=Annotated[kind, typer.Option("--" + name.replace("_", "-"), help=text)],
        )
        for name, (kind, default, text) in options.items()
    ]

    @wraps(verb)
    def extended(*args: Any, **given: Any) -> None:
        given[into] = gather([given.pop(name) for name in options])
        return verb(*args, **given)

    plain = [item.replace(kind=inspect.Parameter.KEYWORD_ONLY) for item in known]
    extended.__signature__ = signature.replace(parameters=[*plain, *more])  # type: ignore[attr-defined]
    extended.__annotations__ = {entry.name: entry.annotation for entry in [*plain, *more]}
    return extended


def _reading(values: list[Any]) -> dict[str, Any]:
    """Return the reading options of a file, for `voronym.read`."""
    given = dict(zip(READING, values, strict=True))
    no_header, header = given.pop("no_header"), given.pop("header")
    if no_header and header:
        raise InputError("--header and --no-header exclude each other")
    codes = [code.strip() for item in given.pop("missing") or () for code in item.split(",")]
    result = {name: value for name, value in given.items() if value not in (None, 0)}
    if codes:
        result["missing"] = [code for code in codes if code]
    return {**result, **({"header": header} if header or no_header else {})}


def _writing(values: list[Any]) -> dict[str, Any]:
    """Return the writing options of the release, for `Release.write`."""
    given = dict(zip(WRITING, values, strict=True))
    result = {name.removeprefix("out_"): value for name, value in given.items() if name != "no_guard"}
    result["newline"] = result.pop("line_ends")
    return {
        **{name: value for name, value in result.items() if value is not None},
        "guard": not given["no_guard"],
    }


def flags(reading: dict[str, Any]) -> str:
    """Return the options of a file as typed."""
    from voronym.request.command import reading_words

    return "".join(f" {shlex.quote(word)}" for word in reading_words(reading))


def check_release(
    output: Path, *, json: bool, overwrite: bool = False, table: str | None = None
) -> list[Path]:
    """Refuse a release that cannot be written, before the work; return the files that it will consist of."""
    if str(output) in ("", "."):
        raise InputError("-o names no file; name one, or - for standard output")
    if str(output) == "-":
        if json:
            raise InputError("the table and --json cannot both go to standard output; name a file with -o")
        return []
    from voronym.table.places import place_of
    from voronym.table.write import check_target

    place = place_of(output)
    if place is None or place[0].holds_files:
        check_target(output)
    else:
        place[0].check(place[1], table or "release", overwrite=overwrite)
    return [output]


def refuse_stdout(**outputs: Path | None) -> None:
    """Refuse "-" for an output that must be a file."""
    for name, path in outputs.items():
        if path is not None and str(path) in ("-", "."):
            raise InputError(f"--{name.replace('_', '-')} needs the name of a file; only the table goes to -")
