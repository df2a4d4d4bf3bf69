"""The demonstration, and the provider that is asked in it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from base64 import b64encode
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from voronym_location.demo import fetch, running
from voronym_location.provider import Counter, Provider, Unproven

PHARMACIES = {"near": (48.001, 11.0), "far": (48.1, 11.0)}


def signed(key: Ed25519PrivateKey, **changed: Any) -> dict[str, Any]:
    later = (datetime.now(UTC) + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    text = json.dumps({"centroid": [48.0, 11.0], "epoch": 1, "expires": later, "k": 10} | changed)
    return {"signed": text, "signature": b64encode(key.sign(text.encode())).decode(), "pseudonym": "a"}


def provider(key: Ed25519PrivateKey) -> Provider:
    return Provider(PHARMACIES, b64encode(key.public_key().public_bytes_raw()).decode())


def test_the_provider_answers_what_the_service_signed_and_nothing_else() -> None:
    key = Ed25519PrivateKey.generate()
    first = provider(key)
    assert first.answer(signed(key)) == {"pharmacy": "near", "metres": 111}
    assert first.learned == {"a": (48.0, 11.0)}
    past = "2020-01-01T00:00:00Z"
    other = signed(Ed25519PrivateKey.generate())
    moved = signed(key) | {"signed": signed(key)["signed"].replace("48.0", "48.1")}
    for bad in (
        other,
        moved,
        signed(key, expires=past),
        {},
        signed(key, centroid="x"),
        {"signed": 1, "signature": 2},
    ):
        with pytest.raises(Unproven):
            first.answer(bad)


def test_the_providers_counter_is_not_put_out_by_nonsense() -> None:
    with Counter(provider(Ed25519PrivateKey.generate())) as counter:
        for path, data in (
            ("/nearest", {"signed": "x"}),
            ("/nearest", ["x"]),
            ("/other", {}),
            ("/nearest", "x" * 9000),
        ):
            with pytest.raises(HTTPError) as refused:
                fetch(counter.address + path, data)  # type: ignore[arg-type]
            assert 400 <= refused.value.code < 500
            refused.value.close()
        assert fetch(counter.address)["asked"] == 0


@pytest.mark.slow
def test_the_demonstration_shows_that_points_are_worth_more_than_the_centre(tmp_path: Path) -> None:
    with running(tmp_path, people=80, k=5, seed=1) as town:
        result = town.ask()
        assert result.ways["home"].right == 1.0
        assert result.ways["point"].right > result.ways["centre"].right + 0.2
        assert 0 < result.ways["point"].further < result.ways["centre"].further
        # What the provider has: pseudonyms at points, five or more at each, and no home.
        points = list(town.provider.learned.values())
        assert min(points.count(point) for point in points) == result.fewest >= 5
        assert not set(points) & set(town.homes.values())
        address = town.address
    with pytest.raises(URLError):
        fetch(f"{address}/healthz")


def test_ctrl_c_ends_the_demonstration_and_leaves_nothing(tmp_path: Path) -> None:
    words = [
        sys.executable,
        "-c",
        "from voronym.cli import main; main()",
        "location",
        "demo",
        "-n",
        "30",
        "--port",
        "0",
    ]
    with subprocess.Popen(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "COLUMNS": "200", "TMPDIR": str(tmp_path)},  # where nobody else leaves anything
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell may ignore it
    ) as running:
        assert running.stderr is not None
        for line in running.stderr:
            if "operator's code" in line:
                break
        running.send_signal(signal.SIGINT)
        out, rest = running.communicate(timeout=240)
    assert running.returncode == 0
    assert "their point" in out
    assert "nothing of it is left" in rest
    assert not list(tmp_path.iterdir())
