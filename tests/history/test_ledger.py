"""The ledger, watched by an intruder who keeps every written file and knows who is in it."""

from __future__ import annotations

import csv
import os
import sqlite3
import stat
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import voronym as vr
from voronym.errors import GuaranteeError, InputError, WriteError
from voronym.history import Ledger
from voronym.history.figures import figures_of
from voronym.history.people import fingerprints
from voronym.table.read import load

pytestmark = pytest.mark.filterwarnings("ignore")
ROLES = {
    "keys": ["age", "zip", "admitted"],
    "identifiers": ["patient_id"],
    "other": ["tag"],
    "kinds": {"zip": "nominal"},
    "drop_undeclared": True,
    "k": 4,
}


def patients(n: int, seed: int = 3) -> pl.DataFrame:
    """People with a tag that only the test understands: it follows them through the files."""
    return vr.datasets.hospital(n, seed=seed).with_columns(tag=pl.Series([f"t{i}" for i in range(n)]))


def months(people: pl.DataFrame, n: int, rounds: int, churn: float, seed: int = 0):
    """Yield the table of every month: some leave, as many come."""
    rng, here, fresh = np.random.default_rng(seed), np.arange(n), n
    for month in range(rounds):
        if month:
            gone = rng.choice(len(here), max(1, int(churn * n)), replace=False)
            here = np.concatenate([np.delete(here, gone), np.arange(fresh, fresh + len(gone))])
            fresh += len(gone)
        yield people[here.tolist()]


class Intruder:
    """Keeps all files. A class of equal keys is all that it sees of a group."""

    def __init__(self, keys=("age", "zip", "admitted")) -> None:
        self.keys, self.files = keys, []

    def read(self, path: Path) -> None:
        groups = defaultdict(set)
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                groups[tuple(row[key] for key in self.keys)].add(row["tag"])
        self.files.append(groups)

    def smallest(self, *, forgive=True) -> int:
        """The least number of people in all classes of one of them; forgiven is a class that ended.

        A class goes on where what it publishes stays the same and its people are among those it had: then
        the history of its people does. Otherwise theirs begins with this file.
        """
        where = [{tag: key for key, tags in groups.items() for tag in tags} for groups in self.files]
        least = 10**9
        for tag, key in where[-1].items():
            alike = set(self.files[-1][key])
            for at in range(len(where) - 2, -1, -1):
                if tag not in where[at]:
                    if forgive:
                        break
                    continue
                before = self.files[at][where[at][tag]]
                now = self.files[at + 1][where[at + 1][tag]] if tag in where[at + 1] else set()
                if forgive and not (where[at + 1].get(tag) == where[at][tag] and now <= before):
                    break
                alike &= before
            least = min(least, len(alike))
        return least


def test_months_with_kept_groups_leave_nobody_below_k(tmp_path):
    intruder, ledger = Intruder(), tmp_path / "ledger.db"
    for month, table in enumerate(months(patients(260), 160, 6, 0.05)):
        release = vr.anonymize(table, ledger=ledger, keep_groups=True, **ROLES)
        path = tmp_path / f"{month}.csv"
        release.write(path)
        intruder.read(path)
        assert sum(map(len, intruder.files[-1].values())) >= 0.95 * len(table)
        assert min(map(len, intruder.files[-1].values())) >= 4
        assert intruder.smallest() >= 4
    assert len(Ledger(ledger).entries) == 6


def test_the_second_month_is_refused_with_the_number_of_people_and_three_ways_out(tmp_path):
    first, second = months(patients(200), 160, 2, 0.05)
    vr.anonymize(first, ledger=tmp_path / "l", **ROLES).write(tmp_path / "1.csv")
    with pytest.raises(GuaranteeError, match=r"\d+ of 160 people .*\(1\) keep_groups .*\(2\) .*\(3\)"):
        vr.anonymize(second, ledger=tmp_path / "l", **ROLES)
    assert len(Ledger(tmp_path / "l")) == 1
    # It is right to: written all the same, without a ledger, the two files tell people apart.
    intruder = Intruder()
    vr.anonymize(second, **ROLES).write(tmp_path / "2.csv")
    intruder.read(tmp_path / "1.csv")
    intruder.read(tmp_path / "2.csv")
    assert intruder.smallest(forgive=False) < 4


