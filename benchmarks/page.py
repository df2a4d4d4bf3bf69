"""The page with Adult and with 200,000 made-up rows: how long people wait, and whether memory comes back.

Run ``VORONYM_DATA=... python -m benchmarks.page``, with ``many`` for the long table alone. A server of its
own is started, and driven as a browser would drive it. Printed, each beside its target: seconds from choosing
roles to the first figures and to the picture of the loss at other k; seconds from another k to its first
figures; the longest silence of a run's progress; seconds from *Cancel* to the page that says so; memory of
all processes before the table was opened, with it, and after it was forgotten.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable

import httpx
import numpy as np
import polars as pl
import psutil

from voronym import datasets

KEYS = [
    "age",
    "workclass",
    "education",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "native-country",
]
MEGA = 1 << 20


def memory(server: psutil.Process) -> float:
    """Return the megabytes of a server and its workers."""
    return sum(one.memory_info().rss for one in [server, *server.children(recursive=True)]) / MEGA


def settled(server: psutil.Process, workers: int) -> float:
    """Wait until so many workers are there and idle; return their memory with the server's."""
    for _ in range(200):
        there = server.children(recursive=True)
        if len(there) == workers and sum(one.cpu_percent(interval=0.5) for one in there) < 2:
            break
    return memory(server)


def until(ask: Callable[[], bool], seconds: float = 300.0) -> float:
    """Ask until it is so; return the seconds that it took."""
    start = time.perf_counter()
    while not ask():
        if time.perf_counter() - start > seconds:
            raise TimeoutError
        time.sleep(0.05)
    return time.perf_counter() - start


def silence(client: httpx.Client, run: str, seconds: float) -> float:
    """Watch the progress of a run; return the longest time in which what is shown stood still."""
    ends, last, since, longest = time.perf_counter() + seconds, "", time.perf_counter(), 0.0
    while time.perf_counter() < ends:
        answer = client.get(f"{run}/progress")
        if "x-go" in answer.headers:
            break
        shown = re.sub(r"[\d.]+ s</dd>", "", answer.text)  # the clock is no progress
        if shown != last:
            longest, last, since = max(longest, time.perf_counter() - since), shown, time.perf_counter()
        time.sleep(0.05)
    return longest


def many(rows: int = 200_000) -> pl.DataFrame:
    """Make up a long table."""
    rng = np.random.default_rng(0)
    return pl.DataFrame(
        {
            "age": rng.integers(0, 99, rows),
            "sex": rng.choice(["f", "m"], rows),
            "race": rng.choice(["a", "b", "c", "d"], rows),
            "size": rng.normal(170, 10, rows).round(0),
            "income": rng.lognormal(10, 0.2, rows).round(-4),
        }
    )


def measure(client: httpx.Client, server: psutil.Process, table: pl.DataFrame) -> None:
    """Open the table, choose, run, cancel, forget; print what was seen."""
    tried = str(client.post("/demo").url.path).rpartition("/")[0]
    client.post(f"{tried}/forget")  # once there and back: what stays is the server and a fresh worker
    before = settled(server, 1)
    start = time.perf_counter()
    answer = client.post("/tables", params={"name": "adult.csv"}, content=table.write_csv().encode())
    place = answer.json()["go"].rpartition("/")[0]
    print(f"opened in {time.perf_counter() - start:.1f} s: {len(table):,} rows")
    roles = {f"role-{i}": "key" if name in KEYS else "other" for i, name in enumerate(table.columns)}
    start = time.perf_counter()
    client.post(f"{place}/alone", data=roles).raise_for_status()
    print(f"live count in {time.perf_counter() - start:.2f} s")
    start = time.perf_counter()
    client.post(f"{place}/roles", data=roles).raise_for_status()
    until(lambda: "preview-loss" in client.get(f"{place}/sketch").text)
    print(f"first figures {time.perf_counter() - start:.2f} s after choosing roles (target 2)")
    until(lambda: "<svg" in client.get(f"{place}/sketch").text)
    print(f"first picture {time.perf_counter() - start:.2f} s after choosing roles (target 2)")
    start = time.perf_counter()
    client.post(f"{place}/keep", data={"screen": "protect", "k": "7"}).raise_for_status()
    until(lambda: "preview-loss" in client.get(f"{place}/sketch").text)
    print(f"answer to another k {time.perf_counter() - start:.2f} s (target 1)")
    asked = client.post(f"{place}/protect", data={"k": "5", "time_limit": "60"})
    run = asked.url.path
    print(f"longest silence of the progress {silence(client, run, 20.0):.2f} s (target 0.5)")
    held = memory(server)
    start = time.perf_counter()
    said = client.post(f"{run}/cancel").text
    print(f"cancelled in {time.perf_counter() - start:.2f} s (target 1): {'Cancelled' in said}")
    client.post(f"{place}/forget")
    after = settled(server, 1)
    print(f"memory {before:.0f} MB before, {held:.0f} MB with the table, {after:.0f} MB when it is forgotten")


def main() -> None:
    """Start a server, measure, end it."""
    command = [sys.executable, "-m", "voronym.cli", "page", "--no-browser"]
    surroundings = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=surroundings) as process:
        try:
            lines = process.stdout or ()
            address = next(found[0] for line in lines if (found := re.search(r"http://\S+", line)))
            heads = {"sec-fetch-site": "same-origin"}
            base = address.partition("/?")[0]
            with httpx.Client(base_url=base, headers=heads, follow_redirects=True, timeout=300) as client:
                client.get(address).raise_for_status()
                for made in (many,) if "many" in sys.argv else (datasets.adult, many):
                    measure(client, psutil.Process(process.pid), made())
        finally:
            process.send_signal(signal.SIGINT)


if __name__ == "__main__":
    main()
