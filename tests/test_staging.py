"""Files get their names together or not at all; what the dead left is removed, and nothing else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from voronym.core.atomic import placed, together
from voronym.core.locks import PREFIX, sweep
from voronym.core.place import File
from voronym.errors import WriteError

HOLD = """
import sys, time
from pathlib import Path
from voronym.core.atomic import placed
with placed(Path(sys.argv[1])) as temporary:
    temporary.write_text("half")
    print(flush=True)
    time.sleep(600)
"""


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def put(target: Path, text: str, *, overwrite: bool = True) -> None:
    with placed(target, overwrite=overwrite) as temporary:
        temporary.write_text(text)


def test_nothing_has_its_name_before_all_is_whole(tmp_path):
    with together():
        put(tmp_path / "a.csv", "a")
        put(tmp_path / "b.html", "b")
        assert all(name.startswith(PREFIX) for name in names(tmp_path))
    assert names(tmp_path) == ["a.csv", "b.html"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, WriteError, SystemExit])
def test_what_fails_takes_all_with_it(tmp_path, error):
    (tmp_path / "a.csv").write_text("old")
    with pytest.raises(error), together():  # noqa: PT012
        put(tmp_path / "a.csv", "new")
        raise error
    assert names(tmp_path) == ["a.csv"]
    assert (tmp_path / "a.csv").read_text() == "old"


@pytest.mark.parametrize("failing", [0, 1, 2])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_move_that_fails_takes_the_others_back(tmp_path, monkeypatch, failing, error):
    (tmp_path / "0.csv").write_text("old")
    move = File.move

    def fail(self):
        if self.target.name.startswith(str(failing)):
            raise error
        move(self)

    monkeypatch.setattr(File, "move", fail)
    with pytest.raises((WriteError, KeyboardInterrupt)), together():  # noqa: PT012
        for number in range(3):
            put(tmp_path / f"{number}.csv", "new")
    assert names(tmp_path) == ["0.csv"]
    assert (tmp_path / "0.csv").read_text() == "old"


def test_the_last_word_before_names_are_given(tmp_path):
    def refuse():
        raise WriteError("no")

    with pytest.raises(WriteError), together(refuse):
        put(tmp_path / "a.csv", "a")
    assert names(tmp_path) == []


def test_without_overwrite_nothing_is_replaced_and_nothing_placed(tmp_path):
    with pytest.raises(WriteError, match="exists already"), together():  # noqa: PT012
        put(tmp_path / "a.csv", "mine", overwrite=False)
        put(tmp_path / "b.csv", "mine")
        (tmp_path / "a.csv").write_text("somebody else's")
    assert names(tmp_path) == ["a.csv"]
    assert (tmp_path / "a.csv").read_text() == "somebody else's"


def test_a_placed_file_has_the_permissions_of_a_new_one(tmp_path):
    put(tmp_path / "a.csv", "a")
    (tmp_path / "plain").write_text("")
    assert (tmp_path / "a.csv").stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.skipif(os.name != "posix", reason="locks as on POSIX")
def test_the_dead_are_swept_and_the_living_are_not(tmp_path):
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path / "a.csv")], stdout=subprocess.PIPE
    ) as process:
        process.stdout.readline()
        sweep(tmp_path)
        put(tmp_path / "b.csv", "b")
        (left,) = (name for name in names(tmp_path) if name.startswith(PREFIX))
        assert [path.read_text() for path in (tmp_path / left).iterdir()] == ["half"]
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert left in names(tmp_path)
        put(tmp_path / "c.csv", "c")
    assert names(tmp_path) == ["b.csv", "c.csv"]


def test_sweeping_takes_nothing_that_is_not_ours(tmp_path):
    (tmp_path / f"{PREFIX}file.csv").write_text("a file, not a folder")
    (tmp_path / "other").mkdir()
    (tmp_path / f"{PREFIX}link").symlink_to(tmp_path / "other")
    (tmp_path / "other" / "kept").write_text("")
    sweep(tmp_path)
    assert names(tmp_path) == [f"{PREFIX}file.csv", f"{PREFIX}link", "other"]
    assert names(tmp_path / "other") == ["kept"]