@pytest.mark.parametrize(
    "second",
    [{"k": 7}, {"method": "vmdav"}, {"keys": ["age", "sex"]}, {"keys": ["age"]}, {}],
    ids=["another k", "another method", "another column", "fewer columns", "one person more"],
)
def test_one_table_in_two_ways_tells_people_apart_and_is_refused(tmp_path, second):
    people, asked = patients(120), {**ROLES, "method": "mdav"}
    table = people if second else people[:-1]
    vr.anonymize(table, ledger=tmp_path / "l", **asked).write(tmp_path / "1.csv")
    with pytest.raises(GuaranteeError, match=r"\d+ of 120 people .* 1 earlier releases"):
        vr.anonymize(people, ledger=tmp_path / "l", **{**asked, **second})
    # Without a ledger nobody objects, and the intruder succeeds.
    vr.anonymize(people, **{**asked, **second}).write(tmp_path / "2.csv")
    single, two = Intruder(), Intruder(second.get("keys", ROLES["keys"]))
    single.read(tmp_path / "1.csv")
    two.read(tmp_path / "2.csv")
    shared = [len(a & b) for a in single.files[0].values() for b in two.files[0].values() if a & b]
    assert min(shared) < 4


def test_the_column_of_persons_tells_people_apart(tmp_path):
    roles = {**ROLES, "identifiers": ["name"], "person": "patient_id"}
    for month, table in enumerate(months(patients(140), 80, 3, 0.1)):
        release = vr.anonymize(table, ledger=tmp_path / "l", keep_groups=True, **roles)
        assert release.write(tmp_path / f"{month}.csv").k_counted >= 4
    assert release.booking.named_by == ["patient_id"]
    assert figures_of(release.booking).groups_kept > 2


def test_people_who_are_new_may_be_released(tmp_path):
    people = patients(120)
    vr.anonymize(people[:60], ledger=tmp_path / "l", **ROLES).write(tmp_path / "1.csv")
    vr.anonymize(people[60:], ledger=tmp_path / "l", strangers=True, **ROLES).write(tmp_path / "2.csv")
    assert [entry.released for entry in Ledger(tmp_path / "l").entries] == [60, 60]


def test_who_retires_keeps_k_for_an_intruder_who_recognises_rows(tmp_path):
    intruder = Intruder()
    choices = {"dissolved": "retire", "headroom": 1, "waiting": 0.0}
    for month, table in enumerate(months(patients(260), 160, 5, 0.05)):
        release = vr.anonymize(table, ledger=tmp_path / "l", keep_groups=True, **choices, **ROLES)
        release.write(tmp_path / f"{month}.csv")
        intruder.read(tmp_path / f"{month}.csv")
        assert intruder.smallest(forgive=False) >= 4
    assert figures_of(release.booking).retired > 0


def test_a_group_that_lives_publishes_the_same_again(tmp_path):
    first, second = months(patients(200), 160, 2, 0.03)
    roles = {**ROLES, "headroom": 2, "keep_groups": True}
    vr.anonymize(first, ledger=tmp_path / "l", **roles).write(tmp_path / "1.csv")
    release = vr.anonymize(second, ledger=tmp_path / "l", **roles)
    assert (
        release.information_loss > 0
    )  # and no figure that takes what was published before for the originals:
    assert (release.group_loss, release.closeness) == (None, None)
    release.write(tmp_path / "2.csv")
    old, new = Intruder(), Intruder()
    old.read(tmp_path / "1.csv")
    new.read(tmp_path / "2.csv")
    smaller = [key for key, tags in old.files[0].items() if new.files[0].get(key, tags) < tags]
    assert smaller  # somebody left a group, and its centre did not move
    assert len(set(old.files[0]) & set(new.files[0])) >= figures_of(release.booking).groups_kept


