"""Records of a run for machines: a log with levels, and figures for Prometheus in its text form.

They hold stages, counts, seconds, bytes, and kinds of errors. They never hold a value of the data, or the
name of a person, a column or a file.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from voronym.core.atomic import at_once, placed
from voronym.core.clock import now
from voronym.core.formats import program_version
from voronym.errors import WriteError
from voronym.request.choices import RunChoices

log = logging.getLogger("voronym")
OFTEN = 1.0
"""Least seconds between two writes of the figures."""
FORM = "%(asctime)s %(levelname)s %(message)s"
HELP = {
    "voronym_build_info": "The version of voronym, as a label.",
    "voronym_up": "1 while the run goes on, 0 when it has ended.",
    "voronym_failed": "1 if the run ended without a release.",
    "voronym_workers": "Workers that are running.",
    "voronym_workers_lost": "Times that workers died.",
    "voronym_rows": "Rows of the data.",
    "voronym_spilled_bytes": "Bytes that went through the work folder.",
    "voronym_stage_tasks": "Tasks of a stage.",
    "voronym_stage_tasks_done": "Tasks of a stage that are done.",
    "voronym_stage_seconds": "Seconds since a stage began, or that it took.",
    "voronym_updated_seconds": "When these figures were written, in seconds since 1970.",
}


@dataclass
class Watch:
    """Records the events of a run in a file, if one is requested."""

    file: Path | None = None
    figures: dict[str, float] = field(default_factory=lambda: {"voronym_up": 1.0, "voronym_failed": 0.0})
    stages: dict[str, list[float]] = field(default_factory=dict)
    """For each stage: tasks, finished tasks, start, and seconds."""
    _written: float = -OFTEN

    def begin(self, stage: str, tasks: int, done: int) -> None:
        """Record the start of a stage."""
        log.info("stage %s begins: %d tasks, %d done before", stage, tasks, done)
        self.stages[stage] = [tasks, done, now(), -1.0]
        self.write(force=True)

    def step(self, stage: str, done: int, workers: int, spilled: int, rows: int) -> None:
        """Record finished tasks."""
        if done > self.stages[stage][1]:
            log.debug("stage %s: %d of %d tasks", stage, done, self.stages[stage][0])
        self.stages[stage][1] = done
        self.figures |= {
            "voronym_workers": workers,
            "voronym_spilled_bytes": spilled,
            "voronym_rows": rows,
        }
        self.write()

    def end(self, stage: str, seconds: float) -> None:
        """Record the end of a stage."""
        self.stages[stage][3] = seconds
        log.info("stage %s ends: %.1f s", stage, seconds)

    def write(self, *, force: bool = False) -> None:
        """Write the figures, if requested, but not too often."""
        if self.file is None or (not force and now() < self._written + OFTEN):
            return
        self._written = now()
        with contextlib.suppress(WriteError, OSError), at_once(), placed(self.file) as file:
            file.write_text(self.text(), encoding="utf-8")  # a run does not end for want of its figures

    def text(self) -> str:
        """Return the figures in the text form of Prometheus.

        Examples
        --------
        >>> watch = Watch()
        >>> watch.begin("scan", 4, 0)
        >>> 'voronym_stage_tasks{stage="scan"} 4' in watch.text()
        True
        """
        lines = [*_head("voronym_build_info"), f'voronym_build_info{{version="{program_version()}"}} 1']
        values = {
            **self.figures,
            "voronym_workers_lost": losses.times,
            "voronym_updated_seconds": time.time(),
        }
        for name, value in values.items():
            lines += [*_head(name), f"{name} {value:.10g}"]
        for at, name in enumerate(
            ("voronym_stage_tasks", "voronym_stage_tasks_done", "voronym_stage_seconds")
        ):
            lines += _head(name)
            for stage, (tasks, done, began, took) in self.stages.items():
                value = (tasks, done, now() - began if took < 0 else took)[at]
                lines.append(f'{name}{{stage="{stage}"}} {value:.10g}')
        return "\n".join([*lines, ""])


def _head(name: str) -> list[str]:
    return [f"# HELP {name} {HELP[name]}", f"# TYPE {name} gauge"]


@dataclass
class Losses:
    """Number of times that workers died in this process's runs."""

    times: int = 0

    def add(self, stage: str) -> None:
        """Record dead workers."""
        self.times += 1
        log.warning("workers died in stage %s", stage)


losses = Losses()


@contextlib.contextmanager
def watched(run: RunChoices, engine: str) -> Iterator[Watch]:
    """Return the recorder of a run, with the log and the figures that its choices name."""
    watch = Watch(None if run.prometheus is None else Path(run.prometheus))
    handler = None
    losses.times = 0
    if run.log is not None:
        try:
            handler = logging.FileHandler(run.log, encoding="utf-8")
        except OSError as error:
            raise WriteError(f"cannot write the log {run.log!r}: {error.strerror}") from None
        handler.setFormatter(logging.Formatter(FORM))
        handler.setLevel(run.log_level.upper())
        before = log.level
        log.addHandler(handler)
        log.setLevel(min(before or logging.CRITICAL, handler.level))
    try:
        log.info("a run begins: engine %s", engine)
        watch.write(force=True)
        yield watch
        log.info("the run ends with a release")
    except BaseException as error:
        watch.figures["voronym_failed"] = 1.0
        # Only by its type: its text may quote a cell.
        log.error("the run ends without a release: %s", type(error).__name__)
        raise
    finally:
        watch.figures["voronym_up"] = 0.0
        watch.write(force=True)
        if handler is not None:
            log.removeHandler(handler)
            log.setLevel(before)
            handler.close()
