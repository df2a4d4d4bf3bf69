"""Sends requests to the API of a service."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from location.town_hall import FAST
from voronym_location.app import create_app
from voronym_location.service import Service
from voronym_location.settings import ServiceSettings


class Client:
    """Sends requests to an application, all from one event loop."""

    def __init__(self, app: Any, runner: asyncio.Runner) -> None:
        self.app, self._runner = app, runner
        way = httpx.ASGITransport(app, raise_app_exceptions=False)
        self._client = httpx.AsyncClient(transport=way, base_url="http://town.example")

    def request(self, method: str, path: str, **given: Any) -> httpx.Response:
        return self._runner.run(self._client.request(method, path, **given))

    def get(self, path: str, **given: Any) -> httpx.Response:
        return self.request("GET", path, **given)

    def post(self, path: str, **given: Any) -> httpx.Response:
        return self.request("POST", path, **given)

    def put(self, path: str, **given: Any) -> httpx.Response:
        return self.request("PUT", path, **given)

    def close(self) -> None:
        self._runner.run(self._client.aclose())
        self._runner.run(self.app.state.quick.close())


@contextmanager
def clients(folder: Path, **given: Any) -> Iterator[Client]:
    settings = ServiceSettings(folder=folder, **FAST | given)
    with Service(settings) as server, asyncio.Runner() as runner:
        made = Client(create_app(settings, server), runner)
        yield made
        made.close()


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def of(client: Client) -> Service:
    return client.app.state.service
