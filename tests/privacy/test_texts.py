"""Models as texts, taxonomies as files, and what is refused."""

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from voronym.errors import InputError
from voronym.privacy import (
    DeltaDisclosure,
    LDiversity,
    MutualInformation,
    PSensitive,
    TCloseness,
    parse_model,
    split_models,
)
from voronym.table import Table

TREE = {"flu": ["lung", "any"], "cold": ["lung", "any"], "ulcer, gastric": ["stomach", "any"]}


@pytest.mark.parametrize(
    ("text", "model"),
    [
        ("p-sensitive=3", PSensitive(3)),
        ("p-sensitive=3,column=blood group, main", PSensitive(3, column="blood group, main")),
        ("l-diversity=3", LDiversity(3)),
        ("l-diversity=distinct:3", LDiversity(3)),
        ("l-diversity=entropy:2.5", LDiversity(2.5, "entropy")),
        ("l-diversity=entropy:3", LDiversity(3, "entropy")),
        ("l-diversity=entropy", LDiversity(kind="entropy")),
        ("l-diversity=recursive:3:2", LDiversity(2, "recursive", c=3)),
        ("l-diversity = recursive:0.5:4 , column=ill", LDiversity(4, "recursive", c=0.5, column="ill")),
        ("t-closeness=0.2", TCloseness(0.2)),
        ("t-closeness=0", TCloseness(0)),
        ("t-closeness=0.2,distance=equal,column=income", TCloseness(0.2, distance="equal", column="income")),
        ("t-closeness=2.5,distance=kl", TCloseness(2.5, distance="kl")),
        ("t-closeness=column=income", TCloseness(column="income")),
        ("delta-disclosure=1.0", DeltaDisclosure(1)),
        ("mutual-information=0.1", MutualInformation(0.1)),
        ("mutual-information=0.1,unit=bits,bins=12", MutualInformation(0.1, unit="bits", bins=12)),
        ("mutual-information=bins=distinct", MutualInformation(bins="distinct")),
        ("mutual-information=0.1,joint=true", MutualInformation(0.1, joint=True)),
    ],
)
def test_texts_and_models(text, model):
    assert parse_model(text) == model
    assert parse_model(str(model)) == model
    assert hash(parse_model(text)) == hash(model)


ODD = st.lists(
    st.one_of(
        st.sampled_from([*",='\" \t", '""', "distance", "column", "bins", "k-anonymity", "t-closeness", "5"]),
        st.characters(exclude_categories=["Cs"]),
    ),
    max_size=9,
).map("".join)


@given(ODD)
@example("a,distance=equal")
@example("a ,b")
@example('"a"')
@example('a="b,k-anonymity=2')
@example("a,k-anonymity")
@example(" a")
@example("")
def test_any_column_name_comes_back(column):
    for value in (None, 0.2):
        results = [
            TCloseness(value, column=column),
            TCloseness(value, distance="kl", column=column),
            TCloseness(value, taxonomy={column: ["x"], column + "b": ["x"]}, column=column),
            MutualInformation(value, bins=3, column=column),
            DeltaDisclosure(value, column=column),
        ]
        results += [PSensitive(value and 2, column=column), LDiversity(value and 2, column=column)]
        for model in results:
            assert parse_model(str(model)) == model
        split = split_models([",".join(map(str, results))])
        assert [parse_model(text) for text in split] == results


