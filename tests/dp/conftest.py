"""What the tests of this room share."""

import numpy as np
import pytest

from cli.conftest import voronym  # noqa: F401 - a fixture


@pytest.fixture
def count(monkeypatch):
    """What the noisy count says."""

    def say(rows):
        monkeypatch.setattr("voronym.dp.presence.noisy", lambda *_, **__: (np.array([rows]), 1.0))

    return say
