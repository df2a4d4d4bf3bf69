"""Options that say of which population a table is a sample."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from voronym.core.options import Options, number, option
from voronym.errors import InputError


def _fraction(name: str, value: Any) -> float:
    given = value
    if isinstance(value, str) and value.endswith("%"):
        try:
            given = float(value[:-1]) / 100
        except ValueError:
            given = value
    return float(number(above=0.0, most=1.0)(name, given))


def _file(name: str, value: Any) -> str:
    if not isinstance(value, (str, os.PathLike)) or not Path(value).is_file():
        raise InputError(f"{name} must be a file with a table of the whole population; there is no {value!r}")
    return str(value)


@dataclass(frozen=True)
class SampleOptions(Options):
    """Of which population the table is a sample: for the risk in it, which the report tells."""

    sampling_fraction: float | None = option(
        None, "share of the population that is in the table, for its risk there: 5%", check=_fraction
    )
    population: str | None = option(
        None, "file with a table of the whole population, for the risk in it", check=_file
    )
