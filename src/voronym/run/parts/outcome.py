"""Sizes of files and memory, in words."""

from __future__ import annotations

from voronym.errors import hint
from voronym.run.parts.job import needed


def spoken(size: float) -> str:
    """Return a number of bytes in words."""
    for unit, word in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB")):
        if size >= unit:
            return f"{size / unit:.1f} {word}"
    return f"{size / 1e3:.0f} kB"


def too_little(memory: float, records: int) -> str:
    """Report that a worker needs more memory than it has."""
    least = needed(records)
    why = f"with leaves of {records:,} records" if records else "before it has read a row"
    smaller = f", take fewer {hint('workers')} or a smaller {hint('leaf')}" if records else ""
    return (
        f"a worker needs about {spoken(least)} of memory {why}, and {spoken(memory)} are allowed: give "
        f"{hint('memory', f'{-(-least // 10**7) * 10}MB')} or more for each worker{smaller}"
    )
