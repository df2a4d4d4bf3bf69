"""How often one plain run does the same work: the frame is wrapped, conformed, fitted and encoded once."""

import sys
from collections import Counter

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
        for module in [one for key, one in sys.modules.items() if key.startswith("voronym")]:
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
    assert calls["equivalence_classes"] == 1


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
