"""The pages in a real browser: a citizen's walk, the operator's page, axe, and nothing from elsewhere."""

from __future__ import annotations

import base64
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from location.town_hall import PASSWORD, code_for
from location.visitor import entries, joined, town
from voronym_location.demo import listening
from voronym_location.directory import Entry
from voronym_location.passwords import one_time_code
from voronym_location.service import Service

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = Path("/usr/bin/chromium")
pytestmark = pytest.mark.skipif(
    not CHROMIUM.exists(), reason="there is no Chromium (Debian: apt-get install chromium)"
)
WIDTHS = {"desk": 1280, "phone": 390}
SLOW = 90_000  # milliseconds, on a busy machine


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        yield made
        made.close()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Service, str, Any]]:
    with town(tmp_path_factory.mktemp("town"), people=130) as (server, app, made):
        del app
        lat, lon = made.centre
        evil = "<img src=x onerror=alert(1)>"
        server.import_directory([Entry(f"{evil} {n}", lat + 0.0103 + 1e-4 * n, lon) for n in range(40)])
        with listening(server, server.settings) as address:
            yield server, address, made


class Window:
    """A window of the browser that notes what is asked of whom, and what goes wrong."""

    def __init__(self, browser: Any, width: int, scheme: str = "light", *, scripts: bool = True) -> None:
        self.context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, java_script_enabled=scripts
        )
        self.context.set_default_timeout(SLOW)
        self.page = self.context.new_page()
        self.asked: list[str] = []
        self.wrong: list[str] = []
        self.refused: set[str] = set()  # meant, though the browser complains, and perhaps much later
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("console", self._console)
        self.page.on(
            "dialog", lambda dialog: (self.wrong.append(f"dialog {dialog.message}"), dialog.dismiss())
        )
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))

    def _console(self, text: Any) -> None:
        if text.type == "error" and not any(f"status of {item} " in text.text for item in self.refused):
            self.wrong.append(text.text)

    def __enter__(self) -> Window:
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()
        assert all(url.startswith("http://127.0.0.1:") for url in self.asked), self.asked
        assert not self.wrong

    def look(self, name: str) -> None:
        """Check that the page fits its window; keep a picture where somebody asks for them."""
        wide = self.page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        assert wide <= 0, f"{name} is {wide} pixels too wide"
        if folder := os.environ.get("VORONYM_PICTURES"):
            self.page.screenshot(path=f"{folder}/{name}.png", full_page=True)

    def axe(self, name: str) -> None:
        from axe_playwright_python.sync_playwright import Axe

        result = Axe().run(self.page)
        assert result.violations_count == 0, f"{name}: {result.generate_report()}"

    def sign_in(self, address: str, email: str, code: str = "") -> None:
        self.page.goto(f"{address}/sign-in")
        self.page.get_by_label("E-mail address").fill(email)
        self.page.get_by_label("Password").fill(PASSWORD)
        if code:
            self.page.get_by_text("I am an operator").click()
            self.page.get_by_label("Code of your second factor").fill(code)
        self.page.get_by_role("button", name="Sign in").click()
        self.page.wait_for_url(lambda url: not url.endswith("/sign-in"))  # else what is asked next ends it


def test_a_citizen_signs_up_places_the_home_and_sees_the_point(browser: Any, place: Any) -> None:
    server, address, made = place
    with Window(browser, WIDTHS["phone"], "dark") as window:
        page = window.page
        page.goto(address)
        page.locator("main").get_by_role("link", name="Sign up").click()
        page.get_by_label("E-mail address").fill("walk@example.org")
        page.get_by_role("button", name="Send me a code").click()
        page.get_by_label("Code").wait_for()
        page.get_by_label("Code").fill(code_for(server, "walk@example.org"))
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Verify").click()
        page.get_by_role("link", name="Place my home").click()  # who has the code is signed in
        assert page.locator(".pin").is_hidden()
        assert page.get_by_role("button", name="This is my home").is_disabled()
        slip = made.addresses[40][:3] + made.addresses[40][4:]
        window.refused.add("400")
        page.get_by_label("Address, or latitude and longitude").fill(slip)
        page.get_by_role("button", name="Show on the map").click()
        page.get_by_role("button", name=made.addresses[40], exact=True).wait_for()
        page.get_by_label("Address, or latitude and longitude").fill(made.addresses[40])
        page.get_by_role("button", name="Show on the map").click()
        there = ", ".join(f"{v:.5f}" for v in made.houses[40])
        sync_api.expect(page.locator("#where")).to_have_text(there, timeout=SLOW)
        page.get_by_role("button", name="This is my home").click()
        page.get_by_role("heading", name="You are waiting for neighbours").wait_for()
        assert server.home(page_token(window)) is not None
        window.look("waiting")


