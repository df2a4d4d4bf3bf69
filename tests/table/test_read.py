from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from table.samples import everything, tables
from voronym.errors import InputError, ReadError
from voronym.table import read, write
from voronym.table.delimited import sniff

NOON = dt.datetime(2020, 1, 31, 10, 20)


def text(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_any_delimiter_is_found(tmp_path: Path, delimiter: str) -> None:
    rows = [["age", "town", "w"], ["30", "Reus", "1.5"], ["40", '"a,b;c|d\te"', "2"]]
    path = text(tmp_path / "x.csv", "\n".join(delimiter.join(row) for row in rows) + "\n")
    assert read(path).rows() == [(30, "Reus", 1.5), (40, "a,b;c|d\te", 2.0)]
    assert read(path, delimiter=delimiter).columns == ["age", "town", "w"]
    assert sniff("a:b\n1:2\n") == ","
    assert read(text(tmp_path / "y.txt", "a:b\n1:2\n"), delimiter=":").rows() == [(1, 2)]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1", "-2", "+3"], [1, -2, 3]),
        (["1", "", "3"], [1, None, 3]),
        (["1", "NA", "3"], [1, None, 3]),
        (["a", "NA", "b"], ["a", "NA", "b"]),  # Namibia
        (["08001", "43001"], ["08001", "43001"]),
        (["0", "10"], [0, 10]),
        (["0.5", ".5", "1e3"], [0.5, 0.5, 1000.0]),
        (["-inf", "1"], [float("-inf"), 1.0]),
        (["true", "False"], [True, False]),
        (["9223372036854775808", "1"], ["9223372036854775808", "1"]),  # would not fit an integer
        (["2020-01-31", ""], [dt.date(2020, 1, 31), None]),
        (["2020-02-31", "2020-01-01"], ["2020-02-31", "2020-01-01"]),  # no such day
        (["2020-01-31 10:20", "2020-01-31T10:20:30.5"], [NOON, NOON + dt.timedelta(seconds=30.5)]),
        (["1_000", "2"], ["1_000", "2"]),
        (["0x1F", "2"], ["0x1F", "2"]),
        ([" 1", "2 "], [1, 2]),
        (["", ""], [None, None]),
    ],
)
def test_types_are_those_of_all_rows(tmp_path: Path, cells: list[str], expected: list[Any]) -> None:
    path = text(tmp_path / "x.csv", "x,y\n" + "".join(f"{cell},1\n" for cell in cells))
    assert read(path)["x"].to_list() == expected


GAPS = ["", "NA", "n/a", "N/A", ".", "-", "?", "#N/A", "<NA>", "missing", "Missing", "NULL", "none", " na "]


@pytest.mark.parametrize("gap", GAPS)
@pytest.mark.parametrize(
    "cells", [["31", "-2"], ["1.5", "2e3"], ["2020-01-31", "2020-02-01"], ["true", "false"]]
)
def test_gaps_as_people_write_them(tmp_path: Path, gap: str, cells: list[str]) -> None:
    whole = text(tmp_path / "x.csv", "x,y\n" + "".join(f"{cell},1\n" for cell in [*cells, *cells]))
    gappy = text(tmp_path / "y.csv", "x,y\n" + "".join(f"{cell},1\n" for cell in [cells[0], gap, cells[1]]))
    expected = read(whole)["x"]
    assert read(gappy)["x"].dtype == expected.dtype
    assert read(gappy)["x"].to_list() == [expected[0], None, expected[1]]
    words = text(tmp_path / "z.csv", f"x,y\nred,1\n{gap},2\n31,3\n")
    assert read(words)["x"].to_list() == ["red", gap.strip() or None, "31"]  # spaces around do not count


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["03/04/2020", "31/01/2020"], [dt.date(2020, 4, 3), dt.date(2020, 1, 31)]),
        (["3.4.2020", "31.1.2020", "?"], [dt.date(2020, 4, 3), dt.date(2020, 1, 31), None]),
        (["03-04-2020", "01-31-2020"], [dt.date(2020, 3, 4), dt.date(2020, 1, 31)]),
        (["2020/01/31", "2020/2/1"], [dt.date(2020, 1, 31), dt.date(2020, 2, 1)]),
        (["31/01/2020 10:20", "01/02/2020 10:20"], [NOON, dt.datetime(2020, 2, 1, 10, 20)]),
        (["03/04/2020", "04/03/2020"], ["03/04/2020", "04/03/2020"]),  # two ways to read them
        (["31/01/2020", "01/31/2020"], ["31/01/2020", "01/31/2020"]),  # no way
        (["31/02/2020", "01/02/2020"], ["31/02/2020", "01/02/2020"]),  # no such day
        (["31/01/2020", "01/02/2020 10:20"], ["31/01/2020", "01/02/2020 10:20"]),
    ],
)
def test_dates_that_can_be_read_in_one_way_only(
    tmp_path: Path, cells: list[str], expected: list[Any]
) -> None:
    path = text(tmp_path / "x.csv", "x,y\n" + "".join(f"{cell},1\n" for cell in cells))
    assert read(path)["x"].to_list() == expected


