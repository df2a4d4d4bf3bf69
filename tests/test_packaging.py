"""What is shipped: one version, the same minima, a bill of materials without machines, equal builds."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

PACKAGING = Path(__file__).parents[1] / "packaging"


def load(name: str, folder: Path = PACKAGING) -> Any:
    spec = importlib.util.spec_from_file_location(f"packaging_{name}", folder / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_bill_of_materials_names_no_folder() -> None:
    site = {"type": "website", "url": "https://example.org"}
    local = {"type": "distribution", "url": "file:///home/me/location"}
    bill = {
        "components": [
            {"name": "a", "externalReferences": [site, local]},
            {"name": "b", "externalReferences": [local]},
        ],
        "version": 1,
    }
    assert load("sbom").without_paths(bill) == {
        "components": [{"name": "a", "externalReferences": [site]}, {"name": "b"}],
        "version": 1,
    }


ROOT = PACKAGING.parent


def project(folder: str = ".") -> dict[str, Any]:
    made: dict[str, Any] = tomllib.loads((ROOT / folder / "pyproject.toml").read_text(encoding="utf-8"))
    return made["project"]


def test_all_say_the_same_version() -> None:
    version = project()["version"]
    texts = {
        "CITATION.cff": f"\nversion: {version}\n",
        "packaging/conda/recipe.yaml": f'version: "{version}"',
        "r/voronym/DESCRIPTION": f"Version: {version}\n",
        "location/pyproject.toml": f"voronym=={version}",
        "papers/pyproject.toml": f"voronym=={version}",
    }
    assert [
        name for name, text in texts.items() if text not in (ROOT / name).read_text(encoding="utf-8")
    ] == []
    assert {project(folder)["version"] for folder in ("location", "papers")} == {version}


def test_the_changelog_dates_the_version_as_the_citation_does() -> None:
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    first = re.search(r"^## \[(\d[^\]]*)\] - (\d{4}-\d\d-\d\d)$", changes, re.MULTILINE)
    assert first is not None
    assert first[1] == project()["version"]
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\ndate-released: {first[2]}\n" in citation


def test_conda_asks_for_what_the_wheel_asks_for() -> None:
    text = (PACKAGING / "conda" / "recipe.yaml").read_text(encoding="utf-8").partition("  run:\n")[2]
    asked = re.findall(r"    - (\S+ >=\S+)", text.partition("tests:")[0])
    assert asked == [f"python {project()['requires-python']}", *(
        item.replace(">=", " >=") for item in project()["dependencies"]
    )]  # fmt: skip


def test_a_wheel_is_named_after_the_oldest_system_that_it_runs_on() -> None:
    tag = load("hatch_build", ROOT).platform_tag
    gnu = [f"manylinux_2_{minor}_x86_64" for minor in range(39, 16, -1)] + ["linux_x86_64"]
    assert tag(b"memset GLIBC_2.2.5 log GLIBC_2.29", gnu) == "manylinux_2_29_x86_64"
    assert tag(b"memset GLIBC_2.2.5", gnu) == "manylinux_2_17_x86_64"
    assert tag(b"", ["musllinux_1_2_x86_64", "linux_x86_64"]) == "musllinux_1_2_x86_64"
    assert tag(b"", ["macosx_14_0_arm64"]) == "macosx_14_0_arm64"


@pytest.mark.slow
def test_two_builds_in_two_folders_are_equal_byte_for_byte(tmp_path: Path) -> None:
    """From the tracked files alone, so that machine code is compiled twice."""
    listed = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "-z"], capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("the tracked files are not known without git")
    digests = []
    for folder in (tmp_path / "first", tmp_path / "a longer name" / "second"):
        for name in filter(None, listed.stdout.split("\0")):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
        subprocess.run(
            [sys.executable, folder / "packaging" / "build.py", folder / "dist"],
            env={**os.environ, "PYTHONPATH": "", "SOURCE_DATE_EPOCH": "1763424000"},
            check=True,
            capture_output=True,
        )
        made = sorted((folder / "dist").iterdir())
        digests.append({file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in made})
    assert len(digests[0]) == 6
    assert digests[0] == digests[1]
    (wheel,) = (file for file in made if file.name.startswith("voronym-") and file.suffix == ".whl")
    assert "voronym/_kernels/native.so" in zipfile.ZipFile(wheel).namelist()
