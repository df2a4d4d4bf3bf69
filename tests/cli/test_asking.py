"""The first run on a terminal asks; nothing else ever does."""

import fcntl
import os
import pty
import random
import subprocess
import sys
import termios
import time
import tomllib

import pytest

import people as made
from voronym import cli
from voronym.cli import asking
from voronym.table.schema import Schema

pytestmark = pytest.mark.filterwarnings("ignore")
COMMAND = [sys.executable, "-m", "voronym", "anonymize"]


@pytest.fixture
def survey(tmp_path):
    rng = random.Random(5)
    rows = [
        {
            "hhid": 100 + i // 3,
            "age": rng.choice([*range(18, 90), *[999] * 4]),
            "marstat": rng.choice([1, 2, 3, 4]),
            "sex": rng.choice([1, 2]),
            "diagnosis": rng.choice(["flu", "hiv", "none"]),
            "sampling_weight": rng.choice([10.5, 20.5, 31.0]),
        }
        for i in range(150)
    ]
    made.write_rows(tmp_path / "survey.csv", rows)
    return tmp_path / "survey.csv"


def talk(path, answers, *words):
    """Run the command on a pseudo-terminal, give one answer to each question; return (code, all it said)."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, path.name, *words], cwd=path.parent, stdin=slave, stdout=slave, stderr=slave,
        env={**os.environ, "COLUMNS": "120", "TERM": "dumb"}, start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # so that Ctrl-C reaches it
    )  # fmt: skip
    os.close(slave)
    text, waiting, answered = "", list(answers), 0
    end = time.monotonic() + 120
    while time.monotonic() < end:
        try:
            part = os.read(master, 4096).decode()
        except OSError:  # the other side is closed
            break
        if not part:
            break
        text += part
        last = text[answered:]
        if waiting and last.rstrip(" ").endswith((":", "]")) and last.endswith(" "):
            os.write(master, (waiting.pop(0) + "\n").encode())
            answered = len(text)
    os.close(master)
    return process.wait(30), text


def test_enter_accepts_the_proposal_and_saves_the_recipe(survey):
    # six columns, a question about a code of age and two about codes, the rows, the circle, the place
    code, text = talk(survey, ["", "", "", "", "", "", "", "", "", "", "internal", ""], "--method", "mdav")
    assert code == 0, text
    assert "Next time without questions" in text
    recipe = tomllib.loads((survey.parent / "survey-release-recipe.toml").read_text())
    roles = {column["name"]: column["role"] for column in recipe["schema"]["columns"]}
    assert roles == {
        "hhid": "identifier", "age": "key", "marstat": "key", "sex": "key",
        "diagnosis": "confidential", "sampling_weight": "other",
    }  # fmt: skip
    assert recipe["schema"]["household"] == "hhid"
    assert recipe["weights"] == "sampling_weight"
    assert recipe["reading"]["missing"] == ["age=999"]
    assert recipe["policy"] == "internal-research"
    assert (survey.parent / "survey-release-report.html").exists()
    rows = made.read_rows(survey.parent / "survey-release.csv")
    assert len(rows) == 150
    assert "hhid" not in rows[0]


def test_ctrl_c_ends_and_writes_nothing(survey):
    code, text = talk(survey, ["", "\x03"])
    assert code == 130, text
    assert [file.name for file in survey.parent.iterdir()] == ["survey.csv"]


@pytest.mark.parametrize("words", [[], ["-o", "out.csv"], ["--json", "-o", "out.csv"]])
def test_nothing_is_asked_without_a_terminal(survey, monkeypatch, capsys, words):
    monkeypatch.chdir(survey.parent)
    monkeypatch.setattr(sys, "argv", ["voronym", "anonymize", "survey.csv", *words])
    monkeypatch.setattr(asking, "_line", lambda question: pytest.fail(question))
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 2
    assert ("no role" if words else "--output") in capsys.readouterr().err


def answering(monkeypatch, *answers):
    waiting = list(answers)
    monkeypatch.setattr(asking, "_line", lambda _: waiting.pop(0) if waiting else "")


def test_a_column_by_which_rows_are_recognised_becomes_a_key(survey, monkeypatch):
    import voronym as vr

    frame = vr.read(survey)
    answering(monkeypatch, *[""] * 9, "yes", "diagnosis", "scientific")
    typed, missing = asking.ask("survey.csv", frame, {"ledger": "l", "keep_groups": True})
    assert "diagnosis" in typed["keys"]
    assert typed["dissolved"] == "retire"
    assert typed["policy"] == "scientific-use-file"
    assert missing == ["age=999"]


def test_another_role_and_a_question_mark(survey, monkeypatch, capsys):
    import voronym as vr

    answering(monkeypatch, "?", "i", "", "no", "o")
    typed, missing = asking.ask("survey.csv", vr.read(survey), {})
    assert "names somebody" in capsys.readouterr().err
    assert typed["identifiers"] == ["hhid"]
    assert "household" not in typed
    assert missing == []
    assert typed["other"] == ["marstat"]
    assert typed["policy"] == "public-use-file"


def test_the_proposed_command_has_the_hints(survey):
    import voronym as vr

    line = Schema.infer(vr.read(survey)).command("survey.csv")
    assert "--kind marstat,sex=nominal" in line
    assert "--weights sampling_weight" in line
    assert "--missing age=999" in line
    assert "--other" not in line


@pytest.mark.parametrize(("tool", "has"), [("sdcmicro", "gap"), ("arx", "range")])
def test_publish_like_another_tool(survey, tool, has):
    import voronym as vr

    roles = {"keys": ["age", "sex"], "confidential": ["diagnosis"], "weights": "sampling_weight"}
    frame = vr.read(survey)
    release = vr.anonymize(frame, **roles, drop_undeclared=True, k=5, like=tool, allow_loss=["age"])
    ages = release.table["age"]
    if has == "gap":
        assert release.recipe.method == "local-suppression"
        assert set(ages.drop_nulls()) <= set(frame["age"])
        assert ages.null_count() > 0
    else:
        assert any("–" in str(age) for age in ages)
    assert "sampling_weight" in release.table.columns
    assert vr.Recipe.from_toml(release.recipe.to_toml()) == release.recipe


def test_profile_and_method_exclude_each_other(survey):
    import voronym as vr

    with pytest.raises(vr.InputError, match="true values or gaps"):
        vr.anonymize(vr.read(survey), keys=["age"], drop_undeclared=True, like="sdcmicro", method="mdav")
