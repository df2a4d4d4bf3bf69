"""Other users of the machine read the list of processes: the page's token must not stand there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

pytest.importorskip("uvicorn")

from voronym.web.serve import Way
from web.house import house

pytestmark = pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="no list of processes here")

BROWSER = """#!{python}
import pathlib, socket, sys, time, urllib.parse, urllib.request
home, address = pathlib.Path({home!r}), sys.argv[1]
(home / "argument").write_text(address)
path = pathlib.Path(urllib.parse.unquote(urllib.parse.urlsplit(address).path))
(home / "modes").write_text(f"{{path.stat().st_mode & 0o777:o}} {{path.parent.stat().st_mode & 0o777:o}}")
text = path.read_text()
place = text.partition("url=")[2].partition('"')[0].replace("&amp;", "&")
opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
request = urllib.request.Request(place, headers={{"Sec-Fetch-Site": "cross-site"}})
answer = opener.open(request, timeout=20)  # at once: the server listens before the browser starts
first = answer.read().decode()
inner = first.partition("url=")[2].partition('"')[0]
second = opener.open(urllib.parse.urljoin(place, inner), timeout=20).read().decode()
(home / "shown").write_text(second)
time.sleep(600)  # a browser in the foreground
"""


class Neighbour(threading.Thread):
    """Looks at all command lines again and again."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.tokens: set[bytes] = set()
        self.ended = False

    def run(self) -> None:
        while not self.ended:
            for path in Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    self.tokens |= set(re.findall(rb"token=[\w-]{20,}", path.read_bytes()))
                except OSError:
                    continue
            time.sleep(0.01)


@pytest.fixture
def shown(tmp_path: Path) -> Iterator[tuple[Path, Neighbour, str]]:
    """Start the page with a browser that takes what it is given; give what came of it."""
    stand_in = tmp_path / "browser"
    stand_in.write_text(BROWSER.format(python=sys.executable, home=str(tmp_path)))
    stand_in.chmod(0o755)
    (tmp_path / "tmp").mkdir()
    table = tmp_path / "people.csv"
    table.write_text("age,ill\n" + "30,flu\n44,cold\n" * 20)
    surroundings = {**os.environ, "BROWSER": f"{stand_in} %s", "TMPDIR": str(tmp_path / "tmp")}
    neighbour = Neighbour()
    neighbour.start()
    words = [sys.executable, "-m", "voronym.cli", "page", str(table), "--browser"]
    with (tmp_path / "printed").open("w") as out:
        process = subprocess.Popen(
            words, env=surroundings, stdout=out, stderr=subprocess.STDOUT, start_new_session=True
        )
    try:
        ends = time.monotonic() + 120
        while time.monotonic() < ends and not (tmp_path / "shown").exists() and process.poll() is None:
            time.sleep(0.05)
        yield tmp_path, neighbour, (tmp_path / "printed").read_text()
    finally:
        neighbour.ended = True
        os.killpg(process.pid, 15)
        process.wait(60)


def test_the_token_is_not_in_the_list_of_processes(shown: tuple[Path, Neighbour, str]) -> None:
    home, neighbour, printed = shown
    assert neighbour.tokens == set()
    argument = (home / "argument").read_text()
    assert argument.startswith("file:///")
    assert (home / "modes").read_text() == "600 700"
    assert "people.csv" in (home / "shown").read_text(), printed
    used = re.findall(r"token=(\S+)", printed)[0]
    assert used not in argument
    path = Path(argument.removeprefix("file://"))
    assert not path.exists()  # its token is used


def test_the_way_from_a_file_needs_the_token(shown: tuple[Path, Neighbour, str]) -> None:
    """What comes from another site is let in by the right token alone, and by no cookie."""
    _, _, printed = shown
    base = re.findall(r"(http://127\.0\.0\.1:\d+)/", printed)[0]
    elsewhere = {"sec-fetch-site": "cross-site"}
    for query in ("?token=x&open=1", "?open=1", "?token=&open=1"):
        assert httpx.get(f"{base}/{query}", headers=elsewhere).status_code == 403
    used = re.findall(r"token=(\S+)", printed)[0]
    assert httpx.get(f"{base}/?token={used}&open=1", headers=elsewhere).status_code == 403


def test_a_real_browser_goes_from_the_file_to_the_page(tmp_path: Path) -> None:
    sync_api = pytest.importorskip("playwright.sync_api")
    chromium = Path(shutil.which("chromium") or "/usr/bin/chromium")
    if not chromium.exists():
        pytest.skip("there is no Chromium here")
    table = tmp_path / "people.csv"
    table.write_text("age,ill\n" + "30,flu\n44,cold\n" * 20)
    with house(tmp_path, str(table)) as made, sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(chromium), args=["--no-sandbox"])
        tab = browser.new_page()
        tab.goto(Way(tmp_path).open(made.address))
        tab.wait_for_url(re.compile(r"http://127\.0\.0\.1:\d+/t/"))
        assert "people.csv" in tab.content()
        browser.close()
