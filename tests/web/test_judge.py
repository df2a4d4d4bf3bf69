"""The second door: a release is judged as `voronym attack` judges it, with or without its original."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import voronym as vr
from voronym.attacks.ladder import quick_attacks
from voronym.cli import app
from web.house import House

ROLE = {"age": "key", "sex": "key", "diagnosis": "confidential"}


@pytest.fixture(scope="module", autouse=True)
def files(running: House) -> None:
    patients = vr.datasets.hospital(120, seed=3).select("age", "sex", "diagnosis", "cost")
    patients.write_csv(running.folder / "judged.csv")
    made = vr.anonymize(patients, keys=["age", "sex"], confidential=["diagnosis", "cost"], k=5, method="mdav")
    made.write(running.folder / "release.csv")


def test_a_release_is_judged_as_by_the_command(page: House) -> None:
    release, original = page.folder / "release.csv", page.folder / "judged.csv"
    with page.enter() as client:
        sent = client.post("/judge", params={"name": "release.csv"}, content=release.read_bytes())
        place = sent.json()["go"]
        assert client.get("/").text.count("Judge a release") == 1
        form = {f"role-{i}": ROLE.get(name, "other") for i, name in enumerate(vr.read(release).columns)}
        bare = client.post(place, data=form)
        assert bare.status_code == 200
        assert "give the table it was made from" in html.unescape(bare.text) or "Not tried" in bare.text
        table = place.rpartition("/")[0]
        beside = client.post(f"{table}/original", params={"name": "o.csv"}, content=original.read_bytes())
        assert beside.status_code == 200, beside.text
        shown = html.unescape(client.post(place, data=form).text)
        wrong = client.post(place, data=dict.fromkeys(form, "other"))
        assert wrong.status_code == 422
        assert "name the columns that an intruder may know" in html.unescape(wrong.text)
        client.post(f"{table}/forget")
    words = ["attack", str(release), "--original", str(original), "--key", "age,sex", "--json"]
    answer = CliRunner().invoke(
        app, [*words, "--confidential", "diagnosis", "--only", ",".join(quick_attacks())]
    )
    printed = json.loads(answer.stdout)["outcomes"]
    assert len(printed) > 6
    for item in printed:
        assert f"{item['attack']}: {item['says']}" in " ".join(re.sub("<[^>]+>", "", shown).split())


def test_a_wrong_original_is_refused_beside_its_field(page: House) -> None:
    with page.enter() as client:
        sent = client.post(
            "/judge", params={"name": "r.csv"}, content=Path(page.folder, "release.csv").read_bytes()
        )
        table = sent.json()["go"].rpartition("/")[0]
        output = client.post(f"{table}/original", params={"name": "../../etc/passwd"}, content=b"x")
        assert output.status_code == 422
        assert output.json()["field"] == "original"
        assert client.post("/judge", params={"name": "r.exe"}, content=b"x").json()["field"] == "judge"
        client.post(f"{table}/forget")
