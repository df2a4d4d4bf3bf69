"""Drawings: well-formed, escaped, to scale."""

import itertools
import re
import xml.etree.ElementTree as ET  # our own output, nothing hostile comes in unescaped: that is what we test

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voronym.report import figures, svg
from voronym.report.columns import bin_sizes

HOSTILE = '<script>alert("x")</script> & \x00\u202e\'"'


def parse(drawing):
    return ET.fromstring(drawing)  # noqa: S314


def boxes(drawing, cls):
    rects = [r for r in parse(drawing).iter("rect") if r.get("class") == cls]
    return np.array([[float(r.get(a)) for a in ("x", "y", "width", "height")] for r in rects])


@given(st.floats(-1e9, 1e9), st.floats(1e-6, 1e9), st.integers(2, 9))
def test_ticks_are_monotone_even_and_inside(low, span, count):
    high = low + span
    found = svg.ticks(low, high, count)
    if high <= low or span < 1e-9 * abs(low):
        return
    gaps = np.diff(found)
    assert np.all(gaps > 0)
    assert np.allclose(gaps, gaps[0] if len(gaps) else 1, rtol=1e-3)
    assert len(found) <= count + 2
    slack = 1e-6 * max(span, abs(low), abs(high))
    assert all(low - slack <= t <= high + slack for t in found)


@given(st.floats(-6e10, 2e11), st.floats(1.0, 3e10))
def test_date_ticks_are_monotone_inside_and_few(low, span):
    at, labels = svg.date_ticks(low, low + span)
    assert len(at) == len(labels) <= 12
    assert np.all(np.diff(at) > 0)
    assert all(low - 1 <= t <= low + span + 1 for t in at)


def test_tick_labels_agree_in_decimals():
    assert svg.tick_labels([0.0, 0.5, 1.0]) == ["0.0", "0.5", "1.0"]
    assert svg.tick_labels([-1000.0, 0.0]) == ["−1,000", "0"]


@given(st.text(max_size=60), st.floats(8, 200))
def test_shorten_fits_its_room(text, room):
    short = svg.shorten(text, room)
    assert short == "…" or svg.width(short) <= room


@given(st.text(max_size=40))
def test_any_text_gives_well_formed_svg(text):
    drawing = figures.bars([text, "b"], [1, 2], [2, 1], title=text, desc=text)
    root = parse(drawing)
    assert root.find("title").text in (svg.clean(text), None)


def test_hostile_text_is_escaped_everywhere():
    drawings = [
        figures.bars([HOSTILE], None, [3], title=HOSTILE, desc=HOSTILE),
        figures.loss_bars([HOSTILE], [3.0], total=3.0, title=HOSTILE, desc=HOSTILE),
        figures.histogram_pair([0, 1], [1], [1], title=HOSTILE, desc=HOSTILE),
        figures.size_histogram({5: 1}, k=5, title=HOSTILE, desc=HOSTILE),
        figures.dot_ranges([(HOSTILE, 1.0, 2.0, (1.5, 2.5))], title=HOSTILE, desc=HOSTILE),
        figures.lines(
            {HOSTILE: [(3, 1.0), (5, 2.0)]}, title=HOSTILE, desc=HOSTILE, x_name=HOSTILE, y_name=HOSTILE
        ),
        figures.scatter_cells(
            None, None, [[0, 0]], [5], title=HOSTILE, desc=HOSTILE, axes=(HOSTILE, HOSTILE)
        ),
    ]
    for drawing in drawings:
        parse(drawing)
        assert "<script" not in drawing
        assert "\x00" not in drawing
        assert "\u202e" not in drawing


