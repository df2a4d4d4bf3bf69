"""The context: progress that never goes back, wishes that are obeyed, threads that change nothing."""

from itertools import pairwise
from threading import Event, Thread
from time import sleep

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voronym.core.context import Context, FinishEarly, Progress
from voronym.errors import Cancelled, InputError, Unfinished


def test_parts_are_shares_of_the_whole():
    messages: list[Progress] = []
    ctx = Context(progress=messages.append)
    second = ctx.part(0.5, 1.0, stage="proving")
    second.part(0.0, 0.5).tell(0.5, loss=3.0)
    assert messages == [Progress("proving", 0.625, 3.0)]


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), st.floats(-1, 2)), max_size=30))
def test_progress_never_goes_back_and_ends_at_the_end(steps):
    messages: list[Progress] = []
    ctx = Context(progress=messages.append)
    for start, stop, done in steps:
        ctx.part(min(start, stop), max(start, stop)).tell(done)
    assert all(a.done <= b.done < 1.0 for a, b in pairwise(messages))
    ctx.done()
    assert messages[-1].done == 1.0


def test_a_share_of_the_time():
    ctx = Context(time_limit=100.0)
    assert 5.0 < ctx.part(0, 1, time=0.1).left <= 10.0
    assert ctx.part(0, 1).deadline == ctx.deadline
    assert ctx.limited(1.0).left <= 1.0
    assert ctx.limited(1000.0).deadline == ctx.deadline


def test_a_deadline_ends_a_search_but_not_work_that_must_be_whole():
    ctx = Context(time_limit=0.0)
    assert list(ctx.search(lambda _: False, budget=1)) == []
    ctx.pieces(lambda _: 1.0, budget=1)
    assert ctx.map(lambda x: x, [1, 2]) == [1, 2]


def test_a_wish_to_finish():
    def progress(step: Progress) -> None:
        raise FinishEarly

    ctx = Context(progress=progress)
    with pytest.raises(Unfinished, match="no result yet"):
        ctx.pieces(lambda _: 0.5, budget=1)
    assert ctx.over
    assert list(ctx.search(lambda _: False, budget=1)) == []
    with pytest.raises(Unfinished):
        ctx.map(lambda x: x, [1, 2, 3])
    assert ctx.map(lambda x: x, [1, 2, 3], whole=False) == [1, 2, 3]


def test_cancel_raises_in_every_kind_of_work():
    ctx = Context()
    ctx.part(0, 1).cancel()
    for work in (
        lambda: ctx.pieces(lambda _: 0.5, budget=1),
        lambda: list(ctx.search(lambda _: False, budget=1)),
        lambda: ctx.map(lambda x: x, [1, 2]),
        lambda: ctx.tell(0.5),
        lambda: ctx.quiet().tell(0.5),
    ):
        with pytest.raises(Cancelled):
            work()


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_answers_come_in_the_order_of_the_blocks(threads):
    def slow(x: int) -> int:
        sleep(0.01 * (5 - x))
        return x * x

    assert Context(threads=threads).map(slow, range(5)) == [0, 1, 4, 9, 16]


def test_a_failing_block_ends_the_others_and_leaves_the_context_usable():
    ctx = Context(threads=2)

    def work(number: int) -> None:
        if number == 0:
            raise InputError("no")
        while not ctx.over:
            sleep(0.01)

    with pytest.raises(InputError, match="no"):
        ctx.map(work, range(2))
    assert not ctx.over
    ctx.tell(0.5)


def test_cancel_from_another_thread_is_heeded_by_running_blocks():
    ctx, begun, cancelled, late = Context(threads=2), Event(), Event(), []

    def work(number: int) -> None:
        for _ in range(3000):  # half a minute, should nobody be heard
            heard = cancelled.is_set()
            ctx.check()
            late.extend([number] * heard)
            begun.set()
            sleep(0.01)

    Thread(target=lambda: (begun.wait(), ctx.cancel(), cancelled.set())).start()
    with pytest.raises(Cancelled):
        ctx.map(work, range(4))
    assert not late


@pytest.mark.parametrize("wrong", [-1, float("nan"), "2", True])
def test_a_time_limit_is_a_number_of_seconds(wrong):
    with pytest.raises(InputError, match="number of seconds"):
        Context(time_limit=wrong)


def test_the_error_of_a_map_inside_a_map_is_told():
    ctx = Context(threads=3)

    def inner(number: int) -> int:
        if number == 1:
            raise InputError("the real cause")
        return number

    def outer(number: int) -> list[int]:
        if number == 0:
            return ctx.map(inner, range(3))
        while not ctx.over:
            sleep(0.01)
        return []

    for _ in range(5):
        with pytest.raises(InputError, match="the real cause"):
            ctx.map(outer, range(3))


def test_a_map_inside_a_block_does_not_hide_that_another_block_failed():
    ctx = Context(threads=2)

    def work(number: int) -> None:
        if number == 0:
            sleep(0.1)
            raise InputError("no")
        while not ctx.over:  # would run for ever if the inner map took the halt back
            ctx.map(lambda x: x, [1, 2])

    with pytest.raises(InputError, match="no"):
        ctx.map(work, range(2))
