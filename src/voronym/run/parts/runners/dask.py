"""A Dask cluster: an existing one by its address, or one started on this machine."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from voronym.errors import GuaranteeError, InputError, MissingExtraError, VoronymError, hint
from voronym.run.parts.job import perform
from voronym.run.parts.runners.base import LostError, Runner, runner

log = logging.getLogger("voronym.dask")
PIECE = 0.1
ANSWER = 5.0
"""Seconds to wait for the scheduler to answer."""
PATIENCE = 120.0
"""Seconds without any worker after which the cluster is given up."""
PAUSE = 60.0
"""Seconds for which all workers may pause, which Dask does when memory is nearly full."""


def _answer(work: str, stage: str, number: int) -> Any:
    """Return the answer of a task, or the error of the user's choices.

    If a task raises an error, Dask repeats it and logs each trace, which may quote the table.
    """
    try:
        return perform(work, stage, number)
    except (InputError, GuaranteeError) as error:
        return error


def _security() -> Any:
    """Return certificates for a run, so that strangers cannot run code on the scheduler."""
    from distributed.security import Security

    try:
        return Security.temporary()
    except ImportError:  # without cryptography
        return None


@runner("dask")
class Dask(Runner):
    """Tasks on Dask workers, which share the work folder's path; no record passes the scheduler."""

    def __init__(self, *, workers: int, memory: int, address: str | None = None) -> None:
        super().__init__(workers=workers, memory=memory, address=address)
        self.limited = address is None
        try:
            from distributed import Client, LocalCluster
        except ImportError:
            raise MissingExtraError("the engine 'dask' needs Dask: pip install 'voronym[dask]'") from None
        self._cluster = None
        try:
            if address is None:
                self._cluster = LocalCluster(
                    n_workers=workers,
                    threads_per_worker=1,
                    processes=workers > 1,
                    memory_limit=memory // workers,
                    dashboard_address="127.0.0.1:0",
                    security=_security() if workers > 1 else None,
                    silence_logs=logging.ERROR,
                )
            self._client: Any = Client(address or self._cluster, timeout=ANSWER)
        except (OSError, ValueError) as error:
            raise VoronymError(
                f"the Dask scheduler at {address!r} does not answer ({type(error).__name__}): is it running?"
            ) from None
        log.info("Dask's dashboard is at %s", self._client.dashboard_link)

    @property
    def alive(self) -> int:
        """The number of present workers."""
        return len(self._client.scheduler_info(n_workers=-1).get("workers", {}))

    def run(
        self, work: str, stage: str, tasks: Sequence[int], wait: Callable[[], None]
    ) -> Iterator[tuple[int, Any]]:
        """Run tasks of a stage; Dask repeats those of a lost worker."""
        from distributed import wait as some
        from distributed.client import FutureCancelledError, FuturesCancelledError

        futures = {
            self._client.submit(_answer, work, stage, number, pure=False, retries=3): number
            for number in tasks
        }
        pending, quiet, paused = set(futures), 0.0, 0.0
        try:
            while pending:
                wait()
                self._check(quiet, paused)
                try:
                    done, pending = some(list(pending), timeout=PIECE, return_when="FIRST_COMPLETED")
                except TimeoutError:
                    quiet = 0.0 if self._client.status == "running" and self.alive else quiet + PIECE
                    paused = paused + PIECE if self._paused else 0.0
                    continue
                quiet = paused = 0.0
                for future in done:
                    answer = future.result()
                    if isinstance(answer, VoronymError):
                        raise answer
                    yield futures[future], answer
        except (FutureCancelledError, FuturesCancelledError):
            raise LostError(LOST) from None
        finally:
            if self._client.status == "running":
                self._client.cancel(list(pending), force=True)

    @property
    def _paused(self) -> bool:
        """Whether all workers pause for lack of memory."""
        result = self._client.scheduler_info(n_workers=-1).get("workers", {}).values()
        return bool(result) and all(item.get("status") == "paused" for item in result)

    def _check(self, quiet: float, paused: float) -> None:
        """Raise if the scheduler is gone, all workers are gone for a while, or all wait for memory."""
        if self._client.status not in ("running", "connecting") or quiet > PATIENCE:
            raise LostError(LOST)
        if paused > PAUSE:
            raise LostError(PAUSED)

    def close(self) -> None:
        """Leave the cluster; end it if it was started here."""
        self._client.close()
        if self._cluster is not None:
            self._cluster.close()


LOST = (
    f"the Dask cluster was lost: nothing was released. With {hint('resume')} a new run goes on from the "
    "tasks that "
    "were done"
)
PAUSED = (
    f"all Dask workers pause, because their memory is nearly full: give {hint('memory')}, or the workers "
    "of the "
    f"cluster, more, take fewer {hint('workers')} or a smaller {hint('leaf')}. `voronym plan` says how "
    "much. Nothing was "
    "released"
)
