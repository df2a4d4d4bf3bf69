"""A page under attack, with one table on it."""

from __future__ import annotations

import socket

import httpx
import psutil

from web.house import House, roles, upload

CANARY = "Xochipilli-41"
TABLE = f"who,age,town\n{CANARY},30,a\n".encode() + b"".join(
    b"n%d,%d,%s\n" % (i, 20 + i % 7, b"ab"[i % 2 : i % 2 + 1]) for i in range(20)
)
SCRIPT = "<script>alert(1)</script><img src=x onerror=alert(2)>"


class Target:
    """A page with one table on it, and a client that is let in."""

    def __init__(self, made: House, client: httpx.Client) -> None:
        self.house, self.client = made, client
        self.place = upload(client, "table.csv", TABLE).json()["go"].rpartition("/")[0]
        client.post(f"{self.place}/roles", data=roles({"who": "identifier", "age": "key", "town": "other"}))
        self.cookie = f"voronym-{made.port}={client.cookies[f'voronym-{made.port}']}"

    def ask(self, method: str, path: str, **heads: str) -> httpx.Response:
        """Ask without anything that the client knows."""
        with httpx.Client(base_url=self.house.base, timeout=60) as stranger:
            return stranger.request(method, path.replace("TABLE", self.place), headers=heads)

    def raw(self, text: str, seconds: float = 60.0) -> str:
        """Send bytes as they are, and return what comes back, until the door is closed or nobody answers."""
        with socket.create_connection(("127.0.0.1", self.house.port), timeout=60) as door:
            door.sendall(text.replace("\r\n", "\r\nConnection: close\r\n", 1).encode("latin-1"))
            door.settimeout(seconds)
            came = b""
            try:
                while piece := door.recv(4096):
                    came += piece
            except TimeoutError:
                pass
        return came.decode("latin-1")

    @property
    def workers(self) -> list[psutil.Process]:
        return psutil.Process(self.house.process.pid).children(recursive=True)
