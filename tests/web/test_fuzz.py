"""Random walks over the page: what it shows, what its recipe holds and what a release is made with agree."""

from __future__ import annotations

import html
import itertools
import random
import re
import shlex
from pathlib import Path
from typing import Any

import httpx
import pytest

import voronym as vr
from voronym import datasets
from voronym.request.command import ROLES
from voronym.web.settings import Settings
from web.house import House, finished, upload

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
COLUMNS = ["age", "sex", "zip", "weight", "diagnosis", "days"]
ROLE = {
    "age": "key",
    "sex": "key",
    "zip": "key",
    "weight": "other",
    "diagnosis": "confidential",
    "days": "other",
}


def fields(text: str) -> dict[str, str]:
    """Read the fields of a page as a browser would send them."""
    out = {}
    for tag in re.findall(r"<input [^>]*>", text):
        about = dict(re.findall(r'([\w-]+)="([^"]*)"', tag))
        kind, name = about.get("type", "text"), about.get("name")
        if name and (kind not in ("radio", "checkbox") or " checked" in tag):
            out[name] = html.unescape(about.get("value", ""))
    for name, body in re.findall(r'<select[^>]* name="([^"]+)"[^>]*>(.*?)</select>', text, re.S):
        options = re.findall(r"<option([^>]*)>([^<]*)</option>", body)
        chosen = next((option for option in options if " selected" in option[0]), options[0])
        value = re.search(r'value="([^"]*)"', chosen[0])
        out[name] = html.unescape(value[1] if value else chosen[1])
    for name, body in re.findall(r'<textarea[^>]* name="([^"]+)"[^>]*>(.*?)</textarea>', text, re.S):
        out[name] = html.unescape(body)
    return out


ACTIONS = ["role", "k", "seed", "steps", "differ", "undo", "redo", "pin", "choose", "look", "wrong", "stale"]


class Model:
    """What a person did, kept by code of its own: a list of states, as a person would expect it."""

    def __init__(self) -> None:
        self.past: list[dict[str, Any]] = [
            {**{f"role:{n}": r for n, r in ROLE.items()}, "k": "5", "seed": "", "steps": "", "differ": ""}
        ]
        self.at = 0
        self.pins: list[dict[str, Any]] = []

    @property
    def now(self) -> dict[str, Any]:
        return self.past[self.at]

    def set(self, **changed: str) -> None:
        after = {**self.now, **{name.replace("role_", "role:"): value for name, value in changed.items()}}
        if after != self.now:
            self.past = [*self.past[: self.at + 1], after]
            self.at += 1

    def move(self, steps: int) -> None:
        self.at = min(max(self.at + steps, 0), len(self.past) - 1)


def walk(client: httpx.Client, place: str, seed: int, actions: int) -> Model:
    rng, model = random.Random(seed), Model()
    client.post(
        f"{place}/keep", data={"screen": "roles", **{f"role-{i}": ROLE[n] for i, n in enumerate(COLUMNS)}}
    )
    client.post(f"{place}/keep", data={"screen": "protect", "k": "5", "method": "mdav"})
    first = client.get(f"{place}/state").json()["version"]
    for number in range(actions):
        what = rng.choice(ACTIONS)
        source = f"{seed}-{number}"
        if what == "role":
            i = rng.randrange(len(COLUMNS))
            role = rng.choice(list(ROLES))
            client.post(f"{place}/keep", data={"screen": "roles", "source": source, f"role-{i}": role})
            model.set(**{f"role_{COLUMNS[i]}": role})
        elif what in ("k", "wrong"):
            k = str(rng.randint(2, 9)) if what == "k" else rng.choice(["many", "-1", "1e400", "<b>", "5 5"])
            client.post(f"{place}/keep", data={"screen": "protect", "source": source, "k": k})
            model.set(k=k)
        elif what == "seed":
            value = rng.choice(["", "1", "2"])
            client.post(f"{place}/keep", data={"screen": "protect", "source": source, "seed": value})
            model.set(seed=value)
        elif what == "steps":
            value = rng.choice(["", "top age=70", "top age=70\nround age=5", "tpo age=3\ntop age=70"])
            client.post(f"{place}/keep", data={"screen": "protect", "source": source, "steps": value})
            model.set(steps=value)
        elif what == "differ":
            value = rng.choice(["", "1"])
            client.post(f"{place}/keep", data={"screen": "protect", "source": source, "p-sensitive": value})
            model.set(differ=value)
        elif what == "pin" and len(model.pins) < 3:
            client.post(f"{place}/pin", data={})
            model.pins += [] if model.now in model.pins else [model.now]
        elif what == "choose" and model.pins:
            i = rng.randrange(len(model.pins))
            client.post(f"{place}/pin", data={"letter": "ABC"[i]})
            model.set(**{name.replace("role:", "role_"): value for name, value in model.pins[i].items()})
        elif what in ("undo", "redo"):
            if what == "redo" or model.at > 0:
                client.post(f"{place}/{what}", data={"screen": "protect"})
                model.move(-1 if what == "undo" else 1)
        elif (
            what == "stale"
        ):  # a second window, opened before, changes one field and knows nothing of the rest
            client.get(f"{place}/bench")
            client.post(f"{place}/keep", data={"screen": "protect", "source": source, "seed": "7"})
            model.set(seed="7")
        else:
            client.get(f"{place}/{rng.choice(['read', 'roles', 'protect', 'bench', 'history', 'forget'])}")
        assert client.get(f"{place}/state").json()["version"] >= first
    return model


