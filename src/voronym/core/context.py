"""The context of a piece of work: generator, deadline, progress, requests to stop, and threads.

Every long loop asks its `Context`, and only it: how much time is left, whether somebody wishes to *finish*
(with the best so far) or to *cancel* (with nothing), and where to tell how far the work is. A part of the
work gets a part of the context, made by `Context.part`; its progress is a share of the whole, so what is
shown never goes back, and reaches the end only when all of the work is over.

Two kinds of work treat a request to finish differently. A *search* has a result at any time: it looks at
`Context.over` between two pieces and returns its best. Work that *must be whole* has nothing to show before
its end: `Context.pieces` and `Context.map` raise `Unfinished` there. A deadline alone never raises: work that
must be whole goes on past it, because a late answer is better than none. The clock is `voronym.core.clock`,
which stands still while kernels are compiled.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TypeVar

import numpy as np

from voronym.core.clock import now
from voronym.core.progress import FinishEarly, Progress, ProgressCallback, Whole
from voronym.core.validate import check_seconds, check_seed
from voronym.errors import Cancelled, InputError, Unfinished

__all__ = ["Context", "FinishEarly", "Progress", "ProgressCallback"]

Block = TypeVar("Block")
Answer = TypeVar("Answer")

PIECE = 0.1
"""Target seconds of a piece of kernel work: short enough for Ctrl-C and a lively progress bar."""

ALMOST = 0.999
"""The largest share that is shown before the work is over."""


class Context:
    """The resources of a piece of work, and the requests that it must obey.

    Parameters
    ----------
    seed : int, Generator or None
        Seed of the random choices; None draws a new one.
    time_limit : float, optional
        Seconds from now on.
    progress : callable, optional
        Called with a `Progress` now and then, from the thread that does the work. It may raise `FinishEarly`
        to finish early, or any other exception, which passes through.
    threads : int, optional
        How many blocks are worked on at a time; by default as many as there are processors, 8 at most.
        Results do not depend on it.
    device : {"cpu", "cuda"}
        The device for kernels with a GPU version (see `voronym._cuda`).
    started : float, optional
        The time when the work began, by `voronym.core.clock.now`, if that was earlier: the limit counts from
        it.
    stands_for : int
        The number of records of a larger table, if the work is on a sample of it: methods then search as they
        do for that table.

    Examples
    --------
    >>> ctx = Context(seed=1, progress=lambda step: print(step.stage, step.done))
    >>> half = ctx.part(0.0, 0.5, stage="grouping")
    >>> half.tell(0.5)
    grouping 0.25
    >>> Context().map(lambda number: number * number, [1, 2, 3])
    [1, 4, 9]
    """

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

    def part(
        self, start: float, stop: float, *, stage: str | None = None, time: float | None = None
    ) -> Context:
        """Return the context of a part of this work, from one share of it to another.

        Parameters
        ----------
        start, stop : float
            The shares of this context's progress between which the part's own runs.
        stage : str, optional
            What the part does; by default what this one does.
        time : float, optional
            The share of the time left that the part may take; by default all of it.
        """
        new = Context.__new__(Context)
        new.rng, new.threads, new._whole = self.rng, self.threads, self._whole
        new.started, new.deadline, new._until = now(), self.deadline, self._until
        new._strict = self._strict
        if time is not None and self.deadline is not None:
            new.deadline = new.started + time * max(0.0, self.deadline - new.started)
        width = self._to - self._from
        new._stage = self._stage if stage is None else stage
        new._from, new._to = self._from + start * width, self._from + stop * width
        return new

    def limited(self, seconds: float | None) -> Context:
        """Return this context with an earlier deadline, if one is given."""
        new = self.part(0.0, 1.0)
        if seconds is not None:
            ends = new.started + check_seconds(seconds)
            new.deadline = ends if new.deadline is None else min(ends, new.deadline)
        return new

    def unhurried(self, *, strict: bool = False) -> Context:
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

    def untimed(self) -> Context:
        """Return this context without its deadline, for work that ends by itself."""
        new = self.part(0.0, 1.0)
        new.deadline = new._until = None
        return new

    def quiet(self, *, rng: np.random.Generator | None = None) -> Context:
        """Return this context without progress, for small pieces of work, repeated or in threads.

        It obeys requests to stop. Blocks that draw at random get a generator of their own.
        """
        new = self.part(0.0, 0.0)
        new._stage = ""
        if rng is not None:
            new.rng, new.threads = rng, 1
        return new

    @property
    def stage(self) -> str:
        """A name for this part of the work; empty if it shows nothing."""
        return self._stage

    @property
    def device(self) -> str:
        """The device for kernels that exist for the GPU, too: "cpu" or "cuda"."""
        return self._whole.device

    @property
    def stands_for(self) -> int:
        """The number of records of the table that this work is on a sample of; 0 if it is on all of it."""
        return self._whole.stands_for

    @property
    def notes(self) -> list[str]:
        """Remarks for the user about how the work was done; any part may append one."""
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
        """Whether a search should return its best: time is up, or the user asked to finish or cancel."""
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

    # -- work in pieces and blocks -------------------------------------------------------------------------

    def pieces(self, work: Callable[[int], float], *, budget: int) -> None:
        """Call ``work(budget)`` until it returns 1.0, the share done; the budget adapts to keep pieces short.

        For work that must be completed. Its state is in arrays that ``work`` owns, so the result does not
        depend on the cuts between pieces.
        """
        done = 0.0
        while done < 1.0:
            before = now()
            done = work(budget)
            budget = _adapted(budget, now() - before, 4.0)
            self.tell(done, whole=True)

    def ranges(self, work: Callable[[int, int], object], stop: int, *, budget: int, start: int = 0) -> None:
        """Call ``work(start, stop)`` for one range after the other, until the last one ends at ``stop``.

        For work that must be completed, one item after the other; the ranges adapt to short pieces.
        """
        at = start

        def piece(items: int) -> float:
            nonlocal at
            end = min(stop, at + items)
            work(at, end)
            at = end
            return at / stop

        self.pieces(piece, budget=budget)

    def search(self, work: Callable[[int], bool], *, budget: int) -> Iterator[None]:
        """Call ``work(budget)`` until it returns that all is done or `over` holds; yield after each piece.

        For work that has a result after every piece. The caller reports the progress.
        """
        budget, ended = min(budget, 8), False
        while not ended and not self.over:
            before = now()
            ended = work(budget)
            budget = _adapted(budget, now() - before, 2.0)
            yield
        self.check(whole=False)

    def map(
        self,
        function: Callable[[Block], Answer],
        blocks: Iterable[Block],
        *,
        whole: bool = True,
        tell: Callable[[], None] | None = None,
    ) -> list[Answer]:
        """Work on independent blocks, several at a time; return the answers in the order of the blocks.

        Parameters
        ----------
        function : callable
            Takes a block. If a block takes longer than a moment, the function looks at `over` or calls
            `check`.
        blocks : iterable
            Anything; results must not depend on the order in which they are worked on.
        whole : bool
            Whether all blocks are needed: then a request to finish raises. A search returns its best result
            so far.
        tell : callable, optional
            Called every tenth of a second instead of reporting the share of finished blocks.
        """
        listed = list(blocks)
        if getattr(self._whole.thread, "working", False):  # inside a block: no threads within threads
            return self._one_by_one(function, listed, whole, lambda: self.check(whole=whole))
        threads = min(self.threads, len(listed))
        if threads <= 1:
            return self._one_by_one(function, listed, whole, tell)
        try:
            with ThreadPoolExecutor(threads, initializer=self._whole.mark) as pool:
                futures = [pool.submit(function, block) for block in listed]
                try:
                    self._wait(futures, whole, tell)
                except BaseException:  # Ctrl-C, too: blocks that run see it and end, the others never begin
                    self._whole.halt.set()
                    pool.shutdown(wait=True, cancel_futures=True)
                    raise
        finally:
            self._whole.halt.clear()
        return [future.result() for future in futures]

    def apart(
        self, work: Callable[[], Answer], stop: Callable[[], None], *, tell: Callable[[], None] | None = None
    ) -> Answer:
        """Run foreign code in a thread; report progress and obey requests to stop meanwhile.

        Parameters
        ----------
        work : callable
            The code, such as that of a solver.
        stop : callable
            Makes the code end soon with its result so far: called when `over` holds, and when this thread
            leaves.
        tell : callable, optional
            Called every tenth of a second; by default it repeats the last report.
        """
        with ThreadPoolExecutor(1) as pool:
            future = pool.submit(work)
            try:
                while not future.done():
                    wait([future], timeout=PIECE)
                    if self.over:
                        stop()
                    self._report(tell, 0.0)
            finally:
                stop()
        return future.result()

    def _wait(self, futures: Sequence[Future[Answer]], whole: bool, tell: Callable[[], None] | None) -> None:
        pending = set(futures)
        while pending:
            finished, pending = wait(pending, timeout=PIECE)
            for future in finished:
                future.result()
            self._report(tell, 1.0 - len(pending) / len(futures), whole=whole)

    def _one_by_one(
        self,
        function: Callable[[Block], Answer],
        blocks: Sequence[Block],
        whole: bool,
        tell: Callable[[], None] | None,
    ) -> list[Answer]:
        answers = []
        for number, block in enumerate(blocks, start=1):
            answers.append(function(block))
            self._report(tell, number / len(blocks), whole=whole)
        return answers

    def _report(self, tell: Callable[[], None] | None, done: float, *, whole: bool = False) -> None:
        self.tell(done, whole=whole) if tell is None else tell()


def _adapted(budget: int, seconds: float, most: float) -> int:
    """Return a budget for about `PIECE` seconds, from the time of the last one."""
    return int(budget * min(most, max(0.25, PIECE / max(seconds, 1e-6)))) + 1
