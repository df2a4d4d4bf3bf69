"""What stewards did with real files and nobody stopped them: each must be refused, or warned of, or right."""

from __future__ import annotations

import random

import pytest

import people as made
from commands import runner

pytestmark = pytest.mark.filterwarnings("always")


@pytest.fixture
def voronym(monkeypatch, capsys, tmp_path):
    """Run a command in a fresh folder; give back (exit code, what it printed)."""
    monkeypatch.chdir(tmp_path)

    def run(*words):
        code, out, err = runner(monkeypatch, capsys)(*words)
        return code, " ".join((out + err).split())

    return run


def people_file(tmp_path, n=120):
    """Write people with names, addresses, numbers and amounts of their own."""
    rng = random.Random(3)
    rows = [
        {
            "name": f"First{i} Last{i * 7}",
            "email": f"p{i}@example.org",
            "ssn": f"{rng.randrange(100, 999)}-{rng.randrange(10, 99)}-{rng.randrange(1000, 9999)}",
            "paid": f"~{rng.randrange(10**6) / 100:.2f} EUR",
            "age": rng.randrange(18, 90),
            "diag": rng.choice(["flu", "hiv"]),
        }
        for i in range(n)
    ]
    made.write_rows(tmp_path / "people.csv", rows)
    return rows


@pytest.mark.parametrize("key", ["name", "email", "ssn", "paid"])
def test_nobodys_own_value_is_published(voronym, tmp_path, key):
    rows = people_file(tmp_path)
    roles = ["--key", f"age,{key}", "--confidential", "diag", "--drop-undeclared"]
    code, message = voronym("anonymize", "people.csv", "-o", "out.csv", *roles)
    assert code == 2
    assert f"--allow-near-unique {key}" in message
    assert f"--identifier {key}" in message
    assert not (tmp_path / "out.csv").exists()
    assert not any(row[key] in message for row in rows)
    code, message = voronym("anonymize", "people.csv", "-o", "out.csv", *roles, "--allow-near-unique", key)
    assert code == 0, message


def test_several_rows_of_a_person(voronym, tmp_path):
    made.write_rows(tmp_path / "visits.csv", made.visits())
    roles = ["--key", "age,sex,town", "--confidential", "ill", "--other", "mark"]
    code, message = voronym("anonymize", "visits.csv", "-o", "rows.csv", *roles, "--identifier", "patient")
    assert code == 0
    assert "--person patient" in message
    code, message = voronym("anonymize", "visits.csv", "-o", "people.csv", *roles, "--person", "patient")
    assert code == 0, message
    assert made.least_heads(made.read_rows(tmp_path / "people.csv"), ["age", "sex", "town"]) >= 5


def test_a_household_that_is_kept_does_not_contradict_itself(voronym, tmp_path):
    made.write_rows(tmp_path / "homes.csv", made.households(90))
    roles = ["--key", "age,sex,town,hhsize", "--confidential", "ill", "--other", "mark"]
    code, message = voronym("anonymize", "homes.csv", "-o", "kept.csv", *roles, "--other", "hid")
    assert code == 0
    assert "--household hid" in message
    code, message = voronym(
        "anonymize", "homes.csv", "-o", "out.csv", *roles, "--household", "hid", "--pseudonyms"
    )
    assert code == 0, message
    assert "in classes of one household: " in message  # and not "unique", which is of records
    out = made.read_rows(tmp_path / "out.csv")
    assert made.least_pattern(out, ["age", "sex", "town", "hhsize"], "hid") >= 5
    towns = {}
    for row in out:
        towns.setdefault(row["hid"], set()).add((row["town"], row["hhsize"]))
    assert all(len(seen) == 1 for home, seen in towns.items() if home)


def test_codes_are_not_averaged(voronym, tmp_path):
    rng = random.Random(4)
    rows = [
        {
            "age": rng.randrange(18, 90),
            "zipcode": rng.choice([10115, 10117, 20095, 80331]),
            "born": day,
            "icd": code,
        }
        for day, code in (
            (19500101 + 10000 * (i % 50) + 100 * (i % 12), rng.choice([110, 493, 401])) for i in range(150)
        )
    ]
    made.write_rows(tmp_path / "codes.csv", rows)
    keys = ["--key", "age,zipcode,born,icd"]
    code, message = voronym("anonymize", "codes.csv", "-o", "out.csv", *keys)
    assert code == 2
    for kind in ("zipcode=nominal", "born=datetime", "icd=nominal"):
        assert f"--kind {kind}" in message
    messages = ["--kind", "zipcode=nominal", "--kind", "born=datetime", "--kind", "icd=nominal"]
    code, message = voronym("anonymize", "codes.csv", "-o", "out.csv", *keys, *messages)
    assert code == 0, message
    out = made.read_rows(tmp_path / "out.csv")
    assert {row["zipcode"] for row in out} <= {"10115", "10117", "20095", "80331"}
    assert {row["icd"] for row in out} <= {"110", "493", "401"}
    assert all(1 <= int(row["born"].replace("-", "")[4:6]) <= 12 for row in out)


