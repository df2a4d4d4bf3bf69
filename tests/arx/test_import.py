"""Projects of ARX: made here as ARX writes them, and files that only look so."""

import csv
import io
import json
import sys
import tracemalloc
import zipfile
from collections import Counter
from dataclasses import replace
from pathlib import Path
from unittest import mock
from xml.sax.saxutils import escape

import numpy as np
import polars as pl
import pytest

import voronym as vr
from voronym.arx import import_project, read_project
from voronym.cli import main
from voronym.errors import ReadError, VoronymError

AGES = [(str(age), f"{age // 10 * 10}-{age // 10 * 10 + 9}", "*") for age in range(20, 80)]
ZIPS = [(f"08{i:03}", f"08{i // 10:02}*", "08***", "*") for i in range(40)]
ILLS = [("flu", "lung", "*"), ("asthma", "lung", "*"), ("ulcer", "stomach", "*")]
COLUMNS = (
    ("name", "IDENTIFYING_ATTRIBUTE", "String", None),
    ("age", "QUASI_IDENTIFYING_ATTRIBUTE", "Integer", AGES),
    ("zip", "QUASI_IDENTIFYING_ATTRIBUTE", "String", ZIPS),
    ("ill", "SENSITIVE_ATTRIBUTE", "String", ILLS),
    ("note", "INSENSITIVE_ATTRIBUTE", "String", None),
)


def cells(rows, delimiter=";"):
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return out.getvalue()


def definition(columns, extra=""):
    message = "<definition>\n"
    for name, role, datatype, tree in columns:
        message += f"\t<assigment>\n\t\t<name>{escape(name)}</name>\n\t\t<type>{role}</type>\n"
        message += f"\t\t<datatype>{datatype}</datatype>\n"
        if tree is not None:
            message += (
                f"\t\t<ref>hierarchies/{escape(name)}.csv</ref>\n\t\t<min>All</min>\n\t\t<max>All</max>\n"
            )
        message += "\t</assigment>\n"
    return message + extra + "</definition>\n"


def config(criteria, outliers="0.05"):
    message = "<config>\n\t<suppressTuplesInNonAnonymousOutput>true</suppressTuplesInNonAnonymousOutput>\n"
    message += "\t<suppressedAttributeTypes>\n\t\t<type>QUASI_IDENTIFYING_ATTRIBUTE</type>\n"
    message += f"\t</suppressedAttributeTypes>\n\t<relativeMaxOutliers>{outliers}</relativeMaxOutliers>\n"
    message += "\t<metric>Loss</metric>\n\t<attributeWeights>\n"
    for name, weight in (("age", 0.9), ("zip", 0.3)):
        message += f"\t\t<attributeWeight>\n\t\t\t<attribute>{name}</attribute>\n"
        message += f"\t\t\t<weight>{weight}</weight>\n\t\t</attributeWeight>\n"
    message += "\t</attributeWeights>\n\t<criteria>\n"
    message += "".join(f"\t\t<criterion>{escape(item)}</criterion>\n" for item in criteria)
    return message + "\t</criteria>\n</config>\n"


def table(n=300):
    rng = np.random.default_rng(2)
    return pl.DataFrame(
        {
            "name": [f"Person {i}" for i in range(n)],
            "age": rng.integers(20, 80, n),
            "zip": [f"08{i:03}" for i in rng.integers(0, 40, n)],
            "ill": rng.choice(["flu", "asthma", "ulcer"], n),
            "note": ["x"] * n,
        }
    )


def project(path, *, columns=COLUMNS, criteria=("5-anonymity",), entries=None, **more):
    """Write a project as ARX 3.9 does: XML beside the objects of Java, the table and the hierarchies."""
    frame = table()
    made = {
        "metadata.xml": "<metadata><version>3.9.1</version><vocabulary>2.0</vocabulary></metadata>\n",
        "project.dat": b"\xac\xed\x00\x05",
        "project.xml": "<project>\n\t<name>clinic</name>\n\t<separator>;</separator>\n</project>\n",
        "data/input.csv": cells([frame.columns, *frame.rows()]),
        "input/config.dat": b"\xac\xed\x00\x05",
        "input/config.xml": config(criteria, **more),
        "input/definition.xml": definition(columns),
    }
    made |= {f"input/hierarchies/{name}.csv": cells(tree) for name, *_, tree in columns if tree is not None}
    made |= entries or {}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in made.items():
            if text is not None:
                file.writestr(name, text)
    return path


def run(capsys, *words):
    with mock.patch.object(sys, "argv", ["voronym", *map(str, words)]), pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code or 0, capsys.readouterr()


