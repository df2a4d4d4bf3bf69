"""Random histories of ten months, every pair and triple of releases compared by a checker of its own."""

from __future__ import annotations

import pytest

from history.months import KEPT, WAYS, history
from repeats import few

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("seed", few(range(len(WAYS)), 3))
def test_nobody_is_told_apart(seed, tmp_path):
    output = history(seed, tmp_path)
    assert output["published"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(200))
def test_nobody_is_told_apart_in_two_hundred_histories(seed, tmp_path):
    history(1000 + seed, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_kept_groups_of_uniform_coding_and_of_parts(seed, tmp_path):
    assert history(seed, tmp_path, KEPT)["published"]
