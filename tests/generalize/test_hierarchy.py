"""One hierarchy for all who need one: files of any layout, unbalanced trees, what both clients make of it."""

import itertools

import numpy as np
import polars as pl
import pytest

from voronym import Hierarchy
from voronym.errors import InputError, ReadError
from voronym.privacy import TCloseness, parse_model
from voronym.space.metrics import Taxonomy, pairwise
from voronym.table import Table

ICD = """
A00.0;A00;A00-A09;I;*
A00.9;A00;A00-A09;I;*
A01;A00-A09;I;*
E10.9;E10;E10-E14;IV;*
E11.2;E11;E10-E14;IV;*
E11.9;E11;E10-E14;IV;*
E11;E10-E14;IV;*
U07.1;XXII;*
Z99;*
"""
ROWS = [line.split(";") for line in ICD.split()]
TREE = {"flu": ["lung", "any"], "cold": ["lung", "any"], "ulcer, gastric": ["stomach", "any"]}


def test_icd_10_is_unbalanced():
    tree = Hierarchy(ROWS)
    assert (len(tree), tree.height, tree.root) == (9, 4, "*")
    assert [tree.depth(code) for code in ("A00.0", "A01", "U07.1", "Z99")] == [4, 3, 2, 1]
    assert [tree.generalise("A00.0", level) for level in range(5)] == ["A00.0", "A00", "A00-A09", "I", "*"]
    assert [tree.generalise("Z99", level) for level in range(5)] == ["Z99"] * 4 + ["*"]
    assert tree.generalise("A01", 1) == "A01"


def test_common_ancestors_and_distances():
    tree = Hierarchy(ROWS)
    assert tree.common("A00.0", "A00.9") == "A00"
    assert tree.common("A00.0", "A01") == "A00-A09"
    assert tree.common("E11", "E11.9") == "E11"  # a code without its fourth digit is close to those with one
    assert tree.common("E11.9", "A01") == "*"
    assert tree.distance("E11", "E11.9") == 0.25
    assert tree.distance("A01", "A00.9") == 0.5
    assert tree.distance("Z99", "A01") == 1.0
    assert tree.distance("A01", "A01") == 0.0


def test_distances_are_an_ultrametric():
    tree = Hierarchy(ROWS)
    for a, b, c in itertools.product(tree.values, repeat=3):
        assert tree.distance(a, b) == tree.distance(b, a)
        assert tree.distance(a, c) <= max(tree.distance(a, b), tree.distance(b, c))
        assert (tree.distance(a, b) == 0) == (a == b)


@pytest.mark.parametrize("mark", [";", ",", "\t", "|"])
@pytest.mark.parametrize(
    "header", ["", "code;level 1;level 2;level 3;level 4\n", "icd;three;block;chapter;all\n"]
)
def test_every_layout_gives_the_same_tree(tmp_path, mark, header):
    path = tmp_path / "icd.csv"
    path.write_text("\ufeff" + (header + ICD.strip()).replace(";", mark) + "\r\n\n", encoding="utf-8")
    assert Hierarchy.read(path) == Hierarchy(ROWS)


def test_rows_with_empty_entries_and_without_a_root(tmp_path):
    path = tmp_path / "icd.csv"
    path.write_text("A00;A;I\nB99;;I\nE11;E;IV\nZ99;;\n", encoding="utf-8")
    tree = Hierarchy.read(path)
    assert tree == Hierarchy(
        [("A00", "A", "I", "*"), ("B99", "I", "*"), ("E11", "E", "IV", "*"), ("Z99", "*")]
    )
    assert tree.root == "*"