@pytest.mark.parametrize("library", ["pandas", "pyarrow"])
def test_kept_groups_in_other_libraries(tmp_path, library):
    for month, table in enumerate(months(patients(100), 80, 2, 0.05)):
        given = table.to_pandas() if library == "pandas" else table.to_arrow()
        release = vr.anonymize(given, ledger=tmp_path / "l", keep_groups=True, **ROLES)
        release.write(tmp_path / f"{month}.csv")
    assert figures_of(release.booking).groups_kept > 5


def test_the_file_holds_nobodys_values_and_is_for_its_owner(tmp_path):
    table, path = patients(40), tmp_path / "l"
    vr.anonymize(table, ledger=path, **ROLES).write(tmp_path / "1.csv")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    content = path.read_bytes()
    for name in ("patient_id", "name"):
        for value in table[name].to_list():
            assert value.encode() not in content
    assert not list(tmp_path.glob("l-*"))  # one file
    key = Ledger(path).key
    prints = fingerprints(load(table), ["patient_id"], key)
    assert set(Ledger(path).entries[0].people.tolist()) == set(prints.tolist())
    assert not set(prints.tolist()) & set(fingerprints(load(table), ["patient_id"], bytes(32)).tolist())
    path.chmod(0o644)
    with pytest.raises(InputError, match="chmod 600"):
        Ledger(path)


def test_numbers_texts_and_dates_are_one_person_whatever_their_type():
    key = bytes(32)
    made = [
        fingerprints(load(pl.DataFrame({"id": column})), ["id"], key).tolist()
        for column in ([7, 8], [7.0, 8.0], ["7", " 8 "])
    ]
    assert made[0] == made[1] == made[2]
    two = fingerprints(load(pl.DataFrame({"a": ["ab", "a"], "b": ["c", "bc"]})), ["a", "b"], key)
    assert two[0] != two[1]


def test_people_must_be_known(tmp_path):
    roles = {**ROLES, "identifiers": []}
    with pytest.raises(InputError, match="names a person"):
        vr.anonymize(patients(40), ledger=tmp_path / "l", **roles)
    assert not (tmp_path / "l").exists()  # a mistaken command makes no ledger
    lost = patients(40).with_columns(
        patient_id=pl.when(pl.col("tag") == "t3").then(None).otherwise("patient_id")
    )
    with pytest.raises(InputError, match="1 records have nothing in patient_id"):
        vr.anonymize(lost, ledger=tmp_path / "l", **ROLES)
    vr.anonymize(patients(40), ledger=tmp_path / "l", **ROLES).write(tmp_path / "1.csv")
    other = patients(40).rename({"patient_id": "number"})
    with pytest.raises(InputError, match="knows people by patient_id"):
        vr.anonymize(other, ledger=tmp_path / "l", **{**ROLES, "identifiers": ["number"]})


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (
            {"models": ["mutual-information=0.5"], "confidential": ["diagnosis"], "keep_groups": True},
            "mutual-information is a sum over all groups",
        ),
        ({"method": "records", "k": None, "options": {}, "keep_groups": True}, "makes no groups"),
    ],
)
def test_what_a_ledger_cannot_do_is_said(tmp_path, more, words):
    with pytest.raises(InputError, match=words):
        vr.anonymize(patients(40), ledger=tmp_path / "l", **{**ROLES, **more})


def test_kept_groups_need_a_ledger_and_one_record_each(tmp_path):
    with pytest.raises(InputError, match="needs a ledger"):
        vr.anonymize(patients(40), keep_groups=True, **ROLES)
    twice = pl.concat([patients(20), patients(20)])
    with pytest.raises(InputError, match="one record each"):
        vr.anonymize(twice, ledger=tmp_path / "l", keep_groups=True, **ROLES)
    vr.anonymize(twice, ledger=tmp_path / "l", **ROLES).write(tmp_path / "1.csv")
    assert Ledger(tmp_path / "l").entries[0].released == 20  # people, not records


