"""The scope of a piece of work: its generator, its time, the requests that it must obey, and its progress."""

from __future__ import annotations

import os
from typing import Self

import numpy as np

from voronym.core.clock import now
from voronym.core.progress import FinishEarly, Progress, ProgressCallback, Whole
from voronym.core.validate import check_seconds, check_seed
from voronym.errors import Cancelled, InputError, Unfinished

ALMOST = 0.999
"""The largest share that is shown before the work is over."""


class Scope:
    """The limits of a piece of work and the requests to it; `Context` adds the ways to do the work."""

    def __init__(
        self,
        *,
        seed: int | np.random.Generator | None = 0,
        time_limit: float | None = None,
        progress: ProgressCallback | None = None,
        threads: int | None = None,
        started: float | None = None,
        device: str = "cpu",
        stands_for: int = 0,
    ) -> None:
        if progress is not None and not callable(progress):
            raise InputError("progress must be a function that takes a Progress")
        self.rng = check_seed(seed)
        self.threads = min(8, os.cpu_count() or 1) if threads is None else threads
        self.started = now() if started is None else started
        self.deadline = None if time_limit is None else self.started + check_seconds(time_limit)
        self._until: float | None = None  # when work without a deadline of its own is over all the same
        self._strict = False  # whether work that must be whole ends then, too
        self._whole = Whole(progress)
        self._whole.device, self._whole.stands_for = device, stands_for
        self._stage, self._from, self._to = "working", 0.0, 1.0

    # -- parts ---------------------------------------------------------------------------------------------

    def part(self, start: float, stop: float, *, stage: str | None = None, time: float | None = None) -> Self:
        """Return a context for the part of this work between two shares, ``start`` and ``stop``.

        Parameters
        ----------
        start, stop : float
            The shares of this context's progress between which the part's own runs.
        stage : str, optional
            Name of the part; by default the name of this context.
        time : float, optional
            The share of the time left that the part may take; by default all of it.
        """
        new = type(self).__new__(type(self))
        new.rng, new.threads, new._whole = self.rng, self.threads, self._whole
        new.started, new.deadline, new._until = now(), self.deadline, self._until
        new._strict = self._strict
        if time is not None and self.deadline is not None:
            new.deadline = new.started + time * max(0.0, self.deadline - new.started)
        width = self._to - self._from
        new._stage = self._stage if stage is None else stage
        new._from, new._to = self._from + start * width, self._from + stop * width
        return new

    def limited(self, seconds: float | None) -> Self:
        """Return this context with an earlier deadline; unchanged for None."""
        new = self.part(0.0, 1.0)
        if seconds is not None:
            ends = new.started + check_seconds(seconds)
            new.deadline = ends if new.deadline is None else min(ends, new.deadline)
        return new

    def unhurried(self, *, strict: bool = False) -> Self:
        """Return this context without its deadline, for work that must be the same on every machine.

        It plans by numbers, not by the clock; but a search is `over` when the time is up.

        Parameters
        ----------
        strict : bool
            Whether the deadline is strict: then work that must be completed raises `Unfinished` when the time
            is up.
        """
        new = self.part(0.0, 1.0)
        if self.deadline is not None:
            new.deadline, new._until, new._strict = None, self.deadline, strict
        return new

    def untimed(self) -> Self:
        """Return this context without its deadline, for work that ends by itself."""
        new = self.part(0.0, 1.0)
        new.deadline = new._until = None
        return new

    def quiet(self, *, rng: np.random.Generator | None = None) -> Self:
        """Return this context without progress, for small pieces of work, repeated or in threads.

        It obeys requests to stop. Pass ``rng`` if the pieces draw at random.
        """
        new = self.part(0.0, 0.0)
        new._stage = ""
        if rng is not None:
            new.rng, new.threads = rng, 1
        return new

    @property
    def stage(self) -> str:
        """The name of this part of the work; "" if it is not displayed."""
        return self._stage

    @property
    def device(self) -> str:
        """The device for kernels that exist for the GPU, too: "cpu" or "cuda"."""
        return self._whole.device

    @property
    def stands_for(self) -> int:
        """The number of records in the table of which this work takes a sample; 0 if it takes all of it."""
        return self._whole.stands_for

    @property
    def notes(self) -> list[str]:
        """Remarks for the user about the work; any part may append to them."""
        return self._whole.notes

    # -- time and wishes -----------------------------------------------------------------------------------

    @property
    def timed(self) -> bool:
        """Whether there is a deadline."""
        return self.deadline is not None

    @property
    def spent(self) -> float:
        """Seconds since this part began."""
        return now() - self.started

    @property
    def left(self) -> float:
        """Seconds until the deadline, 0 after it; infinite without a deadline."""
        return np.inf if self.deadline is None else max(0.0, self.deadline - now())

    @property
    def over(self) -> bool:
        """Whether a search should return its best: time is over, or the user asked to finish or cancel."""
        if self._late or (self.deadline is not None and now() >= self.deadline):
            return True
        whole = self._whole
        return whole.finish.is_set() or whole.cancel.is_set() or whole.halt.is_set()

    @property
    def _late(self) -> bool:
        return self._until is not None and now() >= self._until

    @property
    def finishing(self) -> bool:
        """Whether the user asked to finish."""
        return self._whole.finish.is_set()

    def finish(self) -> None:
        """Ask for the best result so far. Safe from any thread."""
        self._whole.finish.set()

    def cancel(self) -> None:
        """Cancel the work. Safe from any thread."""
        self._whole.cancel.set()

    def check(self, *, whole: bool = True) -> None:
        """Raise `Cancelled` if the work was cancelled. Safe from any thread.

        Parameters
        ----------
        whole : bool
            Whether the work must be completed: then a request to finish raises `Unfinished`.
        """
        if self._whole.cancel.is_set() or self._whole.halt.is_set():
            raise Cancelled("cancelled: nothing was made")
        if whole and (self._whole.finish.is_set() or (self._strict and self._late)):
            raise Unfinished("there is no result yet to finish with: nothing was made")

    # -- progress ------------------------------------------------------------------------------------------

    def tell(
        self, done: float, loss: float | None = None, bound: float | None = None, *, whole: bool = False
    ) -> None:
        """Report this part's progress, and obey requests to stop (see `check`); by default for a search.

        With a deadline, the display shows the share of the time if that is larger.
        """
        share = self._whole
        if self._stage:
            if self.deadline is not None and self.deadline > self.started:
                done = max(done, self.spent / (self.deadline - self.started))
            here = self._from + min(max(done, 0.0), 1.0) * (self._to - self._from)
            share.shown, share.stage = max(share.shown, min(here, ALMOST)), self._stage
            self._say(Progress(self._stage, share.shown, loss, bound))
        self.check(whole=whole)

    def done(self) -> None:
        """Report that all of the work is done; for the maker of the context."""
        self._whole.shown = 1.0
        self._say(Progress(self._whole.stage or self._stage, 1.0))

    def _say(self, step: Progress) -> None:
        if self._whole.progress is not None:
            try:
                self._whole.progress(step)
            except FinishEarly:
                self._whole.finish.set()
