"""Machine code that another version left on the disk is thrown away, and never ends a call."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from voronym import _kernels


def total(values):
    found = 0.0
    for value in values:
        found += value
    return found


@pytest.fixture
def compiled(tmp_path, monkeypatch):
    """Make a kernel whose cache is a folder of this test."""
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path))

    def make():
        return _kernels.kernel(total)

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
