from __future__ import annotations

import datetime as dt
import pickle
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyreadstat
import pytest

import voronym as vr
from voronym.errors import MissingExtraError, WriteError
from voronym.table import Schema, labels_of, read, write

FRAME = pl.DataFrame(
    {
        "sex": [1.0, 2.0, 2.0, None],
        "grade": [3.0, 1.0, 2.0, 1.0],
        "age": [30.0, 99.0, 41.0, 30.0],
        "w": [1.5, None, 2.5, 0.0],
        "town": ["Reus", "Móra", "", "Reus"],
        "born": [dt.date(2000, 1, 2), None, dt.date(1999, 5, 5), dt.date(2000, 1, 2)],
    }
)
LABELS = {"sex": {1: "man", 2: "woman"}, "grade": {1: "low", 2: "mid", 3: "high"}, "age": {99: "refused"}}


def test_spss_labels(tmp_path: Path) -> None:
    path = tmp_path / "x.sav"
    pyreadstat.write_sav(
        FRAME, str(path), variable_value_labels=LABELS, variable_measure={"grade": "ordinal"}
    )
    frame = read(path)
    assert frame["sex"].to_list() == ["man", "woman", "woman", None]
    assert frame["age"].to_list() == [30, 99, 41, 30]  # only one value has a label: numbers stay
    assert frame["age"].dtype.is_integer()
    assert frame["w"].to_list() == [1.5, None, 2.5, 0.0]
    assert frame["born"].to_list()[0] == dt.date(2000, 1, 2)
    schema = Schema.build(frame, keys=frame.columns)
    assert schema["sex"].kind == "nominal"
    assert schema["grade"].kind == "ordinal"
    assert schema["grade"].categories == ("low", "mid", "high")


def test_stata_and_sas_transport(tmp_path: Path) -> None:
    pyreadstat.write_dta(FRAME, str(tmp_path / "x.dta"), variable_value_labels=LABELS)
    frame = read(tmp_path / "x.dta")
    assert frame["sex"].to_list()[:2] == ["man", "woman"]
    assert frame["town"].to_list()[1] == "Móra"
    pyreadstat.write_xport(FRAME.select("age", "w", "town"), str(tmp_path / "x.xpt"))
    assert read(tmp_path / "x.xpt")["age"].to_list() == [30, 99, 41, 30]


@pytest.mark.parametrize("suffix", [".sav", ".dta"])
def test_round_trip_keeps_labels(tmp_path: Path, suffix: str) -> None:
    table = pl.DataFrame(
        {
            "sex": pl.Series(["man", "woman", "man", None] * 2, dtype=pl.Categorical),
            "grade": pl.Series(["low", "high", "low", "low"] * 2, dtype=pl.Enum(["low", "mid", "high"])),
            "ill": [True, False, None, True] * 2,
            "age": [30, None, 40, 50] * 2,
            "when": [dt.datetime(2020, 1, 1, 10, 20, 30), None, dt.datetime(2021, 1, 1), None] * 2,
            "day": [dt.date(2020, 1, 1)] * 8,
            "town": ["Móra", "Reus", "", "漢字"] * 2,
        }
    )
    receipt = write(table, tmp_path / f"x{suffix}", keys=table.columns, k=2)
    assert (receipt.rows, receipt.k_counted) == (8, 2)
    back = read(tmp_path / f"x{suffix}")
    for name in ("sex", "grade", "age", "when", "day"):
        assert back[name].to_list() == table[name].to_list(), name
    assert [v or "" for v in back["town"].to_list()] == table["town"].to_list()
    if suffix == ".sav":
        assert back["grade"].dtype.categories.to_list() == ["low", "high"]  # "mid" is nobody's
    else:
        assert pd.read_stata(tmp_path / "x.dta")["sex"].tolist()[:2] == ["man", "woman"]


def test_names_that_do_not_fit(tmp_path: Path) -> None:
    table = pl.DataFrame({"a b": [1, 1], "2x": [1, 1]})
    with pytest.raises(WriteError, match=r"\.sav file cannot have columns called 'a b', '2x'"):
        write(table, tmp_path / "x.sav", keys=["a b"], k=2)
    assert list(tmp_path.iterdir()) == []


def test_integers_that_do_not_fit(tmp_path: Path) -> None:
    with pytest.raises(WriteError, match=r"'id' has integers too long for a [.]dta file"):
        write(pl.DataFrame({"id": [2**60, 2**60]}), tmp_path / "x.dta", keys=["id"], k=2)
    with pytest.raises(WriteError, match=r"'l' holds List values, which no [.]sav file takes"):
        write(pl.DataFrame({"a": [1, 1], "l": [[1], [1]]}), tmp_path / "x.sav", keys=["a"], k=2)
    assert list(tmp_path.iterdir()) == []


def test_two_codes_of_one_label(tmp_path: Path) -> None:
    table = pl.DataFrame({"a": [1.0, 2.0, 3.0]})
    pyreadstat.write_sav(
        table, str(tmp_path / "x.sav"), variable_value_labels={"a": {1: "n", 2: "n", 3: "y"}}
    )
    assert read(tmp_path / "x.sav")["a"].to_list() == ["n (1)", "n (2)", "y"]


@pytest.mark.parametrize("verb", ["read", "write"])
def test_without_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: str) -> None:
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    path: Any = tmp_path / "x.sav"
    if verb == "read":
        path.write_bytes(b"$FL2")
    with pytest.raises(MissingExtraError, match=r"pip install 'voronym\[stat\]'"):
        read(path) if verb == "read" else write(FRAME, path, keys=["sex"], k=1)


