"""Epochs of large towns, end to end in the database, while requests are answered."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.base import Benchmark, Case, Row
from benchmarks.location_load import _database, _free_port, _running, ask, prepared, request_for


class LocationEpoch(Benchmark):
    """The first epoch, which groups everybody, and the next; statements and moves are asked meanwhile."""

    name = "location-epoch"
    title = "An epoch in the database, and requests meanwhile"
    columns = {  # noqa: RUF012 - a constant of the class
        "people": "people", "on": "database", "first": "first epoch s", "next": "next epoch s",
        "served": "served", "asked": "asked", "failed": "failed", "p50": "p50 ms", "p99": "p99 ms",
        "worst": "worst ms", "moves": "worst move ms",
    }  # fmt: skip

    def cases(self, *, quick: bool) -> Iterable[Case]:
        """Return towns of a hundred thousand and of a million."""
        for people in (2_000,) if quick else (100_000, 1_000_000):
            for on in ("sqlite", "postgresql"):
                yield {"people": people, "on": on}

    @staticmethod
    def measure(people: int, on: str) -> Row:
        """Fill a database, start a server, and run epochs beside it."""
        with tempfile.TemporaryDirectory() as folder, _database(on) as url:
            tokens = prepared(Path(folder), url, people, epoch=False)
            port = _free_port()
            settings = {
                "VORONYM_LOCATION_DATABASE": url, "VORONYM_LOCATION_ATTEMPTS": "0",
                "VORONYM_LOCATION_PERIOD": "0",
            }  # fmt: skip
            words = [sys.executable, "-m", "voronym.cli", "location"]
            listen = [*words, "serve", "--folder", folder, "--port", str(port)]
            with _running(listen, port, settings):
                row: Row = {"asked": 0, "failed": 0}
                times: dict[str, list[float]] = {"statement": [], "move": []}
                for name in ("first", "next"):
                    epoch = subprocess.Popen(
                        [*words, "epoch", "--json", "--folder", folder],
                        env=os.environ | settings,
                        stdout=subprocess.PIPE,
                        text=True,
                    )
                    row["failed"] += asyncio.run(_meanwhile(port, tokens, epoch, times))
                    figures = _figures(epoch)
                    row |= {name: round(figures["seconds"], 1), "served": figures["served"]}
        flat = 1000 * np.array(times["statement"] + times["move"])
        row |= {
            "asked": len(flat), "p50": round(float(np.median(flat)), 1),
            "p99": round(float(np.quantile(flat, 0.99)), 1), "worst": round(float(flat.max()), 1),
            "moves": round(1000 * max(times["move"]), 1),
        }  # fmt: skip
        return row


def _figures(epoch: subprocess.Popen[str]) -> dict[str, Any]:
    import json

    said, _ = epoch.communicate()
    if epoch.returncode:
        raise SystemExit(f"the epoch failed: {epoch.returncode}")
    found: dict[str, Any] = json.loads(said)
    return found


async def _meanwhile(
    port: int, tokens: list[str], epoch: subprocess.Popen[str], times: dict[str, list[float]]
) -> int:
    """Ask 50 times a second until the epoch is over; return how many answers were failures."""
    import random

    draw, failed = random.Random(1), 0  # noqa: S311 - which request comes next is no secret
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    while epoch.poll() is None:
        kind = "move" if draw.random() < 0.1 else "statement"
        began = time.perf_counter()
        status = await ask(reader, writer, request_for(kind, draw.choice(tokens), draw))
        times[kind].append(time.perf_counter() - began)
        failed += not 200 <= status < 300
        await asyncio.sleep(0.02)
    writer.close()
    return failed
