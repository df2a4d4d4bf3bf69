"""Spreadsheets, databases, packed text, SPSS: what goes in comes out, counted by other means."""

from __future__ import annotations

import csv
import datetime as dt
import gzip
import io
import pickle
import sqlite3
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import voronym as vr
from voronym.errors import InputError, ReadError, WriteError
from voronym.table import Schema, labels_of, read, source_of, write

fastexcel = pytest.importorskip("fastexcel")
zstandard = pytest.importorskip("zstandard")
pyreadstat = pytest.importorskip("pyreadstat")
duckdb = pytest.importorskip("duckdb")

TABLE = pl.DataFrame(
    {
        "age": [30, 30, 50, 50],
        "sex": ["f", "f", "m", "m"],
        "paid": [1.5, None, 2.25, 1e-7],
        "day": [dt.date(2020, 1, 31), dt.date(1999, 12, 31), None, dt.date(2024, 2, 29)],
        "ok": [True, False, None, True],
        "note": ["=1+1", "Zoë", None, "http://x.y"],
    }
)


def text(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("name", ["x.xlsx", "x.parquet", "x.duckdb", "x.sqlite", "x.csv.gz", "x.csv.zst"])
def test_a_table_goes_out_and_comes_back(tmp_path: Path, name: str) -> None:
    receipt = write(TABLE, tmp_path / name, keys=["age", "sex"], k=2, guard=False)
    assert (receipt.rows, receipt.k_counted, receipt.guarded_cells) == (4, 2, 0)
    query = {"query": "select * from release"} if name.endswith(("duckdb", "sqlite")) else {}
    back = read(tmp_path / name, **query)
    expected = TABLE
    if name.endswith("sqlite"):  # it has neither dates nor booleans
        expected = TABLE.with_columns(pl.col("day").cast(pl.String), pl.col("ok").cast(pl.Int64))
    assert back.rows() == expected.rows()
    broken = TABLE.with_columns(age=pl.Series([30, 30, 50, 51]))
    with pytest.raises(WriteError, match="fewer than k=2"):
        write(broken, tmp_path / f"broken-{name}", keys=["age", "sex"], k=2)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_packed_text_is_that_of_others(tmp_path: Path) -> None:
    write(TABLE, tmp_path / "x.csv", keys=["age"], k=2)
    plain = (tmp_path / "x.csv").read_bytes()
    write(TABLE, tmp_path / "x.csv.gz", keys=["age"], k=2)
    packed = (tmp_path / "x.csv.gz").read_bytes()
    assert gzip.decompress(packed) == plain
    assert packed[3] == 0  # neither a name
    assert packed[4:8] == bytes(4)  # nor a time
    write(TABLE, tmp_path / "x.csv.zst", keys=["age"], k=2)
    with zstandard.open(tmp_path / "x.csv.zst", "rb") as file:
        assert file.read() == plain
    assert read(text(tmp_path / "y.tsv.gz", gzip.compress(b"a\tb\n1\t2\n"))).rows() == [(1, 2)]
    for content, message in [(b"a,b\n1,2\n", "is not a .gz file"), (packed[:40], "damaged .gz file")]:
        with pytest.raises(ReadError, match=message):
            read(text(tmp_path / "z.csv.gz", content))
    with pytest.raises(ReadError, match="only text files may be"):
        read(text(tmp_path / "z.parquet.gz", packed))


def test_sheets(tmp_path: Path) -> None:
    path = tmp_path / "book.xlsx"
    with pd.ExcelWriter(path, engine="xlsxwriter") as book:
        TABLE.to_pandas().to_excel(book, sheet_name="people", index=False)
        pd.DataFrame({"a": [1]}).to_excel(book, sheet_name="more", index=False)
        pd.DataFrame().to_excel(book, sheet_name="none", index=False)
    with pytest.raises(ReadError, match=r"several sheets: 'people', 'more'; say which with sheet"):
        read(path)
    assert read(path, sheet="more").rows() == read(path, sheet=2).rows() == [(1,)]
    people = read(path, sheet="people")
    assert people["age"].dtype.is_integer()
    assert people["day"].dtype == pl.Date
    with pytest.raises(ReadError, match="has no sheet 'x'; its sheets are: 'people', 'more', 'none'"):
        read(path, sheet="x")
    with pytest.raises(ReadError, match="could not be read as a spreadsheet"):
        read(text(tmp_path / "bad.xlsx", b"PK\x03\x04 no"))
    write(TABLE, tmp_path / "out.xlsx", keys=["age"], k=2, table_name="my sheet")
    assert fastexcel.read_excel(tmp_path / "out.xlsx").sheet_names == ["my sheet"]
    with pytest.raises(WriteError, match="name of a sheet"):
        write(TABLE, tmp_path / "bad.xlsx", keys=["age"], k=2, table_name="a/b", overwrite=True)


def test_a_database_is_never_replaced(tmp_path: Path) -> None:
    path = tmp_path / "x.sqlite"
    base = sqlite3.connect(path)
    base.execute("create table precious (a)")
    base.commit()
    base.close()
    before = path.read_bytes()
    with pytest.raises(WriteError, match="never replaced"):
        write(TABLE, path, keys=["age"], k=2, overwrite=True)
    assert path.read_bytes() == before
    write(TABLE, tmp_path / "new.sqlite", keys=["age"], k=2, table_name='odd "name"')
    base = sqlite3.connect(tmp_path / "new.sqlite")
    assert base.execute('select count(*) from "odd ""name"""').fetchone() == (4,)
    base.close()


def survey(path: Path) -> None:
    frame = pd.DataFrame(
        {"age": [30.0, 31, 99, 32, 33, 34], "job": [1.0, 2, 9, 1, 2, 8], "g": [1.0, 2, 1, 2, 1, 2]}
    )
    pyreadstat.write_sav(
        frame,
        str(path),
        file_label="A survey",
        column_labels={"age": "Age in years"},
        variable_value_labels={
            "job": {1: "yes", 2: "no", 8: "refused", 9: "unknown"},
            "age": {99: "refused"},
        },
        missing_ranges={"job": [{"lo": 8, "hi": 9}], "age": [99]},
        variable_measure={"age": "scale", "job": "nominal", "g": "ordinal"},
    )


@pytest.mark.parametrize("suffix", [".sav", ".zsav"])
def test_spss_keeps_what_it_says_about_columns(tmp_path: Path, suffix: str) -> None:
    survey(tmp_path / "in.sav")
    table = read(tmp_path / "in.sav")
    assert table["age"].to_list() == [30, 31, None, 32, 33, 34]
    assert table["job"].to_list() == ["yes", "no", None, "yes", "no", None]
    release = vr.anonymize(table, keys=["g"], other=["age", "job"], k=3)
    release.write(tmp_path / f"out{suffix}")
    frame, meta = pyreadstat.read_sav(str(tmp_path / f"out{suffix}"), user_missing=True)
    kept = Counter(zip(frame["age"], frame["job"], strict=True))
    assert kept == Counter([(30, 1), (31, 2), (99, 9), (32, 1), (33, 2), (34, 8)])
    assert meta.file_label == "A survey"
    assert meta.missing_ranges["job"] == [{"lo": 8.0, "hi": 9.0}]
    assert meta.missing_ranges["age"] == [{"lo": 99.0, "hi": 99.0}]
    assert meta.variable_value_labels["job"] == {1.0: "yes", 2.0: "no", 8.0: "refused", 9.0: "unknown"}
    assert meta.variable_measure == {"age": "scale", "job": "nominal", "g": "ordinal"}
    assert meta.column_names_to_labels["age"] == "Age in years"


def test_a_masked_spss_column_keeps_the_declaration_of_its_codes(tmp_path: Path) -> None:
    survey(tmp_path / "in.sav")
    release = vr.anonymize(tmp_path / "in.sav", keys=["age"], other=["job", "g"], k=3)
    release.write(tmp_path / "out.sav")
    frame, meta = pyreadstat.read_sav(str(tmp_path / "out.sav"), user_missing=True)
    assert meta.missing_ranges["age"] == [{"lo": 99.0, "hi": 99.0}]
    assert 99 not in frame["age"].to_list()


@pytest.mark.parametrize("suffix", [".sav", ".dta"])
def test_dates_out_of_range_are_missing_and_counted(tmp_path: Path, suffix: str) -> None:
    """Numbers that a date format makes into dates of the year 275,000, as people write for "unknown"."""
    path = tmp_path / f"x{suffix}"
    days = [22_000.0, 99_999_999.0, 1e15, 22_001.0]
    if suffix == ".dta":
        pyreadstat.write_dta(
            pd.DataFrame({"d": days, "a": [1, 2, 3, 4]}), str(path), variable_format={"d": "%td"}
        )
    else:
        seconds = [13_000_000_000.0, 1e18, 9e15, 13_000_086_400.0]
        pyreadstat.write_sav(
            pd.DataFrame({"d": seconds, "a": [1, 2, 3, 4]}), str(path), variable_format={"d": "DATE11"}
        )
    with pytest.warns(UserWarning, match=r"2 dates of 'd' lie outside the years 1 to 9999") as caught:
        table = read(path)
    assert table["d"].null_count() == 2
    assert table["d"].dtype == pl.Date
    assert table["d"][3] - table["d"][0] == dt.timedelta(days=1)
    assert not any("99999999" in str(item.message) for item in caught)
    Schema.infer(table)


def test_dates_that_only_python_cannot_hold(tmp_path: Path) -> None:
    frame = pd.DataFrame({"d": [22_000.0, 99_999_999.0, 22_001.0]})
    pyreadstat.write_dta(frame, str(tmp_path / "x.dta"), variable_format={"d": "%td"})
    with pytest.warns(UserWarning, match=r"1 dates of 'd' lie outside"):
        assert read(tmp_path / "x.dta")["d"].to_list()[1] is None


def test_pandas_dates_come_back_as_dates() -> None:
    days = pd.date_range("2020-01-01", periods=40, freq="D")
    release = vr.anonymize(pd.DataFrame({"seen": days, "age": range(40)}), keys=["seen", "age"], k=3)
    assert (release.table["seen"].dt.normalize() == release.table["seen"]).all()
    hours = pd.DataFrame({"seen": days + pd.to_timedelta(range(40), unit="min"), "age": [1, 2] * 20})
    seen = vr.anonymize(hours, keys=["seen"], other=["age"], k=3).table["seen"]
    assert (seen.dt.floor("min") == seen).all()
    assert (seen.dt.normalize() != seen).any()


def test_codes_declared_missing_are_missing_and_stay_where_they_are_kept(tmp_path: Path) -> None:
    table = pl.DataFrame({"age": [30, 31, -999, 33, 34, 35], "kids": [0, -999, 2, 99, 1, 0]})
    table.write_parquet(tmp_path / "x.parquet")
    result = read(tmp_path / "x.parquet", missing=["-999", "kids=99"])
    assert result["age"].to_list() == [30, 31, None, 33, 34, 35]
    assert result["kids"].to_list() == [0, None, 2, None, 1, 0]
    release = vr.anonymize(result, keys=["age"], other=["kids"], k=3)
    release.write(tmp_path / "out.parquet")
    back = pl.read_parquet(tmp_path / "out.parquet")
    assert Counter(back["kids"].to_list()) == Counter(table["kids"].to_list())
    assert -999 not in back["age"].to_list()
    assert release.recipe.reading == {"missing": ["-999", "kids=99"]}


@pytest.mark.parametrize("method", ["mdav", "records"])
def test_texts_of_masked_columns_do_not_travel(tmp_path: Path, method: str) -> None:
    """How a key was written tells its owner apart: neither the file nor a pickle may have it."""
    rows = [f"{20 + i % 5}{'.000' if i == 7 else ''},{' q' if i == 9 else 'q'},{i % 3}" for i in range(40)]
    source = text(tmp_path / "in.csv", "age,sex,ill\n" + "\n".join(rows) + "\n")
    known = source_of(read(source))
    assert known is not None
    assert set(known.raw) == {"age", "sex"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        release = vr.anonymize(source, keys=["age", "sex"], confidential=["ill"], method=method)
    release.write(tmp_path / "out.csv")
    written = (tmp_path / "out.csv").read_text()
    assert ".000" not in written
    assert " q" not in written
    assert b".000" not in pickle.dumps(release)
    assert release.source is not None
    assert not release.source.raw


def test_the_texts_of_a_row_stay_with_the_row(tmp_path: Path) -> None:
    rows = [[str(20 + i), f"{i}.{'0' * (i % 4 + 1)}", f"{i}e0"] for i in range(30)]
    with (tmp_path / "in.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["age", "a", "b"], *rows])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        release = vr.anonymize(tmp_path / "in.csv", keys=["age"], other=["a", "b"], k=3)
    release.write(tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(newline="") as file:
        after = list(csv.reader(file))[1:]
    assert Counter((a, b) for _, a, b in after) == Counter((a, b) for _, a, b in rows)
    assert [row[1:] for row in after] != [row[1:] for row in rows]  # in another order, though


def test_declared_forms(tmp_path: Path) -> None:
    source = text(tmp_path / "x.csv", "a\tb\tc\n1,234\t03/04/20\t1\n2,500\t05/06/21\t2\n")
    assert read(source).dtypes == [pl.String, pl.String, pl.Int64]
    assert read(source, decimal=",")["a"].to_list() == [1.234, 2.5]
    assert read(source, thousands=",")["a"].to_list() == [1234, 2500]
    for pattern in ("dd/mm/yy", "%d/%m/%y"):
        assert read(source, date_format=pattern)["b"][0] == dt.date(2020, 4, 3)
    assert read(text(tmp_path / "sep.csv", "sep=;\na;b\n1,2;3\n")).rows() == [(1.2, 3)]
    skipped = text(tmp_path / "y.csv", "A table of ours\n\nage;x\n1;2\n")
    assert read(skipped, skip_rows=2).rows() == [(1, 2)]
    for wrong, message in [
        ({"decimal": "ab"}, "decimal mark must be a single"),
        ({"decimal": ",", "thousands": ","}, "must differ"),
        ({"date_format": "dd.mm"}, "has no year"),
        ({"skip_rows": -1}, "0 or more"),
        ({"klingon": 1}, "reading has no 'klingon'; it has: delimiter"),
    ]:
        with pytest.raises(InputError, match=message):
            read(source, **wrong)
    with pytest.raises(ReadError, match="is not utf-16 text: it has no zero bytes"):
        read(source, encoding="utf-16")


def test_a_first_line_of_data_is_refused(tmp_path: Path) -> None:
    for content in ("35,m,2.5\n36,f,3.5\n", "m,x\nf,y\nm,x\n", "1990-01-01,a\n1991-01-01,b\n"):
        path = text(tmp_path / "x.csv", content)
        with pytest.raises(ReadError, match=r"looks like data.*header=False.*header=True"):
            read(path)
        whole = read(path, header=False)
        assert len(whole) == len(read(path, header=True)) + 1
        assert whole.columns[0] == "column_1"
    assert read(text(tmp_path / "x.csv", "region,2019,2020,kids\nn,1,2,0\n")).columns[1] == "2019"
    assert read(text(tmp_path / "x.csv", "name,town\nann,rome\n")).columns == ["name", "town"]


def test_the_release_may_be_written_in_another_dialect(tmp_path: Path) -> None:
    rows = "".join(f"{20 + i};1.23{i % 10},5{'0' * (i % 2)};1{i % 9 + 1}.02.2020\r\n" for i in range(30))
    source = text(tmp_path / "in.csv", ("age;paid;day\r\n" + rows).encode("cp1252"))
    release = vr.anonymize(source, keys=["age"], other=["paid", "day"], k=3)
    forms = {"decimal": ".", "thousands": "", "date_format": "yyyy-mm-dd"}
    release.write(tmp_path / "out.csv", delimiter=",", newline="lf", encoding="utf-8-sig", **forms)
    raw = (tmp_path / "out.csv").read_bytes()
    assert raw.startswith(b"\xef\xbb\xbfage,paid,day\n")
    assert b"\r" not in raw
    after = Counter(tuple(row[1:]) for row in list(csv.reader(io.StringIO(raw.decode("utf-8-sig"))))[1:])
    assert after == Counter((f"123{i % 10}.5{'0' * (i % 2)}", f"2020-02-1{i % 9 + 1}") for i in range(30))
    with pytest.raises(InputError, match="line ends are"):
        release.write(tmp_path / "no.csv", newline="x")


def test_labels_of_a_file_are_those_of_its_columns(tmp_path: Path) -> None:
    survey(tmp_path / "in.sav")
    labels: Any = labels_of(read(tmp_path / "in.sav"))
    part = labels.only(["job"])
    assert set(part.missing) == set(part.measures) == set(part.values) == {"job"}
    assert part.title == "A survey"


def test_a_spreadsheet_whose_dates_are_partly_texts_has_dates(tmp_path: Path) -> None:
    xlsxwriter = pytest.importorskip("xlsxwriter")
    days = [dt.date(2020, 1, 1) + dt.timedelta(40 * i) for i in range(12)]

    def made(others: str, odd: str | None = None) -> pl.Series:
        with xlsxwriter.Workbook(tmp_path / "book.xlsx") as book:
            page, form = book.add_worksheet("x"), book.add_format({"num_format": "dd.mm.yyyy"})
            page.write_row(0, 0, ["age", "day"])
            for row, day in enumerate(days, start=1):
                page.write_number(row, 0, row)
                if row % 3:
                    page.write_datetime(row, 1, day, form)
                else:
                    page.write_string(row, 1, f"{day:{others}}")
            if odd is not None:
                page.write_string(1, 1, odd)
        return read(tmp_path / "book.xlsx")["day"]

    assert made("%d.%m.%Y").to_list() == days
    assert made("%d.%m.%Y", odd="soon").dtype == pl.String
    assert made("%d.%m.%Y", odd="31.02.2020").dtype == pl.String
    made("%d-%m-%y")
    assert read(tmp_path / "book.xlsx")["day"].dtype == pl.String  # a year of two digits is a guess
    assert read(tmp_path / "book.xlsx", date_format="dd-mm-yy")["day"].to_list() == days


def test_texts_of_a_spreadsheet_are_dates_where_somebody_says_so(tmp_path: Path) -> None:
    table = pl.DataFrame({"age": [30, 31], "day": ["01/02/2020", "03/04/2020"], "note": ["a", "01/02/2020"]})
    write(table, tmp_path / "x.xlsx", keys=["age"], k=1)
    assert read(tmp_path / "x.xlsx")["day"].dtype == pl.String
    result = read(tmp_path / "x.xlsx", date_format="dd/mm/yyyy")
    assert result["day"].to_list() == [dt.date(2020, 2, 1), dt.date(2020, 4, 3)]
    assert result["note"].to_list() == table["note"].to_list()