def survey(suffix: str) -> tuple[pl.DataFrame, dict[str, Any]]:
    frame = pl.DataFrame(
        {
            "age": [float(20 + i) for i in range(39)] + [99.0],
            "smokes": [0.0, 1.0, 1.0, None] * 10,
            "grade": [5.0, -1.0, 3.0, 3.0] * 10,
            "pay": [1.5, 2.0, 9.0, 9.0] * 10,
            "place": ["x", "y", "z", ""] * 10,
        }
    )
    labels: dict[str, Any] = {
        "age": {99: "refused"},
        "smokes": {0: "no", 1: "yes", 7: "never asked"},
        "grade": {-1: "low", 3: "mid", 5: "high"},
        "pay": {9: "refused", 8: "unknown"},
    }
    if suffix == ".sav":  # texts have labels there; two of them are the same
        labels["place"] = {"x": "town", "y": "town", "z": "sea"}
    return frame, labels


def made(path: Path) -> tuple[pl.DataFrame, Any]:
    reader = pyreadstat.read_sav if path.suffix == ".sav" else pyreadstat.read_dta
    return reader(str(path), output_format="polars")


@pytest.mark.parametrize("suffix", [".sav", ".dta"])
def test_codes_and_labels_of_kept_columns_come_back(tmp_path: Path, suffix: str) -> None:
    frame, labels = survey(suffix)
    source, target = tmp_path / f"in{suffix}", tmp_path / f"out{suffix}"
    titles = {"smokes": "Do you smoke?", "pay": "Income"}
    if suffix == ".sav":
        pyreadstat.write_sav(
            frame,
            str(source),
            variable_value_labels=labels,
            variable_measure={"grade": "ordinal"},
            column_labels=titles,
        )
    else:
        pyreadstat.write_dta(frame, str(source), variable_value_labels=labels, column_labels=titles)
    table = read(source)
    shown = table.select("smokes", "grade", "pay", "place").filter(pl.lit(True))  # no longer the table read
    write(shown.with_columns(one=1), target, keys=["one"], k=40)
    back, meta = made(target)
    assert back["smokes"].to_list() == frame["smokes"].to_list()
    assert back["grade"].to_list() == frame["grade"].to_list()
    assert back["place"].to_list() == frame["place"].to_list()
    assert meta.variable_value_labels["smokes"] == {0: "no", 1: "yes"}  # "never asked" is nobody's
    assert meta.variable_value_labels["grade"] == labels["grade"]
    if suffix == ".sav":
        assert meta.variable_value_labels["place"] == labels["place"]
    write(table.with_columns(one=1), target, keys=["one"], k=40, labels=labels_of(table), overwrite=True)
    back, meta = made(target)
    assert back.drop("one").equals(frame)
    assert meta.variable_value_labels["pay"] == {9: "refused"}
    assert meta.variable_value_labels["age"] == {99: "refused"}
    assert meta.column_names_to_labels["smokes"] == "Do you smoke?"
    assert labels_of(shown) is None


def test_two_waves_with_other_codes(tmp_path: Path) -> None:
    waves = []
    for first in (0, 1):
        path = tmp_path / f"{first}.sav"
        pyreadstat.write_sav(
            pl.DataFrame({"sex": [float(first), first + 1.0]}),
            str(path),
            variable_value_labels={"sex": {first: "man", first + 1: "woman"}},
        )
        waves.append(read(path))
    for first, wave in enumerate(waves):
        write(wave.with_columns(one=1), tmp_path / "x.sav", keys=["one"], k=2, overwrite=True)
        assert made(tmp_path / "x.sav")[0]["sex"].to_list() == [first, first + 1]
    assert pl.concat([waves[0], read(tmp_path / "0.sav")]).height == 4  # the same codes: the same dtype


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("suffix", [".sav", ".dta"])
def test_codes_survive_a_release(tmp_path: Path, suffix: str) -> None:
    frame, labels = survey(suffix)
    source, target = tmp_path / f"in{suffix}", tmp_path / f"out{suffix}"
    writer = pyreadstat.write_sav if suffix == ".sav" else pyreadstat.write_dta
    writer(frame, str(source), variable_value_labels=labels)
    release = vr.anonymize(
        source, keys=["age", "smokes"], other=["grade", "pay", "place"], k=5, method="mdav"
    )
    release.write(target)
    back, meta = made(target)
    assert set(back["smokes"].to_list()) <= {0.0, 1.0, None}
    assert sorted(back["grade"].to_list()) == sorted(frame["grade"].to_list())
    assert meta.variable_value_labels["grade"] == labels["grade"]
    write(release.table, target, keys=["age"], k=5, labels=labels_of(read(source)), overwrite=True)
    assert "age" not in made(target)[1].variable_value_labels


def test_a_kept_release_has_no_labels_of_identifiers(tmp_path: Path) -> None:
    people = pd.DataFrame({"person": [float(i) for i in range(6)], "age": [30.0, 31, 32, 40, 41, 42]})
    names = {float(i): f"NAME{i}" for i in range(6)}
    labels = {"person": names, "age": {99.0: "refused"}}
    pyreadstat.write_sav(people, str(tmp_path / "x.sav"), variable_value_labels=labels)
    release = vr.anonymize(read(tmp_path / "x.sav"), keys=["age"], identifiers=["person"], k=3, method="mdav")
    kept = pickle.dumps(release)
    assert b"NAME" not in kept
    assert b"refused" in kept
