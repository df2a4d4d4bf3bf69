"""The operator's desk: the previewed draft, and whether the schedule is paused."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select

from voronym_location.operators import softened
from voronym_location.store.tables import desk, epoch

__all__ = ["get_note", "is_paused", "pause", "read_preview", "set_note", "shown"]


def read_preview(connection: Connection, k: int) -> dict[str, Any] | None:
    """Return the operator's view of the stored draft; None without a draft."""
    kept = get_note(connection, "preview")
    last = connection.scalar(select(func.max(epoch.c.number))) or 0
    if kept is None or kept["figures"]["epoch"] != last + 1:
        return None
    return shown(kept, k)


def shown(preview: dict[str, Any], k: int) -> dict[str, Any]:
    """Return a preview with counts rounded to multiples of k; numbers of groups are exact."""
    return {
        "at": preview["at"],
        "figures": softened(preview["figures"], k),
        "places": preview["places"],
        "tight": preview["tight"],
    }


def pause(connection: Connection, *, on: bool, now: float) -> None:
    """Pause the schedule, or resume it; the epoch in force stays until its statements expire."""
    connection.execute(delete(desk).where(desk.c.name == "paused"))
    if on:
        set_note(connection, "paused", now)


def is_paused(connection: Connection) -> bool:
    """Return whether an operator paused the schedule."""
    return get_note(connection, "paused") is not None


def get_note(connection: Connection, name: str) -> Any:
    """Return the stored note with this name; None if there is none."""
    value = connection.scalar(select(desk.c.value).where(desk.c.name == name))
    return None if value is None else json.loads(value)


def set_note(connection: Connection, name: str, value: Any) -> None:
    """Set the note under a name."""
    connection.execute(delete(desk).where(desk.c.name == name))
    connection.execute(insert(desk).values(name=name, value=json.dumps(value)))