def test_names_in_quotes():
    assert str(TCloseness(0.2, column="a, b")) == "t-closeness=0.2,column=a, b"
    assert str(TCloseness(0.2, column='a="b"')) == 't-closeness=0.2,column="a=""b"""'
    model = parse_model('t-closeness=0.2, column = "a,distance=kl" , distance=equal')
    assert model == TCloseness(0.2, distance="equal", column="a,distance=kl")
    for text in ('p-sensitive=2,column="a', 'p-sensitive=2,column="a" b', 'p-sensitive=column="a"b"'):
        with pytest.raises(InputError, match="a quote is opened and not closed"):
            parse_model(text)
    with pytest.raises(InputError, match="'b' is no option of p-sensitive"):
        parse_model('p-sensitive=2,column="a",b')


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("p-sensitive=1", "p must be a whole number of 2 or more, not '1'"),
        ("p-sensitive=2.5", "whole number"),
        ("p-sensitive=3,colum=x", "'colum=x' is no option of p-sensitive; there are: column"),
        ("p-sensitive=3,4", "'4' is no option"),
        ("l-diversity=1", "2 or more"),
        ("l-diversity=entropy:1", "above 1"),
        ("l-diversity=entropy:x", "above 1"),
        ("l-diversity=recursive:3", "recursive:3:2"),
        ("l-diversity=recursive:0:2", "c must be a number above 0"),
        ("l-diversity=recursive:3:1", "2 or more"),
        ("l-diversity=many:3", "entropy:2.5"),
        ("t-closeness=-0.1", "0 or more"),
        ("t-closeness=nan", "0 or more"),
        ("t-closeness=inf", "0 or more"),
        ("t-closeness=1.5", "never above 1"),
        ("t-closeness=0.2,distance=emd", "no distance is called 'emd'; there are: ordered"),
        ("t-closeness=0.2,distance=hierarchical", "belong together"),
        ("t-closeness=0.2,column=a,column=b", "column is given twice"),
        ("delta-disclosure=0", "above 0"),
        ("mutual-information=-1", "0 or more"),
        ("mutual-information=1,unit=bytes", "no unit is called 'bytes'"),
        ("mutual-information=1,bins=1", "2 or more"),
        ("mutual-information=1,joint=maybe", "true or false"),
        ("mutual-information=1,joint=true,column=a", "leave out column"),
    ],
)
def test_bad_texts_get_a_sentence(text, message):
    with pytest.raises(InputError, match=message):
        parse_model(text)


@pytest.mark.parametrize("value", [True, "x", [1], None.__class__])
def test_bad_arguments_get_a_sentence(value):
    for make in (PSensitive, LDiversity, TCloseness, DeltaDisclosure, MutualInformation):
        with pytest.raises(InputError, match="must be a"):
            make(value)


def test_a_column_that_is_no_name_gets_a_sentence():
    for make in (PSensitive, LDiversity, TCloseness, DeltaDisclosure, MutualInformation):
        with pytest.raises(InputError, match="column must be a text, not a number"):
            make(column=5)


def test_a_missing_confidential_column_gets_a_sentence():
    table = Table.build(pl.DataFrame({"key": [1], "w": [2]}), keys=["key"], other=["w"])
    with pytest.raises(InputError, match="l-diversity needs a confidential column and none is named"):
        LDiversity(2).measure(table)
    assert LDiversity(column="w").measure(table).value == 1
    with pytest.raises(InputError, match="no column 'x'"):
        LDiversity(column="x").measure(table)


def test_several_models_in_one_text():
    text = "k-anonymity=5,t-closeness=0.2,column=a,b,p-sensitive=2"
    assert split_models([text, "", "l-diversity=3"]) == [
        "k-anonymity=5",
        "t-closeness=0.2,column=a,b",
        "p-sensitive=2",
        "l-diversity=3",
    ]
    assert split_models(["t-closness=1"]) == ["t-closness=1"]  # refused later, by name


def test_a_taxonomy_from_a_file(tmp_path):
    path = tmp_path / "ill.csv"
    path.write_text('flu;lung;any\ncold;lung;any\n"ulcer, gastric";stomach;any\n', encoding="utf-8")
    model = TCloseness(0.2, taxonomy=path)
    assert parse_model(f"t-closeness=0.2,taxonomy={path}") == model
    assert parse_model(str(model)) == model == TCloseness(0.2, taxonomy=TREE)
    assert model.distance == "hierarchical"
    assert parse_model(str(TCloseness(0.2, taxonomy=TREE, column="ill"))).taxonomy == model.taxonomy


def test_values_that_the_taxonomy_lacks_are_counted_and_not_named():
    people = pl.DataFrame({"key": [1, 1, 2], "w": ["flu", "secret", "secret"]})
    with pytest.raises(
        InputError, match="1 of 2 distinct values of column 'w', in 2 rows, are not in its hierarchy"
    ) as caught:
        TCloseness(taxonomy=TREE).measure(Table.build(people, keys=["key"], confidential=["w"]))
    assert "secret" not in str(caught.value)


def test_a_taxonomy_without_a_root_gets_one():
    loose = {"a": ["x"], "b": ["x"], "c": ["y"]}
    rooted = {"a": ["x", "all"], "b": ["x", "all"], "c": ["y", "all"]}
    people = pl.DataFrame({"key": [1, 1, 2, 2], "w": ["a", "b", "c", None]})
    table = Table.build(people, keys=["key"], confidential=["w"])
    results = [TCloseness(taxonomy=tree).measure(table).value for tree in (loose, rooted)]
    # Class 1 is a and b: leaves 1/2, their parent x 1/2: the mean is 1/2.
    assert results == [0.5, 0.5]