def test_bars_are_to_scale():
    drawing = figures.bars(["a", "b", "c"], [10, 20, 40], [40, 20, 10], title="t")
    before, after = boxes(drawing, "b"), boxes(drawing, "a")
    assert np.allclose(before[:, 2] / before[-1, 2], [0.25, 0.5, 1], atol=0.01)
    assert np.allclose(after[:, 2] / after[0, 2], [1, 0.5, 0.25], atol=0.01)


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=30).filter(any))
def test_histogram_heights_are_to_scale_and_inside(counts):
    edges = np.arange(len(counts) + 1)
    drawing = figures.histogram_pair(edges, counts, counts[::-1], title="t")
    for cls, wanted in (("b", counts), ("a", counts[::-1])):
        found = boxes(drawing, cls)
        kept = np.array([c for c in wanted if c])
        assert np.allclose(found[:, 3] / found[:, 3].max(), kept / kept.max(), atol=0.01)
    view = [float(v) for v in parse(drawing).get("viewBox").split()]
    every = np.vstack([boxes(drawing, "a"), boxes(drawing, "b")])
    assert np.all(every[:, 0] >= 0)
    assert np.all(every[:, 0] + every[:, 2] <= view[2])
    assert np.all(every[:, 1] >= 0)
    assert np.all(every[:, 1] + every[:, 3] <= view[3])


@given(st.dictionaries(st.integers(1, 5000), st.integers(1, 500), min_size=1, max_size=60))
def test_size_bins_lose_no_cell_and_no_record(sizes):
    bins = bin_sizes(sizes)
    assert sum(b.cells for b in bins) == sum(sizes.values())
    assert sum(b.records for b in bins) == sum(s * c for s, c in sizes.items())
    assert all(a.high + 1 == b.low for a, b in itertools.pairwise(bins))
    assert bins[0].low == min(sizes)
    assert bins[-1].high >= max(sizes)
    assert len(bins) <= 26
    parse(figures.size_histogram(sizes, k=5, title="t"))


@given(st.lists(st.floats(0, 300), min_size=1, max_size=14))
def test_labels_are_spread_apart_when_there_is_room(wanted):
    found = sorted(svg.spread(wanted, 14, 0, 300))
    assert all(b - a >= 14 - 1e-9 for a, b in itertools.pairwise(found))
    assert found[0] >= -1e-9
    assert found[-1] <= 300 + 1e-9


def test_labels_on_an_axis_do_not_touch():
    values = list(range(0, 2_000_000, 10_000))
    scale = svg.Scale(0, 2_000_000, 20, 300)
    out = figures._labels_x(scale, values, svg.tick_labels(values), 10)
    at = [(float(re.search(r'x="([^"]+)"', t)[1]), svg.width(re.search(r">([^<]+)<", t)[1])) for t in out]
    assert len(out) > 2
    assert all(b[0] - b[1] / 2 >= a[0] + a[1] / 2 for a, b in itertools.pairwise(at))


def test_scatter_draws_every_record_once_with_one_decimal():
    rng = np.random.default_rng(0)
    points, labels = rng.normal(size=(90, 2)), np.repeat(np.arange(9), 10)
    centres = np.array([points[labels == c].mean(axis=0) for c in range(9)])
    drawing = figures.scatter_cells(points, labels, centres, np.full(9, 10), title="t")
    assert sum(p.get("d").count("M") for p in parse(drawing).iter("path") if p.get("class")[0] == "d") == 90
    assert len([p for p in parse(drawing).iter("path") if p.get("class")[0] == "h"]) == 9
    assert len(list(parse(drawing).iter("circle"))) == 9
    assert not re.search(r"\d\.\d\d", "".join(p.get("d") for p in parse(drawing).iter("path")))


@pytest.mark.parametrize(
    "points",
    [np.zeros((6, 2)), np.column_stack([np.arange(6.0), np.zeros(6)]), np.column_stack([np.arange(6.0)] * 2)],
    ids=["one place", "flat", "diagonal"],
)
def test_scatter_of_points_without_area(points):
    labels = np.repeat([0, 1], 3)
    parse(figures.scatter_cells(points, labels, points[[1, 4]], [3, 3], title="t"))


def test_lines_leave_out_what_is_not_known():
    series = {"mdav": [(3.0, 5.0), (5.0, float("nan"))], "none": []}
    root = parse(figures.lines(series, title="t", x_name="k", y_name="loss"))
    assert "nan" not in ET.tostring(root, encoding="unicode").lower()


def test_dot_ranges_place_dots_in_order():
    drawing = figures.dot_ranges([("a", 0.0, 100.0, None), ("b", 50.0, None, None)], title="t")
    xs = [float(c.get("cx")) for c in parse(drawing).iter("circle")]
    assert xs[0] < xs[2] < xs[1]
