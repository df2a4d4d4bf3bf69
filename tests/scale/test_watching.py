"""The log and the figures of a run: they tell stages, and nothing about people; memory that is short."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import voronym as vr
from voronym.run.parts.job import ShortOfMemoryError
from voronym.run.parts.runners.local import Local

LINE = re.compile(
    r'# (HELP|TYPE) voronym_\w+ .+|voronym_\w+(\{(stage="[a-z@0-9]+"|version="[0-9.a-z]+")\})? [0-9.e+-]+'
)
ROLES: dict[str, Any] = {
    "keys": ["revenue", "branch"],
    "confidential": ["verdict"],
    "identifiers": ["surname"],
}


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """Write people whose every value can be told from all else."""
    frame = pl.DataFrame(
        {
            "surname": [f"Zwyx{number}" for number in range(600)],
            "revenue": [71_003.25 + 13 * number for number in range(600)],
            "branch": ["quarrying", "apiculture", "tanning"] * 200,
            "verdict": ["guilty", "acquitted"] * 300,
        }
    )
    (tmp_path / "firms").mkdir()
    for number in range(2):
        frame[300 * number : 300 * number + 300].write_parquet(tmp_path / f"firms/part-{number}.parquet")
    return tmp_path / "firms"


def texts_of(folder: Path) -> str:
    return "".join((folder / name).read_text(encoding="utf-8") for name in ("run.log", "run.prom"))


def no_value_in(text: str, people: Path) -> None:
    frame = pl.read_parquet(people)
    values = {str(value) for column in frame for value in column.to_list()} | set(frame.columns)
    assert not [value for value in values if value in text]
    assert str(people) not in text
    assert people.name not in text


@pytest.mark.parametrize(("level", "lines"), [("debug", 20), ("info", 12), ("error", 0)])
def test_log_and_figures_tell_stages_and_no_values(people: Path, level: str, lines: int) -> None:
    here = people.parent
    made = vr.anonymize(people, output=here / "out", k=3, leaf=200, workers=1, log=here / "run.log",
                        log_level=level, prometheus=here / "run.prom", **ROLES)  # fmt: skip
    text = texts_of(here)
    no_value_in(text, people)
    log = (here / "run.log").read_text(encoding="utf-8").splitlines()
    assert (len(log) >= lines) if lines else not log
    figures = (here / "run.prom").read_text(encoding="utf-8").splitlines()
    assert all(LINE.fullmatch(line) for line in figures)
    assert {"voronym_up 0", "voronym_failed 0", "voronym_rows 600"} <= set(figures)
    stages = {
        re.sub(r".*\"(.*)\".*", r"\1", line) for line in figures if line.startswith("voronym_stage_tasks{")
    }
    assert made.folder is not None
    assert stages == set(made.folder.seconds)


def test_a_run_that_fails_is_told_by_its_kind(people: Path) -> None:
    here = people.parent
    with pytest.raises(vr.VoronymError):
        vr.anonymize(
            people, output=here / "out", k=601, log=here / "run.log", prometheus=here / "run.prom", **ROLES
        )
    text = texts_of(here)
    no_value_in(text, people)
    assert "ERROR the run ends without a release: GuaranteeError" in text
    assert "voronym_failed 1" in text


def test_fewer_workers_go_on_where_memory_is_short(people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of four workers has too little in one stage: two go on, and the rows are the same."""
    real, seen = Local._round, []

    def short(self: Local, work: str, stage: str, tasks: Any, pause: Any) -> Iterator[Any]:
        seen.append((stage, self.workers))
        if stage == "spread" and self.workers > 2:
            raise ShortOfMemoryError("a task needs more memory than a worker has")
        self.workers, crew = 1, self.workers
        try:
            yield from real(self, work, stage, tasks, pause)
        finally:
            self.workers = crew

    monkeypatch.setattr(Local, "_round", short)
    monkeypatch.setattr(Local, "_open", lambda _: Here())
    here = people.parent
    crew = {"k": 3, "leaf": 200, "memory": "8GB", **ROLES}
    with pytest.warns(UserWarning, match="each had too little memory"):
        made = vr.anonymize(people, output=here / "out", workers=4, **crew)
    assert ("spread", 4) in seen
    assert ("spread", 2) in seen
    assert all(workers == 2 for stage, workers in seen[seen.index(("spread", 2)) :])
    other = vr.anonymize(people, output=here / "other", workers=1, **crew)
    assert sorted(made.frame().collect().rows()) == sorted(other.frame().collect().rows())


class Here:
    """A pool that does its tasks at once, in this process."""

    def submit(self, function: Any, *words: Any) -> Any:
        from concurrent.futures import Future

        made: Future[Any] = Future()
        made.set_result(function(*words))
        return made


@pytest.mark.parametrize("leaf", [100, 100_000])
def test_the_share_that_is_done_reaches_the_end(people: Path, leaf: int) -> None:
    """The time left is estimated from it."""
    steps: list[vr.Progress] = []
    asked = {**ROLES, "k": 3, "leaf": leaf, "workers": 1}
    vr.anonymize(people, output=people.parent / "out", progress=steps.append, **asked)
    shares = [step.done for step in steps]
    assert shares == sorted(shares)
    writing = [step.done for step in steps if step.stage.startswith("writing")]
    assert writing[0] > 0.85
