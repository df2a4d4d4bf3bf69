"""Six pictures of the page and its report, in Chromium: ``python docs/_ext/screens.py`` takes them again.

They are of made-up patients, and kept small: each is a JPEG of at most 100 kB in ``docs/_static/screens``.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PLACE = Path(__file__).parents[1] / "_static" / "screens"
CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
SIZE = {"width": 1180, "height": 820}
QUALITIES = (70, 55, 40, 30)
MOST = 100_000


@contextmanager
def served() -> Iterator[str]:
    """Run the page, and give the address that it prints."""
    command = [sys.executable, "-m", "voronym.cli", "page", "--no-browser"]
    given = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen(command, **given) as process:  # noqa: S603 - our own program
        try:
            for line in process.stdout or ():
                if found := re.search(r"http://127\.0\.0\.1:\d+/\?token=\S+", line):
                    yield found[0]
                    return
        finally:
            process.terminate()
    raise RuntimeError("the page printed no address")


def take(tab: Any, name: str) -> None:
    """Take a picture of what the window shows, as good as fits."""
    if name != "ledger":
        tab.evaluate("document.activeElement?.blur(); scrollTo({top: 0, behavior: 'instant'})")
        tab.wait_for_function("scrollY === 0")
    for quality in QUALITIES:
        data = tab.screenshot(type="jpeg", quality=quality)
        if len(data) <= MOST:
            break
    PLACE.mkdir(parents=True, exist_ok=True)
    (PLACE / f"{name}.jpg").write_bytes(data)
    sys.stdout.write(f"{name}.jpg: {len(data) // 1000} kB\n")


def walk(tab: Any, folder: Path) -> None:
    """Go from the made-up patients to a release and its report, and to the ledger."""
    tab.get_by_role("button", name="Take the made-up patients").click()
    tab.wait_for_url("**/read")
    place = tab.url.rpartition("/")[0]
    tab.goto(f"{place}/roles")
    for column in ("admitted", "weight", "nationality", "days"):
        tab.locator(f'fieldset:has(legend:text-is("{column}"))').get_by_label("other", exact=True).check()
    tab.wait_for_selector('#alone:has-text("stand alone")')
    take(tab, "columns")
    tab.goto(f"{place}/protect")
    tab.wait_for_selector('#preview-state:has-text("the release will say the same")')
    take(tab, "protection")
    tab.goto(f"{place}/bench")
    tab.wait_for_selector('#preview-state:has-text("the release will say the same")')
    take(tab, "workbench")
    tab.goto(f"{place}/protect")
    tab.evaluate("document.getElementById('ledger').open = true")
    tab.locator("#ledger").scroll_into_view_if_needed()
    take(tab, "ledger")
    tab.get_by_role("button", name="Make the release").click()
    tab.wait_for_url("**/result/1")
    take(tab, "release")
    report = folder / "report.html"
    report.write_text(tab.request.get(f"{place}/result/1/report").text(), encoding="utf-8")
    tab.goto(report.as_uri())
    take(tab, "report")


def main() -> None:
    """Take all of them."""
    from playwright.sync_api import sync_playwright

    with served() as address, sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        tab = browser.new_page(viewport=SIZE)
        tab.set_default_timeout(180_000)
        tab.goto(address)
        walk(tab, Path(folder))
        browser.close()


if __name__ == "__main__":
    main()
