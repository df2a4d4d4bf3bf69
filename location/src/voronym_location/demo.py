"""The demonstration: a service, made-up citizens, and a provider that they query from their points."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from email import message_from_bytes
from pathlib import Path
from threading import Thread
from time import monotonic, sleep
from typing import Any
from urllib.request import Request, urlopen

import numpy as np

from voronym.core.context import Context
from voronym.errors import VoronymError
from voronym_location.app import create_app
from voronym_location.directory import Entry
from voronym_location.globe import Place, metres
from voronym_location.provider import Counter, Provider
from voronym_location.service import Service
from voronym_location.settings import ServiceSettings
from voronym_location.village import Village

PASSWORD = "try the demonstration"  # noqa: S105 - everybody's, and nobody's home
OPERATOR = "operator@example.org"
CHEAP: dict[str, Any] = {"hash_memory": 1024, "hash_rounds": 1, "attempts": 0, "period": 3600.0}
"""Cheap hashes: the passwords of the demonstration are public."""


@dataclass(frozen=True)
class Way:
    """The quality of the provider's answers for one kind of place."""

    right: float
    """Share of people whose answer is the pharmacy nearest to their home."""
    further: float
    """Mean extra metres that people walk because they get another answer."""


@dataclass(frozen=True)
class Answers:
    """The answers to queries from homes, from points, and from the town's centre."""

    people: int
    off: float
    """Metres from home to point, root mean square."""
    ways: Mapping[str, Way]
    points: int
    """Number of distinct points that the provider saw."""
    fewest: int
    """Smallest number of people that the provider saw at one point."""

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as JSON values."""
        ways = {name: {"right": item.right, "further": item.further} for name, item in self.ways.items()}
        return {
            "people": self.people, "rms": self.off, "answers": ways,
            "points": self.points, "fewest": self.fewest,
        }  # fmt: skip


@dataclass
class Demo:
    """A town with a running service and provider."""

    service: Service
    town: Village
    address: str
    counter: Counter
    provider: Provider
    homes: dict[str, Place]
    secret: str
    tokens: dict[str, str] = field(default_factory=dict)

    def sign_up(self, ctx: Context) -> None:
        """Sign everybody up with the mailed code, and sign them in."""
        for done, email in enumerate(self.homes):
            ctx.tell(0.5 * done / len(self.homes), whole=True)
            self.service.sign_up(email)
        self.service.deliver()
        codes = _codes(self.service.settings.mailbox)
        for done, email in enumerate(self.homes):
            ctx.tell(0.5 + 0.5 * done / len(self.homes), whole=True)
            self.service.verify(email, codes[email], PASSWORD)
            self.tokens[email] = self.service.sign_in(email, PASSWORD).token

    def ask(self) -> Answers:
        """Let every device fetch its statement and ask the provider with it."""
        result: dict[str, list[tuple[bool, float]]] = {"home": [], "point": [], "centre": []}
        off = []
        for email, home in self.homes.items():
            statement = fetch(f"{self.address}/v1/statement", token=self.tokens[email])
            if statement["status"] != "served":
                continue
            answer = fetch(f"{self.counter.address}/nearest", statement)
            best, least = self.provider.nearest(home)
            off.append(metres(home, (statement["latitude"], statement["longitude"])))
            names = {
                "home": best,
                "point": answer["pharmacy"],
                "centre": self.provider.nearest(self.town.centre)[0],
            }
            for way, name in names.items():
                result[way].append((name == best, metres(home, self.provider.pharmacies[name]) - least))
        if not off:
            raise VoronymError("nobody has a point: there are too few people for this k")
        seen = np.unique(list(self.provider.learned.values()), axis=0, return_counts=True)[1]
        ways = {way: Way(*np.mean(rows, axis=0).tolist()) for way, rows in result.items()}
        return Answers(len(off), float(np.sqrt(np.mean(np.square(off)))), ways, len(seen), int(seen.min()))


@contextmanager
def running(
    folder: Path, *, people: int = 200, k: int = 10, seed: int = 0, port: int = 0, ctx: Context | None = None
) -> Iterator[Demo]:
    """Run the demonstration until the block ends.

    Parameters
    ----------
    folder : Path
        Folder of the database, the key and the mailbox.
    people, k, seed : int
    port : int
        Port of the service; if it is 0 or taken, a free one is used.
    ctx : Context, optional
    """
    ctx = ctx or Context(seed=seed)
    town = Village.make(seed)
    settings = ServiceSettings(folder=folder, epochs={"k": k}, **CHEAP)
    houses = [
        Entry(address, *place) for address, place in zip(town.addresses, town.houses.tolist(), strict=True)
    ]
    who = town.citizens(people, seed).tolist()
    citizens = [
        replace(houses[house], email=f"citizen{n}@example.org") for n, house in enumerate(who, start=1)
    ]
    with Service(settings) as service:
        service.import_directory(houses)
        service.import_directory(citizens)
        service.run_epoch(ctx.part(0.05, 0.6, stage="grouping"))
        provider = Provider(town.pharmacies, service.key.public)
        with listening(service, settings, port) as address, Counter(provider) as counter:
            homes = {str(citizen.email): (citizen.latitude, citizen.longitude) for citizen in citizens}
            secret = service.add_operator(OPERATOR, PASSWORD)
            demo = Demo(service, town, address, counter, provider, homes, secret)
            demo.sign_up(ctx.part(0.6, 0.95, stage="signing up"))
            yield demo


@contextmanager
def listening(service: Service, settings: ServiceSettings, port: int = 0) -> Iterator[str]:
    """Serve requests on this machine only, in a thread, and yield the address."""
    import uvicorn

    with _socket(port) as taken:
        config = uvicorn.Config(
            create_app(settings, service),
            log_config=None,
            access_log=False,
            server_header=False,
            lifespan="off",
        )
        server = uvicorn.Server(config)
        thread = Thread(target=server.run, kwargs={"sockets": [taken]}, daemon=True)
        thread.start()
        try:
            end = monotonic() + 20
            while not server.started:
                if monotonic() > end or not thread.is_alive():
                    raise VoronymError("the service does not start to listen")
                sleep(0.02)
            yield f"http://127.0.0.1:{taken.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(timeout=10)


def fetch(address: str, data: Mapping[str, Any] | None = None, token: str = "") -> dict[str, Any]:
    """Return a demonstration server's answer, as a device would request it."""
    headers = {"content-type": "application/json"} | ({"authorization": f"Bearer {token}"} if token else {})
    body = None if data is None else json.dumps(data).encode()
    with urlopen(Request(address, body, headers), timeout=30) as answer:  # noqa: S310 - our own address
        result: dict[str, Any] = json.load(answer)
    return result


def _socket(port: int) -> socket.socket:
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind(("127.0.0.1", port))
    except OSError:
        made.bind(("127.0.0.1", 0))
    return made


def _codes(mailbox: Path) -> dict[str, str]:
    """Return the mailed codes, by address."""
    result = {}
    for file in mailbox.glob("*.eml"):
        message = message_from_bytes(file.read_bytes())
        code = re.search(r"\d{8}", str(message["Subject"]))
        if code:
            result[str(message["To"])] = code[0]
    return result
