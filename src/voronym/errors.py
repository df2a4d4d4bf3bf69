"""Everything that can go wrong, as one tree of exceptions.

Messages name columns and counts, never a person's values, and say what to do next.
"""

from __future__ import annotations


class VoronymError(Exception):
    """Base of every error that voronym raises on purpose."""


class InputError(VoronymError, ValueError):
    """An argument or a table cannot be used as it is; the message says what to change."""


class SchemaError(InputError):
    """Columns, roles and kinds do not fit the table."""


class ReadError(VoronymError):
    """A file or query could not be read as a table."""


class WriteError(VoronymError):
    """A release could not be written; nothing was left in its place."""


class GuaranteeError(VoronymError):
    """A required guarantee cannot be met, or was found broken; nothing is released."""


class MissingExtraError(VoronymError, ImportError):
    """An optional library is not installed; the message names the extra that brings it."""


class Cancelled(VoronymError):  # noqa: N818 - a wish that was granted
    """Somebody cancelled the work. Nothing was made and nothing was left behind."""


class Unfinished(VoronymError):  # noqa: N818 - a wish that could not be granted
    """Somebody wished to finish before there was a result to finish with."""
