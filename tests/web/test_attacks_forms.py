"""Attacks by recipes and forms: none opens a file, none gets past the house's own checks."""

from __future__ import annotations

import pytest

from web.house import finished, roles, upload
from web.target import SCRIPT, Target

pytestmark = pytest.mark.usefixtures("unharmed")

SCHEMA = '[schema]\n[[schema.columns]]\nname = "age"\nrole = "key"\nkind = "numeric"\n'
RECIPES = {
    "no toml": "k = = 3",
    "no text": "\udcff",
    "deep": "a = " + "[" * 5000 + "]" * 5000,
    "unknown entries": 'shell = "rm -rf"\n' + SCHEMA,
    "a hierarchy in a file": 'space = "mixed"\n[options.metrics]\nage = "taxonomy=/etc/passwd"\n' + SCHEMA,
    "a population in a file": 'models = ["k-map=3,population\\t=/etc/passwd"]\n' + SCHEMA,
    "a taxonomy in a file": 'models = ["t-closeness=0.2,taxonomy=/etc/passwd"]\n' + SCHEMA,
    "a hierarchy of ranges in a file": '[options]\npublish = {age = "hierarchy"}\n'
    'hierarchies = {age = "/etc/passwd"}\n' + SCHEMA,
    "a hierarchy of a step in a file": 'steps = ["recode age level=1 hierarchy=/etc/passwd"]\n' + SCHEMA,
    "a population as an option": '[options]\npopulation = "/etc/passwd"\n' + SCHEMA,
    "no schema": "k = 5",
    "large": "# " + "x" * (1 << 20),
    "a wrong type": "k = []\n" + SCHEMA,
}


@pytest.mark.parametrize("what", RECIPES)
def test_a_recipe_that_should_not_be(target: Target, what: str) -> None:
    content = RECIPES[what].encode("utf-8", "surrogateescape")
    for place in ("/recipe", f"{target.place}/recipe"):
        answer = target.client.post(place, content=content)
        assert answer.status_code == 422
        assert answer.json()["field"] == "recipe"
        assert "root:" not in answer.text


FORMS = [
    {"k": "5; rm -rf /"},
    {"k": "-1"},
    {"k": "1e400"},
    {"k": "NaN"},
    {"k": "9" * 4000},
    {"k": "[" * 3000},
    {"k": "true"},
    {"k": ""},
    {"k": "3", "method": "__import__"},
    {"k": "3", "models": "t-closeness=0.2,taxonomy=/etc/passwd"},
    {"k": "3", "models": "delta-presence=0.2,population = /etc/passwd"},
    {"k": "3", "steps": "recode town level=1 hierarchy=/etc/passwd"},
    {"k": "3", "steps": "top nobody=3"},
    {"k": "3", "steps": f"round age={SCRIPT}"},
    {"k": "3", "rules": "1", "suppress": "many"},
    {"k": "3", "rules": "1", "publish": "everything"},
    {"k": "3", "seed": "x"},
    {"k": "3", "time_limit": "NaN"},
    {"k": "3", "models": "k-anonymity=999"},
    {"k": "3", "t-closeness": "1", "t-closeness-value": SCRIPT},
]


@pytest.mark.parametrize("number", range(len(FORMS)))
def test_a_protection_that_should_not_be(target: Target, number: int) -> None:
    answer = target.client.post(f"{target.place}/protect", data=FORMS[number])
    assert answer.status_code == 422
    assert "<script>alert" not in answer.text
    assert "root:" not in answer.text
    assert "defect" not in answer.text


def test_forms_that_are_none(target: Target) -> None:
    heads = {"content-type": "application/x-www-form-urlencoded"}
    for content in (b"a=1&" * 50_000, b"k=" + b"9" * (5 << 20), b"k=%ff%fe&role-0=\xff", b"\0" * 100):
        answer = target.client.post(f"{target.place}/read", content=content, headers=heads)
        assert answer.status_code in (200, 422)
    file = {"k": "3", "models": "t-closeness=0.2,taxonomy=/etc/passwd"}
    target.client.post(f"{target.place}/protect", data=file)  # hides nothing that is wrong with the columns
    answer = target.client.post(
        f"{target.place}/roles",
        data={"role-0": "king", "kind-1": SCRIPT, "person": "99999999999", "latitude": "-1"},
    )
    assert answer.status_code == 422
    assert "<script>alert" not in answer.text
    good = roles({"who": "identifier", "age": "key", "town": "other"})
    assert target.client.post(f"{target.place}/roles", data=good).status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "/t/nobody/read",
        "/t/..%2f..%2fetc/read",
        "/t/../../etc/passwd",
        "TABLE/run/0",
        "TABLE/run/99999999999999999999",
        "TABLE/result/1/release",
        "TABLE/result/-1",
        "/static/../serve.py",
        "/page.js/../../serve.py",
        "/%00",
        "/" + "a" * 30_000,
    ],
)
def test_a_page_that_is_not_there(target: Target, path: str) -> None:
    answer = target.client.get(path.replace("TABLE", target.place))
    assert answer.status_code == 404
    assert "import" not in answer.text


def test_an_earlier_run_keeps_the_way_in_which_its_table_was_read(target: Target) -> None:
    client, text = target.client, b"who;age\n" + b"".join(b"n%d;%d,5\n" % (i, 20 + i % 7) for i in range(20))
    place = upload(client, "amounts.csv", text).json()["go"].rpartition("/")[0]
    for reading in (
        {"decimal": ",", "delimiter": ";"},
        {"decimal": ",", "delimiter": ";", "missing": "20,5"},
    ):
        assert client.post(f"{place}/read", data=reading).status_code == 200
        client.post(f"{place}/roles", data=roles({"who": "identifier", "age": "key"}))
        client.post(f"{place}/protect", data={"k": "3", "method": "mdav"})
        number = "1" if "missing" not in reading else "2"
        finished(client, f"{place}/run/{number}")
    commands = [client.get(f"{place}/result/{number}").text for number in (1, 2)]
    assert ["--missing" in page for page in commands] == [False, True]
    client.post(f"{place}/result/1/back")
    assert 'value="999"' not in client.get(f"{place}/read").text
    client.post(f"{place}/forget")
