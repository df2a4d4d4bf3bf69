"""The package's build: machine code of the everyday loops goes into the wheel, so that no first run compiles.

Where it cannot be made (no linker, no Numba for this Python), the wheel is made without it, and loops are
compiled when they are first called. ``HATCH_BUILD_NO_HOOKS=true`` leaves it out.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from packaging.tags import platform_tags

OLDEST = 2, 17
"""The oldest version of the GNU C library that Python's own wheels are made for."""


def platform_tag(code: bytes, tags: Sequence[str]) -> str:
    """Return the tag of the oldest platform that the machine code runs on, of those that pip knows here.

    With the GNU C library that is the newest version of it that the code asks for, and not the one of the
    machine that builds: the wheel has the same name wherever it is built, and older systems can install it.
    """
    asked = [(int(major), int(minor)) for major, minor in re.findall(rb"GLIBC_(\d+)\.(\d+)", code)]
    wanted = "manylinux_{}_{}_".format(*max([OLDEST, *asked]))
    common = [tag for tag in tags if tag.startswith(("manylinux_", "musllinux_"))]  # what PyPI takes
    return next((tag for tag in common if tag.startswith(wanted)), [*common, *tags][0])


class MachineCode(BuildHookInterface):  # type: ignore[type-arg]
    """Compiles ahead."""

    _folder: TemporaryDirectory[str] | None = None

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and add what comes of it to the wheel, which then is one of this platform."""
        if version == "editable":  # `python -m voronym._kernels.warm` compiles where the sources lie
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
        code = (Path(self._folder.name) / "native.so").read_bytes()
        build_data["tag"] = f"py3-none-{platform_tag(code, list(platform_tags()))}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Remove what was compiled."""
        if self._folder is not None:
            self._folder.cleanup()
