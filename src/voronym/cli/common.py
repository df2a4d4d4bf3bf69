"""What the verbs share: roles, progress, messages and exit codes."""

from __future__ import annotations

import json
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from voronym.context import Progress, Step
from voronym.errors import Cancelled, GuaranteeError, InputError, Unfinished, VoronymError, WriteError
from voronym.options import Shape, read_value

if TYPE_CHECKING:
    from rich.console import Console

Source = Annotated[
    str, typer.Argument(help="The table: CSV, Parquet, Arrow, SPSS, Stata, SAS, a database file or address.")
]
Keys = Annotated[
    list[str] | None,
    typer.Option("--key", help="Columns an intruder may know; masked. Repeat, or use commas."),
]
Confidential = Annotated[
    list[str] | None, typer.Option("--confidential", help="Sensitive columns; kept as they are.")
]
Kinds = Annotated[
    list[str] | None, typer.Option("--kind", help="COLUMN=KIND: numeric, ordinal, nominal, datetime.")
]
Orders = Annotated[
    list[str] | None, typer.Option("--order", help="COLUMN=low<mid<high: the levels of an ordinal column.")
]
Locations = Annotated[
    list[str] | None, typer.Option("--location", help="LAT,LON: two columns that are a place.")
]
Delimiter = Annotated[
    str | None, typer.Option("--delimiter", help="Between CSV cells; found by itself if not given.")
]
Encoding = Annotated[
    str | None, typer.Option("--encoding", help="Of a text file that is not UTF-8, such as latin-1.")
]
Query = Annotated[str | None, typer.Option("--query", help="SQL, where the source is a database.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON on stdout.")]
Seed = Annotated[int, typer.Option("--seed", help="Seed of the random choices.")]

STOPPED = 130
"""The exit code after Ctrl-C, as shells have it."""


def console() -> Console:
    """Return a console on stderr: stdout is for results."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def run(app: typer.Typer) -> None:
    """Run the application and turn every outcome into an exit code."""
    warnings.showwarning = _show_warning
    try:
        app()
    except GuaranteeError as error:
        _say(str(error))
        sys.exit(3)
    except InputError as error:
        _say(str(error))
        sys.exit(2)
    except (Cancelled, Unfinished) as error:
        _say(str(error), word="stopped", style="yellow")
        sys.exit(STOPPED)
    except VoronymError as error:
        _say(str(error))
        sys.exit(1)
    except MemoryError:
        _say("there is not enough memory for this table")
        sys.exit(1)


def _say(message: str, *, word: str = "error", style: str = "bold red") -> None:
    from rich.text import Text

    console().print(Text(f"{word}: ", style=style).append(message, style="default"), soft_wrap=True)


def _show_warning(message: Any, *_: Any, **__: Any) -> None:
    _say(str(message), word="warning", style="yellow")


def names(given: Sequence[str] | None, columns: Sequence[str] = ()) -> list[str]:
    """Split ``age,zip`` and keep a column whose own name has a comma."""
    out: list[str] = []
    for item in given or ():
        out.extend([item] if item in columns else [part.strip() for part in item.split(",") if part.strip()])
    return out


def pairs(given: Sequence[str] | None, option: str) -> dict[str, str]:
    """Split ``name=value`` items."""
    out: dict[str, str] = {}
    for item in given or ():
        name, found, value = item.partition("=")
        name = name.strip()
        if not found or not name or not value:
            raise InputError(f"{option} takes NAME=VALUE, not {item!r}")
        if name in out:
            raise InputError(f"{option} says {name!r} twice")
        out[name] = value.strip()
    return out


def column_options(
    kinds: Sequence[str] | None, orders: Sequence[str] | None, locations: Sequence[str] | None
) -> dict[str, Any]:
    """Return the keyword arguments that describe columns."""
    places = []
    for item in locations or ():
        parts = [part.strip() for part in item.split(",")]
        if len(parts) != 2 or not all(parts):
            raise InputError(f"--location takes two columns, LAT,LON, not {item!r}")
        places.append((parts[0], parts[1]))
    levels = {
        name: [level.strip() for level in text.split("<")] for name, text in pairs(orders, "--order").items()
    }
    return {"kinds": pairs(kinds, "--kind"), "orders": levels, "locations": places}


def words(given: Sequence[str], flags: Sequence[str]) -> tuple[str, list[tuple[str, str]]]:
    """Split what no verb declares into the source, which stands alone, and ``--name value`` items.

    ``flags`` are those that the verb declares: a misspelt one would swallow the word behind it.
    """
    alone: list[str] = []
    out: list[tuple[str, str]] = []
    waiting = list(given)
    while waiting:
        word = waiting.pop(0)
        if not word.startswith("-") or word == "-":
            alone.append(word)
            continue
        name, found, value = word.removeprefix("--").partition("=")
        if not word.startswith("--") or not name:
            raise InputError(f"there is no option {word}; options of a method are written --NAME VALUE")
        if not found and (not waiting or waiting[0].startswith("--")):
            raise InputError(f"--{name} needs a value{_meant([name], flags)}")
        out.append((name.replace("-", "_"), value if found else waiting.pop(0)))
    if not alone:
        raise InputError(f"name the table to read{_meant([name for name, _ in out], flags)}")
    if len(alone) > 1:
        raise InputError(f"{alone[1]!r} is not understood: one table at a time")
    return alone[0], out


def _meant(names: Sequence[str], flags: Sequence[str]) -> str:
    """Return a question where a name looks like a flag."""
    for name in map(flag, names):
        near = get_close_matches(name, flags, 1, 0.8)
        if near and near[0] != name:
            return f"; did you mean {near[0]} instead of {name}?"
    return ""


def flag(name: str) -> str:
    """Return the name of an option as it is typed."""
    return "--" + name.replace("_", "-")


def option_value(name: str, texts: Sequence[str], shape: Shape | None, columns: Sequence[str]) -> Any:
    """Read the value of an option, given once or several times, by its shape."""
    if shape == "by column":
        return {column: read_value(text) for column, text in pairs(texts, flag(name)).items()}
    if shape == "columns" and not texts[0].startswith("["):
        return names(texts, columns)
    if len(texts) > 1:
        raise InputError(f"{flag(name)} is given twice")
    return read_value(texts[0])


def emit(data: Any) -> None:
    """Print JSON on stdout."""
    typer.echo(json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False, default=str))


@contextmanager
def ticker(enabled: bool = True) -> Iterator[Bar]:
    """Show a line of progress on stderr for anything that takes over a second, and answer Ctrl-C."""
    out = console()
    shown = _Line(out) if enabled and out.is_terminal else None
    try:
        yield Bar(None if shown is None else shown.tell)
    except KeyboardInterrupt:
        _say("no file was left half-written", word="stopped", style="yellow")
        raise typer.Exit(STOPPED) from None
    finally:
        if shown is not None:
            shown.close()


class Bar:
    """The progress of a whole command; each call that it makes gets a part of it.

    What is shown never goes back, whatever the parts tell.
    """

    def __init__(self, show: Progress | None) -> None:
        self._show, self._done = show, 0.0

    def __call__(self, step: Step) -> None:
        """Show where the command stands."""
        self._done = max(self._done, step.done)
        if self._show is not None:
            self._show(replace(step, done=self._done))

    def part(self, start: float, stop: float) -> Progress:
        """Return the callback of a call whose work is the command's from one share to another."""
        return lambda step: self(replace(step, done=start + step.done * (stop - start)))

    def begin(self, stage: str, done: float) -> None:
        """Say what begins now."""
        self(Step(stage, done))


