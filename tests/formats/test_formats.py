"""Files of version 0.1.0, as it wrote them, are read by this version, or refused with what to do."""

from __future__ import annotations

import json
import sqlite3
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import voronym as vr
from voronym.core import plugin
from voronym.core.atomic import together
from voronym.history import Ledger
from voronym.run.parts import store
from voronym.run.parts.folders import folders

OLD = Path(__file__).parent / "0.1.0"
NEWER = "made by a newer voronym .*: upgrade voronym"


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    path = tmp_path / "releases.ledger"
    with sqlite3.connect(path) as base:
        base.executescript((OLD / "ledger.sql").read_text(encoding="utf-8"))
    path.chmod(0o600)
    return path


def test_recipes_of_0_1_0_are_read() -> None:
    recipe = vr.Recipe.load(OLD / "recipe.toml")
    assert (recipe.k, recipe.method, recipe.schema.person) == (4, "auto", "id")
    older = vr.Recipe.load(OLD / "recipe-format-1.toml")
    assert (older.k, older.time_limit, older.options) == (4, 5, None)
    assert list(older.allow_loss or ()) == ["age"]


def test_a_ledger_of_0_1_0_is_read(ledger: Path) -> None:
    entries = Ledger(ledger).entries
    assert [(entry.k, len(entry.people)) for entry in entries] == [(4, 8)]


def test_a_quantizer_of_0_1_0_is_read() -> None:
    made = vr.quantize.Quantizer.load(OLD / "quantizer.json")
    assert np.array_equal(made.centroids, [[0.0, 0.0], [2.0, 1.0]])
    assert np.array_equal(made.costs, [0.0, 0.5])


def test_a_newer_recipe_is_refused() -> None:
    with pytest.raises(vr.InputError, match="the recipe was " + NEWER):
        vr.Recipe.from_dict({"format": 99, "k": 4})


def test_a_newer_ledger_is_refused(ledger: Path) -> None:
    with sqlite3.connect(ledger) as base:
        base.execute("update facts set value = 99 where name = 'format'")
    with pytest.raises(vr.InputError, match="the ledger 'releases.ledger' was " + NEWER):
        Ledger(ledger)


def test_a_newer_quantizer_is_refused(tmp_path: Path) -> None:
    content = json.loads((OLD / "quantizer.json").read_text(encoding="utf-8")) | {"version": 99, "more": 1}
    (tmp_path / "q.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(vr.InputError, match="the quantizer 'q.json' was " + NEWER):
        vr.quantize.Quantizer.load(tmp_path / "q.json")


@pytest.mark.parametrize(
    ("content", "maker"),
    [
        ((OLD / "job.json").read_bytes(), "0.1.0"),
        (b'{"format": 99, "voronym": "9.0", "of": {}}', "9.0"),
    ],
    ids=["0.1.0", "newer"],
)
def test_a_work_folder_of_another_version_is_not_resumed(tmp_path: Path, content: bytes, maker: str) -> None:
    work = tmp_path / ".release.work-abcdefgh"
    work.mkdir(mode=0o700)
    (work / "job.json").write_bytes(content)
    sentence = rf"left by another voronym \(({maker})\): go on with that version, or begin the run again"
    with pytest.raises(vr.ReadError, match=sentence), together():
        folders(tmp_path, tmp_path / "release", resume=True)
    assert (work / "job.json").exists()
    with together():  # a new run leaves nothing of the old one behind
        folders(tmp_path, tmp_path / "release", resume=False)
    assert not work.exists()


def test_what_a_work_folder_holds_says_its_format() -> None:
    about = json.loads(store.dump({"x": (1, 2)}))
    assert (about["format"], about["voronym"]) == (store.FORMAT, vr.__version__)
    assert store.load(store.dump({"x": (1, 2)})) == {"x": (1, 2)}


def test_a_plug_in_for_a_newer_interface_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("of_tomorrow")
    module.INTERFACE = plugin.INTERFACE + 1  # type: ignore[attr-defined]
    monkeypatch.setitem(__import__("sys").modules, "of_tomorrow", module)
    loaded = plugin._load(EntryPoint("tomorrow", "of_tomorrow", plugin.GROUP))
    assert "the plug-in was made by a newer voronym" in loaded.problem
    assert loaded.problem.endswith("upgrade voronym")
    module.INTERFACE = plugin.INTERFACE  # type: ignore[attr-defined]
    assert plugin._load(EntryPoint("today", "of_tomorrow", plugin.GROUP)).problem == ""


def test_every_file_says_which_version_made_it(tmp_path: Path) -> None:
    made = vr.quantize.Quantizer(np.zeros((1, 2)), np.zeros(1))
    made.save(tmp_path / "q.json")
    assert json.loads((tmp_path / "q.json").read_text(encoding="utf-8"))["voronym"] == vr.__version__
    Ledger.new(tmp_path / "l.ledger")
    with sqlite3.connect(tmp_path / "l.ledger") as base:
        assert base.execute("select value from facts where name = 'voronym'").fetchone() == (vr.__version__,)
    assert vr.Recipe.load(OLD / "recipe.toml").versions["voronym"] == "0.1.0"


def test_pages_lists_and_figures_say_which_version_made_them(tmp_path: Path) -> None:
    from voronym.cli.check import write_checklist
    from voronym.policy import check
    from voronym.run.parts.watching import Watch

    made = check(vr.datasets.hospital(60, seed=1), "internal-research", keys=["age"])
    for suffix in ("html", "json", "txt"):
        write_checklist(made, tmp_path / f"list.{suffix}")
    generator = f'<meta name="generator" content="voronym {vr.__version__}">'
    assert generator in (tmp_path / "list.html").read_text(encoding="utf-8")
    assert json.loads((tmp_path / "list.json").read_text(encoding="utf-8"))["voronym"] == vr.__version__
    assert (tmp_path / "list.txt").read_text(encoding="utf-8").endswith(f"voronym {vr.__version__}.\n")
    assert f'voronym_build_info{{version="{vr.__version__}"}} 1' in Watch().text()


def test_what_the_location_service_gives_says_which_version_made_it(tmp_path: Path) -> None:
    from location.town_hall import join, service
    from voronym_location.metrics import Metrics
    from voronym_location.model import Census, Model

    assert f'voronym_build_info{{version="{vr.__version__}"}} 1' in Metrics().text(None, True)
    places = np.random.default_rng(1).normal(0.0, 0.02, (40, 2)) + np.array([48.0, 11.0])
    model = Model.design(Census(places, np.full(40, 10.0), 1000.0), 3)
    assert model.to_dict()["voronym"] == vr.__version__
    with service(tmp_path) as server:
        assert server.export(join(server, "ada@example.org"))["voronym"] == vr.__version__
