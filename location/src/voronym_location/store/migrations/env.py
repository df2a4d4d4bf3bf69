"""Run migrations over the connection that `voronym_location.store.upgrade` opened."""

from __future__ import annotations

from alembic import context

from voronym_location.store.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()
