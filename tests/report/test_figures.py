"""Drawings: well-formed, escaped, to scale."""

import itertools
import re
import xml.etree.ElementTree as ET  # our own output, nothing hostile comes in unescaped: that is what we test

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voronym.dossier.parts import Cloud, GroupMap
from voronym.report import bars, curves, maps, svg
from voronym.report.axes import Axes, Axis

HOSTILE = '<script>alert("x")</script> & \x00\u202e\'"'


def parse(drawing):
    return ET.fromstring(drawing)  # noqa: S314


def boxes(drawing, cls):
    rects = [r for r in parse(drawing).iter("rect") if r.get("class") == cls]
    return np.array([[float(r.get(a)) for a in ("x", "y", "width", "height")] for r in rects])


@given(st.floats(-1e9, 1e9), st.floats(1e-6, 1e9), st.integers(2, 9))
def test_ticks_are_monotone_even_and_inside(low, span, count):
    high = low + span
    result = svg.ticks(low, high, count)
    if high <= low or span < 1e-9 * abs(low):
        return
    gaps = np.diff(result)
    assert np.all(gaps > 0)
    assert np.allclose(gaps, gaps[0] if len(gaps) else 1, rtol=1e-3)
    assert len(result) <= count + 2
    slack = 1e-6 * max(span, abs(low), abs(high))
    assert all(low - slack <= t <= high + slack for t in result)


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
    drawing = bars.bars([text, "b"], [2, 1], [1, 2], title=text, desc=text)
    root = parse(drawing)
    assert root.find("title").text in (svg.clean(text), None)


def test_hostile_text_is_escaped_everywhere():
    drawings = [
        bars.bars([HOSTILE], [3], title=HOSTILE, desc=HOSTILE),
        bars.bars([HOSTILE], [3.0], title=HOSTILE, desc=HOSTILE, limit=(3.0, HOSTILE)),
        bars.histogram([0, 1], [1], [1], title=HOSTILE, desc=HOSTILE, names=[HOSTILE]),
        bars.sizes({5: 1}, limit=5, words=HOSTILE, what=HOSTILE, title=HOSTILE, desc=HOSTILE),
        bars.ranges([bars.Range(HOSTILE, 1.0, 2.0, (1.5, 2.5))], title=HOSTILE, desc=HOSTILE),
        bars.heat_map([HOSTILE, "b"], [[0.9, 0.1], [0.2, 0.8]], title=HOSTILE, desc=HOSTILE),
        bars.stacked([HOSTILE], [[0.5, 0.5]], [(HOSTILE, "a"), ("b", "b")], title=HOSTILE, desc=HOSTILE),
        curves.chart(
            [curves.Series(HOSTILE, [(3, 1.0), (5, 2.0)], words=[HOSTILE, ""])],
            title=HOSTILE,
            desc=HOSTILE,
            x_name=HOSTILE,
            y_name=HOSTILE,
        ),
        maps.cloud(
            Cloud(((0.0, 0.0),), (5,), 1, (HOSTILE, HOSTILE), (1.0, 0.0)), title=HOSTILE, desc=HOSTILE
        ),
    ]
    for drawing in drawings:
        parse(drawing)
        assert "<script" not in drawing
        assert "\x00" not in drawing
        assert "\u202e" not in drawing


def test_many_combinations_are_drawn_as_hexagons_and_all_records_are_in_them():
    """Two thousand circles would be one blob, from which nothing can be read."""
    rng = np.random.default_rng(0)
    points = [tuple(row) for row in rng.normal(size=(2000, 2)).tolist()]
    sizes = tuple(rng.integers(1, 9, 2000).tolist())
    few, many = (
        maps.cloud(Cloud(tuple(points[:n]), sizes[:n], n, ("a", "b"), (0.5, 0.5)), title="t")
        for n in (50, 2000)
    )
    assert (few.count("<circle"), few.count('class="hm"')) == (50, 0)
    assert many.count("<circle") == 0
    assert 20 < many.count('class="hm"') < 1000
    places = 300 * rng.random((500, 2))
    middles, counts = maps.hexagons(places, np.ones(500, int))
    assert counts.sum() == 500
    away = np.sqrt(np.square(places[:, None] - middles[None]).sum(axis=2))
    assert away.min(axis=1).max() <= maps.HEX + 1e-6  # nobody is outside the hexagon nearest to them
    assert np.array_equal(np.bincount(away.argmin(axis=1), minlength=len(middles)), counts)


def test_bars_are_to_scale():
    drawing = bars.bars(["a", "b", "c"], [40, 20, 10], [10, 20, 40], title="t")
    before, after = boxes(drawing, "b"), boxes(drawing, "a")
    assert np.allclose(before[:, 2] / before[-1, 2], [0.25, 0.5, 1], atol=0.01)
    assert np.allclose(after[:, 2] / after[0, 2], [1, 0.5, 0.25], atol=0.01)


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=30).filter(any))
def test_histogram_heights_are_to_scale_and_inside(counts):
    edges = np.arange(len(counts) + 1)
    drawing = bars.histogram(edges, counts[::-1], counts, title="t")
    for cls, wanted in (("b", counts), ("a", counts[::-1])):
        result = boxes(drawing, cls)
        kept = np.array([c for c in wanted if c])
        assert np.allclose(result[:, 3] / result[:, 3].max(), kept / kept.max(), atol=0.01)
    view = [float(v) for v in parse(drawing).get("viewBox").split()]
    every = np.vstack([boxes(drawing, "a"), boxes(drawing, "b")])
    assert np.all(every[:, 0] >= 0)
    assert np.all(every[:, 0] + every[:, 2] <= view[2])
    assert np.all(every[:, 1] >= 0)
    assert np.all(every[:, 1] + every[:, 3] <= view[3])


