"""Ten made-up tables, as files that an office might have; nobody in them is real."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

from voronym import datasets

N = 300


def _day(rng: np.random.Generator, first: str, days: int, n: int) -> list[dt.date]:
    start = dt.date.fromisoformat(first)
    return [start + dt.timedelta(days=int(d)) for d in rng.integers(0, days, n)]


def patients(path: Path) -> None:
    datasets.hospital(N, seed=3).write_csv(path)


def survey(path: Path) -> None:
    rng = np.random.default_rng(1)
    pl.DataFrame(
        {
            "respondent_id": [f"R{i:05d}" for i in rng.permutation(N)],
            "age": rng.integers(16, 99, N),
            "sex": rng.choice(["f", "m"], N),
            "region": rng.choice(["north", "south", "east", "west"], N),
            "income": np.round(rng.lognormal(7.5, 0.6, N), 0).astype(int),
            "vote": rng.choice(["a", "b", "c"], N),
        }
    ).write_csv(path)


def visits(path: Path) -> None:
    """People with several rows."""
    rng = np.random.default_rng(2)
    people = rng.integers(0, N // 3, N)
    age = rng.integers(18, 95, N // 3)
    sex = rng.choice(["f", "m"], N // 3)
    pl.DataFrame(
        {
            "patient_id": [f"P{p:04d}" for p in people],
            "age": age[people],
            "sex": sex[people],
            "visited": _day(rng, "2023-01-01", 700, N),
            "diagnosis": rng.choice(["flu", "asthma", "fracture"], N),
        }
    ).write_csv(path)


def households(path: Path) -> None:
    rng = np.random.default_rng(3)
    pl.DataFrame(
        {
            "household_id": rng.integers(1, N // 2, N),
            "age": rng.integers(0, 93, N),
            "rooms": rng.integers(1, 7, N),
            "municipality": rng.choice(["Aa", "Bb", "Cc", "Dd"], N),
            "income": rng.integers(8, 90, N) * 1000,
        }
    ).write_csv(path)


def german(path: Path) -> None:
    rng = np.random.default_rng(4)
    rows = ["Nachname;PLZ;Alter;Aufnahme;Gewicht;Befund"]
    names = ["Abel", "Brandt", "Conrad", "Dietz"]
    for i in range(N):
        day = dt.date(2022, 1, 1) + dt.timedelta(days=int(rng.integers(0, 900)))
        weight = f"{rng.normal(75, 12):.1f}".replace(".", ",")
        rows.append(
            f"{names[i % 4]};{rng.choice(['01067', '10115', '80331', '99084'])};{rng.integers(20, 97)};"
            f"{day:%d.%m.%Y};{weight};{rng.choice(['Grippe', 'Asthma', 'Bruch'])}"
        )
    path.write_text("\n".join(rows) + "\n", encoding="cp1252")


def french(path: Path) -> None:
    rng = np.random.default_rng(5)
    rows = ["nom\tprénom\tcode postal\tâge\tdate de naissance\tmaladie"]
    for i in range(N):
        born = dt.date(1928, 1, 1) + dt.timedelta(days=int(rng.integers(0, 28_000)))
        rows.append(
            f"Nom{i}\tPrénom{i % 7}\t{rng.choice(['75001', '13002', '69003'])}\t{2026 - born.year}\t"
            f"{born:%d/%m/%Y}\t{rng.choice(['grippe', 'asthme'])}"
        )
    path.with_suffix(".tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")


def tenants(path: Path) -> None:
    rng = np.random.default_rng(6)
    pl.DataFrame(
        {
            "email": [f"tenant{i}@example.org" for i in range(N)],
            "phone": [f"+49 30 {i:06d}" for i in range(N)],
            "birth_year": rng.integers(1925, 2004, N),
            "floor": rng.integers(0, 9, N),
            "rent": np.round(rng.normal(900, 250, N), 2),
        }
    ).write_csv(path)


def pupils(path: Path) -> None:
    rng = np.random.default_rng(7)
    pl.DataFrame(
        {
            "pupil": [f"pupil number {i}" for i in range(N)],
            "age": rng.integers(6, 19, N),
            "language": rng.choice(["de", "tr", "ar", "uk", "pl"], N, p=[0.6, 0.15, 0.1, 0.1, 0.05]),
            "school_district": rng.choice(["I", "II", "III"], N),
            "grade": rng.integers(1, 7, N),
        }
    ).write_csv(path)


def drivers(path: Path) -> None:
    rng = np.random.default_rng(8)
    pl.DataFrame(
        {
            "license_plate": [f"B-XY {i}" for i in range(N)],
            "ip": [f"10.0.{i % 250}.{i // 250 + 1}" for i in range(N)],
            "age": rng.integers(18, 91, N),
            "zip": [f"{z:05d}" for z in rng.choice([1001, 3601, 90210, 10001], N)],
            "accident": rng.choice(["none", "one", "more"], N),
        }
    ).write_csv(path)


def trial(path: Path) -> None:
    """A spreadsheet-like table with gaps, a time and a comment."""
    rng = np.random.default_rng(9)
    when = [dt.datetime(2024, 1, 1) + dt.timedelta(hours=int(h)) for h in rng.integers(0, 9000, N)]
    pl.DataFrame(
        {
            "usubjid": [f"S-{i:04d}" for i in rng.permutation(N)],
            "age": [None if rng.random() < 0.05 else int(a) for a in rng.integers(30, 94, N)],
            "arm": rng.choice(["drug", "placebo"], N),
            "enrolled date": when,
            "comment": [
                f"Subject {i} felt well on the day after the visit and walked home." for i in range(N)
            ],
            "response": rng.choice(["yes", "no"], N),
        }
    ).write_parquet(path.with_suffix(".parquet"))


TABLES: dict[str, Callable[[Path], None]] = {
    "patients": patients, "survey": survey, "visits": visits, "households": households, "german": german,
    "french": french, "tenants": tenants, "pupils": pupils, "drivers": drivers, "trial": trial,
}  # fmt: skip


def make(name: str, folder: Path) -> Path:
    """Write a table and return its file."""
    TABLES[name](folder / f"{name}.csv")
    return next(folder.glob(f"{name}.*"))


ZIPS = {
    "080": 1_600_000, "430": 500_000, "010": 30_000, "101": 200_000, "803": 90_000, "990": 9_000,
    "750": 2_000_000, "130": 800_000, "690": 500_000, "036": 14_000, "902": 600_000, "100": 1_500_000,
}  # fmt: skip
"""People under the first three digits, made up; two are small."""


def zips(folder: Path) -> Path:
    """Write the populations of three digits."""
    path = folder / "zips.csv"
    lines = [f"{code},{people}" for code, people in ZIPS.items()]
    path.write_text("\n".join(["zip3,people", *lines]) + "\n", encoding="utf-8")
    return path
