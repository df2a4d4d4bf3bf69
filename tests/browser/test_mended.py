"""What a person enters is kept, whatever they click; each of these was lost, or said wrongly, once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from browser.walks import CHROMIUM, Walk
from web.house import OURS, House, house

sync_api = pytest.importorskip("playwright.sync_api")
pytest.importorskip("axe_playwright_python.sync_playwright")
if not Path(CHROMIUM).exists():
    pytest.skip("there is no Chromium here: apt-get install chromium", allow_module_level=True)

FINAL = '#preview-state:has-text("the release will say the same")'
RECIPE = """
k = 4
method = "mdav"
steps = ["top age=90", "round weight=5"]
[schema]
[[schema.columns]]
name = "age"
role = "key"
kind = "numeric"
[[schema.columns]]
name = "weight"
role = "key"
kind = "numeric"
[[schema.columns]]
name = "name"
role = "identifier"
kind = "nominal"
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield made
        made.close()


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with house(tmp_path_factory.mktemp("mended")) as made:
        yield made


@pytest.fixture
def walk(page: House, browser: Any, tmp_path: Path) -> Iterator[Walk]:
    """Open a table of its own for each test: what one test leaves behind must not decide another."""
    made = Walk(page, browser)
    made.tab.goto(page.address)
    made.place = made.open(tmp_path)  # type: ignore[attr-defined]
    yield made
    made.tab.goto("about:blank")  # a page of a table that is gone would complain
    gone = made.tab.request.post(f"{made.place}/forget", headers=OURS)  # type: ignore[attr-defined]
    assert gone.ok, "the page holds four tables at most"
    made.close()


def command(walk: Walk) -> str:
    """Return what the page would do, as its own journal has it."""
    return walk.tab.request.get(f"{walk.place}/command").text()  # type: ignore[attr-defined]


@pytest.mark.slow
def test_tabs_and_reload_lose_nothing(walk: Walk) -> None:
    tab = walk.tab
    tab.goto(f"{walk.place}/roles")
    walk.role("weight", "other")
    walk.role("weight", "key")
    walk.role("cost", "other")
    tab.get_by_role("link", name="Protection").click()
    tab.wait_for_url("**/protect")
    assert re.search(r"--key \S*weight", command(walk))
    tab.fill("[name=k]", "9")
    tab.get_by_role("link", name="Columns").click()
    tab.wait_for_url("**/roles")
    assert "-k 9" in command(walk)
    tab.get_by_role("link", name="Protection").click()
    tab.wait_for_url("**/protect")
    assert tab.input_value("[name=k]") == "9"
    tab.fill("[name=k]", "8")
    tab.wait_for_selector('#saved:has-text("Kept")')
    tab.reload()
    assert tab.input_value("[name=k]") == "8"


@pytest.mark.slow
def test_undo_and_redo(walk: Walk) -> None:
    tab = walk.tab
    tab.goto(f"{walk.place}/protect")
    before = tab.input_value("[name=k]")
    tab.fill("[name=k]", "12")
    tab.press("[name=k]", "Tab")
    tab.wait_for_selector('#saved:has-text("Kept")')
    walk.button("Undo")
    sync_api.expect(tab.locator("[name=k]")).to_have_value(before)
    walk.button("Redo")
    sync_api.expect(tab.locator("[name=k]")).to_have_value("12")


@pytest.mark.slow
def test_two_windows_do_not_undo_each_other(walk: Walk) -> None:
    tab, other = walk.tab, walk.context.new_page()
    tab.goto(f"{walk.place}/protect")
    other.goto(f"{walk.place}/protect")
    tab.fill("[name=k]", "7")
    tab.press("[name=k]", "Tab")
    tab.wait_for_selector('#saved:has-text("Kept")')
    other.locator("#expert summary").click()
    other.fill("[name=seed]", "3")
    other.press("[name=seed]", "Tab")
    other.wait_for_selector('#saved:has-text("Kept")')
    message = command(walk)
    assert "-k 7" in message
    assert "--seed 3" in message
    other.evaluate("window.dispatchEvent(new Event('focus'))")
    sync_api.expect(other.locator("[name=k]")).to_have_value("7")
    other.close()


def test_steps_stay_lines_after_an_error_and_from_a_recipe(walk: Walk, tmp_path: Path) -> None:
    tab = walk.tab
    tab.goto(f"{walk.place}/protect")
    tab.evaluate("document.getElementById('rules').open = true")
    tab.fill("[name=steps]", "tpo age=90\nround wieght=5")
    walk.button("Make the release")
    tab.wait_for_selector("#error-steps:not(:empty)")
    assert tab.input_value("[name=steps]") == "tpo age=90\nround wieght=5"
    output = tab.inner_text("#error-steps")
    assert "tpo" in output
    assert "wieght" in output, "both are told"
    # The page moves the focus after it has drawn the errors.
    sync_api.expect(tab.locator(".summary:focus")).to_have_count(1)
    (tmp_path / "recipe.toml").write_text(RECIPE)
    tab.goto(f"{walk.place}/roles")
    tab.evaluate("document.getElementById('by-recipe').open = true")
    tab.set_input_files("#recipe", str(tmp_path / "recipe.toml"))
    tab.wait_for_load_state("networkidle")
    tab.goto(f"{walk.place}/protect")
    assert tab.input_value("[name=steps]") == "top age=90\nround weight=5"
    walk.button("Undo")
    sync_api.expect(tab.locator("[name=steps]")).not_to_have_value(
        "top age=90\nround weight=5", timeout=60_000
    )


