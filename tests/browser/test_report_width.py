"""The page about a paper in a real browser: no wider than the window, and no word broken in it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from voronym_papers import Exhibit, Experiment, Mark, Outcome, Paper
from voronym_papers.page import render_papers

CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
sync_api = pytest.importorskip("playwright.sync_api")
if not Path(CHROMIUM).exists():
    pytest.skip("there is no Chromium here: apt-get install chromium", allow_module_level=True)

LINES = """() => [...document.querySelectorAll('.verdicts th[scope="row"]')].map(
    one => one.getBoundingClientRect().height / parseFloat(getComputedStyle(one).lineHeight))"""


def page() -> str:
    """Make up a page with a long name of a figure and wide numbers."""
    told = "gain over MDAV in the groups that contradict it, synthetic, k = 10, 400 rounds"
    marks = tuple(
        Mark("Table 2", f"{told}, {number}", 14.9, 18.7 + number, ".1f", unit=" %", better="more",
             why="Because.") for number in range(3)
    )  # fmt: skip
    run = Experiment("toys", "Toys", lambda *_: iter(()), ("Table 2",))
    paper = Paper("toy", "A. Author: A paper, A Journal 1 (2001)", "Toys", (Exhibit("Table 2", "toys"),))
    return render_papers([(paper, [Outcome(run, False, marks, 1.0)])])


def test_verdicts_fit_a_narrow_window(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(page(), encoding="utf-8")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": 390, "height": 900})
        tab.goto((tmp_path / "page.html").as_uri())
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390
        assert max(tab.evaluate(LINES)) < 4.5  # a narrow column breaks a name into ten lines
        browser.close()
