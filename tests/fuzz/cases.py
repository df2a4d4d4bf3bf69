"""Wrong command lines and damaged files, drawn from a seed."""

from __future__ import annotations

import gzip
import random
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import polars as pl

import voronym as vr

CANARY = "CANARYvalue"
"""What no message may quote: it stands in the cells of four columns."""

ROLES = [
    "--key", "age,sex,zip", "--confidential", "diagnosis", "--identifier", "name", "--identifier", "email",
    "--other", "weight",
]  # fmt: skip
OPTIONS = [
    "--key", "--confidential", "--identifier", "--other", "--kind", "--order", "--location", "--person",
    "--household", "--option", "--space", "--model", "--time-limit", "--recipe", "--save-recipe", "--report",
    "--delimiter", "--encoding", "--decimal", "--thousands", "--date-format", "--missing", "--skip-rows",
    "--sheet", "--seed", "-k", "--method", "--out-delimiter", "--out-encoding", "--on-interrupt", "--query",
]  # fmt: skip
VALUES = [
    "", " ", "-1", "0", "1", "2.5", "1e308", "nan", "inf", "-inf", "999999999999999999999", "abc",
    "age", "age,age", "age=", "=age", "age=nominal", "age=numeric=x", "nope", "nope=1", "t-closeness",
    "t-closeness=", "t-closeness=-1", "t-closeness=2", "l-diversity=99", "k-anonymity=1000", "mdav",
    "auto", "channel", "records", "mixed", "no/such/x.csv", "/dev/full", "/", ".", "..", "a" * 300,
    "日本\u202e語", "\x00x", "\x1b[31mred", "\n", "'; drop table x; --", "{}", "[1,", "utf-16", "latin-1",
    "cp1252", "klingon", ";", ";;", "\t", "low<high", "lat,lon", "age,zip", "%Y", "dd.mm", "-999",
]  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A command, and the file that it is given."""

    words: list[str]
    name: str
    content: bytes


def people(rows: int = 60) -> pl.DataFrame:
    """Return a small table whose texts are canaries."""
    made = vr.datasets.hospital(rows, seed=5).select("age", "sex", "zip", "diagnosis", "weight")
    canary = [f"{CANARY}{i:03}" for i in range(rows)]
    return made.with_columns(
        name=pl.Series(canary),
        email=pl.Series([f"{text}@x.org" for text in canary]),
        diagnosis=pl.Series([f"{CANARY}{i % 7}" for i in range(rows)]),
    )


def originals(folder: Path) -> dict[str, bytes]:
    """Return the table in every format, by the suffix of the file."""
    table = people()
    writers: dict[str, Callable[[Path], object]] = {
        ".csv": table.write_csv,
        ".tsv": lambda path: table.write_csv(path, separator="\t"),
        ".parquet": table.write_parquet,
        ".arrow": table.write_ipc,
        ".sqlite": lambda path: _sqlite(table, path),
    }
    try:
        import pyreadstat

        frame = table.to_pandas()
        writers |= {
            ".sav": lambda path: pyreadstat.write_sav(frame, str(path)),
            ".dta": lambda path: pyreadstat.write_dta(frame, str(path)),
            ".xpt": lambda path: pyreadstat.write_xport(frame.drop(columns=["email"]), str(path)),
        }
    except ImportError:  # the extra is not there: fewer formats
        pass
    results = {}
    for suffix, write in writers.items():
        path = folder / f"whole{suffix}"
        write(path)
        results[suffix] = path.read_bytes()
        path.unlink()
    return results | {".csv.gz": gzip.compress(results[".csv"])}


def _sqlite(table: pl.DataFrame, path: Path) -> None:
    with sqlite3.connect(path) as base:
        base.execute(f"create table t ({', '.join(table.columns)})")
        base.executemany(f"insert into t values ({','.join('?' * table.width)})", table.rows())
    base.close()


def damage(data: bytes, rng: random.Random) -> bytes:
    """Return a file that something happened to."""
    at = rng.randrange(len(data) + 1)
    some = bytes(rng.randrange(256) for _ in range(rng.randrange(1, 40)))
    lines = data.split(b"\n")
    line = rng.randrange(len(lines))
    return rng.choice([
        lambda: data[:at],
        lambda: data[:at] + some + data[at + len(some):],
        lambda: data[:at] + some + data[at:],
        lambda: data[:at] + data[at + rng.randrange(1, 400):],
        lambda: bytes(rng.randrange(256) for _ in range(rng.randrange(1, 500))),
        lambda: data.replace(b",", rng.choice([b";", b",,", b"\x00", b'"', b"\r"])),
        lambda: data.replace(b"\n", rng.choice([b"\r", b"\r\n", b"\n\n", b""])),
        lambda: b"\n".join([*lines[:line], b'"' + lines[line], *lines[line + 1:]]),
        lambda: b"\n".join([*lines[:line], lines[line] * 5, *lines[line:]]),
        lambda: b"\xff\xfe" + data,
        lambda: data.decode("latin-1").encode("utf-16"),
        lambda: b"",
        lambda: data,
    ])()  # fmt: skip


def draw(number: int, whole: dict[str, bytes], seed: int = 11) -> Case:
    """Return one case: a right command, of which a word or the file is made wrong, or both."""
    rng = random.Random(f"{seed}-{number}")
    suffix = rng.choice(list(whole))
    content = damage(whole[suffix], rng) if rng.random() < 0.6 else whole[suffix]
    name = "table" + (rng.choice([*whole, ".xlsx", ".zst", "", ".csv.zst"]) if rng.random() < 0.1 else suffix)
    query = ["--query", "select * from t"] if name.endswith(".sqlite") else []
    keys = ["--key", "age,sex,zip"]
    words = rng.choice([
        ["anonymize", name, "-o", rng.choice(["out.csv", "out.parquet", "out.sav"]), *ROLES,
         "--method", "mdav", "-k", rng.choice(["3", "5"]),
         *rng.choice([[], ["--report", "r.html", "--save-recipe", "r.toml"]])],
        ["anonymize", name, "-o", "out.csv", *ROLES, "--method", "mdav"],
        ["measure", name, *keys, "--confidential", "diagnosis"],
        ["compare", name, *keys, "--method", "mdav", "-k", "3"],
        ["inspect", name],
    ]) + query  # fmt: skip
    for _ in range(rng.choice([0, 1, 1, 2, 3])):
        at = rng.randrange(1, len(words) + 1)
        change = rng.randrange(5)
        if change == 0:
            words = words[:at] + words[at + 1 :]
        elif change == 1:
            words = [*words[:at], rng.choice(VALUES), *words[at + 1 :]]
        elif change == 2:
            words = [*words, rng.choice(OPTIONS), rng.choice(VALUES)]
        elif change == 3:
            words = [*words, rng.choice(OPTIONS)]
        else:
            words = [*words[:at], *reversed(words[at : at + 2]), *words[at + 2 :]]
    return Case(words, name, content)
