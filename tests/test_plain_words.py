"""The words of the style sheet in CONTRIBUTING.md, as far as a program can check them.

The baseline holds today's counts. It may only fall: whoever lowers a count runs ``python -m
tests.test_plain_words`` (from the root of the repository) and commits the new file.
"""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from sources import nodes

ROOT = Path(__file__).resolve().parent.parent
BASELINE = Path(__file__).with_name("plain_words.json")
SOURCES = ("src/voronym", "location/src", "papers/src")

RIDDLES = {
    "anew": r"\banew\b",
    "heed": r"\bheed(s|ed|ing)?\b",
    "so many": r"\bso many\b",
    "who is": r"(^|[.:;,] |\b(of|for|to|by) )who (is|are|was|were|has|had|have|knows?)\b",
    "what it is": r"\bwhat it is\b",
    "where there is none": r"\bwhere there (is|are) none\b",
    "next to nothing": r"\bnext to nothing\b",
    "signs for characters": r"\b(leading|trailing|last|first) \w*\s?signs\b",
    "told anew": r"\btold anew\b",
    "and by whom": r"\bby whom\b",
}
PRONOUNS = frozenset({"one", "found", "said", "told"})
ANY = re.compile(rf"\b({'|'.join(sorted(PRONOUNS))})\b")


def prose(page: str) -> str:
    """Return the sentences of a page: no code, no tables, no links' addresses."""
    text = re.sub(r"^(`{3,}|:{3,}).*?^\1\s*$", "", page, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"<!-- papers -->.*?<!-- end of papers -->", "", text, flags=re.DOTALL)  # made by a program
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    lines = [line for line in text.splitlines() if not line.lstrip().startswith(("|", "#", "!["))]
    text = re.sub(r"\]\([^)]*\)", "]", "\n".join(lines))
    return re.sub(r"`[^`]*`", "code", text)


def sentences(text: str) -> list[str]:
    """Split prose into sentences and items of lists."""
    blocks = re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )", text)
    parts = (
        re.split(r"(?<=[.!?:])\s+(?=[A-Z«\"*\[]|(?:code|voronym)\b)", " ".join(block.split()))
        for block in blocks
    )
    return [part for block in parts for part in block if len(part.split()) > 2]


@cache
def pages() -> dict[str, str]:
    """Return the prose of every page of the documentation."""
    paths = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    return {
        str(path.relative_to(ROOT)): prose(path.read_text(encoding="utf-8"))
        for path in paths
        if "_build" not in path.parts
    }


def bound(node: ast.AST) -> Iterator[str]:
    """Return the names that a node binds."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name


@cache
def counts() -> dict[str, int]:
    """Count what the style sheet asks to avoid."""
    names: Counter[str] = Counter()
    strings: list[str] = []
    for folder in (*SOURCES, "tests"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            if folder == "tests" and not ANY.search(path.read_text(encoding="utf-8")):
                continue
            for node in nodes(path):
                names.update(name for name in bound(node) if name in PRONOUNS)
                if folder != "tests" and isinstance(node, ast.Constant) and isinstance(node.value, str):
                    strings.append(node.value)
    every = {"strings": "\n".join(strings), "docs": "\n".join(pages().values())}
    out = {
        f"{place}: {riddle}": len(re.findall(pattern, text, flags=re.MULTILINE | re.IGNORECASE))
        for place, text in every.items()
        for riddle, pattern in RIDDLES.items()
    }
    lengths = [len(part.split()) for text in pages().values() for part in sentences(text)]
    out["names that are pronouns or participles"] = names.total()
    out["docs: sentences over 40 words"] = sum(length > 40 for length in lengths)
    out["docs: words a sentence"] = round(sum(lengths) / len(lengths))
    return out


@pytest.mark.parametrize("what", sorted(json.loads(BASELINE.read_text(encoding="utf-8"))))
def test_a_count_only_falls(what: str) -> None:
    baseline = json.loads(BASELINE.read_text(encoding="utf-8"))
    assert counts()[what] <= baseline[what], "see CONTRIBUTING.md, How to write"


def test_everything_that_is_counted_has_a_baseline() -> None:
    assert set(counts()) == set(json.loads(BASELINE.read_text(encoding="utf-8")))


def test_sentences_are_short_on_average() -> None:
    assert counts()["docs: words a sentence"] <= 25


def test_the_counts_see_what_they_are_for() -> None:
    page = "# Heading\n\nGroups are made anew. Who is grouped stays.\n\n```sh\nanew\n```\n\n- an item anew\n"
    text = prose(page)
    assert len(re.findall(RIDDLES["anew"], text)) == 2
    assert [len(part.split()) for part in sentences(text)] == [4, 4, 4]
    assert list(bound(ast.parse("one = 1").body[0].targets[0])) == ["one"]  # type: ignore[attr-defined]


if __name__ == "__main__":
    BASELINE.write_text(json.dumps(counts(), indent=2, sort_keys=True) + "\n", encoding="utf-8")
