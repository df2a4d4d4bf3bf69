"""Charts, pictures of cells and the page about a paper: well-formed, to scale, escaped."""

import math
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from voronym.report.axes import log_ticks
from voronym.report.curves import Series, chart
from voronym.report.maps import MOST_CELL_POINTS as MOST
from voronym.report.maps import cells
from voronym_papers import Chart, Curve, Experiment, Highlight, Mark, Outcome, Panel, Paper, Picture, Table
from voronym_papers.items import frame
from voronym_papers.page import in_parts, joined, render_papers

HOSTILE = '<script>alert("x")</script>'
PAPER = Paper("toy", "A. Author: A paper, A Journal 1 (2001)", "Toys")
RUN = Experiment("toys", "Toys of all kinds", lambda *_: iter(()), ("Table 9",))


def parse(drawing):
    return ET.fromstring(drawing)  # noqa: S314 - our own output


def named(drawing, start):
    return [e for e in parse(drawing).iter() if (e.get("class") or "").split(" ")[0] == start]


def places(drawing):
    """Return where the marks of a chart's points are, without those of its legend."""
    shapes = [e.get("d") for e in named(drawing, "m") if e.find("title") is not None]
    return [tuple(map(float, re.match(r"M(\S+) (\S+?)[aL]", shape).groups())) for shape in shapes]


def test_a_logarithmic_axis_has_equal_steps_for_equal_ratios():
    drawn = chart([Series("s", [(1, 1), (10, 10), (100, 100)])], title="t", x_name="x", y_name="y", log="xy")
    (x0, y0), (x1, y1), (x2, y2) = places(drawn)
    assert x1 - x0 == pytest.approx(x2 - x1, abs=0.2)
    assert y0 - y1 == pytest.approx(y1 - y2, abs=0.2)
    assert y2 < y1 < y0


def test_a_linear_axis_is_linear_and_negative_values_hang_from_zero():
    drawn = chart([Series("s", [(0, 0), (1, -10), (3, -30)])], title="t", x_name="x", y_name="y")
    (x0, y0), (x1, y1), (x2, y2) = places(drawn)
    assert (x2 - x0) == pytest.approx(3 * (x1 - x0), abs=0.3)
    assert (y2 - y0) == pytest.approx(3 * (y1 - y0), abs=0.3)
    assert y0 < y1 < y2


def test_published_curves_are_drawn_apart_and_what_has_no_place_is_left_out():
    given = [(1, 1.0), (2, math.nan), (0, 2.0), (4, 3.0)]
    drawn = chart(
        [Series("ours", given), Series("theirs", [(1, 2.0), (4, 4.0)], published=True)],
        title="t", x_name="x", y_name="y", log="x",
    )  # fmt: skip
    assert len(named(drawn, "l")) == len(named(drawn, "lp")) == 1
    assert len(named(drawn, "m")) == 2 + 1  # and one in the legend
    assert len(named(drawn, "mp")) == 2 + 1


@pytest.mark.parametrize("points", [[], [(1.0, 5.0)], [(1.0, 0.0), (1.0, 0.0)]])
def test_charts_of_little_are_charts(points):
    for log in ("", "xy"):
        assert parse(chart([Series("s", points)], title="t", x_name="x", y_name="y", log=log)) is not None


def test_logarithmic_ticks_are_inside():
    for low, high in ((0.3, 30.0), (1.0, 1e6), (2.0, 3.0)):
        assert all(low <= tick <= high for tick in log_ticks(low, high))


def test_cells_are_to_scale_and_square():
    square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    drawn = cells([[0.25, 0.5]], [0], [[0.5, 0.5]], bounds=(0, 0, 1, 1), polygons=[square], title="t")
    (polygon,) = named(drawn, "pc")
    corners = np.array(re.findall(r"[ML]([\d.]+) ([\d.]+)", polygon.get("d")), float)
    assert np.ptp(corners, axis=0) == pytest.approx([340, 340], abs=0.1)
    (centre,) = named(drawn, "cc")
    assert [float(centre.get(a)) for a in ("cx", "cy")] == pytest.approx(corners.mean(axis=0), abs=0.1)


def test_a_polygon_has_the_colour_of_the_points_in_it():
    halves = [[[0, 0], [0.5, 0], [0.5, 1], [0, 1]], [[0.5, 0], [1, 0], [1, 1], [0.5, 1]]]
    drawn = cells(
        [[0.2, 0.5], [0.8, 0.5]],
        [0, 1],
        [[0.2, 0.5], [0.8, 0.5]],
        bounds=(0, 0, 1, 1),
        polygons=halves,
        title="t",
    )
    tints = [e.get("class").split()[1] for e in named(drawn, "pc")]
    assert tints[0] != tints[1]
    dots = {e.get("class").split()[1]: e.get("d") for e in named(drawn, "dl")}
    assert dots[tints[0]].startswith("M98 ")  # 30 + 0.2 * 340


