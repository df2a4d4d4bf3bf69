"""Decide whether a promise holds: compare a measured value with a requirement."""

from __future__ import annotations

from typing import Any

import numpy as np

RELATIVE = 1e-9
"""Measures within this share of a threshold count as equal to it. Rounding is about 1e-15; no table has
differences of 1e-9.
"""
ABSOLUTE = 1e-12
"""The same tolerance for thresholds at and near 0."""


def meets(values: Any, required: Any, *, at_most: bool = True, strict: bool = False) -> Any:
    """Return whether measures meet a requirement.

    A threshold met exactly counts as met, unless it is strict. Measures within `RELATIVE` of it, or
    `ABSOLUTE` near 0, count as equal to it.

    Examples
    --------
    >>> bool(meets(0.1 + 0.2, 0.3)), bool(meets(0.1 + 0.2, 0.3, strict=True))
    (True, False)
    """
    if required is None:
        return np.ones(np.shape(values), bool)
    slack = RELATIVE * np.abs(required) + ABSOLUTE
    slack = -slack if strict else slack
    if at_most:
        return values < required + slack if strict else values <= required + slack
    return values > required - slack if strict else values >= required - slack