@pytest.mark.slow
def test_there_is_no_home_before_a_choice(browser: Any, place: Any) -> None:
    """A pin that starts in the town's middle with a live button registers somebody there by one click."""
    server, address, _ = place
    joined(server, "nowhere@example.org")
    for scripts in (True, False):
        with Window(browser, WIDTHS["desk"], scripts=scripts) as window:
            window.sign_in(address, "nowhere@example.org")
            page = window.page
            page.goto(f"{address}/home")
            use = page.get_by_role("button", name="This is my home")
            assert use.is_disabled()
            assert page.locator(".pin").is_hidden()
            page.get_by_role("button", name="Closer").click()
            page.wait_for_load_state()
            assert use.is_disabled()
            if scripts:
                page.locator(".frame").click(position={"x": 300, "y": 320})
            else:
                page.locator(".frame input:visible").click(position={"x": 300, "y": 320})
                page.wait_for_load_state()
            sync_api.expect(use).to_be_enabled(timeout=SLOW)
            assert page.locator(".pin").is_visible()
            assert server.home(page_token(window)) is None


def page_token(window: Window) -> str:
    return next(cooky["value"] for cooky in window.context.cookies() if cooky["name"].endswith("session"))


@pytest.mark.slow
def test_the_pin_follows_the_pointer_and_the_arrow_keys(browser: Any, place: Any) -> None:
    server, address, _ = place
    joined(server, "p1@example.org")
    with Window(browser, WIDTHS["desk"]) as window:
        window.sign_in(address, "p1@example.org")
        page = window.page
        page.goto(f"{address}/home")
        frame = page.locator(".frame")
        before = page.locator("#where").inner_text()
        frame.click(position={"x": 480, "y": 320})
        east = page.locator("#where").inner_text()
        assert float(east.split(", ")[1]) > float(before.split(", ")[1])
        assert (
            east.split(", ")[0] == pytest.approx(before.split(", ")[0])
            or abs(float(east.split(", ")[0]) - float(before.split(", ")[0])) < 1e-4
        )
        frame.focus()
        page.keyboard.press("ArrowUp")
        assert float(page.locator("#where").inner_text().split(", ")[0]) > float(east.split(", ")[0])
        page.keyboard.press("Enter")
        page.wait_for_url("**/me")
        home = server.home(page_token(window))
        assert home is not None
        assert home["longitude"] == pytest.approx(float(east.split(", ")[1]), abs=2e-5)


def test_the_map_works_without_scripts(browser: Any, place: Any) -> None:
    server, address, _ = place
    joined(server, "p2@example.org")
    with Window(browser, WIDTHS["phone"], scripts=False) as window:
        window.sign_in(address, "p2@example.org")
        page = window.page
        page.goto(f"{address}/home")
        where = page.locator("#where")
        first = where.inner_text()
        before = float(first.split(", ")[1])
        page.locator(".frame input:visible").click(position={"x": 240, "y": 160})
        sync_api.expect(where).not_to_have_text(first, timeout=SLOW)  # by another page, in its own time
        # A quarter of a kilometre, which is what the map shows, to the east.
        second = where.inner_text()
        after = float(second.split(", ")[1])
        assert (after - before) * 111_195 * 0.6656 == pytest.approx(250, abs=8)
        page.get_by_role("button", name="West").click()
        sync_api.expect(where).not_to_have_text(second, timeout=SLOW)
        assert float(where.inner_text().split(", ")[1]) < after
        page.get_by_role("button", name="This is my new home").click()
        page.wait_for_url("**/me")


