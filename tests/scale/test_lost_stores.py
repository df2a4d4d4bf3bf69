"""A store that is lost at ten random moments, for good or for a while: the release is the same, or absent."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pytest

from scale.conftest import rows
from scale.runs import TIMES, prepared, start
from table.clouds import client_of, open_amazon

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
WAY = """
import asyncio, os, sys, threading
store, port, least = map(int, sys.argv[1:])
carried = 0
async def carry(reader, writer):
    global carried
    try:
        while data := await reader.read(4096):
            carried += len(data)
            if 0 < least < carried:
                os._exit(1)
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    writer.close()
async def pair(reader, writer):
    there = await asyncio.open_connection('127.0.0.1', store)
    await asyncio.gather(carry(reader, there[1]), carry(there[0], writer))
def tell():
    sys.stdin.read()
    print(carried, flush=True)
    os._exit(0)
async def main():
    server = await asyncio.start_server(pair, '127.0.0.1', port)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()
threading.Thread(target=tell, daemon=True).start()
asyncio.run(main())
"""
"""The way to the store, which keeps what came through. It dies after some bytes; after 0, never."""


@contextmanager
def way(store: int, port: int = 0, least: int = 0) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Open a way to a store, and yield its process and its port."""
    words = [sys.executable, "-c", WAY, str(store), str(port), str(least)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process, int(process.stdout.readline())
        process.kill()


def test_the_store_is_lost_and_has_the_release_or_none(tmp_path: Path) -> None:
    """Source, work folder and output are all in the store; each tenth of all traffic has one kill."""
    draw, data = random.Random(5), prepared(tmp_path)
    with open_amazon() as known:
        client, store = client_of(known), int(known["AWS_ENDPOINT_URL"].rpartition(":")[2])
        client.create_bucket(Bucket="town")
        for file in data.iterdir():
            client.upload_file(str(file), "town", f"data/{file.name}")
        expected = sorted(rows(tmp_path / "whole").rows(), key=str)

        def names(under: str = "") -> list[str]:
            listed = client.list_objects_v2(Bucket="town", Prefix=under)
            return [item["Key"] for item in listed.get("Contents", [])]

        def begin(port: int, attempts: int = 1) -> subprocess.Popen[str]:
            address = {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}", "AWS_MAX_ATTEMPTS": str(attempts)}
            return start(data, "s3://town/out/release.parquet", "--workers", "1", "--work", "s3://town/work",
                         source="s3://town/data/*.parquet", **{**known, **address})  # fmt: skip

        def taken() -> bool:
            """Take the release away, if there is one; it is whole."""
            left = names("out/")
            if left:
                client.download_file("town", *left, str(tmp_path / "fetched.parquet"))
                assert sorted(pl.read_parquet(tmp_path / "fetched.parquet").rows(), key=str) == expected
                client.delete_object(Bucket="town", Key=left[0])
            return bool(left)

        def undisturbed() -> int:
            """Release without a loss, which removes what a lost run could not; return the bytes carried."""
            with way(store) as (process, port):
                with begin(port) as run:
                    printed = run.communicate()[1]
                assert run.returncode == 0, printed
                traffic = int(process.communicate()[0])
            assert taken()
            assert names() == [f"data/{file.name}" for file in sorted(data.iterdir())], printed
            return traffic

        traffic, there = undisturbed(), 0
        for turn in range(TIMES):
            moment, returns = int(traffic * (turn + draw.random()) / TIMES), turn % 3 == 2
            with (
                way(store, least=max(1, moment)) as (process, port),
                begin(port, attempts=5 if returns else 1) as run,
            ):
                process.wait(timeout=60)
                if returns:  # on the same port
                    time.sleep(0.3)
                    with way(store, port):
                        printed = run.communicate(timeout=120)[1]
                else:
                    printed = run.communicate(timeout=120)[1]
            assert "defect of voronym" not in printed, printed
            whole = taken()
            assert whole or run.returncode, "there is no release, and the run says that there is"
            there += whole
            assert whole or not returns, printed  # the library of the store asks again
            assert not run.returncode or len(printed.strip().splitlines()) <= 6, printed
            assert not list((tmp_path / "passing").glob("voronym-*"))
            undisturbed()
        print(f"{there} of {TIMES} were whole")  # noqa: T201
