"""A tab in a real browser, and what was seen in it: Chromium by Playwright."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

from voronym import datasets
from web.house import House

CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
SLOW = 90_000


class Walk:
    """A tab, and what was seen in it: every request, every picture, every complaint of axe."""

    def __init__(self, made: House, browser: Any, width: int = 1280, scheme: str = "light") -> None:
        self.house, self.width, self.scheme = made, width, scheme
        self.context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, accept_downloads=True
        )
        self.context.set_default_timeout(SLOW)
        self.tab = self.context.new_page()
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.refused = {"422"}  # meant, though the browser complains, and perhaps much later
        self.steps = 0
        self.tab.on("request", lambda single: self.requests.append(single.url))
        self.tab.on("pageerror", lambda single: self.complaints.append(f"script: {single}"))
        self.tab.on("console", lambda single: self._console(single))

    def _console(self, text: Any) -> None:
        if text.type == "error" and not any(f"status of {item} " in text.text for item in self.refused):
            self.complaints.append(f"console: {text.text}")

    def step(self, name: str, *, axe: bool = True) -> None:
        """Look at what is there: no wider than the window, no complaint of axe, a picture."""
        from axe_playwright_python.sync_playwright import Axe

        self.steps += 1
        self.tab.wait_for_load_state()
        wide = self.tab.evaluate("document.documentElement.scrollWidth")
        if wide > self.width:
            self.complaints.append(f"{name}: {wide} pixels wide in {self.width}")
        if axe:
            for item in Axe().run(self.tab).response["violations"]:
                nodes = [node["html"][:120] for node in item["nodes"][:3]]
                self.complaints.append(f"{name}, {self.scheme}: {item['id']}: {nodes}")
        folder = os.environ.get("VORONYM_SHOTS")
        if folder:
            Path(folder).mkdir(parents=True, exist_ok=True)
            file = f"{self.width}-{self.scheme}-{self.steps:02d}-{name}.png"
            self.tab.screenshot(path=str(Path(folder, file)), full_page=True)

    def button(self, name: str) -> None:
        """Press the first button of a name."""
        self.tab.get_by_role("button", name=name).first.click()

    def role(self, column: str, role: str) -> None:
        """Give a column a role."""
        self.tab.locator(f'fieldset:has(legend:text-is("{column}"))').get_by_label(role, exact=True).check()

    def open(self, folder: Path, rows: int = 60) -> str:
        """Open a table of made-up patients at its columns, and return its address."""
        path = people(folder, rows)
        self.tab.goto(self.house.base)
        self.tab.set_input_files("#file", str(path))
        self.tab.wait_for_url("**/read")
        return self.tab.url.rpartition("/")[0]

    def close(self) -> None:
        """Close the tab; nothing may have gone wrong in it, and nobody else was asked for anything."""
        self.context.close()
        assert not self.complaints, "\n".join(self.complaints)
        assert {request.split("/")[2].split(":")[0] for request in self.requests} == {"127.0.0.1"}


def people(folder: Path, rows: int = 300) -> Path:
    """Write a table of made-up patients."""
    path = folder / "people.csv"
    datasets.hospital(rows, outliers=2, seed=2).write_csv(path)
    return path