class _Line:
    """A line of progress that appears after a second."""

    def __init__(self, out: Console) -> None:
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar

        self._note = "" if _compiled() else "  (first run: compiling)"
        columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
        self._bar = Bar(*columns, console=out, transient=True)
        self._task = self._bar.add_task("reading" + self._note, total=1.0)
        self._timer = threading.Timer(1.0, self._bar.start)
        self._timer.daemon = True
        self._timer.start()

    def tell(self, step: Step) -> None:
        """Show where the work stands."""
        said = "" if step.loss is None else f"  loss {step.loss:.3f} %"
        if step.loss is not None and step.bound:
            said += f"  bound {step.bound:.3f} %  gap {100 * (step.loss / step.bound - 1):.2f} %"
        self._bar.update(self._task, description=step.stage + said + self._note, completed=step.done)

    def close(self) -> None:
        """Remove the line."""
        self._timer.cancel()
        self._timer.join()
        self._bar.stop()


def _compiled() -> bool:
    """Say whether an earlier run left compiled kernels."""
    cache = Path(__file__).parent.parent / "_kernels" / "__pycache__"
    return any(cache.glob("*.nbi"))


def check_outputs(paths: Sequence[Path | None], *, source: str, overwrite: bool) -> None:
    """Refuse outputs that cannot be, before the work is done rather than after."""
    given = [path for path in paths if path is not None]
    places = [path.resolve() for path in given]
    if len(set(places)) < len(places):
        raise InputError("two outputs have the same name; every output needs one of its own")
    if Path(source).resolve() in places:
        raise InputError("an output has the name of the source; the original is never written over")
    homeless = [str(path) for path in given if not path.resolve().parent.is_dir()]
    if homeless:
        raise WriteError(f"the folder of {', '.join(homeless)} does not exist; make it first")
    there = [str(path) for path in given if path.exists()]
    if there and not overwrite:
        raise InputError(f"{', '.join(there)} exists already; use --overwrite to replace it")
