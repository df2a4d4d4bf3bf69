"""Mixed traffic against the location anonymizer, and against a bare endpoint: how long answers take.

Requests are due at fixed moments whether or not earlier ones were answered, and a delay counts from when a
request was due: a server that falls behind cannot hide it. Client, server and database share this machine.
"""

from __future__ import annotations

import asyncio
import os
import random
import secrets
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import psutil

from benchmarks.base import Benchmark, Case, Row

LANES = 64
"""Connections that are kept open."""


class LocationLoad(Benchmark):
    """95 % statements, 4 % moves, 1 % sign-ups, on both databases."""

    name = "location-load"
    title = "Mixed traffic: milliseconds from when a request was due"
    columns = {  # noqa: RUF012 - a constant of the class
        "on": "server", "rate": "requests/s", "run": "run", "seconds": "s", "answered": "answered",
        "failed": "failed", "p50": "p50 ms", "p99": "p99 ms", "worst": "worst ms",
        "statement": "p99 statements", "move": "p99 moves", "sign_up": "p99 sign-ups",
        "cpu": "server CPU %", "p50_ratio": "p50 / bare", "cpu_ratio": "CPU / bare",
    }  # fmt: skip

    def cases(self, *, quick: bool) -> Iterable[Case]:
        """Return the bare endpoint and both databases: three runs at the usual rate, one at a high rate."""
        for rate, seconds, people, runs in (
            [(100, 3, 200, 1)] if quick else [(200, 20, 5000, 3), (500, 60, 5000, 1)]
        ):
            for on in ("bare", "sqlite", "postgresql"):
                for run in range(1 if on == "bare" else runs):
                    yield {"on": on, "rate": rate, "run": run + 1, "seconds": seconds, "people": people}

    @staticmethod
    def measure(on: str, rate: int, run: int, seconds: int, people: int) -> Row:
        """Start a server, send requests, and end it."""
        del run  # only a number in the table
        with (
            tempfile.TemporaryDirectory() as folder,
            _server(on, Path(folder), people) as (port, tokens, pid),
        ):
            before = _cpu(pid)
            times, failed = asyncio.run(_traffic(port, tokens, rate, seconds))
            spent = _cpu(pid) - before
        flat = np.concatenate([np.array(delays) for delays in times.values() if delays]) * 1000
        row: Row = {
            "answered": len(flat), "failed": failed, "p50": round(float(np.median(flat)), 1),
            "p99": round(float(np.quantile(flat, 0.99)), 1), "worst": round(float(flat.max()), 1),
            "cpu": round(100 * spent / seconds, 1),
        }  # fmt: skip
        for kind, delays in times.items():
            row[kind] = round(1000 * float(np.quantile(delays, 0.99)), 1) if delays else None
        return row

    def rows(self, results: list[Row]) -> list[Row]:
        """Set everything in relation to the bare endpoint at the same rate."""
        endpoints = {row["rate"]: row for row in results if row["on"] == "bare"}
        for row in results:
            bare = endpoints.get(row["rate"])
            row["p50_ratio"] = round(row["p50"] / bare["p50"], 2) if bare else None
            row["cpu_ratio"] = round(row["cpu"] / bare["cpu"], 2) if bare and bare["cpu"] else None
        return results


BARE = """
import sys, uvicorn
from fastapi import FastAPI
app = FastAPI()
@app.api_route("/{path:path}", methods=["GET", "PUT", "POST"])
def bare(path: str) -> dict:
    return {"status": "served", "signed": "x" * 120, "signature": "y" * 88, "pseudonym": "z" * 32}
uvicorn.run(app, port=int(sys.argv[1]), log_level="critical", access_log=False)
"""


@contextmanager
def _server(on: str, folder: Path, people: int) -> Iterator[tuple[int, list[str], int]]:
    """Give the port, tokens of people, and the process of a server."""
    port = _free_port()
    if on == "bare":
        words, tokens, environment = [sys.executable, "-c", BARE, str(port)], ["none"], {}
        with _running(words, port, environment) as pid:
            yield port, tokens, pid
        return
    with _database(on) as url:
        environment = {
            "VORONYM_LOCATION_DATABASE": url, "VORONYM_LOCATION_ATTEMPTS": "0",
            "VORONYM_LOCATION_PERIOD": "0",
        }  # fmt: skip
        tokens = prepared(folder, url, people)
        words = [sys.executable, "-m", "voronym.cli", "location", "serve"]
        with _running([*words, "--folder", str(folder), "--port", str(port)], port, environment) as pid:
            yield port, tokens, pid


