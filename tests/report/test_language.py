"""Reports in the reader's language: every message is translated, and nothing else changes."""

import ast
import re

import polars as pl
import pytest
from babel.messages.pofile import read_po

import voronym as vr
from voronym.attacks import base
from voronym.attacks.base import ATTACKS, KNOWLEDGE
from voronym.attacks.ladder import MESSAGES, REMEDIES
from voronym.core.sentence import Sentence
from voronym.report import html, language
from voronym.report.sections import known

LANGUAGES = ("de", "fr", "es")
ENGLISH = {  # stories and sections that are in English yet
    "words/channel.html", "words/records.html", "words/dp.html", "words/other.html", "sections/matrices.html",
    "sections/noise.html", "sections/rules.html", "sections/risk-stirred.html",
    "sections/sizes-clusters.html", "sections/changed.html", "sections/epsilon.html", "sections/kept.html",
    "sections/private.html", "sections/policy.html", "sections/frontier.html",
    "sections/sampled.html", "sections/plane-shift.html",
}  # fmt: skip


def ids():
    made = html._environment()
    names = [name for name in made.list_templates() if language.OURS.fullmatch(name) and name not in ENGLISH]
    return {message for name in names for message in language.messages(made, name)}


def catalogues():
    folder = html.Path(language.__file__).parent / "languages"
    for code in LANGUAGES:
        with (folder / f"{code}.po").open("rb") as file:
            yield code, read_po(file, locale=code)


def test_every_message_is_translated():
    known = ids()
    assert len(known) > 150
    for code in LANGUAGES:
        assert known - set(language.catalogue(code)) == set(), code


def sentences():
    """Return the messages of what attacks say and of what to do next, as they stand in the code."""
    for file in (*html.Path(base.__file__).parent.glob("*.py"), html.Path(known.__file__)):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Sentence":
                yield ast.unparse(node.args[0])


def test_ladder_and_attacks_are_translated():
    attacks = ATTACKS.values()
    texts = {*KNOWLEDGE, *MESSAGES, *(attack.instead for attack in attacks)}
    written = set(sentences()) - {"KNOWLEDGE[first.level]"}
    assert len(written) > 40
    texts |= {ast.literal_eval(text) for text in written}
    texts |= {text for text, _ in REMEDIES.values()}
    for code in LANGUAGES:
        assert texts - set(language.catalogue(code)) == set(), code


def test_placeholders_agree_and_babel_reads_the_same():
    for code, file in catalogues():
        read = {message.id: message.string for message in file if message.id}
        assert read == language.catalogue(code)
        for english, other in read.items():
            assert language.placeholders(english) == language.placeholders(other), (code, english)


def test_all_languages_have_the_same_messages():
    first, *rest = [set(language.catalogue(code)) for code in LANGUAGES]
    assert all(other == first for other in rest)


@pytest.fixture(scope="module")
def release():
    frame = vr.datasets.hospital(200, seed=1)
    return vr.anonymize(
        frame, keys=["age", "sex", "zip"], confidential=["diagnosis"], drop_undeclared=True, k=5,
        method="mdav", steps=["top age=80"],
    )  # fmt: skip


def test_headings_and_numbers_are_the_readers(release):
    page = html.render(release, language="de")
    assert '<html lang="de">' in page
    assert "Jede Kombination von Schlüsseln" in page
    titles = re.findall(r"<h2>([^<]*)</h2>", page)
    english = re.findall(r"<h2>([^<]*)</h2>", html.render(release))
    assert len(titles) == len(english) > 8
    assert not set(titles[1:]) & set(english[1:]), set(titles) & set(english)
    loss = f"{release.information_loss:.1f}"
    assert f"{loss}\u202f%" not in page
    assert loss.replace(".", ",") in page


def test_what_attacks_say_is_the_readers(release):
    exposure = vr.attack(release, attacks=["linkage", "singling-out", "group-guess", "row-order"])
    assert all(isinstance(outcome.says, Sentence) for outcome in exposure.outcomes)
    release.exposure = exposure
    page = html.render(release, language="de")
    for outcome in exposure.outcomes:
        assert str(outcome.says) not in html.render(release, language="fr") + page
    with language.reader("de"):
        messages = [language.term(outcome.says) for outcome in exposure.outcomes]
    assert all(str(html.Markup.escape(text)) in page for text in messages)
    assert any(re.search(r"\d\u202f%", text) for text in messages)


def test_columns_and_values_of_the_table_are_never_translated():
    frame = pl.DataFrame({"records": [1, 2, 3, 4] * 10, "risk": ["none", "yes"] * 20})
    made = vr.anonymize(frame, keys=["records"], confidential=["risk"], k=5, method="mdav")
    page = html.render(made, language="es")
    heads = re.findall(r'<th scope="(?:col|row)">([^<]*)</th>', page)
    assert "records" in heads
    assert "<td>none</td>" in page or ">none<" in page
    assert ">registros</th>" not in page


def test_english_is_the_source(release):
    page = html.render(release, audience="public")
    assert '<html lang="en">' in page
    assert "Every combination of keys is shared by at least 5 records." in page
    assert "{" not in re.sub(r"<style>.*?</style>|<pre.*?</pre>", "", page, flags=re.S)


def test_an_unknown_language_is_refused(release, tmp_path):
    with pytest.raises(vr.InputError, match="language must be one of en, de, fr, es"):
        release.report(tmp_path / "x.html", language="xx")
    assert not (tmp_path / "x.html").exists()


def test_texts_are_escaped_as_before():
    frame = pl.DataFrame({"<b>age</b>": list(range(40)), "ill": ["a", "b"] * 20})
    made = vr.anonymize(frame, keys=["<b>age</b>"], confidential=["ill"], k=5, method="mdav")
    for code in ("en", "fr"):
        page = html.render(made, language=code)
        assert "<b>age" not in page
        assert "&lt;b&gt;age" in page
