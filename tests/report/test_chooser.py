"""The chooser of notebooks: every change is a release by these choices, and a refusal changes nothing."""

import pytest

import voronym as vr
from voronym.report.chooser import Chooser

GIVEN = {"keys": ["age", "sex"], "confidential": ["diagnosis"], "drop_undeclared": True, "method": "mdav"}


@pytest.fixture
def table():
    return vr.datasets.hospital(60, seed=1)


def test_changes_make_the_release_of_the_same_call(table):
    chooser = Chooser(table, **GIVEN, k=3)
    made = chooser.change(k=6, publish="median")
    again = eval(chooser.call, {"vr": vr, "table": table})  # noqa: S307 - our own text
    assert (made.k, made.information_loss) == (again.k, again.information_loss)
    assert chooser.change(publish=None).recipe.publish == vr.anonymize(table, **GIVEN, k=6).recipe.publish
    assert "an intruder who knows" in chooser.shown()


def test_a_refusal_keeps_the_last_release(table):
    chooser = Chooser(table, **GIVEN, k=3)
    before = chooser.release
    with pytest.raises(vr.VoronymError):
        chooser.change(k=100)
    assert (chooser.release, chooser.choices["k"]) == (before, 3)


def test_fields_change_the_release(table):
    pytest.importorskip("ipywidgets")
    chooser = vr.choose(table, **GIVEN, k=3)
    box = chooser.widget()
    k, publish, differ = box.children[0].children
    k.value, publish.value = 7, "ranges"
    assert chooser.release.k >= 7
    assert chooser.choices["publish"] == "interval"
    differ.value = True
    assert any("p-sensitive" in str(finding) for finding in chooser.release.findings)
    assert "p-sensitive=2" in box.children[1].value
    k.value = 30
    assert "<b>" in box.children[1].value or chooser.release.k >= 30
