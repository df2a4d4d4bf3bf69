"""Object stores of three makers as servers on this machine, each with a bucket `places`.

Where they are missing: ``pip install 'voronym[test-stores]'`` and ``npm install -g azurite``.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
import pytest

MISSING = "pip install 'voronym[test-stores]'"
PEOPLE = pl.DataFrame(
    {"age": [30, 31, 32, 33, 60, 61, 62, 63], "sex": ["f"] * 4 + ["m"] * 4, "ill": ["flu", "none"] * 4}
)
ROLES: dict[str, Any] = {"keys": ["age", "sex"], "confidential": ["ill"], "k": 4}
AMAZON = """
import sys; from moto.server import ThreadedMotoServer; s = ThreadedMotoServer('127.0.0.1', 0, verbose=False)
s.start(); print('port', s.get_host_and_port()[1], flush=True); sys.stdin.read()
"""
GOOGLE = """
import sys; from gcp_storage_emulator.server import create_server
s = create_server('127.0.0.1', 0, in_memory=True, default_bucket='places')
s.start(); print('port', s._api._httpd.server_address[1], flush=True); sys.stdin.read(); s.stop()
"""
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
"""The key of every emulator of Microsoft's store; it is in its manual."""


@contextmanager
def started(words: list[str], pattern: str = r"port (\d+)") -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start a server; yield it and the port that it prints."""
    process = subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None
    try:
        port = next((line[1] for line in map(re.compile(pattern).search, process.stdout) if line), None)
        assert port is not None, f"{words[0]} did not start"
        yield process, port
    finally:
        process.kill()
        process.communicate()


@contextmanager
def open_amazon() -> Iterator[dict[str, str]]:
    """Start an S3 server that believes every key; yield the environment of its users."""
    for name in ("s3fs", "moto", "flask", "flask_cors", "boto3"):
        pytest.importorskip(name, reason=MISSING)
    with started([sys.executable, "-c", AMAZON]) as (_, port):
        yield {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}", "AWS_DEFAULT_REGION": "us-east-1",
               "AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x"}  # fmt: skip


def client_of(known: dict[str, str], service: str = "s3") -> Any:
    """Return a client of an S3 server that shares no code with fsspec."""
    import boto3

    return boto3.client(
        service, endpoint_url=known["AWS_ENDPOINT_URL"], region_name=known["AWS_DEFAULT_REGION"],
        aws_access_key_id=known["AWS_ACCESS_KEY_ID"], aws_secret_access_key=known["AWS_SECRET_ACCESS_KEY"],
    )  # fmt: skip


@contextmanager
def amazon() -> Iterator[dict[str, str]]:
    """Start an S3 server that knows one key."""
    with open_amazon() as known:
        people = client_of(known, "iam")
        people.create_user(UserName="steward")
        allowed = {
            "Version": "2012-10-17",
            "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}],
        }
        people.put_user_policy(UserName="steward", PolicyName="all", PolicyDocument=json.dumps(allowed))
        key = people.create_access_key(UserName="steward")["AccessKey"]
        words = {"data": b"0", "method": "POST", "headers": {"Content-Type": "text/plain"}}
        address = f"{known['AWS_ENDPOINT_URL']}/moto-api/reset-auth"
        urllib.request.urlopen(urllib.request.Request(address, **words)).close()  # noqa: S310 - keys count now
        known |= {"AWS_ACCESS_KEY_ID": key["AccessKeyId"], "AWS_SECRET_ACCESS_KEY": key["SecretAccessKey"]}
        client_of(known).create_bucket(Bucket="places")
        yield known


@contextmanager
def google() -> Iterator[dict[str, str]]:
    """Start an emulator of Google's store."""
    os.environ["GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT"] = "false"  # read on import; no emulator speaks gRPC
    for name in ("gcsfs", "gcp_storage_emulator"):
        pytest.importorskip(name, reason=MISSING)
    with started([sys.executable, "-c", GOOGLE]) as (_, port):
        yield {"STORAGE_EMULATOR_HOST": f"http://127.0.0.1:{port}"}


@contextmanager
def microsoft() -> Iterator[dict[str, str]]:
    """Start an emulator of Microsoft's store."""
    pytest.importorskip("adlfs", reason=MISSING)
    here = os.pathsep.join([str(Path(sys.prefix) / "node_modules" / ".bin"), os.environ.get("PATH", "")])
    program = shutil.which("azurite-blob", path=here)
    if program is None:
        pytest.skip("the emulator is missing: npm install -g azurite")
    words = [program, "--inMemoryPersistence", "--disableTelemetry", "--skipApiVersionCheck", "--blobPort"]
    with started([*words, "0"], r"listens on \S+?:(\d+)$") as (_, port):
        account = f"AccountName=devstoreaccount1;AccountKey={KEY}"
        place = f"BlobEndpoint=http://127.0.0.1:{port}/devstoreaccount1;"
        yield {"AZURE_STORAGE_CONNECTION_STRING": f"DefaultEndpointsProtocol=http;{account};{place}"}


CLOUDS = {"s3": amazon, "gs": google, "az": microsoft}


@contextmanager
def bucket(
    scheme: str, known: dict[str, str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """Yield the address of a bucket that holds the people and nothing else; passing files get a folder."""
    import fsspec

    for name, value in known.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setitem(fsspec.config.conf, "gs", {"token": "anon"})  # the emulator knows nobody
    (folder / "passing").mkdir()
    monkeypatch.setenv("TMPDIR", str(folder / "passing"))
    monkeypatch.setattr("tempfile.tempdir", str(folder / "passing"))
    monkeypatch.chdir(folder)
    # fsspec keeps a store by its arguments, and neither its address nor its key is one of them.
    fsspec.get_filesystem_class(scheme).clear_instance_cache()
    store = fsspec.filesystem(scheme)
    if scheme == "az" and not store.exists("places"):
        store.mkdir("places")
    for name in store.find("places"):
        store.rm_file(name)
    store.pipe_file("places/people.csv", PEOPLE.write_csv().encode())
    yield f"{scheme}://places"
    store.clear_instance_cache()


def objects(place: str) -> list[str]:
    """Return the names of everything in the bucket, asked without what fsspec remembers."""
    return sorted(name.removeprefix("places/") for name in _asked(place).find("places"))


def nothing_else(place: str, *names: str) -> None:
    """Find only these objects in the bucket, no upload begun, and no copy on this machine."""
    assert objects(place) == sorted(names)
    if place.startswith("s3"):
        assert not _asked(place).list_multipart_uploads("places")
    assert not list(Path("passing").iterdir())


def _asked(place: str) -> Any:
    import fsspec

    return fsspec.filesystem(place.partition(":")[0], use_listings_cache=False, skip_instance_cache=True)
