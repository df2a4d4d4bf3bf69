"""Every marked sentence about privacy has an attack, and the table of them is the page in the documentation.

``VORONYM_WRITE=1`` writes the page again.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from docs.pages import DOCS, PAGES, ROOT
from promises.entries import PROMISES

PAGE = DOCS / "promises.md"
ON_PAGES = re.compile(r"<!-- promise: ([\w-]+) -->(.+?)(?:\.\s|\.\*\*|\n\n|\s\|\s)", re.DOTALL)
IN_MODULES = re.compile(r"^\s*(?:# promise: ([\w-]+)|\{# promise: ([\w-]+) #\})$", re.MULTILINE)
SOURCES = ROOT / "src" / "voronym"

HEAD = """# Promises, and the tests that attack them

Each row has a sentence of the documentation or of a docstring, its intruder, the tests that attack it
(under `tests`), and their result. `tests/promises/test_sentences.py` writes this table and fails if a
sentence has no test.

| sentence | where | intruder | test | what the attack gets |
|---|---|---|---|---|
"""


def plain(text: str) -> str:
    """Return a sentence on one line, as a cell."""
    text = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", " ".join(text.split()))
    return (
        text.replace("|", "/").replace("**", "").strip(" *`")
        if text.count("`") % 2
        else text.replace("**", "")
    )


def marked() -> dict[str, tuple[str, str]]:
    """Return all marked sentences, with the file each is in."""
    out: dict[str, tuple[str, str]] = {}
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        results = {match[1]: plain(match[2]) for match in ON_PAGES.finditer(text)}
        assert len(results) == text.count("<!-- promise: "), page
        for key, sentence in results.items():
            assert key not in out, f"{key} is marked twice"
            out[key] = sentence, page.relative_to(ROOT).as_posix()
    for path in sorted((*SOURCES.rglob("*.py"), *SOURCES.rglob("*.html"))):
        text = path.read_text(encoding="utf-8")
        for key in map("".join, IN_MODULES.findall(text)):
            assert key not in out, f"{key} is marked twice"
            words = PROMISES[key].words if key in PROMISES else ""
            assert words, f"{key} in {path.name} has no words in entries.py"
            assert words in " ".join(text.split()), f"{path.name} does not say {words!r} any more"
            out[key] = words, path.relative_to(ROOT).as_posix()
    return out


MARKED = marked()


@pytest.mark.parametrize("key", MARKED)
def test_every_marked_sentence_has_a_test(key: str) -> None:
    assert key in PROMISES, f"the sentence {MARKED[key][0]!r} has no attack: add one to promises/entries.py"
    assert PROMISES[key].tests
    for test in PROMISES[key].tests:
        file, _, name = test.partition("::")
        text = (ROOT / "tests" / file).read_text(encoding="utf-8")
        assert re.search(rf"^def {name}\(", text, re.MULTILINE), f"{test} is not there"


def test_no_attack_is_of_a_sentence_that_is_gone() -> None:
    assert set(PROMISES) == set(MARKED)


def table() -> str:
    rows = []
    for key, (sentence, where) in MARKED.items():
        entry = PROMISES[key]
        tests = ", ".join(f"`{test}`" for test in entry.tests)
        rows.append(f"| {sentence} | `{where}` | {entry.intruder} | {tests} | {entry.figure} |")
    return HEAD + "\n".join(rows) + "\n"


def test_the_page_has_all_of_them() -> None:
    made = table()
    if os.environ.get("VORONYM_WRITE"):
        PAGE.write_text(made, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == made, (
        "write it again: VORONYM_WRITE=1 pytest " + Path(__file__).name
    )


def test_a_mark_without_an_attack_would_fail() -> None:
    results = ON_PAGES.findall("Some page. <!-- promise: new-one -->Nobody is ever found. More.")
    assert results == [("new-one", "Nobody is ever found")]
    assert "new-one" not in PROMISES