def agrees(client: httpx.Client, place: str, model: Model) -> None:
    """Check what the page shows and what its command says against what was done."""
    shown, roles = fields(client.get(f"{place}/protect").text), fields(client.get(f"{place}/roles").text)
    assert shown["k"] == model.now["k"] or _same(shown["k"], model.now["k"])
    assert {"seed": shown["seed"], "steps": shown["steps"]} == {
        name: model.now[name] for name in ("seed", "steps")
    }
    if any(model.now[f"role:{n}"] == "confidential" for n in COLUMNS):  # else there is no such field
        assert shown.get("p-sensitive", "") == model.now["differ"]
    assert {n: roles[f"role-{i}"] for i, n in enumerate(COLUMNS)} == {
        n: model.now[f"role:{n}"] for n in COLUMNS
    }
    words = shlex.split(client.get(f"{place}/command").text)
    for role in ROLES:
        named = [word for flag, word in itertools.pairwise(words) if flag == f"--{role}"]
        listed = sorted(name for word in named for name in word.split(","))
        assert listed == sorted(n for n in COLUMNS if model.now[f"role:{n}"] == role)


def _same(shown: str, typed: str) -> bool:
    """Whether a field shows a number that was typed in another spelling."""
    try:
        return float(shown) == float(typed)
    except ValueError:
        return False


def check(page: House, client: httpx.Client, seeds: range, actions: int) -> None:
    table = datasets.hospital(60, seed=1).select(COLUMNS)
    content = table.write_csv().encode()
    for seed in seeds:
        place = upload(client, "people.csv", content).json()["go"].rpartition("/")[0]
        try:
            model = walk(client, place, seed, actions)
            agrees(client, place, model)
            if seed % 5 == 0:
                _released(client, place, model, table)
        finally:
            client.post(f"{place}/forget")


def _released(client: httpx.Client, place: str, model: Model, table: Any) -> None:
    """Make the release, and see that its recipe is what the page showed, and that it is what Python makes."""
    answer = client.post(f"{place}/protect", data={"kept": "1"})
    if answer.status_code == 422:
        return
    result = finished(client, str(answer.url).removeprefix(str(client.base_url)))
    if "/result/" not in str(result.url):
        return
    made = vr.Recipe.from_toml(client.get(f"{result.url}/recipe").text)
    assert str(made.k) == model.now["k"]
    assert set(made.schema.keys) == {n for n in COLUMNS if model.now[f"role:{n}"] == "key"}
    assert (made.seed or 0) == int(model.now["seed"] or 0)
    assert list(made.steps) == model.now["steps"].split("\n") * bool(model.now["steps"])
    assert ("p-sensitive=2" in made.models) == bool(model.now["differ"])
    again = vr.anonymize(table, recipe=made)
    assert f"{again.information_loss:.3g}"[:3] in result.text


def test_walks_agree(page: House) -> None:
    with page.enter() as client:
        check(page, client, range(5, 6), 10)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(100, 300, 10))
