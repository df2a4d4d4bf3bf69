"""Model mode: cells of equal shares, a probability that holds, and clients that agree."""

from __future__ import annotations

import json
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from voronym.errors import InputError, ReadError
from voronym_location.client import Client, Refused
from voronym_location.model import Census, Model
from voronym_location.town import Town

SCRIPT = files("voronym_location") / "static" / "voronym-location.js"


def census_of(town: Town, width: float = 500.0) -> Census:
    """Count a town's homes in squares, as an office would."""
    step = np.array([width / 111_195.0, width / 111_195.0 / np.cos(np.radians(48.137))])
    squares, many = np.unique(np.floor(town.homes / step), axis=0, return_counts=True)
    return Census((squares + 0.5) * step, many.astype(float), width)


@pytest.fixture(scope="module")
def made() -> tuple[Model, Town]:
    town = Town.make(60_000, seed=21)
    return Model.design(census_of(town), 40, samples=8_000, seed=1), town


def test_the_interval_covers_what_happens(made):
    model, town = made
    rng = np.random.default_rng(5)
    inside = reached = trials = 0
    chance = model.chance(2000, 40)
    for _ in range(60):  # other users each time, drawn from the homes themselves and not from the census
        users = town.homes[rng.choice(len(town.homes), 2000, replace=False)]
        sizes = np.bincount(model.assign(*users.T), minlength=40)
        inside += int(((sizes >= chance.interval[0]) & (sizes <= chance.interval[1])).sum())
        reached += int(sizes[sizes >= 40].sum())
        trials += 1
    assert inside / (40 * trials) >= 0.95
    assert chance.low <= reached / (2000 * trials) <= chance.high
    assert chance.interval[0] > 10
    assert chance.interval[1] < 120


def test_it_never_says_k(made):
    words = str(made[0].chance(2000, 40))
    assert "probability" in words
    assert "not a promise of k" in words
    assert "promises no k" in made[0].to_dict()["says"]
    assert "k" not in made[0].to_dict()  # there is no field that could be taken for one


def test_cells_that_would_tell_about_single_homes_are_refused():
    census = Census(np.array([[48.0, 11.0], [48.01, 11.0]]), np.array([300.0, 200.0]), 1000.0)
    with pytest.raises(InputError, match="single homes"):
        Model.design(census, 50)


def test_a_file_gives_the_same_model(made, tmp_path):
    model, town = made
    path = model.save(tmp_path / "model.json")
    again = Model.load(path)
    assert again.quantizer == model.quantizer
    assert (again.share, again.doubt) == (model.share, model.doubt)
    client = Client.load(path)
    some = town.homes[:400]
    assert [client.assign(*home) for home in some.tolist()] == model.assign(*some.T).tolist()
    assert client.place(*some[0]) == pytest.approx(tuple(model.place(*some[0])))


@pytest.mark.parametrize("change", [{"format": "x"}, {"version": 2}, {"cells": []}, {"cells": [[1, 2, 3]]},
                                    {"places": [[1, 2]]}, {"share": "NaN"}])  # fmt: skip
def test_other_files_are_refused(made, tmp_path, change):
    path = tmp_path / "model.json"
    path.write_text(json.dumps({**made[0].to_dict(), **change}), encoding="utf-8")
    with pytest.raises(Refused):
        Client.load(path)
    with pytest.raises(ReadError):
        Model.load(path)


def node(code: str, *arguments: str) -> str:
    if shutil.which("node") is None:
        pytest.skip("Node is not installed: the JavaScript client is not tried")
    done = subprocess.run(
        ["node", "-e", code, "--", *arguments], capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_javascript_assigns_as_python_does(made, tmp_path):
    model, _ = made
    rng = np.random.default_rng(8)
    near = model.places[rng.integers(40, size=3000)] + rng.normal(0, 0.02, (3000, 2))
    far = np.stack([rng.uniform(-90, 90, 1000), rng.uniform(-360, 360, 1000)], axis=1)
    homes = np.concatenate([near, far])
    path, points = model.save(tmp_path / "model.json"), tmp_path / "homes.json"
    points.write_text(json.dumps(homes.tolist()), encoding="utf-8")
    code = """
        const fs = require("fs"), [script, model, homes] = process.argv.slice(-3);
        const location = require(script), read = location.read(fs.readFileSync(model, "utf8"));
        const places = JSON.parse(fs.readFileSync(homes, "utf8"));
        const cells = places.map((home) => location.assign(read, home[0], home[1]));
        console.log(JSON.stringify([cells, location.place(read, 48, 11)]));
    """
    cells, place = json.loads(node(code, str(SCRIPT), str(path), str(points)))
    assert cells == model.assign(*homes.T).tolist()
    assert place == pytest.approx(model.place(48.0, 11.0).tolist())
    client = Client.load(path)
    assert cells == [client.assign(*home) for home in homes.tolist()]


def test_javascript_verifies_statements():
    ed25519 = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ed25519")
    from base64 import b64encode

    key = ed25519.Ed25519PrivateKey.generate()
    public = b64encode(key.public_key().public_bytes_raw()).decode()
    signed = json.dumps({"latitude": 48.1, "longitude": 11.5, "town": "Münster"}, ensure_ascii=False)
    signature = b64encode(key.sign(signed.encode())).decode()
    code = """
        const [script, signed, signature, key] = process.argv.slice(-4), location = require(script);
        const other = signed.replace("48.1", "48.2");
        Promise.all([location.verify(signed, signature, key), location.verify(other, signature, key)])
            .then((found) => console.log(JSON.stringify(found)));
    """
    assert json.loads(node(code, str(SCRIPT), signed, signature, public)) == [True, False]


def test_the_command_designs_a_model_and_says_a_probability(tmp_path):
    from typer.testing import CliRunner

    from voronym.cli import app

    grid, out = tmp_path / "census.csv", tmp_path / "model.json"
    grid.write_text("latitude,longitude,people\n48.1,11.5,900\n48.1,11.52,700\n48.12,11.5,400\n", "utf-8")
    words = ["location", "model", str(grid), "-o", str(out), "--cells", "8", "--users", "400"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert "probability" in done.stdout
    assert len(Client.load(out).cells) == 8
    wrong = CliRunner().invoke(app, [*words[:-3], "500", "--overwrite"])
    assert "single homes" in str(wrong.exception)


@pytest.mark.parametrize(
    ("row", "sentence"),
    [("48.1,11,many", "people must be numbers"), ("98,11,10", "1 squares"), ("48,11,", "number of people")],
)
def test_a_census_that_is_none_is_said(tmp_path: Path, row: str, sentence: str) -> None:
    file = tmp_path / "census.csv"
    file.write_text(f"latitude,longitude,people\n48,11,1000\n48.2,11,500\n{row}\n")
    with pytest.raises(InputError, match=sentence):
        Census.read(file, 1000.0)
