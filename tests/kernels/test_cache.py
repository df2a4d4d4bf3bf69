"""Machine code is kept between runs, and thrown away when any kernel's source changes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import voronym._kernels

RUN = "import kernels.user as u; print(u.twice(3), sum(u.twice.stats.cache_hits.values()))"


def test_a_change_in_another_file_is_seen(tmp_path):
    folder = tmp_path / "kernels"
    folder.mkdir()
    shutil.copy(Path(voronym._kernels.__file__), folder / "__init__.py")
    (folder / "used.py").write_text("from kernels import kernel\n@kernel\ndef add(x):\n    return x + x\n")
    (folder / "user.py").write_text(
        "from kernels import kernel\nfrom kernels.used import add\n"
        "@kernel\ndef twice(x):\n    return add(x)\n"
    )

    def run():
        environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
        done = subprocess.run(
            [sys.executable, "-c", RUN], env=environment, capture_output=True, text=True, check=True
        )
        return done.stdout.split()

    assert run() == ["6", "0"]
    assert run() == ["6", "1"]
    (folder / "used.py").write_text(
        "from kernels import kernel\n@kernel\ndef add(x):\n    return x + x + 0 * x + 1\n"
    )
    assert run() == ["7", "0"]
