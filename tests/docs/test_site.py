"""The built site: no warnings, no dead links, every page near the front page, and a search that finds."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from html import unescape
from pathlib import Path
from urllib.parse import unquote

import pytest

from docs.pages import DOCS
from voronym.method import METHODS
from voronym.privacy.base import MODELS


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site once, with warnings as errors."""
    place = tmp_path_factory.mktemp("site")
    words = [str(DOCS), str(place / "html"), "-d", str(place / "trees")]
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", *words]
    built = subprocess.run(command, capture_output=True, text=True, timeout=500, check=False)
    assert built.returncode == 0, built.stderr
    return place / "html"


def links(page: Path) -> list[tuple[str, str]]:
    """Return the file and the anchor of every link inside the site."""
    results = re.findall(r'<a\b[^>]*?href="([^"]*)"', page.read_text(encoding="utf-8"))
    inside = [unescape(item) for item in results if not re.match(r"[a-z]+:|//", item)]
    return [(unquote(file), unquote(anchor)) for file, _, anchor in (item.partition("#") for item in inside)]


@pytest.mark.slow  # `make docs` builds it, and links between pages have a quick test of their own
def test_the_site_is_whole(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    anchors = {page: set(re.findall(r'id="([^"]*)"', page.read_text(encoding="utf-8"))) for page in pages}
    for page in pages:
        for file, anchor in links(page):
            target = (page.parent / file).resolve() if file else page
            assert target.exists(), f"{page.name} links to {file}"
            if anchor and target in anchors:
                assert anchor in anchors[target], f"{page.name} links to {file}#{anchor}"
    front = site / "index.html"
    near = {front, *((front.parent / file).resolve() for file, _ in links(front) if file)}
    near |= {
        (page.parent / file).resolve() for page in near if page in anchors for file, _ in links(page) if file
    }
    written = {(site / item.relative_to(DOCS)).with_suffix(".html") for item in DOCS.rglob("*.md")}
    assert written - near == set(), "more than two clicks from the front page"
    methods = (site / "methods.html").read_text(encoding="utf-8")
    gallery = (site / "gallery.html").read_text(encoding="utf-8")
    for name in METHODS:
        assert f">{name}</span>" in methods
    for name in (*METHODS, *MODELS):
        part = gallery[gallery.index(f'id="{"method" if name in METHODS else "model"}-{name}"') :]
        assert "<svg" in part[: part.index("</section>")], name
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    result = json.loads(index[index.index("(") + 1 : index.rindex(")")])
    for word, page in (
        ("sdcmicro", "howto/from-sdcmicro"),
        ("ledger", "monthly"),
        ("household", "howto/survey"),
        ("hipaa", "policies-hipaa-safe-harbor"),
        ("suppress", "suppression"),
        ("dask", "scale"),
    ):
        messages = [result[where].get(word, []) for where in ("terms", "titleterms")]
        listed = [item for part in messages for item in ([part] if isinstance(part, int) else part)]
        assert page in [result["docnames"][item] for item in listed], word
