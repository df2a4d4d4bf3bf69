"""The page of theorems: each has a condition, a proof and a test that is there."""

from __future__ import annotations

import re

import pytest

from docs.pages import DOCS, ROOT

PAGE = (DOCS / "theory.md").read_text(encoding="utf-8")
NAMED = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", PAGE)
THEOREMS = dict(re.findall(r"^### (.+?)\n(.*?)(?=^##)", PAGE, re.MULTILINE | re.DOTALL))


@pytest.mark.parametrize(("file", "name"), NAMED)
def test_the_tests_it_names_exist(file, name):
    assert re.search(rf"^def {name}\(", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("title", THEOREMS)
def test_a_theorem_has_its_condition_and_a_test(title):
    body = THEOREMS[title]
    assert "*Condition*" in body
    assert re.search(r"\*Proof\*.*∎", body, re.DOTALL)
    assert re.search(r"\*Test\*: `tests/", body)


def test_there_are_as_many_as_the_page_says():
    assert len(THEOREMS) >= 20
    assert len(NAMED) >= 30
