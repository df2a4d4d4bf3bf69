"""What keepers do: backups, keys, sealed homes, migrations up and down, and a start that loads little."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import text

from location.audit import Audit
from location.client import clients, of
from location.town_hall import PASSWORD, join, quick_token, scattered, service
from voronym.errors import InputError
from voronym_location.cli import keeping
from voronym_location.errors import Busy, Unavailable
from voronym_location.provider import Provider
from voronym_location.sealing import Place, Seal
from voronym_location.statements import Statement
from voronym_location.store import Store, is_sound, upgrade
from voronym_location.store.locks import hold


@pytest.mark.parametrize("verb", [keeping.rotate_homes, keeping.rotate_key, keeping.after_restore])
def test_a_mistyped_folder_gets_no_service(tmp_path: Path, verb: Callable[..., None]) -> None:
    config = tmp_path / "location.toml"
    config.write_text(f'home_key = "{tmp_path / "homes.key"}"\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"there is no service in .*mistyped"):
        verb(config=config, folder=tmp_path / "mistyped")
    assert list(tmp_path.iterdir()) == [config]


def test_a_copy_of_the_database_tells_no_home(tmp_path: Path, database: str) -> None:
    """Somebody has the database and not the key: neither places nor households are in it."""
    keys = tmp_path / "etc" / "homes.key"
    Seal().renewed().write(keys)
    audit = Audit(database or str(tmp_path / "service.db"), 10)
    with service(tmp_path, database=database, home_key=str(keys)) as server:
        server.import_directory(scattered(60))
        token = join(server, "new@example.org")
        server.submit_address(token, "street 3")
        assert server.run_epoch()["served"] > 50
        assert server.home(token)["latitude"] == pytest.approx(scattered(60)[3].latitude)  # type: ignore[index]
        rows = audit.rows("select latitude, longitude, household, sealed from home")
        assert len(rows) == 61
        assert all(row[:3] == (None, None, None) and row[3] for row in rows)
        version = audit.rows("select version from home order by person desc limit 1")
        server.submit_address(token, "street 3")  # the same address again: has not moved
        assert audit.rows("select version from home order by person desc limit 1") == version
    with service(tmp_path, database=database) as server, pytest.raises(Unavailable, match="home_key"):
        server.run_epoch()


def test_sealed_homes_cannot_be_swapped_or_changed() -> None:
    seal = Seal().renewed()
    columns = seal.close(7, Place(48.0, 11.0, 5))
    with pytest.raises(Unavailable):
        seal.open(8, columns)
    with pytest.raises(Unavailable):
        seal.open(7, columns | {"sealed": columns["sealed"][:-1] + b"x"})
    with pytest.raises(Unavailable):
        Seal().renewed().open(7, columns)


def test_the_key_of_homes_is_replaced_and_taken_away(tmp_path: Path, database: str) -> None:
    keys = tmp_path / "etc" / "homes.key"
    Seal().renewed().write(keys)
    old = keys.read_bytes()
    given = {"database": database, "home_key": str(keys)}
    with service(tmp_path, **given) as server:
        server.import_directory(scattered(40))
        before = server.home(quick_token(server, "p5@example.org"))
        assert server.rotate_homes() == 40
        assert keys.read_bytes() != old
        assert len(keys.read_text().split()) == 1
        assert server.home(quick_token(server, "p5@example.org")) == before
    keys.with_name("stolen.key").write_bytes(old)
    keys.with_name("stolen.key").chmod(0o600)
    stolen = given | {"home_key": str(keys.with_name("stolen.key"))}
    with service(tmp_path, **stolen) as server, pytest.raises(Unavailable):
        server.home(quick_token(server, "p5@example.org"))
    with service(tmp_path, **given) as server:
        assert server.rotate_homes(plain=True) == 40
    with service(tmp_path, database=database) as server:
        assert server.home(quick_token(server, "p5@example.org")) == before


def test_the_key_of_homes_is_not_replaced_under_a_service_that_runs(tmp_path: Path, database: str) -> None:
    """It would go on sealing with the old key, which is in no file then: nobody could read those homes."""
    keys = tmp_path / "etc" / "homes.key"
    Seal().renewed().write(keys)
    given, old = {"database": database, "home_key": str(keys)}, keys.read_bytes()
    with service(tmp_path, **given) as runs, service(tmp_path, **given) as server:
        server.import_directory(scattered(12))
        with (
            hold(runs.store, "serving", "", shared=True),
            hold(server.store, "serving", "", shared=True),  # two processes may serve
            pytest.raises(Busy, match="end it first"),
        ):
            server.rotate_homes()
        assert keys.read_bytes() == old
        assert server.rotate_homes() == 12
        with hold(runs.store, "serving", ""), pytest.raises(Busy, match="is taken"):
            hold(server.store, "serving", "it is taken", shared=True).__enter__()


def test_keys_of_homes_that_others_may_read_are_refused(tmp_path: Path) -> None:
    keys = tmp_path / "homes.key"
    Seal().renewed().write(keys)
    keys.chmod(0o644)
    with pytest.raises(InputError, match="chmod 600"):
        Seal.read(keys)
    keys.chmod(0o600)
    keys.write_text("short\n")
    with pytest.raises(InputError, match="32 bytes"):
        Seal.read(keys)


def test_statements_of_a_retired_key_can_be_checked_until_they_run_out(tmp_path: Path) -> None:
    with clients(tmp_path, period=3600.0) as client:
        server = of(client)
        server.import_directory(scattered(40))
        server.run_epoch()
        before = server.statement(quick_token(server, "p0@example.org"))
        assert isinstance(before, Statement)
        number = server.key.id
        assert server.rotate_key() != number
        keys = client.get("/v1/keys").json()
        assert keys["id"] == server.key.id
        retired = {key["id"]: key["key"] for key in keys["retired"]}
        assert Provider({}, retired[number]).check(before.plain())
        after = server.statement(quick_token(server, "p0@example.org"))
        assert isinstance(after, Statement)
        assert Provider({}, keys["key"]).check(after.plain())
        server.clock = lambda: 1e11
        assert client.get("/v1/keys").json()["retired"] == []


def test_a_backup_is_restored_and_nobody_goes_on_from_old_groups(tmp_path: Path) -> None:
    """Made while people move; restored after others left. What was published since is not in it."""
    live, copy = tmp_path / "live", tmp_path / "backup.db"
    with service(live) as server:
        server.import_directory(scattered(80))
        server.run_epoch()
        server.store.backup(copy)
        assert copy.stat().st_mode & 0o077 == 0
        with pytest.raises(InputError, match="cannot write"):
            server.store.backup(copy)
        for number in range(30):
            server.delete(quick_token(server, f"p{number}@example.org"))
        server.run_epoch()
    (tmp_path / "again").mkdir()
    shutil.copy(copy, tmp_path / "again" / "service.db")
    shutil.copy(live / "service.key", tmp_path / "again" / "service.key")
    with service(tmp_path / "again", epochs={"budget": 1.0}) as server:
        token = quick_token(server, "p50@example.org")
        old = server.statement(token)
        assert isinstance(old, Statement)
        assert server.begin_again() > 0
        assert not isinstance(server.statement(token), Statement)
        for number in range(30):
            assert server.forget(f"p{number}@example.org")
        assert not server.forget("p1@example.org")
        figures = server.run_epoch()
        assert figures["people"] == 50
        assert figures["told"] == figures["served"] > 40
        new = server.statement(token)
        assert isinstance(new, Statement)
        assert new.pseudonym != old.pseudonym


DIES = """
import os, sys
from location.town_hall import join, service
from pathlib import Path
with service(Path(sys.argv[1])) as server:
    server.submit_address(join(server, "new@example.org"), "street 3")
    os._exit(9)
