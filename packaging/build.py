"""Build the sdists and wheels of the three distributions, byte for byte the same each time.

Archives hold the time of the last commit (`SOURCE_DATE_EPOCH`), whoever builds them, whenever and wherever.
Machine code is compiled from the sources: what an earlier command compiled beside them is not taken.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROJECTS = (ROOT, ROOT / "location", ROOT / "papers")


def build(folder: Path) -> None:
    """Build into a folder with the build tools that are installed."""
    moment = subprocess.run(
        ["git", "-C", ROOT, "log", "-1", "--format=%ct"], capture_output=True, text=True, check=False
    ).stdout.strip()
    environment = {
        **os.environ,
        "SOURCE_DATE_EPOCH": os.environ.get("SOURCE_DATE_EPOCH") or moment or "0",
        "VORONYM_KERNELS": "compile",
    }
    for project in PROJECTS:
        subprocess.run(
            [sys.executable, "-m", "hatchling", "build", "--directory", folder.resolve()],
            cwd=project,
            env=environment,
            check=True,
        )


if __name__ == "__main__":
    build(Path(sys.argv[1]))
