"""Machine code is kept between runs, and thrown away when any kernel's source changes
or another version left it behind."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import voronym._kernels

RUN = "import kernels.user as u; print(u.twice(3), sum(u.twice.stats.cache_hits.values()))"


def test_a_change_in_another_file_is_seen(tmp_path):
    folder = tmp_path / "kernels"
    folder.mkdir()
    for name in ("__init__.py", "_jit.py", "_native.py"):
        shutil.copy(Path(voronym._kernels.__file__).with_name(name), folder / name)
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


def total(values):
    result = 0.0
    for value in values:
        result += value
    return result


@pytest.fixture
def compiled(tmp_path, monkeypatch):
    """Make a kernel whose cache is a folder of this test."""
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path))

    def make():
        return voronym._kernels.kernel(total)

    make()(np.ones(3))
    (index,) = tmp_path.rglob("*.nbi")
    return make, index


def test_an_index_that_names_what_is_gone_is_written_anew(compiled):
    make, index = compiled
    version = pickle.dumps(pickle.loads(index.read_bytes()))  # noqa: S301 - made here
    gone = b"cvoronym._kernels\nNoSuchTuple\n."  # what a pickle of a class that is gone looks like
    index.write_bytes(version + gone)
    kernel = make()
    assert kernel(np.ones(3)) == 3.0
    assert kernel.stats.cache_misses
    again = make()
    assert again(np.ones(3)) == 3.0
    assert again.stats.cache_hits


def test_a_torn_index_is_written_anew(compiled):
    make, index = compiled
    index.write_bytes(index.read_bytes()[:-20])
    assert make()(np.ones(3)) == 3.0