def test_no_file_no_entry(tmp_path):
    release = vr.anonymize(patients(40), ledger=tmp_path / "l", **ROLES)
    (tmp_path / "taken.csv").write_text("mine")
    with pytest.raises(WriteError):
        release.write(tmp_path / "taken.csv")
    assert len(Ledger(tmp_path / "l")) == 0
    release.write(tmp_path / "free.csv")
    with pytest.raises(WriteError, match="meanwhile"):  # it was checked against an empty ledger
        release.write(tmp_path / "again.csv")
    assert not (tmp_path / "again.csv").exists()
    assert len(Ledger(tmp_path / "l")) == 1


KILLED = """
import os, signal, sys, warnings
warnings.simplefilter("ignore")
from test_ledger import ROLES, patients
import voronym as vr
from voronym.core import place
from voronym.history.ledger import Ledger
die = lambda *a, **k: os.kill(os.getpid(), signal.SIGKILL)
setattr(*[(place.File, "move"), (Ledger, "confirm")][int(sys.argv[2])], die)
vr.anonymize(patients(40), ledger=f"{sys.argv[1]}/l", method="mdav", **ROLES).write(f"{sys.argv[1]}/1.csv")
"""


@pytest.mark.parametrize("moment", [0, 1], ids=["before the file", "after the file"])
def test_a_killed_run_leaves_file_and_entry_or_neither(tmp_path, moment):
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
    words = [sys.executable, "-c", KILLED, str(tmp_path), str(moment)]
    run = subprocess.run(words, env=env, capture_output=True, text=True, timeout=120)
    assert run.returncode == -9, run.stderr
    assert (tmp_path / "1.csv").exists() == bool(moment)
    assert len(Ledger(tmp_path / "l")) == moment


def test_forgetting(tmp_path):
    table, ledger = patients(60), tmp_path / "l"
    vr.anonymize(table, ledger=ledger, **ROLES).write(tmp_path / "1.csv")
    book = Ledger(ledger)
    some = fingerprints(load(table[:5]), ["patient_id"], book.key)
    assert book.forget_people(some) == 5
    assert book.entries[0].released == 55
    assert not any(item in ledger.read_bytes() for item in some.tolist())  # wiped
    with pytest.raises(InputError, match="no release 7"):
        book.forget(7)
    book.forget(1)
    assert len(book) == 0


def test_something_else_is_no_ledger(tmp_path):
    (tmp_path / "text").write_text("not a database at all, though long enough to be read as one")
    (tmp_path / "text").chmod(0o600)
    sqlite3.connect(tmp_path / "empty").close()
    (tmp_path / "empty").touch(mode=0o600)
    (tmp_path / "empty").chmod(0o600)
    for name in ("text", "empty"):
        with pytest.raises((InputError, WriteError), match="ledger"):
            Ledger(tmp_path / name)
    with pytest.raises(InputError, match="no ledger"):
        Ledger(tmp_path / "none")
    with pytest.raises(InputError, match="exists already"):
        Ledger.new(tmp_path / "text")


def test_the_recipe_tells_of_kept_groups_and_not_of_the_ledger(tmp_path):
    release = vr.anonymize(patients(60), ledger=tmp_path / "secret.db", keep_groups=True, **ROLES)
    text = release.recipe.to_toml()
    assert "keep_groups = true" in text
    assert "secret" not in text
    again = vr.anonymize(patients(60), recipe=vr.Recipe.from_toml(text), ledger=tmp_path / "secret.db")
    assert again.recipe == release.recipe
    with pytest.raises(InputError, match="needs a ledger"):
        vr.anonymize(patients(60), recipe=release.recipe)
