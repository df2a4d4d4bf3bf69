"""Experiments to the letter, and results that are made again."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module

import numpy as np
import pytest

from voronym.core.context import Context
from voronym.errors import InputError
from voronym.partition import Partition
from voronym.partitioners import microaggregate
from voronym.problem import Problem
from voronym.quantize.quantizer import Quantizer
from voronym.refiners.work import Work
from voronym_papers import PAPERS, __main__
from voronym_papers.base import Experiment, Outcome, Paper, named, reproduce
from voronym_papers.executed import _statements, imports, used, watched
from voronym_papers.fingerprint import _digest, code_lines, made
from voronym_papers.icsm.literal import POOL, Literal, literally
from voronym_papers.marks import Mark
from voronym_papers.pcl import literal, runs
from voronym_papers.renewing import renew
from voronym_papers.solvers.kernels import first_moves, squares_to
from voronym_papers.solvers.noisy import corrected
from voronym_papers.stored import keep, results, stale, wanted


def moves_by_hand(X, labels, k):
    """Meet pairs of nodes in order; keep what the sum of squares says gains."""
    n, m, out = len(X), labels.max() + 1, []
    before = Partition(labels).sse(X)
    sizes = np.bincount(labels)
    for v in range(n + m):
        for w in range(n + m):
            tried = labels.copy()
            if v < n and w < n and labels[v] != labels[w]:
                tried[v], tried[w] = labels[w], labels[v]
                move = (v, w, labels[w])
            elif (v < n) != (w < n):
                record, cell = (v, w - n) if v < n else (w, v - n)
                if labels[record] == cell or sizes[labels[record]] <= k or sizes[cell] >= 2 * k - 1:
                    continue
                tried[record] = cell
                move = (record, -1, cell)
            else:
                continue
            change = Partition(tried).sse(X) - before
            if change < -1e-9:
                out.append((round(change, 9), *map(int, move)))
    return out


@pytest.mark.parametrize("seed", range(4))
def test_the_first_moves_that_are_met_are_those_of_the_sums_of_squares(seed):
    rng = np.random.default_rng(seed)
    X, labels = rng.normal(size=(17, 2)), np.repeat(np.arange(4), (5, 4, 5, 3))
    work = Work(Problem.of(X, 3), labels, Context())
    room = np.empty(POOL)
    columns = [np.empty(POOL, np.int64) for _ in range(3)]
    cells, unit = work.cells, Partition(labels).sse(X) / float(work.model.square.sum())
    points, means = work.model.points, work.model.centroids
    away = np.zeros((len(means), len(points)))
    squares_to(points, means, np.ones(len(means), bool), away)
    near = np.empty(len(means))
    count = first_moves(points, away, cells.labels, cells.sizes, 3, 1e-12, near, room, *columns)
    ours = [
        (round(float(change) * unit, 9), *map(int, move))
        for change, *move in zip(room[:count], *(column[:count] for column in columns), strict=True)
    ]
    assert ours == moves_by_hand(X, cells.labels.copy(), 3)[:POOL]


def test_icsm_to_the_letter_ends_where_no_move_gains():
    X = np.random.default_rng(0).normal(size=(60, 3))
    start = microaggregate(X, 3, method="mdav")
    before, after, rounds = literally(X, 3, start.labels)
    assert after < before
    assert rounds > 0
    work = Work(Problem.of(X, 3), start.labels, Context())
    run = Literal(work, Context())
    assert run.finish()
    assert moves_by_hand(X, run.work.labels, 3) == []
    assert run.work.cells.sizes[run.work.cells.sizes > 0].min() >= 3


def test_sizes_are_corrected_by_nearness_and_by_as_few_moves_as_are_needed():
    rng = np.random.default_rng(1)
    X = rng.random((30, 2))
    rule = Quantizer(rng.random((3, 2)), np.zeros(3))
    sizes = np.array([10, 10, 10])
    labels = corrected(X, rule, sizes)
    assert np.bincount(labels).tolist() == [10, 10, 10]
    first = rule.assign(X)
    assert (labels != first).sum() == np.maximum(np.bincount(first, minlength=3) - 10, 0).sum()


def test_noisy_pcl_as_published_has_no_exact_designs(monkeypatch):
    from voronym_papers.solvers import noisy

    monkeypatch.setattr(noisy, "alternate", None)
    X = np.random.default_rng(2).random((40, 2))
    for cooling in ("outer", "inner"):
        options = {"samples": 60, "iterations": 4, "designs": 0, "cooling": cooling}
        part = microaggregate(X, 4, method="noisy-pcl", seed=0, **options)
        assert part.sizes.tolist() == [4] * 10


def test_pcl_to_the_letter_is_near_the_exact_one():
    X = np.random.default_rng(3).normal(size=(3000, 2))
    start = runs.mdav(X, 500)
    theirs, off, moved = literal.lloyd(X, start, 15, speed=0.5)
    ours = runs.design(X, start)
    assert theirs.partition.sizes.tolist() == [500] * 6
    assert off <= 20
    assert abs(moved) < 1.0
    assert theirs.distortion < start.distortion
    assert theirs.distortion == pytest.approx(ours.distortion, rel=0.03)


def test_what_is_run_as_published_has_no_quick_form_and_is_asked_for_by_name():
    literally_run = [run for entry in PAPERS.values() for run in entry.experiments.values() if run.literal]
    assert len(literally_run) > 20
    assert all(run.name.endswith("-as-published") for run in literally_run)
    entry = PAPERS["pcl-2011"]
    assert {run.literal for run in entry.chosen(None, literal=True)} == {True}
    with pytest.raises(InputError, match="not run as published"):
        entry.chosen("Figure 21", literal=True)
    assert {paper.name for paper in named("all", literal=True)} == {"icsm", "pcl-2011", "pcl-2013"}
    assert not [name for name, full, _ in wanted(entry) if not full and entry.experiments[name].literal]


def toy(marks, code=("voronym_papers.marks",)):
    """Return a paper with one experiment, and what it found."""
    entry = Paper("toy", "A. Author: Toys", "Toys", code=code)
    experiment = Experiment("toys", "Toys", lambda *_: iter(marks))
    entry.experiments["toys"] = experiment
    return entry, Outcome(experiment, True, tuple(marks), 2.0)


def test_a_result_is_wanted_until_it_is_kept_and_again_when_its_code_changes(tmp_path, monkeypatch):
    entry, outcome = toy([Mark("Table 1", "D", 0.2, 0.2)])
    assert [(name, full) for name, full, _ in wanted(entry, tmp_path)] == [("toys", True), ("toys", False)]
    monkeypatch.setenv("VORONYM_COMMIT", "0123abc")
    keep(entry, outcome, tmp_path)
    assert wanted(entry, tmp_path) == [("toys", False, 20.0)]
    assert results(entry, tmp_path)["toys", True].made["commit"] == "0123abc"
    other, _ = toy([], code=("voronym_papers.items",))
    assert wanted(other, tmp_path)[0] == ("toys", True, 2.0)


def test_a_new_message_of_an_error_makes_nothing_stale_and_another_error_does():
    code = 'def f(x):\n    if x:\n        raise KeyError(f"not {x}") from None\n    return "a"\n'
    longer = code.replace(
        'f"not {x}"', '\n            f"the key {x!r} is not there;"\n            " name another"\n        '
    )
    assert code_lines(code) == code_lines(longer)
    assert code_lines(code).splitlines()[2] == "        raise KeyError(...) from None"
    assert code_lines(code) != code_lines(code.replace("KeyError", "ValueError"))
    assert code_lines(code) != code_lines(code.replace('return "a"', 'return "b"'))


def test_docstrings_and_comments_make_nothing_stale():
    code = 'def f(x):\n    """What."""\n    return "a" + x  # why\n'
    assert code_lines(code) == code_lines(code.replace("What", "Which\n\n    way"))
    assert code_lines(code) != code_lines(code.replace('"a"', '"b"'))
    assert len(made(["voronym_papers.marks"])["fingerprint"]) == 16


def test_a_result_depends_on_the_modules_that_its_run_executes(tmp_path, monkeypatch):
    """A search that a run never calls may change; constants and loops that it uses may not."""
    package = tmp_path / "drawing_toys"
    package.mkdir()
    sources = {
        "__init__": "from drawing_toys.sizes import SIZE\n",
        "sizes": "SIZE = 3\n",
        "called": "from drawing_toys import SIZE\nfrom drawing_toys.never import other\n\n\n"
        "def toys():\n    return SIZE\n",
        "never": "from drawing_toys.far import more\n\n\ndef other():\n    return more()\n",
        "far": "def more():\n    return 1\n",
    }
    for name, text in sources.items():
        (package / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr("voronym_papers.executed.ROOTS", ("drawing_toys",))
    entry = Paper("toys", "A. Author: Toys", "Toys", code=("drawing_toys",))
    called = import_module("drawing_toys.called").toys
    experiment = Experiment("four", "Four", lambda *_: iter([Mark("Table 1", "D", 3.0, called())]))
    entry.experiments["four"] = experiment
    monkeypatch.setitem(PAPERS._entries, "toys", entry)
    (outcome,) = reproduce("toys", full=True, watch=True)
    assert "drawing_toys.called" in outcome.called
    assert "drawing_toys.far" not in outcome.called
    keep(entry, outcome, tmp_path)
    for name, text in sources.items():
        (package / f"{name}.py").write_text(text + "MORE = 1\n")
        for known in (_digest, imports, _statements):
            known.cache_clear()
        assert bool(stale(entry, tmp_path)) == (name != "far"), name
        (package / f"{name}.py").write_text(text)
    _digest.cache_clear()
    (package / "never.py").unlink()
    assert stale(entry, tmp_path) == ["four, full"]


def test_machine_code_leads_to_all_that_it_calls_and_other_processes_to_everything():
    packages = ("voronym.refiners", "voronym._kernels")
    modules = used(["voronym.refiners.icsm"], packages)
    assert {"voronym._kernels.icsm", "voronym._kernels.squares", "voronym.refiners.tour"} <= set(modules)
    assert "voronym.refiners.anneal" not in modules
    with watched() as called:
        subprocess.run([sys.executable, "-c", "sum(range(2_000_000))"], check=True)
    assert called == set()


def test_the_module_lists_what_it_would_run(capsys, tmp_path):
    assert __main__.main(["crowd", "--list", "--store", str(tmp_path)]) == 0
    assert "crowd, hospital, full" in capsys.readouterr().out
    assert __main__.main(["crwd", "--list"]) == 2
    with pytest.raises(InputError, match="jobs"):
        renew([], tmp_path, jobs=0)
    assert renew([], tmp_path, jobs=2) == []


@pytest.mark.data
@pytest.mark.slow
def test_results_are_made_in_processes_and_kept_one_by_one(tmp_path):
    lines = []
    assert renew([PAPERS["crowd"]], tmp_path, jobs=2, modes=(False,), tell=lines.append) == []
    kept = json.loads((tmp_path / "crowd.json").read_text(encoding="utf-8"))
    assert set(kept["runs"]) == {"example", "pictures", "hospital", "adult", "leaves"}
    assert len(lines) == 6
