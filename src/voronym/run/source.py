"""Where a table comes from: a frame, a file, or a data set of many parts."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any


def has_parts(data: Any) -> bool:
    """Whether a source is a data set of many parts: a folder, a pattern, or several files."""
    if isinstance(data, (list, tuple)):
        return bool(data) and all(isinstance(path, (str, os.PathLike)) for path in data)
    if not isinstance(data, (str, os.PathLike)):
        return False
    try:
        path = Path(data)
        return path.is_dir() or (not path.exists() and any(sign in str(data) for sign in "*?["))
    except OSError:  # too long a name, say, or a place that is closed: reading says so
        return False
