"""What a reader cannot know is asked: thousands or decimals, footers, encodings; and damaged files."""

import decimal
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import voronym as vr
from voronym.errors import InputError, ReadError, WriteError

INCOMES = ["308", "7.989", "123.013", "950", "12.500", "44.100", "1.200", "870"] * 8


def spanish(tmp_path: Path, more: str = "") -> Path:
    file = tmp_path / "es.csv"
    rows = [f"{20 + i % 50};{pay}{more}" for i, pay in enumerate(INCOMES)]
    file.write_text("\n".join([f"edad;ingresos{';tasa' if more else ''}", *rows]) + "\n")
    return file


def asked(frame):
    return [warning for warning in vr.Schema.infer(frame).warnings if "thousand" in warning]


def test_points_that_may_part_thousands_are_asked_about(tmp_path):
    frame = vr.read(spanish(tmp_path))
    assert "thousands='ingresos=.'" in asked(frame)[0]
    with pytest.warns(UserWarning, match="nearly eight thousand"):
        vr.anonymize(frame, keys=["edad"], confidential=["ingresos"], k=4)


@pytest.mark.parametrize("reading", [{"thousands": "."}, {"thousands": "ingresos=."}, {"decimal": "."}])
def test_who_says_it_is_not_asked(tmp_path, reading):
    frame = vr.read(spanish(tmp_path), **reading)
    assert not asked(frame)
    assert frame["ingresos"].max() == (123_013 if "thousands" in reading else 950)


def test_thousands_are_asked_about_by_column(tmp_path):
    file = spanish(tmp_path, more=";1.5")
    assert "ingresos" in asked(vr.read(file))[0]
    text = vr.read(file, thousands="ingresos=.")
    assert not asked(text)
    assert (text["ingresos"].max(), text["tasa"].max()) == (123_013, 1.5)
    plain = tmp_path / "plain.csv"
    plain.write_text("age,pay\n" + "".join(f"{20 + i},{pay}\n" for i, pay in enumerate(INCOMES)))
    assert asked(vr.read(plain))


@pytest.mark.parametrize("extra", ["0.123", "1.2", "12.34", "4000", "0.500"])
def test_decimals_with_three_digits_are_not_asked_about(tmp_path, extra):
    file = tmp_path / "doses.csv"
    doses = [*INCOMES, extra]
    file.write_text("age,dose\n" + "".join(f"{20 + i},{dose}\n" for i, dose in enumerate(doses)))
    assert not asked(vr.read(file))
    weights = [f"{2 + i % 30 / 10:.1f}{i % 100:02d}" for i in range(60)]  # 2.301: all with three digits
    file.write_text("age,rate,born\n" + "".join(f"{i},1.5,{weight}\n" for i, weight in enumerate(weights)))
    assert not asked(vr.read(file))


def test_a_footer_is_skipped_and_named(tmp_path):
    file = tmp_path / "footed.csv"
    rows = "".join(f"{20 + i % 40},{'fm'[i % 2]}\n" for i in range(60))
    file.write_text(f"age,sex\n{rows}\nSource: own calculation\n")
    with pytest.raises(ReadError, match="skip_footer=1"):
        vr.read(file)
    assert vr.read(file, skip_footer=1).shape == (60, 2)


def test_utf_16_without_a_mark_is_named(tmp_path):
    file = tmp_path / "wide.csv"
    file.write_bytes("age,sex\n30,f\n40,m\n".encode("utf-16-le"))
    with pytest.raises(ReadError, match=r"looks like UTF-16-LE .* encoding='utf-16-le'"):
        vr.read(file)
    assert vr.read(file, encoding="utf-16-le").shape == (2, 2)


def people(n=300):
    rng = np.random.default_rng(0)
    return pl.DataFrame(
        {
            "OCCUCODE": rng.choice(np.arange(100, 400), n),
            "COMPCODE": rng.choice(np.arange(1, 58), n),
            "sex": rng.choice([1, 2], n),
            "urban": rng.choice([1, 2], n),
            "stratum": [7] * n,
            "household_weights": rng.uniform(80, 400, n).round(2),
            "age": [str(integer) for integer in rng.integers(18, 90, n)],
            "young": rng.choice([3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 97, 97], n),
        }
    )


