"""Data sets to try: generators that are always available, and the reference files of the field.

The reference files are not part of the package. `VORONYM_DATA` names the folder that holds them, or an
``http(s)`` address from which they are downloaded once. Their checksums are verified in both cases.
"""

from __future__ import annotations

import hashlib
import os
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from voronym.core.validate import check_seed, checked
from voronym.errors import InputError, ReadError

__all__ = [
    "adult",
    "available",
    "census",
    "eia",
    "gaussian",
    "hospital",
    "hospital_outliers",
    "hospital_taxonomy",
    "tarragona",
]

_SHA256 = {
    "adult": "6f8f2babc5ee744afd03f6d978d8d6b3e3b0aae240d931c4976a9cce7af0d347",
    "census": "40fb91564d4379274610e941161fd38729adb471bddb9c71d7c01ef142fd0f5b",
    "eia": "4df54e21b3451e3c0b6081fa1c9ef5dbd8f09d484925ed2ade759b78b4869d1b",
    "tarragona": "d5f719a134a3476b2157d9675d1a2b211dbc06ad6109685ad1e4b7847cfa45a4",
}

_FIRST = ["Aina", "Biel", "Carme", "Dídac", "Elna", "Ferran", "Greta", "Hanna", "Iu", "Jan", "Kenza", "Lluc"]
_LAST = ["Abad", "Bosch", "Costa", "Duran", "Esteve", "Ferrer", "Giralt", "Huguet", "Iborra", "Jover", "Khan"]
_NATIONS = (["Spain", "Romania", "Morocco", "Italy", "Colombia", "France", "Pakistan", "Iceland"],
            [0.74, 0.06, 0.06, 0.04, 0.04, 0.03, 0.02, 0.01])  # fmt: skip
# diagnosis, share, mean age, sd of age, mean days of stay
_DIAGNOSES = [
    ("asthma", 0.14, 28.0, 15.0, 2.5),
    ("appendicitis", 0.10, 25.0, 12.0, 3.0),
    ("fracture", 0.16, 45.0, 25.0, 5.0),
    ("diabetes", 0.17, 58.0, 13.0, 4.5),
    ("pneumonia", 0.15, 66.0, 18.0, 7.5),
    ("heart failure", 0.16, 75.0, 9.0, 9.0),
    ("stroke", 0.12, 72.0, 11.0, 11.0),
]
# diagnosis, organ, part of the body; the last one is that of planted outliers alone
_TAXONOMY = {
    "asthma": ("lung", "chest"),
    "pneumonia": ("lung", "chest"),
    "heart failure": ("heart", "chest"),
    "appendicitis": ("gut", "belly"),
    "diabetes": ("pancreas", "belly"),
    "fracture": ("bone", "limbs"),
    "stroke": ("brain", "head"),
    "prion disease": ("brain", "head"),
}
_RARE = ["Bhutan", "Tuvalu", "Nauru", "Palau", "Kiribati", "Lesotho", "Andorra", "Samoa"]


@checked
def hospital(n: int = 1000, *, outliers: int = 0, seed: int = 0) -> pl.DataFrame:
    """Make up a table of hospital patients; no person in it is real.

    Age depends on the diagnosis; stay and cost depend on both. Patients live in a few districts around
    two towns, so masking has structure to lose. A few weights are missing.

    Parameters
    ----------
    n : int
        Number of patients.
    outliers : int
        Number of planted outliers, in the rows that `hospital_outliers` returns: very old, from a far
        district, of a nationality and with a disease that nobody else has, admitted more than a year before
        everybody else and before each other, and kept for many months. The other rows do not change.
    seed : int
        The same seed gives the same patients.

    Returns
    -------
    polars.DataFrame
        ``name``, ``patient_id`` (identifiers); ``age``, ``sex``, ``zip``, ``nationality``, ``admitted``,
        ``weight`` (what a neighbour may know); ``diagnosis``, ``days``, ``cost`` (confidential).

    Examples
    --------
    >>> hospital(3, seed=1).columns[:4]
    ['name', 'patient_id', 'age', 'sex']
    """
    _check_size(n=n)
    rng = check_seed(seed)
    kind = rng.choice(len(_DIAGNOSES), n, p=[row[1] for row in _DIAGNOSES])
    mean_age, sd_age, mean_days = (np.array([row[j] for row in _DIAGNOSES])[kind] for j in (2, 3, 4))
    age = np.clip(np.rint(rng.normal(mean_age, sd_age)), 0, 101).astype(np.int64)
    male = rng.random(n) < 0.49
    town = rng.random(n) < 0.65
    district = np.where(town, 8001 + rng.binomial(24, 0.35, n), 43001 + rng.binomial(8, 0.4, n))
    grown = np.minimum(age, 18) / 18
    weight = np.round(rng.normal(8 + grown * np.where(male, 70, 58), 2 + 10 * grown), 1)
    days = np.maximum(1, np.rint(rng.gamma(3.0, (mean_days + age / 40) / 3.0))).astype(np.int64)
    cost = 50 * np.rint((days * rng.lognormal(6.2, 0.25, n) + 400) / 50).astype(np.int64)
    start = date(2025, 1, 1)
    winter = rng.random(n) < 0.3
    day = np.where(winter, rng.integers(0, 90, n), rng.integers(0, 365, n))
    table = pl.DataFrame(
        {
            "name": [f"{a} {b}" for a, b in zip(rng.choice(_FIRST, n), rng.choice(_LAST, n), strict=True)],
            "patient_id": [f"P{number:07d}" for number in rng.permutation(10 * n)[:n]],
            "age": age,
            "sex": np.where(male, "male", "female"),
            "zip": [f"{code:05d}" for code in district],
            "nationality": rng.choice(_NATIONS[0], n, p=_NATIONS[1]),
            "admitted": [start + timedelta(days=int(offset)) for offset in day],
            "weight": pl.Series(
                [None if lost else float(w) for w, lost in zip(weight, rng.random(n) < 0.03, strict=True)]
            ),
            "diagnosis": [_DIAGNOSES[index][0] for index in kind],
            "days": days,
            "cost": cost,
        }
    )
    return _plant(table, hospital_outliers(n, outliers=outliers, seed=seed)) if outliers else table