def test_a_project_becomes_a_recipe_that_makes_a_release(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = project(
        tmp_path / "clinic.deid",
        criteria=("4-anonymity", "distinct-2-diversity for attribute 'ill'", "(10)-map"),
    )
    code, message = run(capsys, "import", "arx", file, "-o", "clinic", "--data")
    assert code == 0, message.err
    assert "not taken: (10)-map: k-map asks for a population" in message.err
    assert "5 columns (1 identifier, 2 key, 1 confidential, 1 other), written by ARX 3.9.1" in message.err
    command = message.out.strip().split()[1:]
    recipe = vr.Recipe.load("clinic/recipe.toml")
    assert (recipe.k, recipe.method, recipe.models) == (4, "lattice", ("l-diversity=2,column=ill",))
    assert recipe.suppress == 0.05
    assert recipe.importance == {"age": 0.9, "zip": 0.3}
    assert [(column.name, column.role, column.kind) for column in recipe.schema.columns] == [
        ("name", "identifier", "nominal"),
        ("age", "key", "numeric"),
        ("zip", "key", "nominal"),
        ("ill", "confidential", "nominal"),
        ("note", "other", "nominal"),
    ]
    code, message = run(capsys, *("out.csv" if word == "RELEASE" else word for word in command))
    assert code == 0, message.err
    with Path("out.csv").open(encoding="utf-8", newline="") as out:  # counted without the library
        rows = list(csv.DictReader(out, delimiter=";"))
    assert len(rows) == 300
    groups = Counter((row["age"], row["zip"]) for row in rows)
    assert min(many for keys, many in groups.items() if keys != ("*", "*")) >= 4
    known = {text for row in (*AGES, *ZIPS) for text in row}
    assert {text for keys in groups for text in keys} <= known
    assert "name" not in rows[0]


def test_groups_publish_ancestors_of_their_own(tmp_path):
    made = import_project(project(tmp_path / "clinic.deid", outliers="0.0"))
    made.write(tmp_path / "clinic", groups=True)
    recipe = vr.Recipe.load(tmp_path / "clinic" / "recipe.toml")
    assert recipe.method == "auto"
    assert recipe.publish == {"age": "hierarchy", "zip": "hierarchy"}
    assert recipe.importance == {"age": 0.9, "zip": 0.3}
    release = vr.anonymize(table(), recipe=replace(recipe, method="mdav"))  # for its speed
    groups = Counter(release.table.select("age", "zip").rows())
    assert min(groups.values()) >= 5
    assert {text for keys in groups for text in keys} <= {text for row in (*AGES, *ZIPS) for text in row}


@pytest.mark.parametrize(
    ("text", "model"),
    [
        ("distinct-3-diversity for attribute 'ill'", "l-diversity=3,column=ill"),
        ("entropy-2.5-diversity for attribute 'ill'", "l-diversity=entropy:2.5,column=ill"),
        ("shannon-entropy-2.5-diversity for attribute 'ill'", "l-diversity=entropy:2.5,column=ill"),
        ("recursive-(3.0,2)-diversity for attribute 'ill'", "l-diversity=recursive:3:2,column=ill"),
        (
            "0.2-closeness with equal distance for attribute 'ill'",
            "t-closeness=0.2,distance=equal,column=ill",
        ),
        (
            "0.2-closeness with ordered distance for attribute 'ill'",
            "t-closeness=0.2,distance=ordered,column=ill",
        ),
        ("basic-1.5-likeness for attribute 'ill'", "beta-likeness=1.5,kind=basic,column=ill"),
        ("enhanced-1.5-likeness for attribute 'ill'", "beta-likeness=1.5,kind=enhanced,column=ill"),
    ],
)
def test_criteria_become_models_of_the_same_meaning(tmp_path, text, model):
    made = import_project(project(tmp_path / "one.deid", criteria=("5-anonymity", text)))
    assert made.models == [vr.privacy.parse_model(model)]
    assert made.k == 5


def test_what_differs_is_said(tmp_path):
    criteria = (
        "1.0-disclosure privacy for attribute 'ill'",
        "0.3-closeness with hierarchical ground-distance for attribute 'ill'",
        "(0.2)-avg-reidentification-risk",
        "(1.0E-6, 2.0)-differential privacy",
        "distinct-2-diversity for attribute 'nobody'",
        "something new",
    )
    made = import_project(project(tmp_path / "one.deid", criteria=criteria, outliers="1.0"))
    assert made.models[0].delta == pytest.approx(np.log(2))  # ARX takes logarithms to base 2
    message = "\n".join(made.left)
    for part in (
        "δ was turned from bits into nats",
        "(0.2)-avg-reidentification-risk: a limit on an average risk",
        "ARX's differential privacy samples records",
        "which is no sensitive column",
        "something new: not known here",
        "asks for k = 2",
        "suppression limit of 100 %",
    ):
        assert part in message
    made.write(tmp_path / "one")
    recipe = vr.Recipe.load(tmp_path / "one" / "recipe.toml")
    tree = next(item for item in recipe.required if item.name == "t-closeness")
    assert (tree.t, tree.column, tree.distance) == (0.3, "ill", "hierarchical")
    assert recipe.suppress == 0.49


def test_names_of_columns_are_no_paths(tmp_path):
    wild = ("../../evil", "/absolute/place", "..", "a\\b", "CON", "x" * 300, "Größe & <b>")
    columns = [(name, "QUASI_IDENTIFYING_ATTRIBUTE", "String", ILLS) for name in wild]
    made = import_project(project(tmp_path / "wild.deid", columns=columns))
    assert made.schema.keys == wild
    place = tmp_path / "deep" / "down"
    paths = made.write(place)
    assert {path.parent for path in paths} == {place}
    assert sorted(p.name for p in tmp_path.rglob("*") if p.is_file()) == sorted(
        ["wild.deid", *(path.name for path in paths)]
    )
    assert list(vr.Recipe.load(place / "recipe.toml").hierarchies) == list(wild)


BOMB = "<!DOCTYPE a [<!ENTITY b 'bbbbbbbbbb'><!ENTITY c '&b;&b;&b;&b;&b;&b;'>]><config>&c;</config>"


@pytest.mark.parametrize(
    ("entries", "sentence"),
    [
        ({"input/config.xml": BOMB}, "declares a document type"),
        ({"input/config.xml": BOMB.encode("utf-16")}, "no XML as ARX writes it"),
        ({"input/config.xml": "<config>"}, "no XML as ARX writes it"),
        ({"input/definition.xml": None}, "lacks 'input/definition.xml'"),
        ({"input/definition.xml": "<definition/>"}, "declares 0 columns"),
        ({"metadata.xml": "<metadata><vocabulary>9.0</vocabulary></metadata>"}, "vocabulary '9.0'"),
        ({"input/config.xml": "<config>" + " " * 5_000_000 + "</config>"}, "unpacks to more than 4 MB"),
        ({"input/hierarchies/age.csv": "1;2\n" * 20_000_000}, "unpacks to more than 64 MB"),
    ],
)
def test_files_that_would_harm_are_refused_with_a_sentence(tmp_path, entries, sentence):
    file = project(tmp_path / "bad.deid", entries=entries)
    tracemalloc.start()
    try:
        with pytest.raises(ReadError, match=sentence):
            read_project(file)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 150_000_000


def test_a_size_that_a_zip_states_is_not_believed(tmp_path):
    file = project(
        tmp_path / "bad.deid", entries={"input/config.xml": "<config>" + " " * 5_000_000 + "</config>"}
    )
    raw = bytearray(file.read_bytes())
    size = (5_000_017).to_bytes(4, "little")
    while (at := raw.find(size)) >= 0:  # both headers claim a small one
        raw[at : at + 4] = (100).to_bytes(4, "little")
    file.write_bytes(raw)
    with pytest.raises(ReadError, match=r"unpacks to more than|damaged"):
        read_project(file)


def test_broken_bytes_give_a_sentence_and_nothing_else(tmp_path):
    whole = project(tmp_path / "good.deid").read_bytes()
    rng = np.random.default_rng(0)
    seen = Counter()
    for number in range(60):
        broken = bytearray(whole)
        for at in rng.integers(0, len(whole), 1 + number):
            broken[at] = rng.integers(256)
        file = tmp_path / "broken.deid"
        file.write_bytes(broken[: rng.integers(1, len(whole))] if number % 3 == 0 else broken)
        try:
            import_project(file)
            seen["read"] += 1
        except VoronymError:  # anything else would be a traceback for the user
            seen["refused"] += 1
    assert seen["refused"] > 10


def test_a_hierarchy_alone(tmp_path, capsys):
    file = tmp_path / "age.csv"
    file.write_text(cells(AGES), encoding="utf-8")
    code, message = run(capsys, "import", "arx", file)
    assert code == 0
    assert "60 values, 2 levels above them" in " ".join(message.out.split())
    code, message = run(capsys, "import", "arx", file, "--json")
    assert json.loads(message.out) == {"voronym": vr.__version__, "values": 60, "height": 2}
    for words, sentence in (
        ([tmp_path / "none.deid"], "there is no file"),
        ([file, "--data"], "this is a hierarchy alone"),
        ([file, "-o", "x"], "without conversion"),
    ):
        code, message = run(capsys, "import", "arx", *words)
        assert code == 2
        assert sentence in " ".join(message.err.split())


def test_nothing_is_overwritten(tmp_path, capsys):
    file = project(tmp_path / "clinic.deid")
    assert run(capsys, "import", "arx", file, "--json")[0] == 0
    code, message = run(capsys, "import", "arx", file)
    assert code == 1
    assert "exists already" in message.err