def test_pairs_of_child_and_parent_are_followed(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("child,parent\nA00.0,A00\nA00.9,A00\nA00,I\nE11,IV\nI,*\nIV,*\n", encoding="utf-8")
    tree = Hierarchy.read(path)
    assert tree.path("A00.0") == ("A00.0", "A00", "I", "*")
    assert tree.common("A00", "A00.9") == "A00"
    assert tree.depth("E11") == 2
    with pytest.raises(InputError, match=r"row 1: .* no circles"):
        Hierarchy([("a", "b"), ("b", "a")])


def test_a_header_is_what_is_said(tmp_path):
    path = tmp_path / "tree.csv"
    path.write_text("flu;lung\ncold;lung\n", encoding="utf-8")
    assert "flu" in Hierarchy.read(path)
    assert "flu" not in Hierarchy.read(path, header=True)
    assert Hierarchy.read(path, delimiter=",").height == 1


@pytest.mark.parametrize("mark", [";", ","])
def test_one_file_for_all_parts_of_the_program(tmp_path, mark):
    path = tmp_path / "ill.csv"
    lines = ["flu|lung|any", "cold|lung|any", '"ulcer, gastric"|stomach|any']
    path.write_text("\n".join(lines).replace("|", mark), encoding="utf-8")
    tree = Hierarchy.of(TREE)
    assert Hierarchy.of(path) == Hierarchy.of(str(tree)) == tree
    assert TCloseness(0.2, taxonomy=path).taxonomy == Taxonomy(path).hierarchy == tree
    assert hash(Hierarchy.of(path)) == hash(tree)
    assert parse_model(str(TCloseness(0.2, taxonomy=tree))) == TCloseness(0.2, taxonomy=path)


def test_both_clients_see_the_distances_of_the_tree():
    tree = Hierarchy(ROWS)
    values = list(tree.values)
    geometry = Taxonomy(tree).geometry(values, "icd")
    at = np.arange(len(values))
    expected = [[tree.distance(a, b) for b in values] for a in values]
    assert pairwise(geometry, at[:, None], at[None, :]).tolist() == expected
    # Earth mover's distance from one value to the table of two is half of their distance.
    for a, b in (("E11", "E11.9"), ("A01", "A00.9"), ("Z99", "A01")):
        table = Table.build(pl.DataFrame({"key": [1, 2], "icd": [a, b]}), keys=["key"], confidential=["icd"])
        assert TCloseness(taxonomy=tree).measure(table).value == tree.distance(a, b) / 2


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "empty"),
        ([("a", "x"), ("b", "y"), ("a", "y")], "row 1 and row 3: the same value twice"),
        ([("a", "x", "y", "z"), ("b", "x", "w", "z")], "row 1 and row 2: .*no tree: a label at level 1"),
        ([("a", "x", "y"), ("b", "x"), ("c", "y")], "row 2 ends with a label that has a parent in row 1"),
        ({"a": "xy"}, "list of its ancestors"),
        ("{broken", "not valid JSON"),
        (7, "mapping, rows or a file"),
    ],
)
def test_bad_hierarchies_get_a_sentence(given, message):
    with pytest.raises(InputError, match=message):
        Hierarchy.of(given)


def test_bad_files_are_named_with_the_line(tmp_path):
    path = tmp_path / "icd.csv"
    path.write_text("code;level 1;level 2\nA00;A;I\n\nA00;B;I\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"icd.csv: line 2 and line 4: the same value twice"):
        Hierarchy.read(path)
    path.write_bytes(b"caf\xe9;x")
    with pytest.raises(ReadError, match="not text in UTF-8"):
        Hierarchy.read(path)
    with pytest.raises(ReadError, match=r"cannot read the hierarchy 'none.csv': No such file"):
        Hierarchy.of(tmp_path / "none.csv")


def test_levels_and_values_that_are_not_there():
    tree = Hierarchy(ROWS)
    with pytest.raises(InputError, match="levels 0 to 4, not 5"):
        tree.generalise("Z99", 5)
    with pytest.raises(InputError, match="lacks one that was asked for"):
        tree.depth("secret")
    with pytest.raises(InputError, match="1 of 2 distinct values of column 'icd', in 7 rows,") as caught:
        tree.nodes(["A01", "secret"], "icd", counts=np.array([3, 7]))
    assert "secret" not in str(caught.value)
    assert tree.nodes(["A01", "x", "y"], "icd", hang=True).tolist() == [[0, 1, 2]] * 4


def test_labels_may_repeat_in_other_branches():
    tree = Hierarchy(
        [("Barcelona", "Barcelona", "Spain"), ("Sitges", "Barcelona", "Spain"), ("Vic", "Spain")]
    )
    assert tree.distance("Barcelona", "Sitges") == 0.5
    assert tree.depth("Vic") == 1
    other = Hierarchy([("flu", "other", "lung", "*"), ("other", "*")])
    assert other.distance("flu", "other") == 1.0


def test_a_first_line_of_data_is_no_heading(tmp_path):
    file = tmp_path / "tree.csv"
    file.write_text("dog;mammal\nsparrow;bird\nswan;bird\n", encoding="utf-8")
    assert "dog" in Hierarchy.read(file).paths