def test_a_gap_in_the_only_column_is_a_row(tmp_path: Path) -> None:
    assert read(text(tmp_path / "x.csv", "age\n1\n\n2\n"))["age"].to_list() == [1, None, 2]
    assert read(text(tmp_path / "x.csv", "\nage\r\n\r\n1\r\n\r\n"))["age"].to_list() == [None, 1, None]
    table = pl.DataFrame({"age": [None, 1, None, 1]})
    write(table, tmp_path / "y.csv", keys=["age"], k=2)
    assert read(tmp_path / "y.csv").equals(table)


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        ('a,b\nx"y,1\nz,2\n', [('x"y', 1), ("z", 2)]),
        ('a,b\nx"y,z"w\n5" nail,2\n', [('x"y', 'z"w'), ('5" nail', "2")]),
        ('a,b\nx"y,1\nz"w,2\n', [('x"y', 1), ('z"w', 2)]),
        ('a,b\n"x ""y""",1\n', [('x "y"', 1)]),
        ("a,b\nx,1\ry,2\nz,3\n", [("x", 1), ("y", 2), ("z", 3)]),  # a lone carriage return ends a line
        ('a,b\n"x\ry",1\n', [("x\ry", 1)]),
    ],
)
def test_stray_quotes_and_carriage_returns(tmp_path: Path, content: str, rows: list[Any]) -> None:
    assert read(text(tmp_path / "x.csv", content)).rows() == rows


@pytest.mark.parametrize("content", ['a,b\nx,1\n"y,2\nz,3\n', 'a,b\nx,1\n"y"z,2\n', 'a\nx\n"y\nz\n'])
def test_a_quote_without_its_partner(tmp_path: Path, content: str) -> None:
    with pytest.raises(
        ReadError, match=r"a quote that does not pair up, in row 2 or after; double the quotes"
    ):
        read(text(tmp_path / "x.csv", content))


def test_the_last_row_counts_too(tmp_path: Path) -> None:
    path = text(tmp_path / "x.csv", "x\n" + "1\n" * 20_000 + "x7\n")
    assert read(path)["x"].to_list()[-1] == "x7"


def test_zones(tmp_path: Path) -> None:
    path = text(tmp_path / "x.csv", "t\n2020-01-01T00:00:00+01:00\n2020-01-01T00:00:00Z\n")
    first, second = read(path)["t"].to_list()
    assert (second - first) == dt.timedelta(hours=1)
    path = text(tmp_path / "x.csv", "t\n2020-01-01T00:00:00+01:00\n2020-01-01T00:00:00\n")
    assert read(path)["t"].dtype == pl.String  # some with a zone and some without: left alone


def test_decimal_commas(tmp_path: Path) -> None:
    assert read(text(tmp_path / "x.csv", "a;b\n1,5;x\n2;y\n")).rows() == [(1.5, "x"), (2.0, "y")]
    assert read(text(tmp_path / "x.csv", "a;b\n1,500;x\n2;y\n")).rows() == [(1.5, "x"), (2.0, "y")]
    assert read(text(tmp_path / "x.csv", "a\tb\n1,5\tx\n2\ty\n")).rows() == [(1.5, "x"), (2.0, "y")]
    # a tab says nothing about commas, and 1,500 may be either
    assert read(text(tmp_path / "x.csv", "a\tb\n1,500\tx\n2\ty\n")).rows() == [("1,500", "x"), ("2", "y")]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_byte_order_marks(tmp_path: Path, encoding: str) -> None:
    path = text(tmp_path / "x.csv", "ñ,b\nç,2\n".encode(encoding))
    assert read(path).rows() == [("ç", 2)]
    assert read(path).columns == ["ñ", "b"]


