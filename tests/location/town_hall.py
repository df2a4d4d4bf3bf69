"""What tests of the server share: databases to run on, services, and people to sign up."""

from __future__ import annotations

import os
import pwd
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np

from voronym_location.directory import Entry
from voronym_location.service import Service
from voronym_location.settings import ServiceSettings

PASSWORD = "a long enough password"  # noqa: S105
FAST = {"hash_memory": 64, "hash_rounds": 1, "attempts": 0, "age": 0, "newcomers": 10.0}
OPEN = {"young": 0}
"""Newcomers count at once, where a test says nothing else."""


def postgres_bin() -> Path | None:
    """Return where PostgreSQL's programs are, if they are."""
    result = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    there = shutil.which("initdb")
    return result[-1].parent if result else Path(there).parent if there else None


class Postgres:
    """A PostgreSQL of its own, on a socket in a temporary folder, run by somebody who is not root.

    Processes are killed, and no machine: what was written need not be on the disk.
    """

    def __init__(self, programs: Path, options: str = "-c fsync=off") -> None:
        self.programs, self.options = programs, options
        self.folder = Path(mkdtemp(prefix="voronym-pg-"))
        self._as: dict[str, Any] = {}
        if os.getuid() == 0:
            who = _nobody()
            os.chown(self.folder, who.pw_uid, who.pw_gid)
            self._as = {"user": who.pw_uid, "group": who.pw_gid, "extra_groups": []}
        self._run(
            "initdb", "-D", f"{self.folder}/data", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync"
        )
        self.start()
        self._made = 0

    def start(self) -> None:
        options = f"-k {self.folder} -c listen_addresses='' {self.options}"
        self._run(
            "pg_ctl", "-D", f"{self.folder}/data", "-l", f"{self.folder}/log", "-o", options, "-w", "start"
        )

    def stop(self, how: str = "immediate") -> None:
        self._run("pg_ctl", "-D", f"{self.folder}/data", "-m", how, "-w", "stop")

    def fresh(self) -> str:
        """Return the address of an empty database."""
        self._made += 1
        name = f"town{self._made}"
        self._run("createdb", "-h", str(self.folder), "-U", "postgres", name)
        return self.url(name)

    def url(self, name: str, role: str = "postgres") -> str:
        return f"postgresql+psycopg://{role}@/{name}?host={self.folder}"

    def sql(self, name: str, text: str) -> None:
        self._run(
            "psql", "-h", str(self.folder), "-U", "postgres", "-d", name, "-v", "ON_ERROR_STOP=1", "-c", text
        )

    def close(self) -> None:
        with suppress(subprocess.CalledProcessError):  # a test stopped it
            self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, name: str, *words: str) -> None:
        done = subprocess.run(
            [self.programs / name, *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE if name not in ("pg_ctl",) else subprocess.DEVNULL, cwd="/", check=False,
            **self._as,
        )  # fmt: skip
        if done.returncode:
            raise subprocess.CalledProcessError(done.returncode, [name], stderr=done.stderr)


def _nobody() -> pwd.struct_passwd:
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise RuntimeError("no user to run PostgreSQL as")


@contextmanager
def service(folder: Path, *, clock: Callable[[], float] = time.time, **given: Any) -> Iterator[Service]:
    """Give a service whose passwords are cheap, in a folder of its own."""
    given["epochs"] = OPEN | given.get("epochs", {})
    with Service(ServiceSettings(folder=folder, **(FAST | given)), clock=clock) as made:
        yield made


def code_for(server: Service, email: str) -> str:
    """Return the newest code that was mailed to an address."""
    server.deliver()
    mails = sorted(server.settings.mailbox.glob("*.eml"), key=lambda file: file.stat().st_mtime_ns)
    for file in reversed(mails):
        text = file.read_text()
        if f"To: {email}" in text:
            return re.findall(r"code is (\d{8})", text)[0]
    raise AssertionError(f"no mail for {email}")


def join(server: Service, email: str) -> str:
    """Sign up, verify and sign in, and return the token."""
    server.sign_up(email)
    assert server.verify(email, code_for(server, email), PASSWORD)
    return server.sign_in(email, PASSWORD).token


def quick_token(server: Service, email: str) -> str:
    """Return a token for an account that is there, past the password: a test of thousands cannot hash."""
    from sqlalchemy import select

    from voronym_location import accounts
    from voronym_location.store.tables import account

    with server.store.write() as connection:
        number = connection.scalar(select(account.c.id).where(account.c.email == email))
        assert number is not None
        return accounts.issue(connection, number, server.clock() + 1e6)


def scattered(n: int, seed: int = 0, *, first: int = 0) -> list[Entry]:
    """Return a directory of people around a town's middle."""
    rng = np.random.default_rng(seed)
    places = np.array([48.0, 11.0]) + rng.normal(0, 0.02, (n, 2))
    return [
        Entry(f"street {first + row}", *place.tolist(), f"p{first + row}@example.org")
        for row, place in enumerate(places)
    ]
