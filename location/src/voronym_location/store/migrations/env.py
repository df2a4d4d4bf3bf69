"""Run migrations over the connection that `voronym.location.store.upgrade` opened."""

from __future__ import annotations

from alembic import context

from voronym.location.store.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()
