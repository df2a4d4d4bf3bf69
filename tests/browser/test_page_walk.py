"""A walk through the page in a real browser, wide and narrow, light and dark: Chromium by Playwright.

``VORONYM_SHOTS=folder`` keeps a picture of every step, to be looked at.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from browser.walks import CHROMIUM, Walk, people
from web.house import House, house, quiet_port

sync_api = pytest.importorskip("playwright.sync_api")
pytest.importorskip("axe_playwright_python.sync_playwright")
if not Path(CHROMIUM).exists():
    pytest.skip("there is no Chromium here: apt-get install chromium", allow_module_level=True)


@pytest.fixture(scope="module")
def browser() -> Iterator[object]:
    with sync_api.sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield made
        made.close()


@pytest.fixture
def page(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path, "--port", str(quiet_port())) as made:  # one test starts another server there
        yield made


def counted(path: Path, keys: list[str]) -> tuple[int, int]:
    """Rows of a file and the size of its smallest class, counted by code of its own."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return len(rows), min(Counter(tuple(row[key] for key in keys) for row in rows).values())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("width", "scheme"), [(1280, "light"), (390, "dark"), (1280, "dark"), (390, "light")]
)
def test_a_walk_of_twenty_five_steps(
    page: House, browser: object, tmp_path: Path, width: int, scheme: str
) -> None:
    walk = Walk(page, browser, width, scheme)
    tab = walk.tab
    tab.goto(page.address)
    walk.step("start")
    wrong = tmp_path / "wrong.csv"
    wrong.write_bytes(b"a,b\n1,2\n3\n")
    tab.set_input_files("#file", str(wrong))
    tab.wait_for_selector("#error-file:not(:empty)")
    walk.step("wrong-file")
    broken = tmp_path / "broken.toml"
    broken.write_text("k = = 3")
    tab.set_input_files("#recipe", str(broken))
    tab.wait_for_selector("#error-recipe:not(:empty)")
    walk.step("wrong-recipe")
    tab.set_input_files("#file", str(people(tmp_path)))
    tab.wait_for_url("**/read")
    walk.step("read")
    tab.click("#reading summary")
    tab.fill("[name=delimiter]", "long")
    walk.button("Read it this way")
    assert "delimiter" in tab.inner_text("#error-reading")
    walk.step("wrong-reading")
    tab.fill("[name=delimiter]", ",")
    walk.button("Read it this way")
    walk.step("read-again")
    walk.button("Yes: on to its columns")
    tab.wait_for_selector('#alone:has-text("300 of 300 people stand alone")')
    walk.step("roles")
    for name in ("days", "cost", "admitted", "weight", "nationality"):
        tab.locator(f'fieldset:has(legend:text-is("{name}"))').get_by_label("other", exact=True).check()
    tab.wait_for_selector('#alone:has-text("stand alone"):not(:has-text("300 of 300"))')
    walk.step("fewer-keys")
    tab.locator('fieldset:has(legend:text-is("patient_id"))').get_by_label("key", exact=True).check()
    walk.button("On to the protection")
    tab.wait_for_selector(".col .error")
    walk.step("refused-key")
    tab.locator('fieldset:has(legend:text-is("patient_id"))').get_by_label("identifier", exact=True).check()
    walk.button("On to the protection")
    tab.wait_for_selector("svg.fig")
    walk.step("picture-begun")
    tab.wait_for_selector("[data-k='20']", state="attached")
    walk.step("picture")
    tab.fill("[name=k]", "1000")
    walk.button("Make the release")
    tab.wait_for_selector("#error-k:not(:empty)")
    walk.step("wrong-k")
    tab.wait_for_selector("svg.fig")
    tab.fill("[name=k]", "4")
    tab.wait_for_selector("circle[data-k='5']", state="attached")
    # The picture is drawn again while answers arrive: a click at a place could miss the point.
    tab.locator("circle[data-k='5']").first.dispatch_event("click")
    assert tab.input_value("[name=k]") == "5"
    walk.step("point-chosen")
    tab.wait_for_selector("#sketch-table summary")
    tab.click("#sketch-table summary")
    tab.locator("button[data-k='10']").focus()
    tab.keyboard.press("Enter")
    assert tab.input_value("[name=k]") == "10"
    walk.step("chosen-by-keyboard")
    tab.click("#expert summary")
    # The run must not end, and take the page away, while axe looks at it: annealing takes all its time, while
    # `auto` ends when its groups are proven to be the best.
    tab.select_option("[name=method]", "anneal")
    tab.fill("[name=time_limit]", "600")
    walk.button("Make the release")
    tab.wait_for_url("**/run/*")
    tab.wait_for_selector('dd.value:has-text("%")')
    walk.step("running")
    here = tab.url
    tab.goto("about:blank")
    tab.goto(here)
    tab.wait_for_selector("progress")
    walk.step("come-back")
    walk.button("Take the best so far")
    tab.wait_for_url("**/result/1")
    walk.step("result")
    with tab.expect_download() as waiting:
        tab.get_by_text("Download the release").click()
    assert counted(Path(waiting.value.path()), ["age", "sex", "zip"]) >= (300, 10)
    walk.step("downloaded", axe=False)
    tab.get_by_text("Try another protection").click()
    tab.wait_for_selector("svg.fig")
    tab.click("#rules summary")
    tab.fill("[name=steps]", "tpo age=80")
    walk.button("Make the release")
    tab.wait_for_selector("#error-steps:not(:empty)")
    assert "'tpo'" in tab.inner_text("#error-steps")
    walk.step("wrong-step")
    tab.fill("[name=steps]", "top age=80\nround age=5")
    tab.fill("[name=k]", "12")
    tab.check("[name=p-sensitive]")
    tab.click("#expert summary")
    tab.fill("[name=time_limit]", "")
    tab.select_option("[name=method]", "mdav")
    walk.step("second-protection")
    walk.button("Make the release")
    tab.wait_for_url("**/result/2")
    tab.wait_for_selector("#ab table")
    walk.step("compared")
    tab.get_by_role("button", name="Go back to the settings of run 1").click()
    assert tab.input_value("[name=k]") == "10"
    walk.step("gone-back")
    tab.click("#expert[open] summary, #expert summary")
    tab.fill("[name=time_limit]", "60")
    walk.button("Make the release")
    tab.wait_for_selector("progress")
    walk.button("Cancel")
    tab.wait_for_selector('h1:has-text("Cancelled")', timeout=30_000)  # by itself it would go on for a minute
    walk.step("cancelled")
    report = walk.context.new_page()
    report.goto(re.sub(r"/run/\d+$", "/result/2/report", tab.url))
    assert "Do not publish it" in report.inner_text("body")
    tab.goto(re.sub(r"/run/\d+$", "/result/2", tab.url))
    walk.step("back-at-the-result")
    other = walk.context.new_page()
    other.goto(page.base)
    other.get_by_role("button", name="Take the made-up patients").click()
    other.wait_for_url("**/read")
    other.goto(page.base)
    tab.goto(page.base)
    walk.step("two-on-the-desk")
    tab.get_by_role("link", name="Forget people.csv").click()
    walk.step("forget-asked")
    walk.button("Forget it")
    tab.wait_for_selector('.desk:not(:has-text("people.csv"))')
    walk.step("forgotten")
    walk.refused.add("404")
    tab.goto(f"{page.base}/t/nothing/read")
    walk.step("not-there")
    assert walk.steps >= 25
    walk.close()


