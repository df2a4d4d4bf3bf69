"""What users import: nothing shadows a package, and the reference lists the public names by their paths."""

from __future__ import annotations

import importlib
import pkgutil
import re
from pathlib import Path
from types import ModuleType

import pytest

import voronym as vr

REFERENCE = sorted((Path(__file__).parents[1] / "docs" / "reference").glob("python-*.md"))
API = "\n".join(page.read_text(encoding="utf-8") for page in REFERENCE)
ENTRY = re.compile(
    r"^\.\. (?:auto)?(function|class|exception|module|data):: (voronym[\w.]*)$(\n   :members:$)?", re.M
)
ENTRIES = {path: (kind, bool(members)) for kind, path, members in ENTRY.findall(API)}
PACKAGES = [
    one.name
    for one in pkgutil.walk_packages(vr.__path__, "voronym.")
    if one.ispkg or one.name.count(".") == 1
]
EXTRAS = {"voronym.sklearn", "voronym_papers.solvers"}  # loaded only where they are asked for


def documented() -> dict[str, object]:
    """Return what the reference documents, by path; all members of a module that says so."""
    results: dict[str, object] = {}
    for path, (kind, members) in ENTRIES.items():
        results[path] = resolve(path)
        if kind == "module" and members:
            results |= {f"{path}.{name}": getattr(results[path], name) for name in results[path].__all__}
    return results


def resolve(path: str) -> object:
    """Follow a path name by name, each of them public in the one before."""
    here: object = importlib.import_module(path.split(".")[0])
    for i, name in enumerate(path.split(".")[1:], start=2):
        step = ".".join(path.split(".")[:i])
        if step in EXTRAS:
            here = importlib.import_module(step)
            continue
        public = getattr(here, "__all__", ()) if isinstance(here, ModuleType) else dir(here)
        assert name in public, f"{path}: {name} is not a public name there"
        here = getattr(here, name)
    return here


@pytest.mark.parametrize("name", PACKAGES)
def test_no_function_shadows_a_package(name):
    module = importlib.import_module(name)
    parent, _, last = name.rpartition(".")
    assert getattr(importlib.import_module(parent), last) is module


@pytest.mark.parametrize("path", sorted(ENTRIES))
def test_the_reference_names_public_paths(path):
    assert resolve(path) is not None


def public_modules() -> list[ModuleType]:
    """Return voronym and the modules among its public names, and theirs."""
    results = [vr]
    for module in results:
        inner = (getattr(module, name) for name in module.__all__)
        results += [item for item in inner if isinstance(item, ModuleType) and item not in results]
    return results


@pytest.mark.parametrize("module", public_modules(), ids=lambda module: module.__name__)
def test_every_public_name_is_in_the_reference(module):
    """Under its own path; or the same thing under another, as metrics in voronym.records are."""
    listed = documented()
    things = [value for value in listed.values() if callable(value)]
    lacking = [
        name
        for name in module.__all__
        if f"{module.__name__}.{name}" not in listed and getattr(module, name) not in things
    ]
    assert lacking == []


def test_public_names_are_sorted_and_there():
    for module in public_modules():
        assert all(hasattr(module, name) for name in module.__all__)
        assert len(set(module.__all__)) == len(module.__all__)


def test_spaces_and_metrics_are_where_a_reader_looks():
    for name in ("Euclidean", "Mahalanobis", "Manhattan", "Mixed", "Sphere"):
        assert issubclass(getattr(vr.space, name), vr.space.Space)
    assert vr.records.Taxonomy is vr.space.metrics.Taxonomy
    assert vr.testing.assert_k_anonymous([(1,), (1,)], 2) is None


@pytest.mark.parametrize(
    "asked",
    [
        {"method": "mdav", "k": 5},
        {"method": "mdav", "k": 5, "space": "mixed"},
        {"method": "vmdav", "k": 3, "models": ["t-closeness=0.5"]},
        {"method": "records", "seed": 1, "options": {"despite_loss": True}},
        {"method": "channel", "options": {"max_distortion": 0.2}, "seed": 1},
    ],
    ids=lambda asked: "-".join(map(str, asked.values())),
)
@pytest.mark.filterwarnings("ignore::UserWarning")  # a seed given to a method that masks record by record
def test_information_loss_is_one_figure(asked):
    """What the release says and what utility measures in the two tables is the same number."""
    patients = vr.datasets.hospital(150, seed=2)
    keys = ["age", "sex", "nationality", "admitted", "weight"]
    release = vr.anonymize(patients, keys=keys, confidential=["diagnosis"], drop_undeclared=True, **asked)
    assert release.information_loss == pytest.approx(release.utility.information_loss, rel=1e-9)
    assert release.information_loss > 0.0
    if asked["method"] == "mdav" and "space" not in asked:
        assert release.group_loss < release.information_loss  # means are rounded to values that can occur


def test_information_loss_of_constant_keys_is_none():
    people = vr.datasets.hospital(20, seed=2).with_columns(age=40)
    release = vr.anonymize(people, keys=["age"], drop_undeclared=True, k=5, method="mdav")
    assert release.information_loss == release.utility.information_loss == release.group_loss == 0.0
