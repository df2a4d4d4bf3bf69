"""Databases of earlier versions."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import text

from location.town_hall import PASSWORD, service
from voronym_location.keys import ServiceKey
from voronym_location.store import Store, upgrade


def test_a_code_that_was_mailed_before_an_update_is_still_good(tmp_path: Path, database: str) -> None:
    store = Store(database or f"sqlite:///{tmp_path / 'service.db'}")
    config = Config()
    config.set_main_option("script_location", str(Path(upgrade.__file__).with_name("migrations")))
    with store.engine.connect() as connection, connection.begin():
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
    key = ServiceKey.open(tmp_path / "service.key")
    values = {"digest": key.digest("code", "ada@example.org", "01234567"), "expires": 1e12}
    with store.write() as connection:
        connection.execute(
            text("insert into code values (:digest, 'ada@example.org', 'x', :expires)"),
            values,
        )
    store.close()
    with service(tmp_path, database=database) as server:
        assert server.verify("ada@example.org", "01234567", PASSWORD)
        assert server.sign_in("ada@example.org", PASSWORD).token
