"""Somebody with a browser that has no window: keeps cookies, finds forms on pages, sends them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx

from location.town_hall import FAST, PASSWORD, code_for
from voronym_location.app import create_app
from voronym_location.directory import Entry
from voronym_location.service import Service
from voronym_location.settings import ServiceSettings
from voronym_location.village import Village

Town = tuple[Service, Any]
TOKEN = re.compile(r'name="form_token" value="([0-9a-f]{64})"')


class Visitor:
    """A browser on the pages of a service."""

    def __init__(self, app: Any, base: str = "http://town.example") -> None:
        self.app, self.base = app, base
        self.cookies = httpx.Cookies()

    def send(self, method: str, path: str, **given: Any) -> httpx.Response:
        """Send a request as it is, cookies included."""

        async def sent() -> httpx.Response:
            way = httpx.ASGITransport(self.app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=way, base_url=self.base, cookies=self.cookies) as client:
                answer = await client.request(method, path, **given)
                self.cookies = client.cookies
                return answer

        return anyio.run(sent)

    def get(self, path: str, **headers: str) -> httpx.Response:
        return self.send("GET", path, headers=headers)

    def token(self, path: str) -> str:
        """Return what the forms of a page carry."""
        return TOKEN.findall(self.get(path).text)[0]

    def post(
        self, path: str, fields: dict[str, str], *, page: str = "/sign-in", **headers: str
    ) -> httpx.Response:
        """Send a form as it stands on a page."""
        return self.send("POST", path, data={"form_token": self.token(page), **fields}, headers=headers)

    def sign_in(self, email: str, password: str = PASSWORD, code: str = "") -> Visitor:
        done = self.post("/sign-in", {"email": email, "password": password, "code": code}, page="/sign-in")
        assert done.status_code == 303, done.text
        return self

    def cookie(self, which: str) -> str | None:
        return next((c.value for c in self.cookies.jar if c.name.endswith(which)), None)


@contextmanager
def town(folder: Path, people: int = 60, **given: Any) -> Iterator[tuple[Service, Any, Village]]:
    """Give a service in a made-up small town whose first citizens have a point, and its application."""
    made = Village.make(seed=3)
    settings = ServiceSettings(folder=folder, **(FAST | given))
    with Service(settings) as server:
        server.import_directory(entries(made))
        server.import_directory(entries(made, people))
        server.run_epoch()
        yield server, create_app(settings, server), made


def entries(made: Village, people: int = 0, first: int = 0) -> list[Entry]:
    """Return the directory of a town, or some people of it, ``p0@example.org`` and so on."""
    places = [(address, *place) for address, place in zip(made.addresses, made.houses.tolist(), strict=True)]
    if not people:
        return [Entry(*place) for place in places]
    who = made.citizens(first + people, seed=1)[first:].tolist()
    return [Entry(*places[house], f"p{first + i}@example.org") for i, house in enumerate(who)]


def joined(one: Service, email: str) -> str:
    """Sign somebody up who was imported, or is new, and return their address."""
    one.sign_up(email)
    assert one.verify(email, code_for(one, email), PASSWORD)
    return email
