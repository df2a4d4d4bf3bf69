"""Reports in a real browser: no wider than the window, no word broken, and the first page is one page."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import voronym as vr
from voronym.intruder import expose
from voronym.report import render
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
    output = "gain over MDAV in the groups that contradict it, synthetic, k = 10, 400 rounds"
    marks = tuple(
        Mark("Table 2", f"{output}, {number}", 14.9, 18.7 + number, ".1f", unit=" %", better="more",
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


def full_report() -> str:
    """Make a report whose first page has as much of everything as it may have."""
    keys = ["age", "sex", "nationality", "weight", "zip", "insurance"]
    patients = vr.datasets.hospital(120, seed=1)
    keys = [name for name in keys if name in patients.columns]
    release = vr.anonymize(
        patients, keys=keys, confidential=["diagnosis", "cost"], drop_undeclared=True, k=5, method="mdav",
        models=["p-sensitive=2"],
    )  # fmt: skip
    expose(release)
    result = release.dossier(attacked=True)
    inside = result.inside
    assert inside is not None
    long = "A column looks like a code of a place, and nobody said what it is; say so, or leave it out. "
    losses = tuple(replace(inside.losses[0], key=f"a_rather_long_name_{number}") for number in range(12))
    inside = replace(inside, warnings=tuple(long * 2 for _ in range(7)), losses=losses, changes=())
    public = replace(result.public, findings=tuple(result.public.findings[:1]) * 9)
    return render(
        replace(result, inside=inside, public=public), title="Stays in hospital", publisher="Office"
    )


def test_the_first_page_of_a_report_is_one_printed_page(tmp_path: Path) -> None:
    whole = full_report()
    assert whole.count("more stand in the annex") == 3
    cut = re.sub(r'<div class="annex">.*</main>', "</main>", whole, flags=re.S)
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        pages = []
        for name, text in (("front", cut), ("whole", whole)):
            (tmp_path / f"{name}.html").write_text(text, encoding="utf-8")
            tab = browser.new_page(viewport={"width": 390, "height": 900})
            tab.goto((tmp_path / f"{name}.html").as_uri())
            assert tab.evaluate("document.documentElement.scrollWidth") <= 390
            printed = tab.pdf(prefer_css_page_size=True, print_background=True)
            pages.append(len(re.findall(rb"/Type\s*/Page\b", printed)))
        assert pages[0] == 1
        assert pages[1] > 5  # closed parts are open in print
        assert tab.evaluate("document.querySelectorAll('.fold[open]').length") == 0
        tab.goto(f"{(tmp_path / 'whole.html').as_uri()}#loss")
        assert tab.evaluate("document.querySelectorAll('.fold[open] #loss').length") == 1
        browser.close()
