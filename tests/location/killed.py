"""A service under mixed load that says what it begins and what it acknowledged, to be killed by force."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from location.town_hall import PASSWORD, code_for
from voronym.errors import VoronymError
from voronym_location.service import Service
from voronym_location.settings import ServiceSettings

Say = Callable[..., None]


def work(settings: str, tokens: list[tuple[int, str]], streets: int, seed: int, out: Connection) -> None:
    """Sign up, move, cancel, and make epochs, until somebody ends it."""
    lock = threading.Lock()

    def say(*words: Any) -> None:
        with lock:
            out.send(words)

    service = Service(ServiceSettings.from_json(settings))
    parts = tokens[::2], tokens[1::2]
    jobs: list[tuple[Callable[..., None], Any]] = [
        (_come, None),
        (_epochs, None),
        *((_go, part) for part in parts),
    ]
    threads = [
        threading.Thread(target=job, args=(service, random.Random(seed + number), say, given, streets))
        for number, (job, given) in enumerate(jobs)
    ]
    for thread in threads:
        thread.start()
    say("ready")
    for thread in threads:
        thread.join()


def _come(service: Service, draw: random.Random, say: Say, _: Any, streets: int) -> None:
    while True:
        email = f"{draw.getrandbits(60):x}@example.org"
        service.sign_up(email)
        say("signed up", email)
        if service.verify(email, code_for(service, email), PASSWORD):
            say("verified", email)
            token = service.sign_in(email, PASSWORD).token
            street = draw.randrange(streets)
            service.submit_address(token, f"street {street}")
            say("settled", email, street)


def _go(service: Service, draw: random.Random, say: Say, people: list[tuple[int, str]], streets: int) -> None:
    while True:
        person, token = draw.choice(people)
        if draw.random() < 0.3:
            say("cancels", person)
            service.cancel(token)
            say("cancelled", person)
        else:
            street = draw.randrange(streets)
            say("moves", person, street)
            service.submit_address(token, f"street {street}")
            say("moved", person, street)


def _epochs(service: Service, _: random.Random, say: Say, __: Any, ___: int) -> None:
    while True:
        try:
            say("published", service.run_epoch()["epoch"])
        except VoronymError as error:  # told to the test, which fails
            say("failed", type(error).__name__, str(error))
