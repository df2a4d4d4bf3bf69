"""Sections are registered, shown to whom they are for, and read a dossier that is finished."""

import re

import pytest

import voronym as vr
from voronym import certify, channel, evaluate, partitioners, privacy, refiners
from voronym.report import render, section
from voronym.report.section import sections

KEYS = ["age", "sex", "zip"]


@pytest.fixture(scope="module")
def release():
    patients = vr.datasets.hospital(200, seed=3)
    return vr.anonymize(
        patients, keys=KEYS, confidential=["diagnosis"], drop_undeclared=True, k=5, method="mdav"
    )


@pytest.fixture(scope="module")
def registry(release):
    return release.dossier()


@pytest.fixture
def toy():
    """A section of somebody's own: one function, one template, nothing else."""
    template = """
    {% from "macros.html" import lead, block %}
    {% call lead() %}There are {{ count }} groups, and <{{ name }}> is safe.{% endcall %}
    {{ block(none, table) }}
    """

    @section("toy", "A toy", needs=("public.risk",), audience="both", place=15, source=template)
    def count_groups(d, risk):
        from voronym.report.write import Table

        assert d.public.risk is risk
        groups = risk.n_classes
        return {"count": groups, "name": "<b>", "table": Table.of(("a", "b"), [("groups", groups)])}

    yield
    sections.remove("toy")


def test_a_toy_section_appears_on_every_page_it_is_for(registry, toy):
    for audience in ("internal", "public"):
        page = render(registry, audience=audience)
        assert re.search(r'<a href="#toy"><span class="no">A\d+</span> A toy</a>', page)
        assert f"There are {registry.public.risk.n_classes} groups, and <&lt;b&gt;> is safe." in page
        assert page.index('id="plane"') < page.index('id="toy"') < page.index('id="risk"')
    assert "A toy" in render(registry)


def test_a_section_without_what_it_needs_is_left_out(registry):
    @section("inner", "Inside only", needs=("inside.told",), audience="both", source="{{ 1 }}")
    def inner(d, messages):
        return {}

    @section("never", "Never", needs=("inside.clusters",), source="{{ 1 }}")
    def never(d, clusters):
        raise AssertionError("there are no clusters")

    try:
        assert 'id="inner"' in render(registry)
        assert 'id="inner"' not in render(registry, audience="public")
        assert 'id="never"' not in render(registry)
    finally:
        sections.remove("inner")
        sections.remove("never")


def test_a_name_is_taken_once(registry, toy):
    with pytest.raises(vr.InputError, match="registered already"):
        section("toy", "Another")(dict)


def test_pages_compute_nothing(release, registry, monkeypatch):
    """Attacks, solvers, counts of risk and encodings are gone once the dossier is made."""
    import sys

    def forbidden(*_, **__):
        raise AssertionError("a page computed something")

    rooms = tuple(m.__name__ for m in (certify, channel, evaluate, partitioners, privacy, refiners))
    rooms += (
        "voronym.dossier.make",
        "voronym.dossier.planes",
        "voronym.dossier.revealed",
        "voronym.table.codec",
    )
    names = ("record_linkage", "privacy_distortion", "reached", "plane", "told_of", "risk", "utility")
    names += ("pmse", "lower_bound", "partition", "equivalence_classes", "principal_axes", "distribution")
    names += ("class_information",)
    touched = 0
    for name, module in list(sys.modules.items()):
        if not name.startswith(("voronym.", *rooms)):
            continue
        for figure in names:
            section_of_this_name = figure == "risk" and name.startswith("voronym.report")
            if not section_of_this_name and callable(getattr(module, figure, None)):
                monkeypatch.setattr(module, figure, forbidden)
                touched += 1
    monkeypatch.setattr("voronym.table.codec.Codec.encode", forbidden)
    assert touched > 15
    for audience in ("internal", "public"):
        assert 'id="limits"' in render(registry, audience=audience)
    monkeypatch.setattr(release, "_dossier", None)
    with pytest.raises(AssertionError, match="computed"):
        release.dossier()
