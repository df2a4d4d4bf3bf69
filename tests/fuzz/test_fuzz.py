"""Whatever people type and whatever happened to their files: a sentence, an exit code, and no file.

Never a traceback, never without end, never a value of the table in a message, and never a file
where the exit code is not 0.
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import voronym as vr
from fuzz.cases import CANARY, Case, draw, originals
from fuzz.signalled import OUTPUTS, command, run, words
from repeats import few
from voronym import cli

LONGEST = 240
"""Seconds of the wall: a busy machine that has kernels to compile takes its time."""
PER_TEST = 25


class TooLongError(BaseException):
    """The command took too long."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> dict[str, bytes]:
    return originals(tmp_path_factory.mktemp("whole"))


def attempt(case: Case, folder: Path, capsys, monkeypatch) -> str:
    """Run a case in this process; return what is wrong with its outcome."""
    (folder / case.name).write_bytes(case.content)
    monkeypatch.setattr(sys, "argv", ["voronym", *case.words])
    capsys.readouterr()
    signal.alarm(LONGEST)
    try:
        cli.main()
        code = 0
    except SystemExit as ended:
        code = ended.code or 0
    except TooLongError:
        return f"took longer than {LONGEST} s"
    except BaseException as error:
        return f"raised {error!r}"
    finally:
        signal.alarm(0)
        out, err = capsys.readouterr()
    return judge(case, code, out, err, [path.name for path in folder.iterdir() if path.name != case.name])


def judge(case: Case, code: int, out: str, err: str, left: list[str]) -> str:
    """Say what is wrong with an outcome; nothing where all is right."""
    wrong = []
    if code not in (0, 1, 2, 3, 130):
        wrong.append(f"exit code {code}")
    if code != 0 and left:
        wrong.append(f"exit code {code}, and yet there is {left}")
    if "Traceback" in err or "defect of voronym" in err:
        wrong.append(err[-300:])
    if code not in (0, 3) and not err.strip():
        wrong.append("no word about what was wrong")
    if CANARY in err or (CANARY in out and case.words[0] != "inspect"):
        wrong.append("a message quotes a value")
    if any(sign in err for sign in ("\x00", "\x1b[31mred")):
        wrong.append("a message has control characters")
    return "; ".join(wrong)


def sweep_cases(numbers, whole, folder, capsys, monkeypatch) -> list[str]:
    def stop(*_):
        raise TooLongError

    before = signal.signal(signal.SIGALRM, stop)
    wrong = []
    try:
        for number in numbers:
            here = folder / str(number)
            here.mkdir()
            monkeypatch.chdir(here)
            case = draw(number, whole)
            if text := attempt(case, here, capsys, monkeypatch):
                wrong.append(f"case {number}: {case.words}: {text}")
    finally:
        signal.signal(signal.SIGALRM, before)
    return wrong


@pytest.mark.filterwarnings("ignore")  # what the command line says on stderr
@pytest.mark.parametrize("start", few(range(0, 200, PER_TEST), 5))
def test_wrong_commands_and_damaged_files(start, whole, tmp_path, capsys, monkeypatch):
    assert sweep_cases(range(start, start + PER_TEST), whole, tmp_path, capsys, monkeypatch) == []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("start", range(200, 5000, 20 * PER_TEST))
def test_many_more_of_them(start, whole, tmp_path, capsys, monkeypatch):
    stop = min(5000, start + 20 * PER_TEST)
    assert sweep_cases(range(start, stop), whole, tmp_path, capsys, monkeypatch) == []


@pytest.mark.parametrize("number", [3, 17])
def test_as_processes_of_their_own(number, whole, tmp_path):
    case = draw(number, whole)
    (tmp_path / case.name).write_bytes(case.content)
    start = command(tmp_path)
    done = subprocess.run(
        [*start, *(word.replace("\x00", "") for word in case.words)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=240,
        stdin=subprocess.DEVNULL,
    )
    left = [path.name for path in tmp_path.iterdir() if path.name not in (case.name, "bin")]
    assert judge(case, done.returncode, done.stdout, done.stderr, left) == ""


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, 100, 20))
def test_signals_at_random_moments(start, tmp_path):
    """Of reading, grouping, enforcing, writing, reporting; after a kill by force the next start tidies up."""
    vr.datasets.hospital(2000, seed=4).write_csv(tmp_path / "patients.csv")
    asked = words("--model", "t-closeness=0.4", "--overwrite")
    usual = min(run(tmp_path, asked).seconds for _ in range(2))
    for number in range(start, start + 20):
        for name in OUTPUTS:
            (tmp_path / name).unlink(missing_ok=True)
        rng = random.Random(f"signal-{number}")
        sent = rng.choice([signal.SIGINT, signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
        result = run(tmp_path, asked, rng.uniform(0.1, 1.05 * usual), sent)
        output = f"case {number}, {sent!r}: {result}"
        assert "Traceback" not in result.err, output
        if result.code == 0:  # it was too late
            assert result.left == sorted(OUTPUTS), output
        elif sent == signal.SIGKILL:
            assert result.code == -sent, output
            done = result.left == sorted(OUTPUTS)  # all was written: the process was about to end
            assert done or all(name.startswith(".voronym-") for name in result.left), output
            if done:
                continue
            again = run(tmp_path, asked)
            assert (again.code, again.left) == (0, sorted(OUTPUTS)), output
            assert not list(tmp_path.glob(".voronym-*")), output
        else:
            early = result.code == -sent and (
                sent != signal.SIGINT or not result.err
            )  # before Python listens
            assert early or result.code == 128 + sent, output
            assert result.left == [], output
