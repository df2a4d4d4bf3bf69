"""Files that choices need, and projects of ARX: given to the page, never opened by their names."""

from __future__ import annotations

import contextlib
import html
import io
import re
import sqlite3
import time
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import httpx
import polars as pl
import pytest

import voronym as vr
from arx.test_import import project
from voronym.policy.judge import check
from web.house import House, finished, house, upload

POLICY = """\
format = 1
name = "ours"
title = "Our own rule"
version = "1"
date = 2026-01-01
source = "The house"
note = "No legal advice."

[[groups]]
demand = "k"
least = 7
says = "Seven look alike"
source = "1"
"""
ROLES = {"age": "key", "sex": "key", "diagnosis": "confidential"}


@pytest.fixture(scope="module", autouse=True)
def files(running: House) -> None:
    people = vr.datasets.hospital(600, seed=4).select("age", "sex", "diagnosis")
    people.select("age", "sex").write_csv(running.folder / "everybody.csv")
    people.head(120).write_csv(running.folder / "people.csv")


def shown(client: httpx.Client, place: str, *texts: str) -> str:
    """Wait for texts in the preview, or for its end."""
    for _ in range(300):
        answer = client.get(f"{place}/sketch")
        text = html.unescape(answer.text)
        if "x-more" not in answer.headers or all(part in text for part in texts or ("\0",)):
            return text
        time.sleep(0.1)
    raise AssertionError("the preview did not end")


def opened(client: httpx.Client, page: House) -> str:
    """Open the table, with roles and a quick method."""
    place: str = upload(client, "people.csv", (page.folder / "people.csv").read_bytes()).json()["go"]
    place = place.rpartition("/")[0]
    given = {f"role-{i}": role for i, role in enumerate(ROLES.values())}
    client.post(f"{place}/keep", data={"screen": "roles", **given})
    client.post(f"{place}/keep", data={"screen": "protect", "k": "", "method": "mdav"})
    return place


def send(client: httpx.Client, place: str, what: str, name: str, content: bytes) -> Any:
    return client.post(f"{place}/given", params={"what": what, "name": name}, content=content)


def test_a_policy_and_a_population_of_ones_own(page: House) -> None:
    with page.enter() as client:
        place = opened(client, page)
        for what, name, content, sentence in (
            ("policy", "ours.toml", b"format = 1\nname = 3\n", "line"),
            ("policy", "ours.csv", POLICY.encode(), "TOML"),
            ("population", "nobody.csv", b"", "empty"),
            ("zips", "zips.csv", b"a,b\n1,2\n", "choose the purpose of the file"),
        ):
            wrong = send(client, place, what, name, content)
            assert (wrong.status_code, wrong.json()["field"]) == (422, "given")
            assert sentence in wrong.json()["error"]
        assert send(client, place, "policy", "../../ours.toml", POLICY.encode()).status_code == 200
        everybody = (page.folder / "everybody.csv").read_bytes()
        assert send(client, place, "population", "every body.csv", everybody).status_code == 200
        words = client.get(f"{place}/command").text
        assert "--policy ours.toml" in words
        assert "--population every_body.csv" in words
        text = shown(client, place, "Our own rule", "people in the population")
        assert "Our own rule: Of 1 demands, 1 holds" in text
        assert "600 people in the population, 20 % in the table" in text
        made = finished(client, str(client.post(f"{place}/protect", data={"kept": "1"}).url.path))
        assert "Risk in the population" in made.text
        text = client.get(f"{made.url}/recipe").text
        recipe = tomllib.loads(text)
        assert (recipe["policy"], recipe["population"], recipe["k"]) == ("ours.toml", "every_body.csv", 7)
        client.post(f"{place}/undo", data={"screen": "bench"})
        assert client.post(f"{place}/recipe", content=text.encode()).status_code == 200
        assert "--population every_body.csv" in client.get(f"{place}/command").text
        assert client.get(f"{place}/given/ours.toml").text == POLICY
        assert client.get(f"{place}/given/..%2fpeople.csv").status_code == 404
        assert str(page.folder) not in client.get(f"{made.url}/report").text
        client.post(f"{place}/keep", data={"screen": "protect", "further-population": "/etc/hostname"})
        wrong = client.post(f"{place}/protect", data={"kept": "1"})
        assert wrong.status_code == 422
        assert "opens no files by their names" in html.unescape(wrong.text)
        client.post(f"{place}/forget")


def test_a_release_is_checked_by_a_policy(page: House) -> None:
    content = (page.folder / "people.csv").read_bytes()
    with page.enter() as client:
        place = client.post("/judge", params={"name": "release.csv"}, content=content).json()["go"]
        send(client, place.rpartition("/")[0], "policy", "ours.toml", POLICY.encode())
        form = {f"role-{i}": role for i, role in enumerate(ROLES.values())}
        text = html.unescape(client.post(place, data={**form, "policy": "ours.toml"}).text)
        client.post(f"{place.rpartition('/')[0]}/forget")
    table = pl.read_csv(page.folder / "people.csv")
    made = check(table, vr.policy.Policy.parse(POLICY), keys=["age", "sex"], confidential=["diagnosis"])
    assert made.summary in text
    assert all(item.figure in text and item.change in text for item in made.items)
    assert "voronym check release.csv --key age,sex --confidential diagnosis --policy ours.toml" in text


