"""The summary of a release is printed before the proof of its distance from the optimum."""

from __future__ import annotations

import json
import os
import signal
import subprocess

import pytest

import voronym as vr
from fuzz.signalled import command

WORDS = ["anonymize", "patients.csv", "-o", "out.csv", "--key", "age,sex", "--drop-undeclared", "-k", "5"]
ENDLESS = """
import time
from voronym.release import proof


def endless(*_):
    while True:
        time.sleep(0.01)


proof.prove_briefly = endless
"""
STOPPED = "stopped: the release is written; how near it is to the best possible was not proven"


@pytest.mark.skipif(os.name != "posix", reason="signals are sent as on POSIX")
@pytest.mark.parametrize(
    ("number", "more"),
    [(signal.SIGINT, ()), (signal.SIGINT, ("--on-interrupt", "best")), (signal.SIGTERM, ())],
)
def test_a_signal_ends_the_proof_and_keeps_the_release(tmp_path, number, more):
    vr.datasets.hospital(120, seed=4).write_csv(tmp_path / "patients.csv")
    start = command(tmp_path)
    script = tmp_path / "bin" / "voronym"
    script.write_text(ENDLESS + script.read_text())
    with subprocess.Popen(
        [*start, *WORDS, *more], cwd=tmp_path, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            lines = [process.stderr.readline()]
            while lines[-1] and not lines[-1].startswith("written"):
                lines.append(process.stderr.readline())
            assert lines[-1].split() == ["written", "out.csv"]
            assert (tmp_path / "out.csv").exists()
            assert process.poll() is None
            process.send_signal(number)
            _, rest = process.communicate(timeout=60)  # a busy machine
        finally:
            process.kill()
    assert rest.strip() == STOPPED
    assert process.returncode == 0
    assert {path.name for path in tmp_path.iterdir()} == {"bin", "out.csv", "patients.csv"}


def test_the_proof_is_the_last_line(voronym, monkeypatch, capsys):
    from voronym.release import proof

    printed, prove = [], proof.prove_briefly

    def watched(*given):
        printed.append(capsys.readouterr().err)
        return prove(*given)

    monkeypatch.setattr(proof, "prove_briefly", watched)
    code, _, err = voronym(*WORDS)
    assert code == 0, err
    (summary,) = printed
    assert summary.splitlines()[0].startswith("records ")
    assert summary.splitlines()[-1].split() == ["written", "out.csv"]
    assert err.startswith("proof ")
    assert "best possible" in " ".join(err.split())
    columns = [line.index(line.split()[1]) for line in (summary.splitlines()[0], err.splitlines()[0])]
    assert columns[0] == columns[1]


def test_what_needs_the_proof_waits_for_it(voronym):
    code, out, err = voronym(*WORDS, "--json")
    assert (code, json.loads(out)["public"]["gap"] is not None, err) == (0, True, "")
    code, _, err = voronym(*WORDS, "--overwrite", "--report", "report.html")
    assert code == 0, err
    assert "proof " not in err
    assert err.index("best possible") < err.index("written")


def test_a_signal_while_the_summary_is_printed_keeps_the_proof_from_beginning(voronym, monkeypatch, tmp_path):
    from voronym.cli import made
    from voronym.release import proof

    write = made._print

    def interrupted(*given):
        signal.raise_signal(signal.SIGINT)
        write(*given)

    monkeypatch.setattr(made, "_print", interrupted)
    monkeypatch.setattr(proof, "prove_briefly", lambda *_: pytest.fail("the proof began"))
    code, _, err = voronym(*WORDS)
    assert (code, err.splitlines()[-1]) == (0, STOPPED)
    assert (tmp_path / "out.csv").exists()


def test_a_signal_while_the_proof_is_printed_changes_nothing(voronym, monkeypatch, tmp_path):
    from voronym.cli import made

    write, calls = made._print, []

    def interrupted(*given):
        calls.append(given)
        if len(calls) == 2:  # the first is the summary
            signal.raise_signal(signal.SIGINT)
        write(*given)

    monkeypatch.setattr(made, "_print", interrupted)
    code, _, err = voronym(*WORDS)
    assert (code, len(calls)) == (0, 2)
    assert "best possible" in " ".join(err.split())
    assert (tmp_path / "out.csv").exists()