@checked
def hospital_outliers(n: int = 1000, *, outliers: int, seed: int = 0) -> NDArray[np.int64]:
    """Return the rows of the planted outliers of `hospital`, in ascending order.

    Examples
    --------
    >>> len(hospital_outliers(50, outliers=3, seed=1))
    3
    """
    if not 0 <= outliers <= n:
        raise InputError(f"{outliers} of {n} patients cannot be outliers; ask for 0 to {n}")
    _check_size(n=n)
    check_seed(seed)
    return np.sort(np.random.default_rng([seed, 0x6F75]).choice(n, outliers, replace=False)).astype(np.int64)


def _check_size(**sizes: int) -> None:
    for name, size in sizes.items():
        if size < 0:
            raise InputError(f"{name} must be 0 or more, not {size}")


def hospital_taxonomy() -> dict[str, tuple[str, ...]]:
    """Return the hierarchy of the hospital's diagnoses: organ, part of the body, and the root "*".

    Examples
    --------
    >>> hospital_taxonomy()["asthma"]
    ('lung', 'chest', '*')
    """
    return {diagnosis: (*above, "*") for diagnosis, above in _TAXONOMY.items()}


def _plant(table: pl.DataFrame, rows: NDArray[np.int64]) -> pl.DataFrame:
    """Put outliers into some rows of the hospital without random draws, so that other rows stay the same."""
    order = np.arange(len(rows))
    changed: dict[str, list[Any]] = {
        "age": (103 + order % 8).tolist(),
        "zip": [f"{99_100 + i % 900:05d}" for i in order],
        "nationality": [_RARE[i % len(_RARE)] for i in order],
        "admitted": [date(2023, 6, 1) - timedelta(days=int(400 * i) % 600_000) for i in order],
        "weight": [150.0 + 7.5 * (i % 20) for i in order],
        "diagnosis": ["prion disease"] * len(rows),
        "days": (250 + 45 * (order % 200)).tolist(),
        "cost": (150_000 + 20_000 * (order % 200)).tolist(),
    }
    return table.with_columns(
        pl.Series(name, table[name]).scatter(rows, pl.Series(values, dtype=table.schema[name]))
        for name, values in changed.items()
    )


@checked
def gaussian(n: int = 1000, d: int = 2, *, rho: float = 0.0, seed: int = 0) -> NDArray[np.float64]:
    """Draw n points from a d-dimensional normal distribution with correlation ``rho`` between coordinates."""
    _check_size(n=n, d=d)
    if not abs(rho) < 1.0 or (d > 1 and rho <= -1.0 / (d - 1)):
        raise InputError("rho must be a correlation that all columns can have with each other, below 1")
    rng = check_seed(seed)
    covariance = np.full((d, d), rho) + (1 - rho) * np.eye(d)
    return np.asarray(rng.standard_normal((n, d)) @ np.linalg.cholesky(covariance).T)


def census() -> pl.DataFrame:
    """Load "Census": 1080 records, 13 numeric columns (US Current Population Survey 1995)."""
    return pl.read_csv(_find("census"))


def tarragona() -> pl.DataFrame:
    """Load "Tarragona": 834 companies, 13 numeric columns, 1995."""
    return pl.read_csv(_find("tarragona"))


def eia() -> pl.DataFrame:
    """Load "EIA": 4092 records of US electric utilities, the 11 numeric columns the literature uses."""
    frame = pl.read_csv(_find("eia"))
    return frame.select("UTILITYID", *frame.columns[5:])


def adult() -> pl.DataFrame:
    """Load UCI "Adult": 48,842 people, 15 mixed columns."""
    return pl.read_csv(_find("adult"))


def available() -> bool:
    """Return whether a folder for the reference files is configured."""
    return bool(os.environ.get("VORONYM_DATA"))


def _find(name: str) -> Path:
    """Return the path of a reference file with the right checksum; download it once if necessary."""
    place = os.environ.get("VORONYM_DATA", "")
    if not place:
        raise ReadError(
            f"the {name} file is not part of voronym: set VORONYM_DATA to the folder that holds {name}.csv, "
            "or to an address it can be fetched from"
        )
    if place.startswith(("http://", "https://")):
        cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "voronym"
        path = cache / f"{name}.csv"
        if not path.exists():
            _fetch(f"{place.rstrip('/')}/{name}.csv", path)
    else:
        path = Path(place) / f"{name}.csv"
    if not path.is_file():
        raise ReadError(f"there is no {name}.csv in the folder that VORONYM_DATA names")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    if digest != _SHA256[name]:
        raise ReadError(
            f"{name}.csv is not the reference file: its SHA-256 begins {digest[:12]}, "
            f"not {_SHA256[name][:12]}"
        )
    return path


def _fetch(address: str, path: Path) -> None:
    """Download to a temporary name, then rename: a broken download leaves nothing."""
    from urllib.request import urlopen  # takes longer to load than the generators

    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".part")
    try:
        with urlopen(address, timeout=60) as answer:  # noqa: S310 - http(s) is checked by the caller
            partial.write_bytes(answer.read())
        partial.replace(path)
    except OSError as error:
        raise ReadError(f"cannot fetch {path.name} from the address in VORONYM_DATA: {error}") from None
    finally:
        partial.unlink(missing_ok=True)