def test_the_short_way_and_a_restart(page: House, browser: object, tmp_path: Path) -> None:
    walk = Walk(page, browser, 390, "light")
    tab = walk.tab
    tab.goto(page.address)
    bare = tmp_path / "bare.csv"
    bare.write_text("".join(people(tmp_path, 60).read_text("utf-8").splitlines(keepends=True)[1:]), "utf-8")
    tab.set_input_files("#file", str(bare))
    tab.wait_for_selector('#error-file:has-text("looks like data")')
    tab.select_option("[name=header]", "no")
    walk.step("first-line-is-a-record")
    tab.set_input_files("#file", str(bare))
    tab.wait_for_url("**/read")
    assert "column_3" in tab.inner_text("table")
    tab.goto(page.base)
    tab.set_input_files("#file", str(people(tmp_path, 60)))
    tab.wait_for_url("**/read")
    walk.button("Yes: on to its columns")
    tab.wait_for_selector('#alone:has-text("60 of 60 people stand alone")')
    for name in ("days", "cost", "admitted", "weight", "nationality", "zip"):
        tab.locator(f'fieldset:has(legend:text-is("{name}"))').get_by_label("other", exact=True).check()
    walk.step("roles")
    walk.button("On to the protection")
    tab.click("#expert summary")
    tab.select_option("[name=method]", "mdav")
    tab.fill("[name=k]", "4")
    walk.button("Make the release")
    tab.wait_for_url("**/result/1")
    walk.step("result")
    with tab.expect_download() as waiting:
        tab.get_by_text("Download the release").click()
    assert counted(Path(waiting.value.path()), ["age", "sex"]) >= (60, 4)
    here = tab.url
    walk.refused |= {"403", "404"}
    assert page.end() == 0
    assert not any((tmp_path / "tmp").iterdir())
    with house(tmp_path, "--port", here.split("/")[2].rpartition(":")[2]):  # the same place, another server
        answer = tab.goto(here)
        assert answer.status == 403
        assert "locked" in tab.inner_text("body")
    walk.close()
