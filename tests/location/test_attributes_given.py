"""Attributes on their way in: declared by the operator, given by people, by the API and by a directory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from location.attributes import ASKED, PERSON, entries
from location.client import clients, of
from location.town_hall import join, service
from location.visitor import Visitor, joined
from voronym.errors import InputError
from voronym_location.attributes import Attributes
from voronym_location.directory import read_rows
from voronym_location.errors import BadRequest


@pytest.mark.parametrize(
    ("declared", "says"),
    [
        ({"kind": "number"}, "kind: one of numeric, ordinal, nominal"),
        ({"kind": "numeric", "low": 5}, "'low' and 'high'"),
        ({"kind": "numeric", "low": 5, "high": 1}, "'low' and 'high'"),
        ({"kind": "numeric", "low": 0, "high": 9, "values": ["a"]}, "take it out"),
        ({"kind": "numeric", "low": "0", "high": 9}, "must be a number"),
        ({"kind": "nominal", "values": ["a", "a"]}, "2 to 64 different texts"),
        ({"kind": "nominal"}, "2 to 64 different texts"),
        ({"kind": "ordinal", "values": "abc"}, "2 to 64 different texts"),
        ({"kind": "numeric", "low": 0, "high": 9, "importance": 0}, "above 0"),
        ({"kind": "numeric", "lwo": 0, "high": 9}, "low"),
    ],
)
def test_wrong_declarations_are_refused(tmp_path: Path, declared: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says), service(tmp_path, attributes={"age": declared}):
        pass


def test_wrong_names_and_places_of_declarations_are_refused(tmp_path: Path, monkeypatch: Any) -> None:
    from voronym_location.settings import ServiceSettings

    for name in ("latitude", "Age", "my age"):
        with pytest.raises(InputError, match="another name"):
            Attributes.of({name: ASKED["born"]})
    file = tmp_path / "location.toml"
    file.write_text("[attributes]\nborn = 3\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"\[attributes.NAME\]"):
        ServiceSettings.load(file)
    file.write_text('[attributes.born]\nkind = "numeric"\nlow = 1900\nhigh = 2026\n', encoding="utf-8")
    loaded = ServiceSettings.load(file)
    assert Attributes.of(ServiceSettings.from_json(loaded.to_json()).attributes).names == ("born",)
    monkeypatch.setenv("VORONYM_LOCATION_ATTRIBUTES", "born")
    with pytest.raises(InputError, match="file of settings"):
        ServiceSettings.load(file)


@pytest.mark.parametrize(
    ("sent", "says"),
    [
        ({}, "born, schooling, sex"),
        ({"born": 1980, "sex": "f"}, "schooling is missing"),
        (PERSON | {"born": 3000}, "number from 1900 to 2026"),
        (PERSON | {"born": True}, "number from 1900 to 2026"),
        (PERSON | {"sex": "female-77"}, "one of: f, m, x"),
        (PERSON | {"shoes": 41}, "asks for: born, schooling, sex"),
    ],
)
def test_wrong_attributes_are_refused_and_not_repeated(
    tmp_path: Path, sent: dict[str, Any], says: str
) -> None:
    with pytest.raises(BadRequest, match=says) as refused:
        Attributes.of(ASKED).write(sent)
    assert not any(value in str(refused.value) for value in ("3000", "female-77", "shoes", "41"))


def test_attributes_travel_by_the_api_and_by_a_directory(tmp_path: Path) -> None:
    with clients(tmp_path, attributes=ASKED) as client:
        server = of(client)
        words = {"authorization": f"Bearer {join(server, 'ada@example.org')}"}
        asked = client.get("/v1/attributes", headers=words).json()
        assert [item["name"] for item in asked] == list(ASKED)
        place = {"latitude": 48.0, "longitude": 11.0}
        refused = client.put("/v1/home", json=place, headers=words)
        assert refused.status_code == 400
        assert "born is missing" in refused.text
        assert client.put("/v1/home", json=place | {"attributes": PERSON}, headers=words).status_code == 200
        assert client.get("/v1/home", headers=words).json()["attributes"] == PERSON
    head = "address,latitude,longitude,email,born,schooling"
    with pytest.raises(BadRequest, match="column 'sex'"):
        list(read_rows([head, "a,48,11,a@example.org,1980,school"], 9, Attributes.of(ASKED)))
    lines = [
        f"{head},sex",
        "a,48,11,a@example.org,1980,school,f",
        "b,48,11,,,,",
        "c,48,11,c@example.org,80,school,f",
    ]
    with pytest.raises(BadRequest, match=r"line 4 .*1900 to 2026"):
        list(read_rows(lines, 9, Attributes.of(ASKED)))
    rows = list(read_rows(lines[:3], 9, Attributes.of(ASKED)))
    assert [json.loads(row.attributes or "{}") for row in rows] == [PERSON, {}]


def test_the_pages_ask_for_attributes_and_show_those_of_the_group(tmp_path: Path) -> None:
    with clients(tmp_path, attributes=ASKED) as client:
        server = of(client)
        server.import_directory(entries(40))
        visitor = Visitor(client.app).sign_in(joined(server, "p3@example.org"))
        here = entries(40)[3]
        form = {"latitude": str(here.latitude), "longitude": str(here.longitude), "span": "500"}
        form |= {"chosen": "1", "do": "use"}
        assert visitor.get("/home").text.count('name="attribute-') == 3
        wrong = visitor.post("/home", form | {"attribute-born": "1750", "attribute-sex": "f"}, page="/home")
        assert wrong.status_code == 400
        assert 'value="1750"' in wrong.text
        sent = {f"attribute-{name}": str(value) for name, value in PERSON.items()}
        assert visitor.post("/home", form | sent, page="/home").status_code == 303
        server.run_epoch()
        assert visitor.get("/me").text.count("of your group") == 3
