"""The package's build: machine code of the everyday loops goes into the wheel, so that no first run compiles.

Where it cannot be made (no linker, no Numba for this Python), the wheel is made without it, and loops are
compiled when they are first called. ``HATCH_BUILD_NO_HOOKS=true`` leaves it out.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from packaging.tags import platform_tags


class MachineCode(BuildHookInterface):  # type: ignore[type-arg]
    """Compiles ahead."""

    _folder: TemporaryDirectory[str] | None = None

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and add what comes of it to the wheel, which then is one of this platform."""
        if version == "editable":  # `python -m voronym.warm` compiles where the sources lie
            return
        self._folder = TemporaryDirectory()
        command = [sys.executable, "-m", "voronym._kernels._build", self._folder.name]
        paths = os.pathsep.join([str(Path(self.root) / "src"), *filter(None, sys.path)])
        environment = {**os.environ, "PYTHONPATH": paths, "NUMBA_CACHE_DIR": self._folder.name}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
        if done.returncode:
            reason = done.stderr.strip().splitlines()[-1:] or ["no reason given"]
            self.app.display_warning(f"no machine code in this wheel, loops compile when called: {reason[0]}")
            return
        for name in ("native.so", "native.json"):
            build_data["force_include"][str(Path(self._folder.name) / name)] = f"voronym/_kernels/{name}"
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{next(iter(platform_tags()))}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Remove what was compiled."""
        if self._folder is not None:
            self._folder.cleanup()
