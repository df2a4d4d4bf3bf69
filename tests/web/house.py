"""A page that runs in a process of its own, for the tests beside this file and those in a browser."""

from __future__ import annotations

import os
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx

OURS = {"sec-fetch-site": "same-origin"}


class House:
    """A running `voronym page`, what it printed, and the folder that it works in."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.folder = folder
        (folder / "tmp").mkdir(exist_ok=True)
        command = [sys.executable, "-m", "voronym.cli", "page", "--no-browser", *arguments]
        surroundings = {**os.environ, "TMPDIR": str(folder / "tmp"), "PYTHONUNBUFFERED": "1"}
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=surroundings, cwd=folder
        )
        self.lines: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        assert self.address

    def _read(self) -> None:
        assert self.process.stdout is not None
        self.lines.extend(iter(self.process.stdout.readline, ""))

    @property
    def printed(self) -> str:
        return "".join(self.lines)

    @property
    def address(self) -> str:
        """The address that was printed last."""
        ends = time.monotonic() + 240
        while time.monotonic() < ends:
            results = re.findall(r"http://127\.0\.0\.1:\d+/\?token=\S+", self.printed)
            if results:
                return results[-1]
            assert self.process.poll() is None, self.printed
            time.sleep(0.05)
        raise AssertionError("no address was printed")

    @property
    def base(self) -> str:
        return self.address.partition("/?")[0]

    @property
    def port(self) -> int:
        return int(self.base.rpartition(":")[2])

    @contextmanager
    def enter(self) -> Iterator[httpx.Client]:
        """Give a client that was let in."""
        address = self.address
        with httpx.Client(base_url=self.base, headers=OURS, follow_redirects=True, timeout=60) as client:
            assert client.get(address).status_code == 200
            ends = time.monotonic() + 60
            while self.address == address:  # a fresh one is on its way
                assert time.monotonic() < ends, "the address is good for a second visitor"
                time.sleep(0.02)
            yield client

    def files(self) -> set[str]:
        """All files that the page holds."""
        return {str(item) for item in (self.folder / "tmp").rglob("*") if item.is_file()}

    def end(self) -> int:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        code = self.process.wait(240)
        self._reader.join(60)
        if self.process.stdout is not None:
            self.process.stdout.close()
        return code


@contextmanager
def house(folder: Path, *arguments: str) -> Iterator[House]:
    made = House(folder, *arguments)
    try:
        yield made
    finally:
        made.end()


def quiet_port() -> int:
    """Return a port that is free, and that no other program is given by chance: below those handed out."""
    ports = range(20_000, 32_000)
    for port in random.Random(os.getpid()).sample(ports, len(ports)):
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
    raise AssertionError("no port is free")


def upload(client: httpx.Client, name: str, content: bytes) -> httpx.Response:
    return client.post("/tables", params={"name": name}, content=content)


def roles(columns: dict[str, str]) -> dict[str, str]:
    """The fields of the form for columns, in the order of the table."""
    return {f"role-{i}": role for i, role in enumerate(columns.values())}


def finished(client: httpx.Client, place: str, seconds: float = 120.0) -> httpx.Response:
    """Wait for a run, and return the page that it leads to."""
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        answer = client.get(f"{place}/progress")
        if "x-go" in answer.headers:
            return client.get(answer.headers["x-go"])
        time.sleep(0.1)
    raise AssertionError("the run did not end")
