"""What is in the wheels: the core alone in its own, and all data files of location and papers in theirs."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import voronym as vr

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    """Build the three wheels; return the names of the files in each."""
    folder = tmp_path_factory.mktemp("wheels")
    command = ["pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir"]
    sources = [ROOT, ROOT / "location", ROOT / "papers"]
    environment = {**os.environ, "HATCH_BUILD_NO_HOOKS": "true"}  # machine code: tests/kernels/test_native.py
    subprocess.run(
        [sys.executable, "-m", *command, folder, *sources], check=True, timeout=240, env=environment
    )
    return {
        path.name.partition("-")[0]: set(zipfile.ZipFile(path).namelist()) for path in folder.glob("*.whl")
    }


@pytest.mark.parametrize(("name", "folder"), [("voronym_location", "location"), ("voronym_papers", "papers")])
def test_an_application_has_all_of_its_files(wheels, name, folder):
    source = ROOT / folder / "src"
    files = {
        str(path.relative_to(source))
        for path in (source / name).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert files <= wheels[name]
    kinds = {Path(file).suffix for file in files}
    suffixes = {".html", ".css", ".js", ".svg", ".mako"} if folder == "location" else {".html", ".json"}
    assert suffixes <= kinds
    assert f"{name}-{vr.__version__}.dist-info/entry_points.txt" in wheels[name]


def test_the_core_has_neither(wheels):
    packages = {file.partition("/")[0] for file in wheels["voronym"]}
    assert packages == {"voronym", f"voronym-{vr.__version__}.dist-info"}
    assert not [file for file in wheels["voronym"] if "location/" in file or "papers" in file]


@pytest.mark.parametrize("folder", ["location", "papers"])
def test_versions_go_together(folder):
    """They import rooms of the core that promise nothing, so each wants the core of its own version."""
    about = tomllib.loads((ROOT / folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert about["version"] == vr.__version__
    assert f"voronym=={vr.__version__}" in about["dependencies"]