def test_points_outside_the_frame_are_left_out_and_many_are_sampled():
    drawn = cells([[0.5, 0.5], [2.0, 0.5]], [0, 0], [[0.5, 0.5]], bounds=(0, 0, 1, 1), title="t")
    assert sum(e.get("d").count("M") for e in named(drawn, "dl")) == 1
    many = np.random.default_rng(0).random((MOST + 500, 2))
    drawn = cells(many, np.zeros(len(many), int), [[0.5, 0.5]], bounds=(0, 0, 1, 1), title="t")
    assert sum(e.get("d").count("M") for e in named(drawn, "ds")) == MOST


def test_edges_lead_from_each_point_to_its_centroid():
    drawn = cells([[0.2, 0.5], [0.8, 0.5]], [0, 0], [[0.5, 0.5]], bounds=(0, 0, 1, 1), edges=True, title="t")
    (spokes,) = named(drawn, "pe")
    assert spokes.get("d").count("L200 174") == 2


def test_a_frame_is_square_and_may_leave_out_the_outermost():
    points = np.array([[0.0, 0.0], [4.0, 1.0], [2.0, 0.5]])
    left, bottom, right, top = frame(points)
    assert right - left == pytest.approx(top - bottom)
    assert left < 0 < 4 < right
    far = np.vstack([np.random.default_rng(0).random((1000, 2)), [[100.0, 0.0]]])
    assert frame(far, cut=0.01)[2] < 2


def picture(title="Figure 1"):
    panel = Panel("ours", np.array([[0.5, 0.5]]), np.zeros(1, np.int64), np.array([[0.5, 0.5]]), None)
    return Picture(title, (panel, panel), (0, 0, 1, 1), part="One")


def test_a_page_has_everything_and_is_escaped():
    items = [
        Highlight("−16 %", "less", "published −15 %"),
        picture(HOSTILE),
        Chart("Figure 2", (Curve(HOSTILE, ((1, 2), (2, 3))),), "x", "y", "A note.", part="One"),
        Table("Beside", ("k", "loss"), ((3, 4.8512), (5, None)), part="One"),
        Table("Table 9", ("k", HOSTILE), ((3, 1.0),)),
        Mark("Table 9", HOSTILE, 0.3, 0.2, better="less", why="It is `exact` & <short>."),
        Mark("Table 9", "same", 0.2, 0.2, why="Not said, as nothing differs."),
    ]
    page = render_papers([(PAPER, [Outcome(RUN, False, tuple(items), 12.0)])])
    assert HOSTILE not in page
    for words in (
        "−16 %",
        "published −15 %",
        "A note.",
        "4.85",
        "–",
        "Table 9",
        "Toys",
        "12 seconds",
        "It is <code>exact</code> &amp; &lt;short&gt;.",
        "−0.1000",
        "Beside",
    ):
        assert words in page
    assert "<li>A. Author: A paper, A Journal 1 (2001)</li>" in page
    assert page.count('<svg class="fig"') == 3
    assert "Not said" not in page
    assert "http" not in page.replace("http-equiv", "")


def test_a_table_stands_beside_the_chart_before_it_and_parts_become_sections():
    drawn = Chart("Figure 2", (Curve("c", ((1, 2),)),), "x", "y", part="One")
    short, long = (Table("T", ("a long heading",) * n, ((1.0,) * n,), part="One") for n in (2, 9))
    (first, single), (name, other) = in_parts(
        [picture(), drawn, short, drawn, long, short, Table("Alone", ("a",), ((1,),))]
    )
    assert [block.table is not None for block in single] == [False, True, True, True]
    assert [block.whole for block in single] == [True, False, True, False]
    assert first == "One"
    assert (name, other[0].title) == ("Alone", "")


def test_runs_of_one_table_are_one_table():
    """Not where columns differ, nor in a part, and other items stay where they are."""
    runs = [Table(f"Table 4: k = {k}", ("a", "b"), ((k, 0.5), (k, 1.5)), formats=("", ".1f")) for k in (3, 5)]
    narrow = Table("Table 4: more", ("a",), ((1,),))
    inside = Table("Table 4: k = 9", ("a", "b"), ((1, 2),), part="P")
    first, *rest = joined([runs[0], picture(), narrow, runs[1], inside])
    assert first.title == "Table 4"
    assert first.texts() == [
        ("k = 3", "3", "0.5"), ("k = 3", "3", "1.5"), ("k = 5", "5", "0.5"), ("k = 5", "5", "1.5"),
    ]  # fmt: skip
    assert [item.title for item in rest] == [picture().title, "Table 4: more", "Table 4: k = 9"]


def test_numbers_are_written_as_the_table_says():
    table = Table("t", ("a", "b", "c", "d"), (("x", 1234, -0.5, None),), formats=("", ",", ".3f", ".1f"))
    assert table.texts() == [("x", "1,234", "−0.500", "–")]
