"""What is shipped: the bill of materials names no machine, and two builds are equal."""

from __future__ import annotations

import hashlib
import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PACKAGING = Path(__file__).parents[1] / "packaging"


def load(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"packaging_{name}", PACKAGING / f"{name}.py")
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


@pytest.mark.slow
def test_two_builds_are_equal_byte_for_byte(tmp_path: Path) -> None:
    """Machine code that was compiled beside the sources goes into both; it is not compiled twice here."""
    digests = []
    for folder in (tmp_path / "first", tmp_path / "second"):
        subprocess.run([sys.executable, PACKAGING / "build.py", folder], check=True, capture_output=True)
        digests.append(
            {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in folder.iterdir()}
        )
    assert len(digests[0]) == 6
    assert digests[0] == digests[1]