def test_stated_encoding_and_line_ends(tmp_path: Path) -> None:
    path = text(tmp_path / "x.csv", 'a,b\r\nñ,2\r\n"x\r\ny",3\r\n'.encode("latin-1"))
    assert read(path, encoding="latin-1").rows() == [("ñ", 2), ("x\r\ny", 3)]
    assert read(path).rows() == [("ñ", 2), ("x\r\ny", 3)]  # not UTF-8: that of Western Windows
    mixed = text(tmp_path / "y.csv", "a,b\r\né,2\r\n".encode() + b"\xf1,3\r\n")
    with pytest.raises(ReadError, match=r"not utf-8 text \(line 3\); state its encoding"):
        read(mixed)  # a damaged file: part of it is UTF-8
    with pytest.raises(ReadError, match="no encoding is called 'klingon'"):
        read(path, encoding="klingon")
    assert read(text(tmp_path / "mac.csv", "a,b\r1,2\r")).rows() == [(1, 2)]


def test_a_title_above_the_table_is_not_its_heading(tmp_path: Path) -> None:
    path = text(
        tmp_path / "x.csv", "Clinic of Vic;;;\nage;zip;sex;cost\n" + "30;08001;m;1\n40;08002;f;2\n" * 5
    )
    with pytest.raises(ReadError, match=r"names 1 of 4 columns.*skip_rows=1"):
        read(path)
    assert read(path, skip_rows=1).columns == ["age", "zip", "sex", "cost"]
    assert read(path, header=True).columns[1:] == ["unnamed_2", "unnamed_3", "unnamed_4"]


def test_a_code_for_missing_is_found_with_a_decimal_comma(tmp_path: Path) -> None:
    path = text(tmp_path / "x.csv", "size;zip\n1,74;08001\n-9,00;08002\n1,80;08003\n")
    assert read(path, missing=["-9"])["size"].to_list() == [1.74, None, 1.8]
    thousands = text(tmp_path / "y.csv", 'debt\n"-9,000"\n"5,000"\n-9\n')
    assert read(thousands, missing=["-9"], thousands=",")["debt"].to_list() == [-9000, 5000, None]


@pytest.mark.parametrize(
    ("cells", "answer"),
    [
        (["-9.000", "1.234,50", "-9", "-9,00"], [-9000.0, 1234.5, None, None]),  # points part thousands
        (["-9.000", "12.500", "-9", "700"], [-9000, 12500, None, 700]),  # the other column's commas say so
        (["-9.000", "120", "-9", "700"], [-9000, 120, None, 700]),  # the only one with a point
        (["-9.000 €", "1.234,50 €", "-9", "-9,00 €"], [-9000.0, 1234.5, None, None]),
        (["-9,000", "1,250", "-9", "3,125"], [None, 1.25, None, 3.125]),  # three digits behind a comma
        (["-9.0", "1.234.567", "-9", "5"], [None, 1234567, None, 5]),  # a program wrote the code
    ],
)
def test_a_code_for_missing_is_the_number_that_the_column_writes_so(
    tmp_path: Path, cells: list[str], answer: list[float | None]
) -> None:
    """A debt of nine thousand is no code -9, though both might be written -9.000."""
    rows = "".join(f"{cell};1,{i}5\n" for i, cell in enumerate(cells))
    path = text(tmp_path / "x.csv", "debt;size\n" + rows)
    assert read(path, missing=["-9"])["debt"].to_list() == answer
    english = text(tmp_path / "y.csv", "size\n-9.000\n1.250\n-9\n")
    assert read(english, missing=["-9"])["size"].to_list() == [None, 1.25, None]


