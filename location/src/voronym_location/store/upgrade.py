"""Migrations by Alembic, packaged with voronym, without a configuration file."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Engine

from voronym_location.errors import Unavailable

__all__ = ["upgrade"]


def upgrade(engine: Engine) -> None:
    """Bring the tables to the newest version, if they are not."""
    from alembic import command
    from alembic.config import Config
    from alembic.runtime.migration import MigrationContext
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).with_name("migrations")))
    script = ScriptDirectory.from_config(config)
    with engine.connect() as connection, connection.begin():
        current_revision = MigrationContext.configure(connection).get_current_revision()
    if current_revision == script.get_current_head():
        return
    if current_revision is not None and current_revision not in {
        walk_revision.revision for walk_revision in script.walk_revisions()
    }:
        raise Unavailable(
            "the database was made by a newer version of voronym: update voronym, or restore a backup"
        )
    with engine.connect() as connection:
        marked = connection.execution_options(voronym_write=True)
        with marked.begin():
            if engine.dialect.name == "postgresql":  # several processes may start together
                marked.exec_driver_sql("select pg_advisory_xact_lock(7301)")
            config.attributes["connection"] = marked
            command.upgrade(config, "head")