"""


def test_a_backup_is_restored_over_a_service_that_was_killed(tmp_path: Path) -> None:
    """SQLite would write the log that is left beside the file into the restored one."""
    live, copy = tmp_path / "live", tmp_path / "backup.db"
    with service(live) as server:
        server.import_directory(scattered(40))
        server.run_epoch()
        server.store.backup(copy)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    subprocess.run([sys.executable, "-c", DIES, live], env=environment, check=False)
    assert (live / "service.db-wal").stat().st_size > 0
    (tmp_path / "broken.db").write_bytes(copy.read_bytes()[:20_000])
    with pytest.raises(InputError, match="no sound backup"):
        keeping.restore(tmp_path / "broken.db", folder=live)
    with service(live) as server, hold(server.store, "serving", "", shared=True):
        assert server._homes() == 41
        with pytest.raises(Busy, match="end it first"):
            keeping.restore(copy, folder=live)
    subprocess.run([sys.executable, "-c", DIES.replace("new@", "other@"), live], env=environment, check=False)
    keeping.restore(copy, folder=live)
    with service(live) as server:
        assert server._homes() == 40
        assert server.run_epoch()["epoch"] == 2
    assert is_sound(live / "service.db")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["backup.db", "broken.db", "live"]
    with pytest.raises(InputError, match="there is no folder"):
        keeping.restore(copy, folder=tmp_path / "mistyped")


def test_migrations_go_up_and_down_with_people_in_them(tmp_path: Path, database: str) -> None:
    url = database or f"sqlite:///{tmp_path / 'service.db'}"
    with service(tmp_path, database=database) as server:
        server.import_directory(scattered(50))
        token = join(server, "ada@example.org")
        server.submit_address(token, "street 1")
        server.run_epoch()
        before = server.statement(token)
    config = Config()
    config.set_main_option("script_location", str(Path(upgrade.__file__).with_name("migrations")))
    for revision in ("0001", "head"):
        store = Store(url)
        with store.engine.connect() as connection, connection.begin():
            config.attributes["connection"] = connection
            (command.downgrade if revision == "0001" else command.upgrade)(config, revision)
        with store.engine.connect() as connection, connection.begin():
            assert connection.scalar(text("select count(*) from home")) == 51
            assert connection.scalar(text("select count(*) from member")) == 51
        store.close()
    with service(tmp_path, database=database) as server:
        assert server.sign_in("ada@example.org", PASSWORD).token
        assert server.statement(token) == before
        assert server.run_epoch()["epoch"] == 2
        with server.store.read() as connection:  # who was served is known to have had a place
            assert connection.exec_driver_sql("select count(*) from account where published").scalar() > 40


def test_a_start_loads_no_search_and_no_tables() -> None:
    """Most of a start was loading what only epochs need."""
    words = (
        "import sys; import voronym_location.serving; "
        "print([m for m in ('polars', 'voronym_location.epochs', 'voronym.space') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_what_makes_an_epoch_ends_with_the_service_that_started_it() -> None:
    """A service that is killed cannot end it: it would go on, hold its locks, and publish beside the next."""
    words = (
        "import time; from voronym_location.scheduler import _end_with_parent as end; end(); time.sleep(90)"
    )
    started = subprocess.Popen([sys.executable, "-c", words], stdin=subprocess.PIPE)
    assert started.stdin is not None
    with pytest.raises(subprocess.TimeoutExpired):
        started.wait(0.5)
    started.stdin.close()  # as the system does for a process that is gone
    assert started.wait(60) == 1


def test_a_backup_has_no_deleted_home(tmp_path: Path) -> None:
    with service(tmp_path / "one") as server:
        server.import_directory(scattered(20))
        server.delete(quick_token(server, "p4@example.org"))
        server.store.backup(tmp_path / "copy.db")
    with closing(sqlite3.connect(tmp_path / "copy.db")) as base:
        assert base.execute("select count(*) from home").fetchone() == (19,)
        assert base.execute("select count(*) from account where email like 'p4@%'").fetchone() == (0,)
