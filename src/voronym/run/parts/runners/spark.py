"""A Spark cluster: the present session, a master, or one started on this machine."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from voronym import errors
from voronym.errors import MissingExtraError, VoronymError, hint
from voronym.run.parts import spill
from voronym.run.parts.job import perform
from voronym.run.parts.runners.base import LostError, Runner, runner

PIECE = 0.1
ATTEMPTS = 4
"""Number of times that a task is tried on this machine, as on a cluster: lack of memory may kill a worker."""


def _doing(work: str, stage: str, tasks: Sequence[int]) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """Return an executor's function: it runs the tasks at these places and returns the answers as bytes."""

    def do(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            for place in batch.column(0).to_pylist():
                try:
                    answer: tuple[str, Any] = ("", perform(work, stage, tasks[place]))
                except VoronymError as error:  # raised once here, not after four attempts
                    answer = (type(error).__name__, str(error))
                kind = pa.schema([("number", pa.int64()), ("answer", pa.binary())])
                message = {"number": [tasks[place]], "answer": [spill.packed(answer)]}
                yield pa.RecordBatch.from_pydict(message, schema=kind)

    return do


def _answer(data: bytes) -> Any:
    """Return an executor's answer, or raise its error."""
    error, answer = spill.unpacked(data)
    if not error:
        return answer
    kind = getattr(errors, error, VoronymError)
    raise (kind if issubclass(kind, VoronymError) else VoronymError)(answer)


def _lost(stage: str, error: BaseException) -> LostError:
    return LostError(
        f"Spark gave up in the stage {stage!r} ({type(error).__name__}): nothing was released. "
        f"With {hint('resume')} a new run goes on from the tasks that were done"
    )


@runner("spark")
class Spark(Runner):
    """Tasks on Spark executors, which share the work folder's path; the driver sees only counts."""

    def __init__(self, *, workers: int, memory: int, address: str | None = None) -> None:
        super().__init__(workers=workers, memory=memory, address=address)
        try:
            from pyspark.sql import SparkSession
        except ImportError:
            raise MissingExtraError(
                "the engine 'spark' needs PySpark: pip install 'voronym[spark]'"
            ) from None
        there = SparkSession.getActiveSession()
        self._own = there is None
        if there is not None and address is None:
            self._session: Any = there
            return
        build = SparkSession.builder.appName("voronym").master(address or f"local[{workers},{ATTEMPTS}]")
        build = build.config("spark.ui.enabled", "false").config("spark.driver.memory", "512m")
        build = build.config("spark.ui.showConsoleProgress", "false")
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # read when a worker starts
        try:
            self._session = build.getOrCreate()
        except Exception as error:  # Java's own, of many kinds
            raise VoronymError(
                f"Spark did not start ({type(error).__name__}): it needs Java 17 or newer, and a master that "
                "answers"
            ) from None

    def run(
        self, work: str, stage: str, tasks: Sequence[int], wait: Callable[[], None]
    ) -> Iterator[tuple[int, Any]]:
        """Run tasks of a stage, one per partition; Spark repeats those of a lost executor."""
        if not tasks:
            return
        spark = self._session
        try:
            places = spark.range(0, len(tasks), 1, len(tasks))  # a partition for each
            outcomes = places.mapInArrow(_doing(work, stage, list(tasks)), "number long, answer binary")
        except Exception as error:  # the machine of Java is gone
            raise _lost(stage, error) from None
        answers: list[Any] = []
        failed: list[BaseException] = []
        group = f"voronym-{id(self)}-{stage}"

        def collect() -> None:
            spark.sparkContext.setJobGroup(group, f"voronym: {stage}", interruptOnCancel=True)
            try:
                answers.extend(outcomes.collect())
            except Exception as error:  # Java's own, of many kinds
                failed.append(error)

        thread = threading.Thread(target=collect, daemon=True)
        thread.start()
        try:
            while thread.is_alive():
                thread.join(PIECE)
                wait()
        except BaseException:
            with contextlib.suppress(Exception):  # there may be no driver left to report to
                spark.sparkContext.cancelJobGroup(group)
            thread.join(30)
            raise
        if failed and "No module named 'voronym'" in str(failed[0]):
            raise VoronymError(
                "the Python of the Spark workers has no voronym: install it there, or start the session with "
                "the environment variable PYSPARK_PYTHON set to a Python that has it"
            ) from None
        if failed:
            raise _lost(stage, failed[0]) from None
        for row in answers:
            yield int(row["number"]), _answer(bytes(row["answer"]))

    def close(self) -> None:
        """End the session, if it was started here."""
        if self._own:
            with contextlib.suppress(Exception):  # it may be dead
                self._session.stop()
