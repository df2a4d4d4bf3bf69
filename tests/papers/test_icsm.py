from __future__ import annotations

import json
import sys

import numpy as np
import pytest

from voronym import cli
from voronym.errors import InputError, ReadError
from voronym.papers import PAPERS, icsm, reproduce


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


def test_the_papers_are_listed(voronym):
    assert "Mortazavi" in voronym("papers")[1]
    assert list(json.loads(voronym("papers", "--json")[1])) == sorted(PAPERS)


def test_an_unknown_paper(voronym):
    code, _, err = voronym("papers", "magic")
    assert code == 2
    assert "icsm" in err
    with pytest.raises(InputError, match="magic"):
        reproduce("magic")


def test_without_the_data_it_says_what_to_set(monkeypatch):
    monkeypatch.delenv("VORONYM_DATA", raising=False)
    with pytest.raises(ReadError, match="VORONYM_DATA"):
        next(reproduce("icsm"))


def test_the_simulated_data_are_what_the_paper_describes():
    uniform = icsm.simulate("sim-1", 0)
    assert uniform.shape == (100, 10)
    assert 900 < np.abs(uniform).max() <= 1000
    widths = {icsm.simulate("sim-2", seed).shape[1] for seed in range(40)}
    assert widths == {4, 5, 6, 7, 8}
    for name, side in (("sim-2", 1), ("sim-3", 2)):
        centres = [icsm.simulate(name, seed).reshape(5, 20, -1).mean(axis=1) for seed in range(40)]
        flat = np.concatenate([c.ravel() for c in centres])
        assert flat.mean() == pytest.approx(side / 2, abs=0.06 * side)
        assert flat.std() == pytest.approx(side / 12**0.5, rel=0.1)


@pytest.mark.data
def test_the_tables_have_a_row_for_every_figure(monkeypatch, voronym):
    few = {("tarragona", 3), ("tarragona", 10)}
    for name in ("TABLE_2", "TABLE_4"):
        kept = {case: row for case, row in getattr(icsm, name).items() if case in few}
        monkeypatch.setattr(icsm, name, kept)
    monkeypatch.setattr(icsm, "TABLE_2_SIMULATED", {("sim-2", 3): icsm.TABLE_2_SIMULATED["sim-2", 3]})
    monkeypatch.setattr(icsm, "figure_5", lambda *_: icsm.Table("Figure 5", ("method",), (("mdav",),)))
    code, out, err = voronym("papers", "icsm", "--json")
    assert code == 0, err
    first, second, *_ = told = json.loads(out)["tables"]
    assert [len(table["rows"]) for table in told] == [2, 1, 2, 1]
    for _, _, mdav, ours, published, reached, change, *_ in first["rows"]:
        assert ours == pytest.approx(mdav, abs=0.006)
        assert reached <= 1.01 * published
        assert change == pytest.approx(100 * (reached / published - 1))
    assert second["rows"][0][7] > 5  # percent gained over MDAV
