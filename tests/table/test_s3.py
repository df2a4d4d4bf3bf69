"""An S3 server that knows a key: others are refused, and a run that is killed leaves nothing there."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import voronym as vr
from table.clouds import PEOPLE, ROLES, amazon, bucket, nothing_else, objects


@pytest.fixture(scope="module")
def server() -> Iterator[dict[str, str]]:
    with amazon() as known:
        yield known


@pytest.fixture
def place(server: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    with bucket("s3", server, tmp_path, monkeypatch) as address:
        yield address


def test_a_wrong_key(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import s3fs

    with monkeypatch.context() as stranger:
        stranger.setenv("AWS_ACCESS_KEY_ID", "AKIAWRONG")
        s3fs.S3FileSystem.clear_instance_cache()
        with pytest.raises(vr.ReadError, match="could not be fetched") as caught:
            vr.read(f"{place}/people.csv")
        assert "AKIAWRONG" not in str(caught.value)
        with pytest.raises(vr.WriteError, match=r"does not answer|could not write"):
            vr.anonymize(PEOPLE, **ROLES).write(f"{place}/out.csv")
    nothing_else(place, "people.csv")


KILLED = """
import os, signal, sys
import voronym.table.places.store
from voronym.cli import main

how = int(sys.argv.pop())

def die(*_, **__):
    os.kill(os.getpid(), how)

voronym.table.{moment} = die
main()
"""


@pytest.mark.parametrize(
    ("moment", "how"),
    [
        ("delimited.read_bytes", signal.SIGKILL),  # the source is fetched
        pytest.param("places.base.sealed", signal.SIGTERM, marks=pytest.mark.slow),  # the release is whole
        pytest.param("places.store._Upload.before", signal.SIGKILL, marks=pytest.mark.slow),
    ],
)
def test_a_run_that_is_killed_leaves_nothing(place: str, moment: str, how: int) -> None:
    words = ["anonymize", f"{place}/people.csv", "-o", f"{place}/out.csv", "--key", "age,sex"]
    words += ["--confidential", "ill", "-k", "4", str(int(how))]
    code = KILLED.format(moment=moment)
    ended = subprocess.run([sys.executable, "-c", code, *words], check=False)
    assert ended.returncode
    assert objects(place) == ["people.csv"]
    vr.read(f"{place}/people.csv")  # the next run removes what a dead one could not
    nothing_else(place, "people.csv")
