"""The context of a piece of work: generator, deadline, progress, requests to stop, and threads.

Every long loop asks its `Context` how much time is left, and whether the user wants to *finish* (with the
best so far) or to *cancel* (with nothing). It reports progress there. `Context.part` makes the context for a
part of the work; its progress is a share of the whole, so the displayed progress never goes back.

Two kinds of work treat a request to finish differently. A *search* has a result at any time: it checks
`Context.over` between two pieces and returns its best. Work that *must be complete* has no result before its
end: `Context.pieces` and `Context.map` then raise `Unfinished`. A deadline alone never raises: such work
continues, because a late answer is better than none. The clock is `voronym.core.clock`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TypeVar

from voronym.core.clock import now
from voronym.core.progress import FinishEarly, Progress, ProgressCallback
from voronym.core.scope import Scope

__all__ = ["Context", "FinishEarly", "Progress", "ProgressCallback"]

Block = TypeVar("Block")
Answer = TypeVar("Answer")

PIECE = 0.1
"""Target seconds of a piece of kernel work: short enough for Ctrl-C and a lively progress bar."""


class Context(Scope):
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
        Number of parallel blocks; by default that of processors, at most 8. Results do not depend on it.
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
        """Call ``work(start, stop)`` for consecutive ranges up to ``stop``.

        For work that must be complete, item by item; the lengths adapt, so that each takes a short time.
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
            The work to run in another thread, such as a solver.
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
    """Return a budget that takes about `PIECE` seconds, estimated from the last piece."""
    return int(budget * min(most, max(0.25, PIECE / max(seconds, 1e-6)))) + 1