@pytest.mark.slow
def test_a_mark_chooses_k_and_nothing_else(walk: Walk) -> None:
    tab = walk.tab
    tab.goto(f"{walk.place}/protect")
    tab.evaluate("document.getElementById('rules').open = true")
    tab.fill("[name=steps]", "")
    tab.press("[name=steps]", "Tab")
    before = command(walk)
    tab.wait_for_selector("circle[data-k='10']", state="attached")
    tab.locator("circle[data-k='10']").dispatch_event("click")
    tab.wait_for_selector('#saved:has-text("Kept")')
    assert command(walk) == re.sub(r"-k \d+", "-k 10", before)


@pytest.mark.slow
def test_forgetting_is_asked_about(walk: Walk) -> None:
    tab = walk.tab
    tab.goto(f"{walk.place}/protect")
    tab.get_by_role("link", name="Forget this table").click()
    tab.wait_for_selector('h1:has-text("Forget people.csv?")')
    walk.step("forget")
    tab.get_by_role("link", name="Keep it").click()
    tab.goto(f"{walk.place}/protect")
    assert tab.locator("[name=k]").count() == 1


def test_hexagons_grow_stronger_on_both_grounds(browser: Any, tmp_path: Path) -> None:
    """Fuller hexagons stand out more from the ground, dark or light, as label and caption say."""
    from voronym.dossier.parts import Cloud
    from voronym.report.html import style_sheet
    from voronym.report.maps import MANY, cloud

    points = tuple((float(i % 30), float(i // 30)) for i in range(MANY + 50))
    drawn = cloud(Cloud(points, tuple(range(1, MANY + 51)), MANY + 50, ("a", "b"), (0.5, 0.5)), title="t")
    assert "strongest colour" in drawn
    assert "dark" not in drawn
    (tmp_path / "cloud.html").write_text(f"<style>{style_sheet()}</style>{drawn}", "utf-8")
    for scheme in ("light", "dark"):
        tab = browser.new_context(color_scheme=scheme).new_page()
        tab.goto((tmp_path / "cloud.html").as_uri())
        marks = tab.evaluate(
            "[...document.querySelectorAll('.hm')]"
            ".map(e => [getComputedStyle(e).fill, +e.getAttribute('fill-opacity')])"
        )
        ground = tab.evaluate("getComputedStyle(document.querySelector('.fig .p')).fill")
        low, high = min(marks, key=lambda single: single[1]), max(marks, key=lambda single: single[1])
        assert _apart(high, ground) > _apart(low, ground)
        tab.close()


def _apart(mark: list[Any], ground: str) -> float:
    """Return how far the colour of a mark, laid over its ground, is from that ground."""
    own, below = (list(map(float, re.findall(r"[\d.]+", text)[:3])) for text in (mark[0], ground))
    return sum(abs(mark[1] * (a - b)) for a, b in zip(own, below, strict=True))


@pytest.mark.slow
def test_two_runs_name_their_own_columns(walk: Walk) -> None:
    """The comparison has a line for each column, and names the model that differs."""
    tab = walk.tab
    tab.goto(f"{walk.place}/roles")
    for name in ("diagnosis", "days"):
        walk.role(name, "confidential")
    for name in ("weight", "nationality", "admitted", "zip", "cost"):
        walk.role(name, "other")
    tab.wait_for_selector('#saved:has-text("Kept")')
    tab.goto(f"{walk.place}/protect")
    tab.fill("[name=k]", "3")
    tab.evaluate("document.getElementById('expert').open = true")
    tab.select_option("[name=method]", "mdav")
    walk.button("Make the release")
    tab.wait_for_url("**/result/*")
    walk.step("result")
    tab.goto(f"{walk.place}/protect")
    tab.check("[name=p-sensitive]")
    walk.button("Make the release")
    tab.wait_for_url("**/result/*")
    text = " ".join(tab.inner_text("#ab").split())
    assert "models: p-sensitive=2" in text, "what differs is named"
    rows = tab.locator("#ab tbody tr").all_inner_texts()
    certain = [row for row in rows if "is certain" in row]
    assert len(certain) == len({row.partition(" is certain")[0] for row in certain})
    assert any("diagnosis" in row for row in certain)
    assert "What to do next" in tab.inner_text("main")


@pytest.mark.slow
def test_the_bench_shows_what_the_release_will_say(walk: Walk) -> None:
    tab = walk.tab
    tab.goto(f"{walk.place}/bench")
    tab.wait_for_selector(FINAL)
    walk.step("bench")
    drawn = tab.inner_text("#preview-loss")
    sentence = tab.inner_text("#preview-risk")
    tab.wait_for_selector("#middle-table td.tinted")
    tab.get_by_label("before", exact=True).check()
    assert tab.locator("#middle-table tr.is:visible").count() == 0
    walk.button("Pin this as an alternative")
    tab.wait_for_selector('table:has-text("Alternatives")')
    tab.wait_for_selector("svg .pin", state="attached")
    tab.wait_for_selector("#worst-groups summary")
    for name, flag in (("coarser", "--step"), ("left out", "--suppress 1%"), ("count twice", "--importance")):
        tab.wait_for_selector(FINAL)  # a click at a place could miss a part that is drawn again
        tab.click("#worst-groups summary")
        with tab.expect_navigation():
            walk.button(name)
        assert flag in command(walk), "from a group to what helps it"
        tab.wait_for_selector("#worst-groups summary")
    walk.step("helped")
    walk.button("Release alternative A")
    tab.wait_for_url("**/result/*")
    assert "--importance" not in command(walk), "the alternative was chosen, and is released"
    assert sentence
    assert "is right about" in tab.inner_text(".verdict .worst")
    assert drawn.removeprefix("about ") in tab.inner_text(".verdict")