def prepared(folder: Path, url: str, people: int, *, epoch: bool = True) -> list[str]:
    """Fill a database with people, make their first epoch, and return tokens of some."""
    from sqlalchemy import select

    from voronym_location import accounts
    from voronym_location.directory import Entry
    from voronym_location.service import Service
    from voronym_location.settings import ServiceSettings
    from voronym_location.store.tables import account

    places = np.array([48.0, 11.0]) + np.random.default_rng(1).normal(0, 0.03, (people, 2))
    rows = (
        Entry(f"street {row}", *place, f"p{row}@example.org") for row, place in enumerate(places.tolist())
    )
    with Service(ServiceSettings(folder=folder, database=url)) as service:
        service.import_directory(rows)
        if epoch:
            service.run_epoch()
        with service.store.write() as connection:
            numbers = list(connection.scalars(select(account.c.id).limit(5000)))
            return [accounts.issue(connection, one, time.time() + 1e6) for one in numbers]


@contextmanager
def _database(on: str) -> Iterator[str]:
    if on == "sqlite":
        yield ""
        return
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    from location.town_hall import Postgres, postgres_bin

    programs = postgres_bin()
    if programs is None:
        raise SystemExit("PostgreSQL is not installed")
    postgres = Postgres(programs, options="")  # commits wait for the disk, as those of SQLite do
    try:
        yield postgres.fresh()
    finally:
        postgres.close()


@contextmanager
def _running(words: list[str], port: int, environment: dict[str, str]) -> Iterator[int]:
    process = subprocess.Popen(words, env=os.environ | environment, stderr=subprocess.DEVNULL)
    try:
        for _ in range(600):
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.1)
        yield process.pid
    finally:
        process.terminate()
        process.wait()


def _cpu(pid: int) -> float:
    spent = psutil.Process(pid).cpu_times()
    return float(spent.user + spent.system)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


async def _traffic(
    port: int, tokens: list[str], rate: int, seconds: int
) -> tuple[dict[str, list[float]], int]:
    """Send requests when they are due; return how late each kind of answer was, and how many failed."""
    times: dict[str, list[float]] = {"statement": [], "move": [], "sign_up": []}
    lanes: asyncio.Queue[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = asyncio.Queue()
    for _ in range(LANES):
        lanes.put_nowait(await asyncio.open_connection("127.0.0.1", port))
    draw, failed = random.Random(1), 0  # noqa: S311 - which request comes next is no secret

    async def one(due: float, kind: str, request: bytes) -> None:
        nonlocal failed
        reader, writer = await lanes.get()
        try:
            status = await ask(reader, writer, request)
        except (OSError, asyncio.IncompleteReadError):
            failed += 1
            return
        times[kind].append(time.perf_counter() - due)
        failed += not 200 <= status < 300
        lanes.put_nowait((reader, writer))

    began = time.perf_counter() + 0.5
    async with asyncio.TaskGroup() as group:
        for number in range(rate * seconds):
            due = began + number / rate
            pause = due - time.perf_counter()
            if pause > 0:
                await asyncio.sleep(pause)
            kind = draw.choices(list(times), (95, 4, 1))[0]
            group.create_task(one(due, kind, request_for(kind, draw.choice(tokens), draw)))
    while not lanes.empty():
        lanes.get_nowait()[1].close()
    return times, failed


def request_for(kind: str, token: str, draw: random.Random) -> bytes:
    """Return the bytes of a request."""
    if kind == "statement":
        return _request("GET", "/v1/statement", token)
    if kind == "move":
        return _request("PUT", "/v1/home", token, f'{{"address": "street {draw.randrange(200)}"}}')
    body = f'{{"email": "{secrets.token_hex(8)}@example.org"}}'
    return _request("POST", "/v1/sign-up", "", body)


def _request(method: str, path: str, token: str, body: str = "") -> bytes:
    head = f"{method} {path} HTTP/1.1\r\nHost: x\r\n"
    if token:
        head += f"Authorization: Bearer {token}\r\n"
    if body:
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    return f"{head}\r\n{body}".encode()


async def ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes) -> int:
    """Send a request and return the status of its answer."""
    writer.write(request)
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(
        int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")
    )
    await reader.readexactly(length)
    return int(head.split(b" ", 2)[1])
