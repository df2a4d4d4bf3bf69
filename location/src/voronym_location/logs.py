"""Logs: one JSON object per line, with harmless fields only.

A record keeps its event, a fixed text without arguments, and the fields below. So addresses, places, tokens,
network addresses and query strings cannot get in. An exception is logged by its type and place in the code,
because its text may quote values.
"""

from __future__ import annotations

import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

__all__ = ["FIELDS", "JsonLines", "start"]

FIELDS = ("route", "method", "status", "ms", "reason", "epoch", "seconds", "messages")


class JsonLines(logging.Formatter):
    """Writes a record as JSON, without possible personal data."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        line: dict[str, object] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            # Arguments may be values, and so may the text of an exception that is logged as the event.
            "event": record.msg if isinstance(record.msg, str) and not record.args else record.name,
        }
        if isinstance(record.msg, BaseException):
            line["error"] = type(record.msg).__name__
        line |= {name: getattr(record, name) for name in FIELDS if hasattr(record, name)}
        if record.exc_info and record.exc_info[0] is not None:
            line["error"] = record.exc_info[0].__name__
            place = traceback.extract_tb(record.exc_info[2])
            if place:
                line["at_line"] = f"{Path(place[-1].filename).name}:{place[-1].lineno}"
        return json.dumps(line)


def start(stream: TextIO | None = None) -> None:
    """Make the service and the web server log to stderr in this form."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonLines())
    for name in ("voronym_location", "uvicorn", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.INFO if name == "voronym_location" else logging.WARNING)
    logging.getLogger("uvicorn.access").handlers = []
    logging.getLogger("uvicorn.access").propagate = False
