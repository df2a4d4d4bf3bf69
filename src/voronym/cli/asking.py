"""Ask questions on the first run: `voronym anonymize FILE` on a terminal, without any column named.

The questions follow the proposal of `voronym inspect` column by column. They also ask about the recipients of
the release, and whether other columns let an intruder recognise a row. Answers act like typed options.
Without a terminal nothing is asked, so no script ever waits for an answer.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voronym.cli import common, files
from voronym.cli.declared import choices_of
from voronym.cli.help import command_lines
from voronym.cli.signals import Stopped

if TYPE_CHECKING:
    from voronym.table.proposal import Proposal

SAID = ("keys", "confidential", "identifiers", "other", "drop_undeclared", "person", "household", "policy")
"""Options that name columns: if one of them is given, no questions are asked."""
ANSWERS = {
    "k": "key", "c": "confidential", "i": "identifier", "o": "other",
    "p": "person", "h": "household", "w": "weight",
}  # fmt: skip
MEANINGS = {
    "key": "an intruder may know it; it is masked",
    "confidential": "an intruder wants to learn it; it is kept",
    "identifier": "it names somebody; it is dropped",
    "other": "harmless, and no intruder could know it; it is kept",
    "person": "rows with the same value are one person; it is dropped, and k counts people",
    "household": "rows with the same value are one household; it is dropped, and k counts households",
    "weight": "how many people a record stands for",
}
CIRCLES = {"p": "public-use-file", "s": "scientific-use-file", "i": "internal-research"}
"""The audiences of a release, and the policy for each."""


def wanted(typed: Mapping[str, Any], *, recipe: object, json: bool, output: Path | None) -> bool:
    """Whether to ask: the user is at a terminal, and no option names a column."""
    silent = json or recipe is not None or str(output) == "-"
    return (
        not silent
        and not any(name in typed for name in SAID)
        and all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))
    )


@dataclass
class Answers:
    """The answers: roles by column, and the rest as it would be typed."""

    roles: dict[str, str] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    policy: str = ""
    retire: bool = False

    def of(self, role: str) -> list[str]:
        """Return the columns of a role."""
        return [name for name, given in self.roles.items() if given == role]

    def typed(self, places: Iterable[Sequence[str]] = ()) -> dict[str, Any]:
        """Return the answers as the flags of choices take them."""
        from voronym.request.command import ROLES  # loads much, and most runs ask nothing

        out: dict[str, Any] = {choice: self.of(role) for role, choice in ROLES.items()}
        out |= {role: next(iter(self.of(role)), None) for role in ("person", "household")}
        out["weights"] = next(iter(self.of("weight")), None)
        out["kinds"] = [f"{name}={kind}" for name, kind in self.kinds.items()]
        keys = self.of("key")
        out["locations"] = [",".join(pair) for pair in places if all(name in keys for name in pair)]
        out["policy"] = self.policy
        out["dissolved"] = "retire" if self.retire else None
        return {name: value for name, value in out.items() if value}


def ask(source: str, frame: Any, typed: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Ask about every column, and return the choices as they would be typed, and codes that mean no value.

    Parameters
    ----------
    source : str
        The table's name.
    frame : polars DataFrame
        The table.
    typed : mapping
        Typed choices, which need no question.
    """
    from voronym.table.schema import Schema

    proposal = Schema.infer(frame)
    _say(
        f"Nothing says what the columns of {source} are, so voronym asks. Enter accepts what is proposed; "
        "? explains; Ctrl-C ends, and nothing is written."
    )
    for warning in proposal.warnings:
        _say(f"  ! {warning}")
    answers = Answers()
    for number, column in enumerate(proposal.schema, start=1):
        _ask_column(proposal, column.name, f"{number}/{len(proposal.schema.columns)}", answers)
    while not answers.of("key"):
        _say("No column is a key, so nothing would be masked.")
        name = _line("Which column could an intruder know? ")
        if name in answers.roles:
            answers.roles[name] = "key"
    _ask_rows(answers, typed)
    _say("For whom is the release? Everybody, researchers under contract, or named colleagues?")
    circle = _choice("public, scientific or internal", ("public", "scientific", "internal"), "public")
    answers.policy = CIRCLES[circle[0]]
    pairs = [
        (column.name, column.partner)
        for column in proposal.schema
        if column.axis == "lat" and column.partner is not None
    ]
    return {**typed, **answers.typed(pairs)}, answers.missing


