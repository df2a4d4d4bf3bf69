"""Somebody wants the command line to stop: the exit code says so, and nothing is left."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
from pathlib import Path

import pytest

import voronym as vr
from fuzz.signalled import OUTPUTS, importing, run, words
from voronym.cli import signals
from voronym.request.recipe import Recipe

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals are sent as on POSIX")

STAGES = {
    "read": "voronym.table.read.read",
    "encode": "voronym.methods.grouped.Problem",
    "group": "voronym.methods.auto.solve",
    "enforce": "voronym.methods.demands.enforce",
    "write": "voronym.table.write._flush",
    "count": "voronym.table.write._count",
    "recipe": "Recipe.to_toml",
    "dossier": "voronym.dossier.dossier",
    "report": "voronym.report.html.write_page",
}
CODES = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}


def at(monkeypatch, place: str, act) -> None:
    """Have something happen when a function is called, before and after it does its work."""
    module, _, name = place.rpartition(".")
    owner = Recipe if module == "Recipe" else importlib.import_module(module)
    whole = getattr(owner, name)

    def wrapped(*given, **more):
        act()
        return whole(*given, **more)

    monkeypatch.setattr(owner, name, wrapped)
    if place.endswith("solve"):
        monkeypatch.setattr("voronym.methods.grouped.solve", wrapped)


@pytest.mark.parametrize(
    ("number", "stage"),
    [  # every signal in every third stage; the other two thirds are slow
        pytest.param(number, stage, marks=() if at % 3 == place else pytest.mark.slow)
        for place, number in enumerate(CODES)
        for at, stage in enumerate(STAGES)
    ],
)
def test_a_signal_in_any_stage_leaves_nothing(voronym, monkeypatch, tmp_path, stage, number):
    at(monkeypatch, STAGES[stage], lambda: signal.raise_signal(number))
    code, _, err = voronym(*words("--model", "t-closeness=0.6"))
    assert (code, err) == (CODES[number], "stopped: nothing was written\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["patients.csv"]


def test_a_signal_is_not_remembered_for_the_next_command(voronym, monkeypatch):
    at(monkeypatch, STAGES["group"], lambda: signal.raise_signal(signal.SIGINT))
    assert voronym(*words())[0] == 130
    signals.check()  # raises where somebody still wants to stop


def test_a_signal_that_foreign_code_swallows_is_heeded_at_the_next_word(voronym, monkeypatch, tmp_path):
    def swallowed():
        with contextlib.suppress(BaseException):  # as a callback from C does
            signal.raise_signal(signal.SIGINT)

    at(monkeypatch, STAGES["encode"], swallowed)
    assert voronym(*words())[0] == 130
    assert sorted(path.name for path in tmp_path.iterdir()) == ["patients.csv"]


@pytest.mark.parametrize("failure", [AssertionError, KeyError, vr.InputError])
def test_what_fails_because_it_was_interrupted_is_no_defect(voronym, monkeypatch, tmp_path, failure):
    def interrupted():
        try:
            signal.raise_signal(signal.SIGINT)
        except BaseException:  # as numba does, when it was compiling
            raise failure("a state that should not be") from None

    at(monkeypatch, STAGES["encode"], interrupted)
    code, _, err = voronym(*words())
    assert (code, err) == (130, "stopped: nothing was written\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["patients.csv"]


def test_a_signal_after_all_was_written_comes_too_late(voronym, monkeypatch, tmp_path):
    at(monkeypatch, "voronym.cli.anonymize.show", lambda: signal.raise_signal(signal.SIGTERM))
    code, _, err = voronym(*words())
    assert code == 0, err
    assert set(OUTPUTS) < {path.name for path in tmp_path.iterdir()}


@pytest.mark.filterwarnings("default:the search was finished early")
def test_ctrl_c_can_take_the_best_so_far(voronym, monkeypatch, tmp_path):
    tell = vr.Context.tell
    sent = []

    def once(self, done, loss=None, *rest, **more):
        if loss is not None and not sent:
            sent.append(1)
            signal.raise_signal(signal.SIGINT)
        return tell(self, done, loss, *rest, **more)

    monkeypatch.setattr(vr.Context, "tell", once)
    code, out, err = voronym(*words("--on-interrupt", "best", "--time-limit", "60", "--json"))
    assert (code, len(sent)) == (0, 1), err
    assert "finished early, on request" in err
    assert json.loads(out)["written"]["k_counted"] >= 5
    assert (tmp_path / "report.html").exists()


def test_the_best_so_far_is_nothing_before_there_is_one(voronym, monkeypatch, tmp_path):
    sent = []

    def once():  # a second signal would stop the command
        if not sent:
            sent.append(1)
            signal.raise_signal(signal.SIGINT)

    at(monkeypatch, STAGES["encode"], once)
    code, _, err = voronym(*words("--on-interrupt", "best"))
    assert code == 130
    assert "no result yet" in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["patients.csv"]


def test_a_report_that_cannot_be_written_takes_the_release_with_it(voronym, monkeypatch, tmp_path):
    import voronym.report.html as pages

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pages, "placed", full)
    code, _, err = voronym(*words())
    assert code == 1
    assert "No space left" in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["patients.csv"]


@pytest.mark.parametrize(("after", "number"), [(importing, signal.SIGINT), (1.5, signal.SIGTERM)])
def test_a_real_process_ends_by_its_signal(tmp_path: Path, after, number: int):
    vr.datasets.hospital(3000, seed=4).write_csv(tmp_path / "patients.csv")
    result = run(
        tmp_path, words("--method", "anneal", "--time-limit", "900"), after, number
    )  # it waits 240 s
    killed = result.code == -number and number != signal.SIGINT  # before there was anything to clean up
    assert killed or result.code == CODES[number], result.err
    assert result.left == []
    assert result.err == ("" if killed else "stopped: nothing was written\n")
