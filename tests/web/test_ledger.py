"""Releases every month on the page: the ledger comes as an upload and goes with the release."""

from __future__ import annotations

import io
import shlex
import zipfile
from collections import Counter
from pathlib import Path

import httpx
import polars as pl
import pytest

from voronym import datasets
from voronym.history.ledger import Ledger
from web.house import House, finished, upload

COLUMNS = {"id": "identifier", "age": "key", "sex": "key", "diagnosis": "confidential"}


def month(rows: int) -> bytes:
    table = datasets.hospital(100, seed=4).select("age", "sex", "diagnosis")
    return table.with_columns(id=pl.Series([f"P{i:04d}" for i in range(100)]))[:rows].write_csv().encode()


def opened(client: httpx.Client, content: bytes, **choices: str) -> str:
    place: str = upload(client, "people.csv", content).json()["go"].rpartition("/")[0]
    order = content.split(b"\n", 1)[0].decode().split(",")
    client.post(
        f"{place}/keep", data={"screen": "roles", **{f"role-{i}": COLUMNS[n] for i, n in enumerate(order)}}
    )
    client.post(f"{place}/keep", data={"screen": "protect", "k": "4", "method": "mdav", **choices})
    return place


def released(client: httpx.Client, place: str) -> httpx.Response:
    answer = client.post(f"{place}/protect", data={"kept": "1"})
    assert answer.status_code == 200, answer.text
    return finished(client, str(answer.url).removeprefix(str(client.base_url)))


def taken(client: httpx.Client, result: httpx.Response, folder: Path) -> tuple[pl.DataFrame, bytes]:
    """Return the release and the ledger of a download."""
    with zipfile.ZipFile(io.BytesIO(client.get(f"{result.url}/release").content)) as archive:
        names = archive.namelist()
        assert names == ["release.csv", "releases.ledger"]
        (folder / "ledger").write_bytes(archive.read(names[1]))
        (folder / "ledger").chmod(0o600)
        return pl.read_csv(archive.read(names[0])), archive.read(names[1])


def test_next_month_builds_on_the_ledger_of_the_download(page: House, tmp_path: Path) -> None:
    with page.enter() as client:
        wrong = opened(client, month(100), **{"further-keep_groups": "1"})
        answer = client.post(f"{wrong}/protect", data={"kept": "1"})
        assert answer.status_code == 422
        assert "which a ledger knows: open one below" in answer.text
        client.post(f"{wrong}/forget")

        may = opened(client, month(100))
        client.post(f"{may}/ledger/change", data={"what": "new"})
        assert "A ledger begins with this release" in client.get(f"{may}/protect").text
        first = released(client, may)
        table, ledger = taken(client, first, tmp_path)
        assert len(Ledger(tmp_path / "ledger").entries) == 1
        assert "--ledger releases.ledger" in client.get(f"{may}/command").text
        client.post(f"{may}/forget")

        broken = opened(client, month(97))
        answer = client.post(f"{broken}/ledger", params={"name": "x.ledger"}, content=b"no database")
        assert answer.status_code == 422
        assert answer.json()["field"] == "ledger"
        assert "defect" not in answer.json()["error"]
        answer = client.post(f"{broken}/ledger", params={"name": "releases.ledger"}, content=ledger)
        assert "go" in answer.json(), answer.text
        refused = client.post(f"{broken}/protect", data={"kept": "1"})
        over = finished(client, str(refused.url).removeprefix(str(client.base_url)))
        assert "/run/" in str(over.url), "fresh groups tell three people apart who left"
        client.post(f"{broken}/forget")

        june = opened(client, month(97), **{"further-keep_groups": "1", "further-dissolved": "retire"})
        assert client.post(f"{june}/ledger", params={"name": "releases.ledger"}, content=ledger).json()["go"]
        assert '<th scope="row">1</th>' in client.get(f"{june}/protect").text
        second = released(client, june)
        assert "/result/" in str(second.url), second.text
        later, _ = taken(client, second, tmp_path)
        assert len(Ledger(tmp_path / "ledger").entries) == 2
        before, after = (Counter(frame.select("age", "sex").rows()) for frame in (table, later))
        assert min(after.values()) >= 4
        assert set(after) <= set(before), "groups are kept, and publish what they published"
        words = shlex.split(client.get(f"{june}/command").text)
        assert {"--keep-groups", "--dissolved", "--ledger"} <= set(words)


@pytest.mark.parametrize("name", ["release.csv", "../../x", "recipe.toml"])
def test_the_name_of_a_ledger_is_a_label(tmp_path: Path, name: str) -> None:
    from voronym.web.book import copy_to, packed
    from voronym.web.intake import label_of

    (tmp_path / "release.csv").write_text("age\n1\n", encoding="utf-8")
    Ledger.new(tmp_path / "given")
    copy_to(tmp_path, str(tmp_path / "given"))
    packed(tmp_path, "release.csv", label_of(name))
    with zipfile.ZipFile(tmp_path / "release.zip") as archive:
        assert archive.read("release.csv") == b"age\n1\n"
        assert len(set(archive.namelist())) == 2
        assert not any("/" in inner for inner in archive.namelist())


def test_two_releases_of_one_table_do_not_go_out_unchecked(page: House) -> None:
    """Other groups, the same ledger: refused, whether made before the download of the first or after."""
    with page.enter() as client:
        place = opened(client, month(100))
        client.post(f"{place}/ledger/change", data={"what": "new"})
        first = released(client, place)
        client.post(f"{place}/keep", data={"screen": "protect", "k": "7", "method": "mondrian"})
        second = released(client, place)  # nothing went out yet: whoever tries may try again
        assert client.get(f"{first.url}/release").status_code == 200
        assert client.get(f"{first.url}/release").status_code == 200
        answer = client.get(f"{second.url}/release")
        assert answer.status_code == 422
        assert "not checked against it" in answer.text
        assert "tell them apart" in released(client, place).text