def test_inspect_proposes_codes_weights_and_constants():
    proposal = vr.Schema.infer(people())
    command = proposal.command("x.csv")
    assert "--kind OCCUCODE,COMPCODE,sex,urban=nominal" in command
    assert "--kind age=numeric" in command
    assert "--weights household_weights" in command
    assert proposal.schema["stratum"].role == "other"
    assert "one value for everybody" in proposal.reasons["stratum"]
    assert proposal.schema["urban"].kind == "nominal"
    assert any("missing='young=97'" in item for item in proposal.warnings)


def test_a_body_has_a_weight_too():
    frame = people().with_columns(weight=pl.Series(np.random.default_rng(1).uniform(40, 120, 300)))
    assert vr.Schema.infer(frame).schema["weight"].role == "key"


def test_none_is_an_answer():
    frame = pl.DataFrame({"school": ["none", "basic", "high"] * 40, "age": list(range(120))})
    assert not any("missing" in item for item in vr.Schema.infer(frame).warnings)
    frame = pl.DataFrame({"school": ["?", "basic", "high"] * 40, "age": list(range(120))})
    assert any("missing='school=?'" in item for item in vr.Schema.infer(frame).warnings)


def test_no_limit_is_no_number():
    with pytest.raises(InputError, match="leave it out"):
        vr.anonymize(vr.datasets.hospital(60), keys=["age"], drop_undeclared=True, time_limit=float("inf"))


def test_a_refused_run_leaves_no_ledger(tmp_path):
    ledger = tmp_path / "ledger.db"
    frame = pl.DataFrame({"who": [f"p{i}" for i in range(40)], "age": list(range(40)), "ill": ["flu"] * 40})
    with pytest.raises(vr.GuaranteeError):
        vr.anonymize(frame, keys=["age"], identifiers=["who"], confidential=["ill"], k=41, ledger=ledger)
    assert list(tmp_path.iterdir()) == []


def test_damaged_decimals_are_a_damaged_file(tmp_path):
    file = tmp_path / "d.arrow"
    frame = pl.DataFrame({"x": [decimal.Decimal(f"{i}.25") for i in range(50)]})
    frame.write_ipc(file)
    raw = bytearray(file.read_bytes())
    rng = np.random.default_rng(5)
    for _ in range(60):
        bad = raw.copy()
        for at in rng.integers(300, len(raw) - 100, 6):
            bad[at] = int(rng.integers(256))
        file.write_bytes(bytes(bad))
        try:
            table = vr.read(file)
            if "x" in table.columns and len(table) > 9:
                vr.Schema.infer(table)
        except vr.VoronymError:
            pass


def test_strange_outputs_are_refused_with_a_sentence(tmp_path):
    made = vr.anonymize(vr.datasets.hospital(60), keys=["age"], drop_undeclared=True, k=5)
    with pytest.raises(WriteError, match="too long"):
        made.write(tmp_path / ("x" * 300 + ".csv"))


def test_declared_missing_codes_of_masked_keys_stay(tmp_path):
    library = pytest.importorskip("pyreadstat")
    rng = np.random.default_rng(0)
    ages = np.where(rng.random(200) < 0.1, 999, rng.integers(20, 80, 200)).astype(float)
    frame = pl.DataFrame({"alter": ages, "ill": rng.integers(0, 2, 200).astype(float)})
    source, target = tmp_path / "x.sav", tmp_path / "y.sav"
    about = {"missing_ranges": {"alter": [999]}, "variable_value_labels": {"alter": {999: "keine Angabe"}}}
    library.write_sav(frame.to_pandas(), str(source), **about)
    made = vr.anonymize(vr.read(source), keys=["alter"], confidential=["ill"], k=5)
    made.write(target)
    back, meta = library.read_sav(str(target), user_missing=True)
    assert meta.missing_ranges == {"alter": [{"lo": 999.0, "hi": 999.0}]}
    assert meta.variable_value_labels["alter"] == {999.0: "keine Angabe"}
    assert (back.alter == 999).sum() == (ages == 999).sum()
    assert vr.read(target)["alter"].max() < 80