def test_another_site_cannot_frame_the_pages(browser: Any, place: Any, tmp_path: Path) -> None:
    _, address, _ = place
    trap = tmp_path / "trap.html"
    trap.write_text(f'<iframe id="f" src="{address}/sign-in" width="800" height="600"></iframe>')
    context = browser.new_context()
    page = context.new_page()
    page.goto(trap.as_uri())
    page.wait_for_timeout(400)
    inside = page.frames[1]
    assert inside.get_by_label("Password").count() == 0
    context.close()


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", WIDTHS)
def test_a_citizens_whole_walk_and_the_operators_page_are_clean(
    browser: Any, tmp_path: Path, size: str, scheme: str
) -> None:
    with town(tmp_path, people=130, epochs={"k": 10}) as (server, _, made):
        lat, lon = made.centre
        evil = "<img src=x onerror=alert(1)>"
        server.import_directory([Entry(f"{evil} {n}", lat + 0.0103 + 1e-4 * n, lon) for n in range(40)])
        server.import_directory(entries(made, 40, first=130))
        server.run_epoch()
        server.run_epoch()
        joined(server, "p3@example.org")
        secret = base64.b32decode(server.add_operator("op@example.org", PASSWORD))
        with listening(server, server.settings) as address, Window(browser, WIDTHS[size], scheme) as window:
            page = window.page

            def seen(name: str) -> None:
                window.look(f"{size}-{scheme}-{name}")
                window.axe(name)

            for path in ("/", "/about", "/sign-up", "/verify", "/sign-in"):
                page.goto(address + path)
                seen(path.strip("/") or "welcome")
            page.get_by_label("E-mail address").fill("p3@example.org")
            page.get_by_label("Password").fill("not that one")
            window.refused.add("401")
            page.get_by_role("button", name="Sign in").click()
            page.get_by_role("alert").wait_for()
            seen("wrong-password")
            window.sign_in(address, "p3@example.org")
            page.wait_for_url("**/me")
            seen("me")
            with page.expect_download() as loaded:
                page.get_by_role("button", name="Download the statement").click()
            assert "signature" in Path(loaded.value.path()).read_text()
            page.goto(f"{address}/home")
            seen("home")
            page.get_by_label("Address, or latitude and longitude").fill(f"{lat + 0.0123}, {lon}")
            page.get_by_role("button", name="Show on the map").click()
            seen("evil-street")
            page.get_by_label("Address, or latitude and longitude").fill("No such street 1")
            window.refused.add("400")
            page.get_by_role("button", name="Show on the map").click()
            seen("not-found")
            page.get_by_role("button", name="Closer").click()
            page.get_by_role("button", name="North").click()
            page.get_by_role("button", name="This is my new home").click()
            page.wait_for_url("**/me")
            seen("moving")
            server.run_epoch()
            page.reload()
            seen("moved")
            page.get_by_role("link", name="Leave").click()
            seen("leave")
            page.get_by_label("Type the word delete").fill("delete")
            page.get_by_role("button", name="Delete everything").click()
            page.get_by_role("heading", name="All of it is deleted").wait_for()
            seen("deleted")
            window.sign_in(address, "op@example.org", one_time_code(secret, time.time()))
            page.wait_for_url("**/operator")
            seen("operator")
            page.get_by_role("button", name="Look at the next epoch").click()
            page.get_by_role("button", name="Put it in force").wait_for()
            seen("desk-draft")
            page.get_by_role("button", name="Pause the schedule").click()
            page.get_by_role("button", name="Go on with the schedule").wait_for()
            page.get_by_role("button", name="Put it in force").click()
            page.get_by_role("button", name="Look at the next epoch").wait_for()
            seen("desk-in-force")
            assert "p4@example.org" not in page.content()
