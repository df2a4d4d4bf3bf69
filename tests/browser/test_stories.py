"""Five stories in a real browser: at two widths, light and dark, with axe, and one by the keyboard alone."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import voronym as vr
from browser.walks import CHROMIUM, Walk, people
from web.house import house

sync_api = pytest.importorskip("playwright.sync_api")
pytest.importorskip("axe_playwright_python.sync_playwright")
if not Path(CHROMIUM).exists():
    pytest.skip("there is no Chromium here: apt-get install chromium", allow_module_level=True)

pytestmark = pytest.mark.slow
LOOKS = [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield made
        made.close()


@pytest.fixture(params=LOOKS, ids=["wide-light", "wide-dark", "narrow-light", "narrow-dark"])
def walk(request: pytest.FixtureRequest, browser: Any, tmp_path: Path) -> Iterator[Walk]:
    with house(tmp_path) as made:
        walk = Walk(made, browser, *request.param)
        walk.tab.goto(made.address)
        yield walk
        walk.close()


def classes(path: Path, keys: list[str]) -> Counter[tuple[str, ...]]:
    with path.open(newline="", encoding="utf-8") as file:
        return Counter(tuple(row[key] for key in keys) for row in csv.DictReader(file))


def download(walk: Walk) -> Path:
    with walk.tab.expect_download() as waiting:
        walk.tab.get_by_text("Download the release").click()
    return Path(waiting.value.path())


def opened(walk: Walk, path: Path) -> str:
    walk.tab.set_input_files("#file", str(path))
    walk.tab.wait_for_url("**/read")
    return walk.tab.url.rpartition("/")[0]


def test_patients(walk: Walk, tmp_path: Path) -> None:
    tab = walk.tab
    place = opened(walk, people(tmp_path, 200))
    walk.step("read")
    tab.goto(f"{place}/bench")
    for name in ("admitted", "weight", "nationality", "cost", "days"):
        walk.role(name, "other")
    tab.wait_for_selector('#preview-state:has-text("the release will say the same")')
    walk.step("bench")
    drawn = tab.inner_text("#preview-loss")
    walk.button("Make the release")
    tab.wait_for_url("**/result/1")
    walk.step("result")
    assert drawn in tab.inner_text(".verdict")
    assert min(classes(download(walk), ["age", "sex", "zip"]).values()) >= 5


def test_a_survey_with_codes_weights_and_households(walk: Walk, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    n = 300
    table = pl.DataFrame(
        {
            "hid": np.repeat(np.arange(n // 3), 3),
            "roof": rng.integers(1, 5, n),
            "water": rng.integers(1, 4, n),
            "age": rng.integers(1, 80, n),
            "sampling_weight": rng.choice([100.5, 200.25, 50.0], n // 3).repeat(3),
            "income": rng.integers(10, 99, n) * 100,
        }
    )
    table.write_csv(tmp_path / "survey.csv")
    tab = walk.tab
    place = opened(walk, tmp_path / "survey.csv")
    tab.goto(f"{place}/roles")
    walk.role("sampling_weight", "other")
    for name in ("income",):
        walk.role(name, "confidential")
    tab.evaluate("document.getElementById('units').open = true")
    tab.select_option("[name=household]", label="hid")
    for i in (1, 2):
        tab.evaluate(f"document.getElementById('more-of-{i}').open = true")
        tab.select_option(f"[name=kind-{i}]", "nominal")
    tab.evaluate("document.getElementById('more-of-4').open = true")
    tab.check("[name=join-4]")
    walk.step("roles")
    tab.goto(f"{place}/protect")
    tab.evaluate("document.getElementById('rules').open = true")
    tab.select_option("[name=weights]", label="sampling_weight")
    tab.fill("[name=k]", "3")
    walk.button("Make the release")
    tab.wait_for_url("**/result/1")
    walk.step("result")
    text = tab.inner_text("#command")
    for word in ("--household hid", "--weights sampling_weight", "--kind roof=nominal"):
        assert word in text


def test_next_month(walk: Walk, tmp_path: Path) -> None:
    tab = walk.tab
    may = vr.datasets.hospital(120, seed=1).select("age", "sex", "zip", "diagnosis")
    june = vr.datasets.hospital(130, seed=2).select("age", "sex", "zip", "diagnosis")
    release = vr.anonymize(
        may, keys=["age", "sex", "zip"], confidential=["diagnosis"], k=4, method="mdav",
        steps=["top age=80", "bottom age=20"],
    )  # fmt: skip
    release.recipe.save(tmp_path / "recipe.toml")
    june.write_csv(tmp_path / "june.csv")
    tab.set_input_files("#recipe", str(tmp_path / "recipe.toml"))
    tab.wait_for_selector("text=A recipe waits")
    walk.step("recipe-waits")
    place = opened(walk, tmp_path / "june.csv")
    tab.goto(f"{place}/protect")
    assert tab.input_value("[name=steps]") == "top age=80\nbottom age=20"
    walk.button("Make the release")
    tab.wait_for_url("**/result/1")
    assert min(classes(download(walk), ["age", "sex", "zip"]).values()) >= 4


def test_somebody_elses_release(walk: Walk, tmp_path: Path) -> None:
    tab = walk.tab
    table = vr.datasets.hospital(150, seed=1).select("age", "sex", "zip", "diagnosis")
    table.write_csv(tmp_path / "original.csv")
    table.with_columns(age=pl.col("age") // 10 * 10).write_csv(tmp_path / "theirs.csv")
    tab.set_input_files("#judge", str(tmp_path / "theirs.csv"))
    tab.wait_for_url("**/judge")
    for name, role in (("age", "key"), ("sex", "key"), ("zip", "key"), ("diagnosis", "confidential")):
        walk.role(name, role)
    tab.set_input_files("#original", str(tmp_path / "original.csv"))
    tab.wait_for_selector("text=Compared with original.csv")
    for name, role in (("age", "key"), ("sex", "key"), ("zip", "key"), ("diagnosis", "confidential")):
        walk.role(name, role)
    walk.button("Attack it")
    tab.wait_for_selector("#judged svg.fig")
    walk.step("judged")
    assert "is right about" in tab.inner_text("#judged-sentence")


def test_many_rows(walk: Walk, tmp_path: Path) -> None:
    tab = walk.tab
    rng = np.random.default_rng(0)
    n = 200_000
    table = pl.DataFrame(
        {"age": rng.integers(0, 99, n), "size": rng.normal(170, 10, n).round(1), "job": rng.integers(0, 9, n)}
    )
    table.write_parquet(tmp_path / "many.parquet")
    place = opened(walk, tmp_path / "many.parquet")
    tab.goto(f"{place}/protect")
    tab.wait_for_selector("#preview-loss")
    assert "of 200,000 rows" in tab.inner_text("#preview-state")
    walk.step("first-look")
    tab.evaluate("document.getElementById('expert').open = true")
    tab.select_option("[name=method]", "kd")
    walk.button("Make the release")
    tab.wait_for_selector("progress")
    walk.button("Cancel")
    tab.wait_for_selector('h1:has-text("Cancelled")')


def test_by_the_keyboard_alone(browser: Any, tmp_path: Path) -> None:
    with house(tmp_path) as made:
        walk = Walk(made, browser)
        tab = walk.tab
        tab.goto(made.address)
        _press(tab, "Take the made-up patients")
        tab.wait_for_url("**/read")
        _press(tab, "Yes: on to its columns")
        tab.wait_for_url("**/roles")
        _press(tab, "On to the protection")
        tab.wait_for_url("**/protect")
        _press(tab, "Make the release")
        tab.wait_for_url("**/result/1")
        walk.close()


def _press(tab: Any, name: str) -> None:
    """Go on by Tab until a button has the focus, and press it."""
    for _ in range(400):
        tab.keyboard.press("Tab")
        if tab.evaluate("document.activeElement.textContent.trim()") == name:
            tab.keyboard.press("Enter")
            return
    raise AssertionError(f"{name} cannot be reached by Tab")