def test_blank_lines_and_headless_columns(tmp_path: Path) -> None:
    assert read(text(tmp_path / "x.csv", "\na,b\n1,2\n\n3,4\n\n")).rows() == [(1, 2), (3, 4)]
    assert read(text(tmp_path / "x.csv", ",a \n1,2\n")).columns == ["unnamed_1", "a"]
    assert read(text(tmp_path / "x.csv", "a,b\n")).shape == (0, 2)
    assert read(text(tmp_path / "x.csv", "a\n1\n2\n")).rows() == [(1,), (2,)]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.csv", b"", "'x.csv' is empty"),
        ("x.csv", b"  \n \n", "'x.csv' is empty"),
        ("x.csv", b"a,a,b\n1,2,3\n", "columns of the same name, numbers 1, 2"),
        ("x.csv", b"a,b\n1,2\n1,2,3\n1\n", r"2 of 3 rows .* than the 2 columns of its header, first row 2"),
        ("x.csv", b"PAR1....PAR1", "is a Parquet file, not text"),
        ("x.csv", b"PK\x03\x04....", "zip archive or a spreadsheet"),
        ("x.csv", b"ab\0cd\n1,2", "zero bytes"),
        ("x.parquet", b"a,b\n1,2\n", "is not a Parquet file"),
        ("x.parquet", b"", "is empty"),
        ("x.arrow", b"a,b\n1,2\n", "not a readable Arrow file"),
        ("x.feather", b"FEA1....", "version 1"),
        ("x.sav", b"a,b\n1,2\n", "could not be read as .sav"),
        ("x.dta", b"a,b\n1,2\n", "could not be read as .dta"),
        ("x.sas7bdat", b"a,b\n1,2\n", "could not be read as .sas7bdat"),
        ("x.xpt", b"a,b\n1,2\n", "could not be read as .xpt"),
        ("x.sqlite", b"a,b\n1,2\n", "neither an SQLite nor a DuckDB"),
        ("x.xyz", b"a,b\n1,2\n", ".xyz files cannot be read; known ones are .csv"),
    ],
)
def test_files_that_are_not_what_they_say(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    with pytest.raises(ReadError, match=message):
        read(text(tmp_path / name, content))


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match=r"no file 'x[.]csv'"):
        read(tmp_path / "x.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(ReadError, match="is a folder"):
        read(tmp_path / "folder.csv")
    with pytest.raises(ReadError, match=r"is a folder; name a file.*voronym anonymize"):
        read(tmp_path)
    with pytest.raises(ReadError, match="takes no query"):
        read(text(tmp_path / "x.csv", "a\n1\n"), query="select 1")
    with pytest.raises(InputError, match="delimiter must be"):
        read(tmp_path / "x.csv", delimiter="ab")
    assert read(text(tmp_path / "odd", "a\n1\n"), format="csv").rows() == [(1,)]


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".feather", ".ipc"])
def test_columnar_files(tmp_path: Path, suffix: str) -> None:
    table = everything("polars")
    path = tmp_path / f"x[1]{suffix}"  # a name that looks like a pattern
    table.write_parquet(path) if suffix == ".parquet" else table.write_ipc(path)
    assert read(path).equals(table)
    raw = path.read_bytes()
    for keep in (len(raw) // 2, len(raw) - 1, 20):
        path.write_bytes(raw[:keep])
        with pytest.raises(ReadError, match="truncated"):
            read(path)
    middle = bytearray(raw)
    middle[len(raw) // 3 : -40] = b"\xff" * (len(raw) - 40 - len(raw) // 3)
    path.write_bytes(bytes(middle))
    with pytest.raises(ReadError, match=r"damaged|not a readable"):
        read(path)


def test_files_of_pyarrow(tmp_path: Path) -> None:
    table = pa.table({"a": [1, 2], "d": pa.array(["x", "y"]).dictionary_encode()})
    pq.write_table(table, tmp_path / "x.parquet")
    pyarrow.feather.write_feather(table, tmp_path / "x.feather")
    with pa.ipc.new_stream(tmp_path / "x.arrow", table.schema) as stream:
        stream.write_table(table)
    for suffix in ("parquet", "feather", "arrow"):
        frame = read(tmp_path / f"x.{suffix}")
        assert [tuple(map(str, row)) for row in frame.rows()] == [("1", "x"), ("2", "y")]


@given(tables(), st.sampled_from([",", ";", "\t", "|"]))
def test_what_we_write_we_read(tmp_path_factory: Any, columns: dict[str, list[Any]], delimiter: str) -> None:
    folder = tmp_path_factory.mktemp("round")
    table = pl.DataFrame(columns)
    words = [name for name in columns if name.startswith("word")]
    table = table.drop(words)  # text may look like anything; numbers, dates and booleans must come back
    if table.width == 0:
        return
    doubled = pl.concat([table, table]).with_columns(last=pl.lit("x"))
    write(doubled, folder / "x.csv", keys=doubled.columns, k=2, delimiter=delimiter)
    back = read(folder / "x.csv", delimiter=delimiter)
    for name in table.columns:
        expected = [None if v != v else v for v in doubled[name].to_list()]
        assert back[name].to_list() == expected


@pytest.mark.data
def test_adult(tmp_path: Path) -> None:
    from voronym import datasets

    adult = datasets.adult()
    adult.write_csv(tmp_path / "adult.csv", separator=";")
    frame = read(tmp_path / "adult.csv")
    assert frame.shape == (48842, 15)
    assert frame["age"].dtype.is_integer()
