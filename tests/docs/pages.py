"""The documentation's pages and the fenced blocks in them, for the tests beside this file."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
EVERY_OPTION = Path(__file__).with_name("every_option.md")
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]

_FENCE = re.compile(
    r"^(?P<fence>```+)(?P<language>[^\n`]*)\n(?P<body>.*?)^(?P=fence)[ \t]*$", re.MULTILINE | re.DOTALL
)
_CODE = re.compile(r"^# exit code (\d+)$")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text and the line it starts on."""

    language: str
    body: str
    line: int


@dataclass(frozen=True)
class Command:
    """One command of a console block, the output shown under it and the exit code it should have."""

    words: tuple[str, ...]
    shown: str
    code: int


def blocks(page: Path, *languages: str) -> list[Block]:
    """Return the fenced blocks of a page in one of the languages."""
    text = page.read_text(encoding="utf-8")
    results = [
        Block(match["language"].strip(), match["body"], text.count("\n", 0, match.start()) + 1)
        for match in _FENCE.finditer(text)
    ]
    return [block for block in results if block.language in languages]


def commands(block: Block) -> list[Command]:
    """Return the commands of a console block: ``$ ...`` lines, with what follows up to the next one."""
    results: list[Command] = []
    for part in re.split(r"^\$ ", block.body.replace("\\\n", " "), flags=re.MULTILINE)[1:]:
        first, *rest = part.rstrip("\n").split("\n")
        code = 0
        if rest and (stated := _CODE.match(rest[-1])):
            code = int(stated[1])
            rest.pop()
        results.append(Command(tuple(shlex.split(first, comments=True)), "\n".join(rest).strip(), code))
    return results


def plain(text: str) -> str:
    """Return the text with every run of white space as one blank."""
    return " ".join(text.split())


def shows(shown: str, printed: str) -> bool:
    """Say whether the printed text contains what the page shows; ``...`` stands for anything."""
    pattern = ".*".join(re.escape(plain(part)) for part in shown.split("..."))
    return re.search(pattern, plain(printed)) is not None
