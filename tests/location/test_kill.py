"""kill -9 at random points of a mixed load: what was acknowledged is there, no epoch is half published."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
from contextlib import suppress
from pathlib import Path

import pytest

from location.audit import Audit
from location.killed import work
from location.town_hall import FAST, Postgres, quick_token, scattered, service
from voronym_location.settings import ServiceSettings

PEOPLE = 260
RESTLESS = 60
"""Those who move and cancel; the others keep groups alive that the promise is about."""
LONGEST = 1.2


class Promises:
    """What was acknowledged so far, and what was under way when the process died."""

    def __init__(self) -> None:
        self.signed_up: set[str] = set()
        self.verified: set[str] = set()
        self.home: dict[int, int | None] = dict(enumerate(range(PEOPLE)))  # the street of each person
        self.tried: dict[int, list[int | None]] = {}
        self.settled: dict[str, int] = {}
        self.published = 0
        self.acknowledged = 0
        self.silent = 0
        """Homes that were gone though nobody had been told so: a cancellation was under way, and stored."""

    def hear(self, what: str, *words: object) -> None:
        assert what != "failed", words
        self.acknowledged += what not in ("ready", "moves", "cancels")
        if what == "signed up":
            self.signed_up.add(str(words[0]))
        elif what == "verified":
            self.verified.add(str(words[0]))
        elif what == "settled":
            self.settled[str(words[0])] = int(str(words[1]))
        elif what == "published":
            self.published = int(str(words[0]))
        elif what in ("moves", "cancels"):
            self.tried.setdefault(int(str(words[0])), []).append(words[1] if what == "moves" else None)  # type: ignore[arg-type]
        elif what in ("moved", "cancelled"):
            self.home[int(str(words[0]))] = words[1] if what == "moved" else None  # type: ignore[assignment]
            self.tried.pop(int(str(words[0])), None)

    def check(self, audit: Audit) -> None:
        """Compare with the database; what was under way may or may not have happened."""
        streets = {
            key: (lat, lon) for key, lat, lon in audit.rows("select key, latitude, longitude from directory")
        }
        homes = {
            email: (lat, lon)
            for email, lat, lon in audit.rows(
                "select email, latitude, longitude from home join account on account.id = home.person"
            )
        }
        accounts = {row[0] for row in audit.rows("select email from account")}
        pending = {row[0] for row in audit.rows("select email from code")}
        assert self.verified <= accounts, "an acknowledged account is lost"
        assert self.signed_up <= accounts | pending, "an acknowledged sign-up is lost"
        assert audit.look() >= self.published, "a published epoch is lost"
        for person, street in self.home.items():
            result = homes.get(f"p{person}@example.org")
            allowed = [
                None if item is None else streets[f"street {item}"]
                for item in [street, *self.tried.get(person, [])]
            ]
            assert result in allowed, "an acknowledged move or cancellation is lost"
            self.silent += result is None and street is not None
            if result is not None and self.tried.get(person):
                self.home[person] = int(next(key for key, at in streets.items() if at == result).split()[1])
            elif self.tried.get(person):
                self.home[person] = None
        self.tried = {}
        for email, street in self.settled.items():
            assert homes[email] == streets[f"street {street}"], "an acknowledged home is lost"


def killed(
    folder: Path, database: str, points: int, postgres: Postgres | None, seed: int
) -> tuple[Promises, Audit]:
    draw = random.Random(seed)
    with service(folder, database=database) as server:
        server.import_directory(scattered(PEOPLE))
        tokens = [(number, quick_token(server, f"p{number}@example.org")) for number in range(RESTLESS)]
        server.run_epoch()
    settings = ServiceSettings(folder=folder, database=database, **FAST).to_json()
    promises, audit = Promises(), Audit(database or str(folder / "service.db"), 10)
    promises.check(audit)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["location.killed", "voronym_location.publishing", "alembic.command"])
    point = 0
    # A busy machine may acknowledge little in this time: then there are more points, up to some end.
    while point < points or (promises.acknowledged <= 4 * points and point < 20 * points):
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(target=work, args=(settings, tokens, PEOPLE, seed + 100 * point, theirs))
        process.start()
        theirs.close()
        with ours:
            promises.hear(*ours.recv())
            until = draw.uniform(0.0, LONGEST)
            with suppress(EOFError):
                if ours.poll(0):
                    promises.hear(*ours.recv())
                process.join(until)
                os.kill(process.pid or 0, signal.SIGKILL)
                while True:
                    promises.hear(*ours.recv())
        process.join()
        process.close()
        if postgres is not None and point % 10 == 9:  # the database, too
            postgres.stop("immediate")
            postgres.start()
        promises.check(audit)
        point += 1
    with service(folder, database=database) as server:  # and it goes on
        assert server.run_epoch()["epoch"] > promises.published
    audit.look()
    assert min(audit.smallest) >= 10
    return promises, audit


def test_what_was_acknowledged_survives_being_killed(
    tmp_path: Path, database: str, request: pytest.FixtureRequest
) -> None:
    promises, audit = killed(tmp_path, database, 3, None, seed=1)
    assert promises.acknowledged > 12
    assert audit.epoch > 1


@pytest.mark.slow
def test_two_hundred_points(tmp_path: Path, database: str, request: pytest.FixtureRequest) -> None:
    postgres = request.getfixturevalue("postgres") if database else None
    promises, audit = killed(tmp_path, database, 200, postgres, seed=2)
    print(f"{promises.acknowledged} acknowledged, {audit.epoch} epochs, smallest {min(audit.smallest)}")  # noqa: T201
    assert promises.acknowledged > 2000
    assert audit.epoch > 25  # their number depends on the time that the machine has left
