"""Tables in an S3 server, moto's, which this test starts: read, written, refused, nothing left behind.

Where they are missing: ``pip install s3fs 'moto[s3]' flask flask-cors``.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import voronym as vr
from voronym.core.atomic import placed, together

MISSING = "moto's server or s3fs is missing: pip install s3fs 'moto[s3]' flask flask-cors"
for name in ("s3fs", "moto", "flask", "flask_cors"):
    pytest.importorskip(name, reason=MISSING)
boto3 = pytest.importorskip("boto3", reason=MISSING)

PEOPLE = pl.DataFrame(
    {"age": [30, 31, 32, 33, 60, 61, 62, 63], "sex": ["f"] * 4 + ["m"] * 4, "ill": ["flu", "none"] * 4}
)
ROLES: dict[str, Any] = {"keys": ["age", "sex"], "confidential": ["ill"], "k": 4}


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[Any, dict[str, str]]]:
    """Start a server that knows one key; give a client that looks into it, and the settings of the owner."""
    code = (
        "import sys; from moto.server import ThreadedMotoServer as S; s = S('127.0.0.1', 0, verbose=False); "
        "s.start(); print(s.get_host_and_port()[1], flush=True); sys.stdin.read()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        url = f"http://127.0.0.1:{process.stdout.readline().strip()}"
        known = {"endpoint_url": url, "region_name": "us-east-1"}
        first = {"aws_access_key_id": "x", "aws_secret_access_key": "x"}
        people = boto3.client("iam", **known, **first)
        people.create_user(UserName="steward")
        allowed = {
            "Version": "2012-10-17",
            "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}],
        }
        people.put_user_policy(UserName="steward", PolicyName="all", PolicyDocument=json.dumps(allowed))
        key = people.create_access_key(UserName="steward")["AccessKey"]
        settings = {
            "AWS_ENDPOINT_URL": url,
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": key["AccessKeyId"],
            "AWS_SECRET_ACCESS_KEY": key["SecretAccessKey"],
        }
        words = {"data": b"0", "method": "POST", "headers": {"Content-Type": "text/plain"}}
        request = urllib.request.Request(f"{url}/moto-api/reset-auth", **words)  # noqa: S310
        urllib.request.urlopen(request).close()  # noqa: S310 - from now on keys are checked
        client = boto3.client(
            "s3",
            **known,
            aws_access_key_id=key["AccessKeyId"],
            aws_secret_access_key=key["SecretAccessKey"],
        )
        client.create_bucket(Bucket="places")
        yield client, settings
    finally:
        process.communicate()


@pytest.fixture
def bucket(
    server: tuple[Any, dict[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Any]:
    """Have the people in a bucket and nothing else, and a folder for passing files to look into."""
    client, settings = server
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "passing").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "passing"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "passing"))
    monkeypatch.chdir(tmp_path)
    for item in objects(client):
        client.delete_object(Bucket="places", Key=item)
    client.put_object(Bucket="places", Key="people.csv", Body=PEOPLE.write_csv().encode())
    forget()
    yield client
    forget()


def forget() -> None:
    """Have fsspec ask again for the key: it keeps a store by its arguments, and the key is none of them."""
    import s3fs

    s3fs.S3FileSystem.clear_instance_cache()


def objects(client: Any) -> list[str]:
    return [item["Key"] for item in client.list_objects_v2(Bucket="places").get("Contents", [])]


def nothing_else(client: Any, *names: str) -> None:
    """Find only these objects in the bucket, no upload begun, and no copy on this machine."""
    assert objects(client) == sorted(names)
    assert not client.list_multipart_uploads(Bucket="places").get("Uploads")
    assert not list(Path("passing").iterdir())


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_read_and_written(bucket: Any, name: str) -> None:
    address = f"s3://places/{name}"
    release = vr.anonymize(vr.read("s3://places/people.csv"), **ROLES)
    assert release.write(address).k_counted == 4
    there, here = vr.read(address), vr.anonymize(PEOPLE, **ROLES).frame().collect()
    assert sorted(there.rows()) == sorted(here.rows())
    nothing_else(bucket, name, "people.csv")
    before = bucket.get_object(Bucket="places", Key=name)["Body"].read()
    with pytest.raises(vr.WriteError, match=f"'{name}' exists already"):
        release.write(address)
    assert bucket.get_object(Bucket="places", Key=name)["Body"].read() == before
    release.write(address, overwrite=True)
    nothing_else(bucket, name, "people.csv")


@pytest.mark.parametrize(
    ("setting", "address"),
    [
        ({"AWS_ACCESS_KEY_ID": "AKIAWRONG"}, "s3://places/people.csv"),
        ({}, "s3://nowhere/people.csv"),
        ({}, "s3://places/none.csv"),
    ],
)
def test_a_wrong_key_bucket_or_name(
    bucket: Any, setting: dict[str, str], address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in setting.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(vr.ReadError, match=r"could not be fetched|nothing at the address") as caught:
        vr.read(address)
    assert "AKIAWRONG" not in str(caught.value)
    if not address.endswith("none.csv"):
        with pytest.raises(vr.WriteError, match=r"does not answer|could not write"):
            vr.anonymize(PEOPLE, **ROLES).write(address.replace("people", "out"))
    nothing_else(bucket, "people.csv")


@pytest.mark.parametrize("earlier", [None, b"as it was"])
def test_a_run_that_fails_leaves_the_address_as_it_was(bucket: Any, earlier: bytes | None) -> None:
    if earlier is not None:
        bucket.put_object(Bucket="places", Key="out.csv", Body=earlier)

    def write_beside_a_taken_name() -> None:
        with together():
            vr.anonymize(PEOPLE, **ROLES).write("s3://places/out.csv", overwrite=True)
            with placed(Path("taken.html"), overwrite=False) as file:
                file.write_text("a report", encoding="utf-8")
            Path("taken.html").write_text("of somebody else", encoding="utf-8")

    with pytest.raises(vr.WriteError, match=r"taken\.html"):
        write_beside_a_taken_name()
    nothing_else(bucket, *(["out.csv"] if earlier is not None else []), "people.csv")
    assert earlier is None or bucket.get_object(Bucket="places", Key="out.csv")["Body"].read() == earlier


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
def test_a_run_that_is_killed_leaves_nothing(bucket: Any, moment: str, how: int) -> None:
    words = ["anonymize", "s3://places/people.csv", "-o", "s3://places/out.csv", "--key", "age,sex"]
    words += ["--confidential", "ill", "-k", "4", str(int(how))]
    code = KILLED.format(moment=moment)
    ended = subprocess.run([sys.executable, "-c", code, *words], check=False)
    assert ended.returncode
    assert objects(bucket) == ["people.csv"]
    vr.read("s3://places/people.csv")  # the next run removes what a dead one could not
    nothing_else(bucket, "people.csv")