def test_a_project_of_arx_with_its_table_and_without(page: House, tmp_path: Path) -> None:
    criteria = ("4-anonymity", "0.6-closeness with hierarchical distance for attribute 'ill'", "(10)-map")
    whole = project(tmp_path / "clinic.deid", criteria=criteria).read_bytes()
    bare = project(tmp_path / "bare.deid", entries={"data/input.csv": None}).read_bytes()
    with page.enter() as client:
        wrong = client.post("/arx", params={"name": "x.deid"}, content=b"PK\x03\x04 nothing")
        assert (wrong.status_code, wrong.json()["field"]) == (422, "arx")
        place = client.post("/arx", params={"name": "clinic.deid"}, content=whole).json()["go"]
        place = place.rpartition("/")[0]
        text = html.unescape(client.get(f"{place}/roles").text)
        assert "(10)-map: k-map asks for a population" in text
        assert "20; 20-29; *" in text
        words = client.get(f"{place}/command").text
        assert "--key age,zip" in words
        assert "--method lattice" in words
        made = finished(client, str(client.post(f"{place}/protect", data={"kept": "1"}).url.path))
        recipe = tomllib.loads(client.get(f"{made.url}/recipe").text)
        assert recipe["k"] == 4
        assert tuple(recipe["models"]) == ("t-closeness=0.6,taxonomy=ill.csv,column=ill",)
        client.post(f"{place}/forget")
        assert client.post("/arx", params={"name": "bare.deid"}, content=bare).json()["go"] == "/"
        assert "A recipe waits: method lattice, keys age and zip" in client.get("/").text
        table = b"name;age;zip;ill;note\nA;20;08001;flu;x\nB;21;08002;ulcer;y\n"
        place = upload(client, "people.csv", table).json()["go"].rpartition("/")[0]
        assert "-k 5" in client.get(f"{place}/command").text
        client.post(f"{place}/forget")


def test_many_files_and_a_folder_are_released_over_parts(tmp_path: Path) -> None:
    people = vr.datasets.hospital(240, seed=4).select("age", "sex", "diagnosis")
    (tmp_path / "people").mkdir()
    for number in range(3):
        people[80 * number : 80 * number + 80].write_csv(tmp_path / "people" / f"part{number}.csv")
    with house(tmp_path, "people") as page, page.enter() as client:
        opened = str(client.get("/").text)
        assert "people</a>, 240 rows" in opened
        place = "/t/" + opened.partition('href="/t/')[2].partition('"')[0]
        sent = {"set": "a-set-of-files", "of": "3"}
        for number in range(3):
            content = (tmp_path / "people" / f"part{number}.csv").read_bytes()
            answer = client.post("/parts", params={**sent, "name": f"part{number}.csv"}, content=content)
        other = answer.json()["go"].rpartition("/")[0]
        wrong = client.post("/parts", params={**sent, "name": "part.exe"}, content=b"x")
        assert (wrong.status_code, wrong.json()["field"]) == (422, "file")
        for table in (place, other):
            assert "240 rows in 3 files" in client.get(f"{table}/read").text
            given = {f"role-{i}": role for i, role in enumerate(ROLES.values())}
            client.post(f"{table}/keep", data={"screen": "roles", **given})
            client.post(f"{table}/keep", data={"screen": "protect", "k": "6", "method": "mdav"})
            assert "voronym anonymize" in client.get(f"{table}/command").text
            assert "-o release " in client.get(f"{table}/command").text
        text = shown(client, place, "one: released as a table in memory")
        assert re.search(r"\d+ rows in 3 files", text)
        assert "one: released as a table in memory" in text
        made = finished(client, str(client.post(f"{place}/protect", data={"kept": "1"}).url.path))
        assert "/result/" in str(made.url), made.text
        archive = zipfile.ZipFile(io.BytesIO(client.get(f"{made.url}/release").content))
        rows = pl.concat(
            pl.read_csv(archive.read(name)) for name in archive.namelist() if name.endswith(".csv")
        )
        assert len(rows) == 240
        assert rows.group_by("age", "sex").len()["len"].min() >= 6
        assert "Do not publish it" in client.get(f"{made.url}/report").text


def test_a_table_of_a_database(page: House, tmp_path: Path) -> None:
    with contextlib.closing(sqlite3.connect(tmp_path / "clinic.db")) as base:
        base.execute("create table b (age int, sex text, diagnosis text)")
        base.execute("create table a (x int)")
        rows = pl.read_csv(page.folder / "people.csv").rows()
        base.executemany("insert into b values (?, ?, ?)", rows)
        base.execute("insert into a values (1)")
        base.commit()
    with page.enter() as client:
        answer = upload(client, "clinic.db", (tmp_path / "clinic.db").read_bytes())
        place = answer.json()["go"].rpartition("/")[0]
        assert "Table of the database" in client.get(f"{place}/read").text
        for query in ("select * from b", "select * from \"b\" union select * from read_csv('/etc/hosts')"):
            wrong = client.post(f"{place}/read", data={"query": query})
            assert wrong.status_code == 422
            assert "whole tables of a database" in wrong.text
        assert client.post(f"{place}/read", data={"query": 'select * from "b"'}).status_code == 200
        assert "clinic.db, 120 rows" in client.get(f"{place}/roles").text
        assert "--query" in client.get(f"{place}/command").text
        client.post(f"{place}/forget")
