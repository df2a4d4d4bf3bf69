"""How often one plain run does the same work: the frame is wrapped, conformed, fitted and encoded once."""

import sys
from collections import Counter
from pathlib import Path

import pytest

import voronym as vr
from voronym.table.codec import Codec

KEYS = ["age", "sex", "zip", "weight", "cost"]
FUNCTIONS = {
    "as_frame": "frame",
    "form": "frame",
    "factorize": "frame",
    "conformed": "conform",
    "check_kind": "kinds",
    "equivalence_classes": "classes",
}


@pytest.fixture
def calls(monkeypatch):
    """Count the calls of the functions and methods that a run repeated most."""
    seen = Counter()

    def counted(name, plain):
        def call(*given, **options):
            seen[name] += 1
            return plain(*given, **options)

        return call

    for where, name in FUNCTIONS.items():
        plain = getattr(sys.modules[f"voronym.table.{name}"], where)
        for module in [first for key, first in sys.modules.items() if key.startswith("voronym")]:
            if getattr(module, where, None) is plain:
                monkeypatch.setattr(module, where, counted(where, plain))
    monkeypatch.setattr(Codec, "fit", staticmethod(counted("fit", Codec.fit)))
    monkeypatch.setattr(Codec, "encode", counted("encode", Codec.encode))
    return seen


def test_one_plain_run(calls):
    patients = vr.datasets.hospital(200, seed=1)
    keys = [name for name in KEYS if name in patients.columns]
    release = vr.anonymize(
        patients, keys=keys, confidential=["diagnosis"], drop_undeclared=True, k=5, method="mdav"
    )
    assert release.findings[0].holds
    assert calls["as_frame"] <= 3
    assert calls["conformed"] == 1
    assert calls["fit"] == 1
    assert calls["encode"] <= 3  # the originals, what is published, and the one record that stands for all
    assert calls["check_kind"] <= 2 * len(patients.columns)
    assert calls["form"] <= 5 * len(patients.columns)
    assert calls["factorize"] <= len(patients.columns)
    assert calls["equivalence_classes"] == 2  # of the originals, and of what is published


@pytest.mark.parametrize(
    "options",
    [{"models": ["t-closeness=0.4"]}, {"space": "mixed"}],
    ids=["t-closeness", "mixed"],
)
def test_other_runs(calls, options):
    patients = vr.datasets.hospital(200, seed=1)
    vr.anonymize(
        patients,
        keys=["age", "sex"],
        confidential=["diagnosis"],
        drop_undeclared=True,
        k=5,
        method="mdav",
        **options,
    )
    assert calls["as_frame"] <= 3
    assert calls["conformed"] == 1
    assert calls["fit"] <= 1
    assert calls["encode"] <= 2


def test_one_report(calls):
    """What a report repeats: classes of either table, recipes, types of both."""
    patients = vr.datasets.hospital(200, seed=1)
    release = vr.anonymize(
        patients,
        keys=["age", "sex", "zip"],
        confidential=["diagnosis"],
        drop_undeclared=True,
        k=5,
        method="mdav",
    )
    calls.clear()
    result = release.dossier()
    assert "reached" not in result.inside.told.curves  # convex programmes, which nobody asked for
    nominal = 3
    # columns of both tables, the originals, and the confidential values, once each
    assert calls["equivalence_classes"] <= nominal + 2
    assert calls["conformed"] == 0
    assert calls["fit"] <= 1
    assert calls["as_frame"] <= 6


def test_the_report_of_a_model_of_information_has_the_limits():
    patients = vr.datasets.hospital(120, seed=1)
    release = vr.anonymize(
        patients, keys=["age", "sex"], confidential=["diagnosis"], drop_undeclared=True, k=5, method="mdav",
        models=["mutual-information"],
    )  # fmt: skip
    assert "reached" in release.dossier().inside.told.curves


def test_a_recipe_is_built_once_for_a_dossier():
    patients = vr.datasets.hospital(80, seed=1)
    release = vr.anonymize(patients, keys=["age", "sex"], drop_undeclared=True, k=5, method="mdav")
    result = release.dossier()
    assert result.own_recipe is result.own_recipe
    assert result.own_recipe.k == 5


def test_how_far_a_report_walks():
    """Functions, files and hops between files of this package, as the interpreter sees them."""
    patients = vr.datasets.hospital(100, seed=1)
    release = vr.anonymize(
        patients,
        keys=["age", "sex", "zip"],
        confidential=["diagnosis"],
        drop_undeclared=True,
        k=5,
        method="mdav",
    )
    release.gap  # noqa: B018 - the proof is as long as it takes
    functions, files, hops = walked(release.dossier)
    assert functions <= 700
    assert files <= 150
    assert hops <= 30_000


def walked(work):
    """Return how many functions and files of the package a call passes, and how often it changes the file."""
    functions, files, hops, last = set(), set(), 0, ""
    package = str(Path(vr.__file__).parent)

    def look(frame, event, _):
        nonlocal hops, last
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(package):
            functions.add((name, frame.f_code.co_name, frame.f_code.co_firstlineno))
            files.add(name)
            hops += name != last
            last = name

    sys.setprofile(look)
    try:
        work()
    finally:
        sys.setprofile(None)
    return len(functions), len(files), hops
