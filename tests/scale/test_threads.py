"""What is sorted along a direction does not depend on how many threads BLAS has."""

from __future__ import annotations

import os
import subprocess
import sys

WORK = """
import hashlib
import numpy as np
from voronym.refiners.blocks import cut
from voronym.core.numerics import along

rng = np.random.default_rng(0)
codes = rng.normal(size=(40, 24))
found = hashlib.sha256()
for n in (60_001, 120_007):
    X = np.ascontiguousarray(codes[rng.integers(0, 40, n)])  # many equal rows: the last bit decides
    {way}
    for block in cut(X, np.ones(n, np.int64), records=5_000, rng=np.random.default_rng(1)):
        found.update(block.tobytes())
print(found.hexdigest())
"""


def answers(way: str) -> set[str]:
    return {
        subprocess.run(
            [sys.executable, "-c", WORK.replace("{way}", way)],
            env={**os.environ, "OPENBLAS_NUM_THREADS": threads},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for threads in ("1", "2", "3")
    }


def test_any_number_of_threads_gives_the_same_order():
    assert len(answers("found.update(along(X, X[0]).tobytes())")) == 1