def test_codes_for_missing_values_are_told(voronym, tmp_path):
    rng = random.Random(5)
    rows = [
        {"age": -999 if i % 30 == 0 else rng.randrange(18, 90), "sex": rng.choice("mf")} for i in range(150)
    ]
    made.write_rows(tmp_path / "ages.csv", rows)
    code, message = voronym("anonymize", "ages.csv", "-o", "out.csv", "--key", "age,sex")
    assert code == 0
    assert "5 values of -999" in message
    assert "--missing age=-999" in message
    code, message = voronym(
        "anonymize", "ages.csv", "-o", "right.csv", "--key", "age,sex", "--missing", "-999"
    )
    assert code == 0, message
    assert "values of -999" not in message
    assert all(
        row["age"] in ("", "-999") or int(row["age"]) >= 18 for row in made.read_rows(tmp_path / "right.csv")
    )


def test_a_first_line_of_data_is_not_published(voronym, tmp_path):
    rng = random.Random(6)
    lines = [
        f"{i},{rng.randrange(18, 90)},{rng.choice('mf')},{1000 + i}.5,1988-09-{1 + i % 28:02}"
        for i in range(99)
    ]
    (tmp_path / "plain.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    first = lines[0].split(",")
    code, message = voronym(
        "anonymize", "plain.csv", "-o", "out.csv", "--key", f"{first[1]},{first[2]}", "--drop-undeclared"
    )
    assert code != 0
    assert "--no-header" in message
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize("verb", ["measure", "attack"])
def test_a_release_is_read_by_its_recipe_without_the_lines_above_the_original(voronym, tmp_path, verb):
    """Else the release's own heading is skipped, and a record takes its place and is quoted in an error."""
    rng = random.Random(4)
    rows = [f"{rng.randrange(18, 90)};{rng.choice('mf')};{rng.choice(['flu', 'hiv'])}" for _ in range(60)]
    (tmp_path / "clinic.csv").write_text("\n".join(["Clinic of Vic;;", "age;sex;diag", *rows]) + "\n")
    roles = ["--key", "age,sex", "--confidential", "diag", "--skip-rows", "1"]
    code, _ = voronym(
        "anonymize", "clinic.csv", "-o", "out.csv", *roles, "-k", "3", "--save-recipe", "r.toml"
    )
    assert code == 0
    words = ["--key", "age,sex", "--confidential", "diag", "--only", "linkage"] if verb == "attack" else []
    code, message = voronym(verb, "out.csv", *words, "--recipe", "r.toml", "--original", "clinic.csv")
    assert code == 0, message
    if verb == "measure":
        assert "k-anonymity: 3, required 3: holds" in voronym(verb, "out.csv", "--recipe", "r.toml")[1]
        assert "k = 1: 60 records" in voronym(verb, "clinic.csv", "--recipe", "r.toml")[1]


@pytest.mark.parametrize("verb", ["measure", "attack"])
def test_what_helps_to_read_the_original_is_said_of_the_original(voronym, tmp_path, verb):
    """The same option without its prefix would cut the last record of the release."""
    rows = "".join(f"{20 + i % 9},{'fm'[i % 2]}\n" for i in range(60))
    (tmp_path / "release.csv").write_text(f"age,sex\n{rows}")
    (tmp_path / "own.csv").write_text(f"age,sex\n{rows}Source: own calculation\n")
    code, text = voronym(verb, "release.csv", "--key", "age,sex", "--original", "own.csv")
    assert code == 1
    assert "if the last line is no record, skip it: --original-skip-footer 1" in text


def test_a_survey_of_another_country(voronym, tmp_path):
    """Numbers of households and words for no answer are known, so that nobody publishes them as keys."""
    rows = "".join(
        f"{100 + i // 3};{20 + i * 7 % 50};{['ledig', 'k.A.', 'verheiratet'][i % 3]}\n" for i in range(120)
    )
    (tmp_path / "umfrage.csv").write_text(f"HHNr;Alter;Familienstand\n{rows}")
    code, text = voronym("inspect", "umfrage.csv")
    assert code == 0
    assert "--household HHNr" in text
    assert "--missing Familienstand=k.A." in text
    rows = "".join(f"{i // 3};{11 + i % 29};{400 + i * 13 % 997},5;{900 + i % 6}\n" for i in range(120))
    (tmp_path / "encuesta.csv").write_text(f"HH;OCUPACION;FACTOR;INGRESOS\n{rows}")
    code, text = voronym("inspect", "encuesta.csv")
    text = text.replace("\\ ", "")
    assert "--key OCUPACION --confidential INGRESOS --household HH --weights FACTOR" in text
    assert "--kind OCUPACION=nominal" in text
