"""Fixtures for every test."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

from voronym import datasets

for name, examples in (("house", 50), ("thorough", 200)):  # the second for `make test-all`
    settings.register_profile(
        name,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
        print_blob=True,
        max_examples=examples,
    )
settings.load_profile("house")


@pytest.fixture(autouse=True)
def _reference_data(request: pytest.FixtureRequest) -> None:
    """Skip what needs the reference files where there are none."""
    if request.node.get_closest_marker("data") and not datasets.available():
        pytest.skip("set VORONYM_DATA to the folder with the reference files")
