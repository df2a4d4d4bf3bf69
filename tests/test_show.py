"""What results say about themselves, in notebooks and in a terminal."""

from __future__ import annotations

import warnings
from html.parser import HTMLParser

import polars as pl
import pytest
from markupsafe import Markup

import voronym as vr
from voronym.core.display import chip, html_table, text_table

NASTY = "<script>alert(1)</script>"


class Checked(HTMLParser):
    """Parse HTML; every tag must be closed in its turn, and only plain ones are allowed."""

    ALLOWED = frozenset(
        ["b", "caption", "details", "pre", "span", "summary", "table", "tbody", "td", "th", "thead", "tr"]
    )

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        assert tag in self.ALLOWED
        assert {name for name, _ in attrs} <= {"style"}
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def people():
    return vr.datasets.hospital(120, seed=3).rename({"cost": NASTY})


@pytest.fixture(scope="module")
def release():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return vr.anonymize(
            people(), keys=["age", "sex", NASTY], confidential=["diagnosis"], drop_undeclared=True,
            k=4, method="vmdav", options={"gamma": 0.2}, models=["t-closeness=0.9"],
        )  # fmt: skip


def shown(release):
    comparison = vr.compare(people(), keys=["age", NASTY], k=[3, 5], methods=["mdav", "univariate"])
    return [release, release.schema, release.recipe, comparison, vr.algorithms()]


def test_html_is_whole_and_escaped(release):
    for item in shown(release):
        html = item._repr_html_()
        assert type(html) is str  # Markup would escape what it is added to
        assert NASTY not in html
        assert Checked(html).texts


def test_a_release_shows_figures_and_no_records(release):
    texts = Checked(release._repr_html_()).texts
    assert texts[texts.index("information loss") + 1] == f"{release.information_loss:.2f} %"
    assert texts[texts.index("lost by the groups") + 1] == f"{release.group_loss:.2f} %"
    assert texts[texts.index("groups") + 1] == str(release.risk.n_classes)
    assert {"k-anonymity", "t-closeness", "holds"} <= set(texts)
    values = {str(value) for name in ("diagnosis", "sex") for value in people()[name].unique()}
    assert not values & set(texts)


def test_a_release_shows_a_gap_that_is_known(release):
    assert not any("best possible" in text for text in Checked(release._repr_html_()).texts)  # two models
    plain = vr.anonymize(people(), keys=["age"], drop_undeclared=True, k=4, method="mdav")
    texts = Checked(plain._repr_html_()).texts
    assert texts[texts.index("next to the best possible") + 1] == plain.closeness


def test_a_schema_reads_as_a_table(release):
    schema = release.schema
    assert repr(schema).startswith(
        f"Schema(11 columns: keys age, sex, {NASTY}; confidential diagnosis; ident"
    )
    assert str(schema).splitlines()[0].split() == ["column", "role", "kind", "note"]
    ordered = vr.Schema.build(
        pl.DataFrame({"size": ["small", "large"], "lat": [41.0, 42.0], "lon": [2.0, 3.0]}),
        keys=["size", "lat", "lon"], orders={"size": ["small", "large"]}, locations=[("lat", "lon")],
    )  # fmt: skip
    texts = " ".join(Checked(ordered._repr_html_()).texts)
    assert "small < large" in texts
    assert "lat, with lon" in texts
    many = vr.Column("grade", "key", "ordinal", tuple("abcdefgh"))
    assert many.details() == "a < b < c < … < h"


def test_a_recipe_reads_as_what_it_asks_for(release):
    recipe = release.recipe
    assert repr(recipe).startswith(
        "Recipe(method vmdav, promises k-anonymity=4, t-closeness=0.9, options gamma="
    )
    assert vr.Recipe.from_toml(str(recipe)) == recipe
    texts = Checked(recipe._repr_html_()).texts
    assert {"k-anonymity=4", "t-closeness=0.9", "gamma=0.2", "vmdav"} <= set(texts)


def test_methods_are_listed():
    lines = repr(vr.algorithms()).splitlines()
    assert [line.split()[0] for line in lines] == ["method", *vr.algorithms()]
    assert vr.algorithms()["mdav"].guarantee in Checked(vr.algorithms()._repr_html_()).texts


def test_numbers_are_to_the_right_and_texts_to_the_left():
    table = html_table(["name", "number"], [["a", 1234], ["b", None]])
    assert 'text-align:left;vertical-align:top;white-space:nowrap">a<' in table
    assert 'text-align:right;vertical-align:top;white-space:nowrap">1,234<' in table
    assert text_table(["name", "x"], [["a", 1.5], ["bb", 1e-5]]) == "name      x\na     1.500\nbb    1e-05"
    assert chip(NASTY, "red").endswith(f">{Markup.escape(NASTY)}</span>")