def place(source: str, given: Path | None) -> Path:
    """Return the path of the release: the given one, or a free name next to the table."""
    if given is not None:
        return given
    path = Path(source)
    suffix = path.suffix if path.suffix in (".csv", ".tsv", ".txt", ".parquet", ".xlsx") else ".csv"
    stem = f"{path.stem}-release"
    free = next(
        file
        for number in range(1, 1_000)
        if not (file := path.with_name(f"{stem}{'' if number == 1 else f'-{number}'}{suffix}")).exists()
    )
    return Path(_line(f"Where to write the release? [{free}] ") or free)


def show_command(
    source: str, output: Path, typed: Mapping[str, Any], columns: Sequence[str], **rest: Any
) -> None:
    """Print the equivalent command without questions."""
    from voronym.request.command import words_of

    words = ["voronym", "anonymize", source, "-o", str(output), *words_of(choices_of(typed, columns))]
    line = shlex.join(words) + files.flags({name: value for name, value in rest.items() if value})
    _say("\n".join(["Next time without questions:", *command_lines(line, 100)]))


def _ask_column(proposal: Proposal, name: str, place: str, answers: Answers) -> None:
    column = proposal.schema[name]
    units = {unit: what for what, unit in proposal.schema.units.items()}
    role = "weight" if name == proposal.weights else units.get(name, column.role)
    distinct = f", {proposal.distinct[name]:,} different" if name in proposal.distinct else ""
    shape = f", such as {proposal.shapes[name]}" if proposal.shapes.get(name) else ""
    _say(f"{place}  {name}  ({column.kind}{distinct}{shape})\n     {proposal.reasons[name]}")
    role = _choice("role", tuple(ANSWERS.values()), role, MEANINGS)
    if role in ("person", "household", "weight"):  # one column each
        for other in answers.of(role):
            answers.roles[other] = "other" if role == "weight" else "identifier"
    answers.roles[name] = role
    codes = proposal.codes.get(name, ())
    if codes and _yes(f"     {', '.join(codes)} stand for a missing value"):
        answers.missing += [f"{name}={code}" if "," not in name else code for code in codes]
    if role == "key" and column.kind in ("nominal", "numeric") and column.note.startswith("looks like codes"):
        kind = "nominal" if _yes("     its numbers are codes, such as 1 = married") else "numeric"
        answers.kinds[name] = kind
    elif (
        role in ("key", "confidential") and not column.note.startswith("holds") and column.kind != "location"
    ):
        answers.kinds[name] = column.kind if column.kind != "text" else "nominal"


def _ask_rows(answers: Answers, typed: Mapping[str, Any]) -> None:
    """Ask whether an intruder can recognise rows by the columns that are kept."""
    kept = [*answers.of("confidential"), *answers.of("other")]
    if not kept:
        return
    _say(f"These columns are kept as they are: {', '.join(kept)}.")
    if not _yes("Could somebody recognise a row by them, such as a rare amount", usual=False):
        return
    answers.retire = "ledger" in typed and "keep_groups" in typed
    names = _line("By which? They become keys, and are masked (names with commas; Enter for none): ")
    for name in (part.strip() for part in names.split(",")):
        if name in kept:
            answers.roles[name] = "key"
    if answers.retire:
        _say("People of groups that fall below k will retire (--dissolved retire): nobody can follow them.")


def _choice(what: str, words: Sequence[str], usual: str, meanings: Mapping[str, str] | None = None) -> str:
    """Ask for one of several words; accept its first letter, and take an empty answer as the default."""
    listed = ", ".join(word for word in words if word != usual)
    while True:
        answer = _line(
            f"     {what} [{usual}] (or {listed}): " if meanings else f"{what} [{usual}]: "
        ).lower()
        if not answer:
            return usual
        if answer in words or (len(answer) == 1 and answer != "?"):
            for word in words:
                if word.startswith(answer):
                    return word
        explained = meanings or dict.fromkeys(words, "")
        _say("\n".join(f"       {word[0]}  {word}: {text}".rstrip(": ") for word, text in explained.items()))


def _yes(question: str, *, usual: bool = True) -> bool:
    while True:
        answer = _line(f"{question}? [{'yes' if usual else 'no'}] ").lower()
        if not answer:
            return usual
        if answer[0] in "yn":
            return answer[0] == "y"


def _line(question: str) -> str:
    """Ask on stderr and return the answer; raise `Stopped` at the end of the input."""
    sys.stderr.write(question)
    sys.stderr.flush()
    line = sys.stdin.readline()
    if not line:
        raise Stopped(common.STOPPED)
    return line.strip()


def _say(text: str) -> None:
    import shutil

    from voronym.cli.help import wrapped

    wide = shutil.get_terminal_size((100, 24)).columns
    for line in text.split("\n"):
        start = " " * (len(line) - len(line.lstrip()))
        short = len(line) <= wide or not line.strip()
        sys.stderr.write((line if short else "\n".join(wrapped(line.strip(), wide, start, start))) + "\n")
