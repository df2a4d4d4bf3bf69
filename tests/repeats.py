"""Repeats of a test: a few in `make test`, all in `make test-all`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import settings


def few(cases: Iterable[Any], number: int) -> list[Any]:
    """Return the cases of a parametrised test, those after the first ``number`` marked as slow."""
    return [
        pytest.param(*case, marks=pytest.mark.slow) if isinstance(case, tuple) and place >= number
        else pytest.param(case, marks=pytest.mark.slow) if place >= number
        else case
        for place, case in enumerate(cases)
    ]  # fmt: skip


def examples(quick: int, thorough: int) -> settings:
    """Return the settings of a random test that takes long for each example."""
    return settings(max_examples=len(rounds(quick, thorough)), deadline=None)


def rounds(quick: int, thorough: int) -> range:
    """Return the rounds of a loop within a test: more of them with the profile of `make test-all`."""
    return range(thorough if settings().max_examples >= 200 else quick)