@given(st.dictionaries(st.integers(1, 5000), st.integers(1, 500), min_size=1, max_size=60))
def test_size_bins_lose_no_group_and_no_record(sizes):
    bins = bars.size_bins(sizes)
    assert sum(b.groups(sizes) for b in bins) == sum(sizes.values())
    assert sum(b.records(sizes) for b in bins) == sum(s * c for s, c in sizes.items())
    assert all(a.high + 1 == b.low for a, b in itertools.pairwise(bins))
    assert bins[0].low == min(sizes)
    assert bins[-1].high >= max(sizes)
    assert len(bins) <= 26
    parse(bars.sizes(sizes, limit=5, words="k = 5", title="t"))


@given(st.lists(st.floats(0, 300), min_size=1, max_size=14))
def test_labels_are_spread_apart_when_there_is_room(wanted):
    result = sorted(svg.spread(wanted, 14, 0, 300))
    assert all(b - a >= 14 - 1e-9 for a, b in itertools.pairwise(result))
    assert result[0] >= -1e-9
    assert result[-1] <= 300 + 1e-9


def test_labels_on_an_axis_do_not_touch():
    values = list(range(0, 2_000_000, 10_000))
    axes = Axes(Axis.numbers(0, 2_000_000, at=values), Axis(0, 1), width=300, height=100)
    axes.labels_across(10)
    out = axes.body
    at = [(float(re.search(r'x="([^"]+)"', t)[1]), svg.width(re.search(r">([^<]+)<", t)[1])) for t in out]
    assert len(out) > 2
    assert all(b[0] - b[1] / 2 >= a[0] + a[1] / 2 for a, b in itertools.pairwise(at))


def group_map(points, labels, centres):
    pairs = [tuple(tuple(map(float, row)) for row in table) for table in (points, centres)]
    sizes = tuple(np.bincount(labels).tolist())
    n, m = len(points), len(sizes)
    return GroupMap(
        pairs[0], tuple(labels.tolist()), pairs[1], sizes, n, m, ("a", "b"), (0.5, 0.5), ((), ()), 2, True
    )


def test_scatter_draws_every_record_once_with_one_decimal():
    rng = np.random.default_rng(0)
    points, labels = rng.normal(size=(90, 2)), np.repeat(np.arange(9), 10)
    centres = np.array([points[labels == c].mean(axis=0) for c in range(9)])
    drawing = maps.groups(group_map(points, labels, centres), title="t")
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
    parse(maps.groups(group_map(points, labels, points[[1, 4]]), title="t"))


def test_lines_leave_out_what_is_not_known():
    series = [curves.Series("mdav", [(3.0, 5.0), (5.0, float("nan"))]), curves.Series("none", [])]
    root = parse(curves.chart(series, title="t", x_name="k", y_name="loss"))
    assert "nan" not in ET.tostring(root, encoding="unicode").lower()


def test_dot_ranges_place_dots_in_order():
    rows = [bars.Range("a", 0.0, 100.0), bars.Range("b", 50.0, None)]
    drawing = bars.ranges(rows, title="t")
    xs = [float(c.get("cx")) for c in parse(drawing).iter("circle")]
    assert xs[0] < xs[2] < xs[1]


def test_sizes_below_the_limit_stand_left_of_its_line():
    drawn = bars.sizes({9: 6, 41: 1}, {1: 4, 3: 2, 9: 5, 40: 1}, limit=5, words="5 or more", title="t")
    at = float(re.search(r'<line class="k" x1="([\d.]+)"', drawn).group(1))
    results = re.findall(r'<rect class="([ab])" x="([\d.]+)" [^>]*><title>([^<]*)', drawn)
    assert len(results) == 5
    assert all((float(x) < at) == label.startswith("1–4") for _, x, label in results)
    assert sum(int(label.split(": ")[1].split(" ")[0]) for look, _, label in results if look == "b") == 12


@given(st.sampled_from(["linear", "log", "root"]), st.floats(0.1, 1e6), st.floats(1.1, 1e4))
def test_every_axis_runs_from_end_to_end_and_never_back(shape, low, factor):
    low = 0.0 if shape == "root" else low
    axis = Axis.numbers(low, max(low, 1.0) * factor, shape=shape)
    values = np.linspace(axis.low, axis.high, 9)
    shares = [axis.share(float(v)) for v in values]
    assert shares[0] == pytest.approx(0.0, abs=1e-9)
    assert shares[-1] == pytest.approx(1.0)
    assert shares == sorted(shares)
    assert all(-1e-9 <= axis.share(mark) <= 1 + 1e-9 for mark in axis.marks)
    assert len(axis.marks) == len(axis.labels)