def test_many_long_walks_agree(page: House, first: int) -> None:
    with page.enter() as client:
        check(page, client, range(first, first + 10), 30)


def _random(rng: random.Random) -> dict[str, Any]:
    keys = rng.sample(["age", "sex", "zip", "weight"], rng.randint(2, 4))
    rest = [name for name in COLUMNS if name not in keys and name != "diagnosis"]
    made: dict[str, Any] = {
        "keys": keys,
        "confidential": ["diagnosis"],
        "other": rest,
        "k": rng.randint(2, 8),
    }
    made["method"] = rng.choice(["mdav", "kd", "vmdav", "auto"])
    if rng.random() < 0.3:
        made["models"] = [rng.choice(["p-sensitive=2", "t-closeness=0.6"])]
    if rng.random() < 0.3 and "age" in keys:
        made["steps"] = ["top age=70"]
    if rng.random() < 0.2:
        made["publish"] = {"*": rng.choice(["median", "interval"])}
    if rng.random() < 0.2 and "sex" in keys:
        made["strata"] = ["sex"]
    if rng.random() < 0.2:
        made["suppress"] = "5%"
    if rng.random() < 0.2:
        made["importance"] = {keys[0]: 2}
    return made


def drawn_is_released(seed: int, folder: Path) -> None:
    """What is drawn before a run is what a release by the same choices says: the table is whole."""
    from voronym.web.bench import Bench, Wishes

    chosen = Settings(_random(random.Random(seed)))
    table = datasets.hospital(80, seed=seed % 3).select(COLUMNS)
    bench, events = Bench(), list[dict[str, Any]]()
    bench._frame = table
    try:
        bench.preview(Wishes(events.append), settings=chosen.plain())
    except vr.errors.VoronymError as error:
        with pytest.raises(type(error)):
            vr.anonymize(table, **chosen.choices)
        return
    drawn = [event["shown"] for event in events if "shown" in event][-1]
    assert drawn["whole"]
    release = vr.anonymize(table, **chosen.choices)
    loss = release.group_loss if release.information_loss is None else release.information_loss
    assert drawn["loss"] == loss
    assert (drawn["smallest"], drawn["groups"]) == (release.risk.k, release.risk.n_classes)
    assert drawn["changes"] == [str(change) for change in release.changes]
    release.dossier(attacked=True)
    assert release.exposure is not None
    again = {outcome.attack: outcome.to_dict() for outcome in release.exposure.outcomes}
    for rung in drawn["rungs"]:
        if rung["outcome"]["attack"] != "row-order":  # every release has its rows in an order of its own
            for name in ("success", "control", "interval", "people", "says"):
                assert rung["outcome"][name] == again[rung["outcome"]["attack"]][name]
    made = bench.run(Wishes(events.append), settings=chosen.plain(), folder=str(folder), suffix=".csv")
    if release.information_loss is not None:
        assert made["figures"]["loss"] == drawn["loss"]
    assert made["figures"]["smallest"] == drawn["smallest"]
    if made["figures"]["attack"] != "reconstruction":  # which is made with the report, and may find more
        assert made["figures"]["attack"] == drawn["effect"]["attack"]
        assert made["figures"]["attacked"] == 100 * drawn["effect"]["risk"]
        assert made["worst"] == drawn["sentence"]


@pytest.mark.parametrize("seed", range(2))
def test_drawn_is_released(seed: int, tmp_path: Path) -> None:
    drawn_is_released(seed, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 50))
def test_drawn_is_released_for_many(seed: int, tmp_path: Path) -> None:
    drawn_is_released(seed, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_a_sample_says_between_what_the_release_will_be(seed: int) -> None:
    from voronym.web.preview import preview

    rng = random.Random(seed)
    chosen = {**_random(rng), "method": rng.choice(["kd", "mdav"])}
    chosen.pop("models", None)
    table = datasets.hospital(24_000, seed=1).select(COLUMNS)
    events: list[dict[str, Any]] = []
    preview(table, Settings(chosen), events.append, lambda: None)
    (low, high), *_ = [event["between"] for event in events if "between" in event]
    release = vr.anonymize(table, **chosen)
    loss = release.group_loss if release.information_loss is None else release.information_loss
    assert loss is not None
    assert low <= loss <= high
    assert not any(event["shown"]["whole"] for event in events if "shown" in event)
