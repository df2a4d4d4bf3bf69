"""What the page makes, the command line makes again; what it refuses, it refuses in the same words."""

from __future__ import annotations

import csv
import html
import shlex
from collections import Counter
from pathlib import Path

import pytest
from typer.testing import CliRunner

from voronym import datasets
from voronym.cli import app
from web.house import House, finished, roles, upload
from web.target import CANARY

ROLES = {
    "name": "identifier", "patient_id": "identifier", "age": "key", "sex": "key", "zip": "key",
    "nationality": "key", "admitted": "other", "weight": "key", "diagnosis": "confidential", "days": "other",
    "cost": "other",
}  # fmt: skip
KEYS = [name for name, role in ROLES.items() if role == "key"]


def rows(path: Path) -> Counter[tuple[str, ...]]:
    with path.open(newline="", encoding="utf-8") as file:
        return Counter(map(tuple, csv.reader(file)))


@pytest.fixture(scope="module", autouse=True)
def files(running: House) -> None:
    table = datasets.hospital(120, seed=3).with_columns(days=datasets.hospital(120, seed=3)["days"])
    table = table.with_columns(name=table["name"].replace(table["name"][0], CANARY))
    table.write_csv(running.folder / "patients.csv")


def test_a_release_of_the_page_is_that_of_its_recipe_and_of_its_command(page: House, tmp_path: Path) -> None:
    source = page.folder / "patients.csv"
    with page.enter() as client:
        place = upload(client, "patients.csv", source.read_bytes()).json()["go"].rpartition("/")[0]
        live = client.post(f"{place}/alone", data=roles(ROLES)).json()["set"]
        assert live["alone"].startswith("120 of 120 people stand alone")
        wrong = client.post(f"{place}/roles", data=roles({**ROLES, "patient_id": "key"}))
        assert wrong.status_code == 422
        assert "error-column-1" in wrong.text
        assert client.post(f"{place}/roles", data=roles(ROLES)).status_code == 200
        for field, value, sentence in (
            ("k", "five", "k must be a whole number, 1 or more, not 'five'"),
            ("k", "", "say how many people are to look alike"),
            (
                "suppress",
                "many",
                "“Records that may be left out” must be a share of the records below a half",
            ),
            ("k", "121", "k=121"),
            ("time_limit", "-1", "“Seconds to search” must be a number of seconds"),
            ("method", "nonsense", "nonsense"),
            ("models", "no-such=2", "no-such"),
        ):
            wrong = client.post(f"{place}/protect", data={"k": "4", "rules": "1", field: value})
            assert wrong.status_code == 422, (field, value)
            beside = wrong.text.partition(f'id="error-{field}"')[2].partition("</p>")[0]
            assert sentence in html.unescape(beside), (field, beside)
        given = {"k": "4", "ticket": "once", "p-sensitive": "1", "p-sensitive-value": "2", "method": "mdav"}
        asked = client.post(f"{place}/protect", data=given)
        again = client.post(f"{place}/protect", data=given)
        assert asked.url == again.url
        done = finished(client, f"{place}/run/1")
        assert done.url.path == f"{place}/result/1"
        assert client.get(f"{place}/run/2").status_code == 404
        for name in ("release", "recipe", "report", "public"):
            answer = client.get(f"{place}/result/1/{name}?save=1")
            assert answer.headers["content-disposition"].startswith("attachment")
            (tmp_path / name).write_bytes(answer.content)
        command = html.unescape(done.text.partition('id="command">')[2].partition("</code>")[0])
        client.post(f"{place}/forget")
        assert page.files() == set()
    made = rows(tmp_path / "release")
    keys = [next(iter(made)).index(name) for name in KEYS]
    counted = Counter(tuple(row[i] for i in keys) for row in list(made.elements())[1:])
    assert min(counted.values()) >= 4
    assert CANARY not in (tmp_path / "public").read_text("utf-8")
    (tmp_path / "recipe.toml").write_bytes((tmp_path / "recipe").read_bytes())
    by_recipe = [
        "anonymize",
        str(source),
        "-o",
        str(tmp_path / "a.csv"),
        "--recipe",
        str(tmp_path / "recipe.toml"),
    ]
    words = shlex.split(command)[1:]
    words[1], words[3] = str(source), str(tmp_path / "b.csv")
    for arguments, file in ((by_recipe, "a.csv"), (words, "b.csv")):
        ended = CliRunner().invoke(app, arguments)
        assert ended.exit_code == 0, ended.output
        assert rows(tmp_path / file) == made


def test_a_recipe_is_opened_before_its_table(page: House) -> None:
    recipe = "\n".join(
        ['method = "mdav"', "k = 3", "[schema]"]
        + [
            f'[[schema.columns]]\nname = "{name}"\nrole = "{role}"\nkind = "{kind}"'
            for name, role, kind in (("a", "key", "numeric"), ("b", "confidential", "nominal"))
        ]
    )
    with page.enter() as client:
        assert client.post("/recipe?name=r.toml", content=recipe).json() == {"go": "/"}
        assert "A recipe waits" in client.get("/").text
        table = "a,b\n" + "".join(f"{i},{'xyz'[i % 3]}\n" for i in range(12))
        place = upload(client, "small.csv", table.encode()).json()["go"].rpartition("/")[0]
        assert 'name="k" value="3"' in client.get(f"{place}/protect").text
        client.post(f"{place}/forget")


@pytest.mark.slow
def test_one_run_works_and_three_wait(page: House) -> None:
    with page.enter() as client:
        table = datasets.hospital(1000, seed=1).select("age", "weight", "cost", "days").write_csv().encode()
        place = upload(client, "long.csv", table).json()["go"].rpartition("/")[0]
        client.post(f"{place}/roles", data=roles(dict.fromkeys(["age", "weight", "cost", "days"], "key")))
        given = {"k": "5", "time_limit": "60"}
        for _ in range(4):
            assert client.post(f"{place}/protect", data=given).status_code == 200
        full = client.post(f"{place}/protect", data=given)
        assert full.status_code == 422
        assert "one run is at work and 3 wait" in full.text
        for number in (4, 3, 2, 1):
            assert "Cancelled" in client.post(f"{place}/run/{number}/cancel").text
        client.post(f"{place}/forget")
