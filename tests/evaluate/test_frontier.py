"""The verb `frontier`: two lines that certify the least risk, and the point of a release between them."""

from __future__ import annotations

import json
import sys

import numpy as np
import polars as pl
import pytest

import voronym as vr
from repeats import few
from voronym import cli, frontier


@pytest.fixture
def voronym(monkeypatch, capsys):
    """Run a command; give back (exit code, stdout, stderr)."""

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["voronym", *words])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        out, err = capsys.readouterr()
        return ended.value.code or 0, out, err

    return run


def information(w, labels):
    """Count the mutual information of two columns, in nats."""
    joint = np.zeros((w.max() + 1, labels.max() + 1))
    np.add.at(joint, (w, labels), 1 / len(w))
    some = joint > 0
    product = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
    return float((joint[some] * np.log(joint[some] / product[some])).sum())


@pytest.mark.parametrize("seed", few(range(3), 1))
def test_no_rule_is_below_the_proven_line(seed):
    """Rules of every kind, also random ones and ones that look at the confidential column."""
    rng = np.random.default_rng(seed)
    n = 400
    x = rng.normal(size=n)
    w = (x + rng.normal(0, 0.4, n) > 0).astype(int)
    table = pl.DataFrame({"x": x, "w": np.array(["no", "yes"])[w]})
    curve = frontier(table, keys=["x"], confidential="w")
    assert curve.proven(0.0) > 0.2
    for rule in range(60):
        cells = np.digitize(x + rng.normal(0, rng.uniform(0, 2), n), np.sort(rng.normal(size=rule % 6 + 1)))
        if rule % 3 == 0:
            cells = np.where(rng.random(n) < 0.3, w, cells)
        _, labels = np.unique(cells, return_inverse=True)
        means = np.bincount(labels, x) / np.bincount(labels)
        share = float(np.square(x - means[labels]).mean() / x.var())
        assert curve.proven(share) <= information(w, labels) + 1e-9
    for share in np.linspace(0, 1, 21):
        assert curve.proven(share) <= curve.reached(share) + 1e-9


def test_the_point_of_a_release_is_counted(voronym, tmp_path):
    people = vr.datasets.hospital(200, seed=1).select("age", "weight", "diagnosis")
    made = vr.anonymize(people, keys=["age", "weight"], confidential=["diagnosis"], k=5)
    curve = frontier(people, keys=["age", "weight"], confidential="diagnosis", release=made.table)
    point = curve.point
    ill = made.table["diagnosis"].cast(pl.Categorical).to_physical().to_numpy().astype(int)
    labels = made.table.select("age", "weight").to_dummies()
    _, classes = np.unique(labels.to_numpy(), axis=0, return_inverse=True)
    assert point.risk == pytest.approx(information(ill, classes.reshape(-1)))
    assert point.distortion == pytest.approx(made.utility.information_loss / 100, abs=0.01)
    assert point.proven <= point.risk
    people.write_csv(tmp_path / "p.csv")
    made.table.write_csv(tmp_path / "r.csv")
    words = ["frontier", str(tmp_path / "p.csv"), "--key", "age,weight", "--confidential", "diagnosis"]
    code, out, err = voronym(*words, "--release", str(tmp_path / "r.csv"), "--json")
    assert code == 0, err
    assert json.loads(out)["release"]["risk"] == pytest.approx(point.risk)
    code, out, err = voronym(*words, "--chart", str(tmp_path / "plane.svg"))
    assert code == 0, err
    assert "proven" in out
    assert (tmp_path / "plane.svg").read_text(encoding="utf-8").startswith("<svg")
    for wrong, sentence in (
        (words[:-2], "--confidential"),
        ([*words, "--chart", "plane.png"], "plane.svg"),
        ([*words, "--release", str(tmp_path / "p.csv"), "--aligned", "--key", "ag"], "ag"),
    ):
        code, _, err = voronym(*wrong)
        assert code == 2
        assert sentence in err


def test_a_table_of_other_records_is_refused():
    people = vr.datasets.hospital(60, seed=1).select("age", "diagnosis")
    with pytest.raises(vr.errors.InputError, match="equally many"):
        frontier(people, keys=["age"], confidential="diagnosis", release=people.head(50), aligned=True)
    with pytest.raises(vr.errors.InputError, match="lacks the column 'diagnosis'"):
        frontier(people, keys=["age"], confidential="diagnosis", release=people.select("age"))
    same = frontier(people, keys=["age"], confidential="diagnosis", release=people, aligned=True).point
    assert same.distortion == pytest.approx(0.0)
