"""Quantizers of several levels: against a walk down by hand, files, and what is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest

import voronym as vr
from voronym.quantize import LevelQuantizer, Quantizer, design_levels
from voronym.space import Manhattan, Sphere


def walk(one, x, first=0):
    """Return the number of the last cell that a point comes to, by the definition alone."""
    if isinstance(one, Quantizer):
        return first + int(np.argmin(np.square(one.centroids - x).sum(axis=1) + one.costs))
    cell = walk(one.top, x)
    before = sum(other.n_cells for other in one.below[:cell])
    return walk(one.below[cell], x, first + before)


@pytest.mark.parametrize("cells", [pytest.param((4, 5), marks=pytest.mark.slow), (2, 3, 4)])
def test_a_point_goes_down_level_by_level(cells):
    X = vr.datasets.gaussian(600, 2, seed=1)
    result = design_levels(X, cells)
    assert result.cells == tuple(np.cumprod(cells).tolist())
    assert result.sizes(X).tolist() == [600 // result.n_cells] * result.n_cells
    others = vr.datasets.gaussian(200, 2, seed=2)
    labels = result.assign(others)
    assert labels.tolist() == [walk(result, x) for x in others]
    np.testing.assert_array_equal(result.decode(labels), result.centroids[labels])
    assert result.distortion(others) == pytest.approx(
        np.square(others - result.centroids[labels]).sum(axis=1).mean()
    )
    np.testing.assert_array_equal(result.assign(others, level=1), result.top.assign(others))
    for level in range(1, len(cells)):  # cells of one level are unions of those of the next
        pairs = {
            *zip(result.assign(others, level=level), result.assign(others, level=level + 1), strict=True)
        }
        assert len({below for _, below in pairs}) == len(pairs)
    single = vr.quantize.design(X, result.n_cells)
    assert single.distortion(X) < result.distortion(X) < 1.3 * single.distortion(X)


@pytest.mark.parametrize("cells", [(3, 4), (2, 2, 3)])
def test_a_file_gives_back_the_same(tmp_path, cells):
    places = Sphere.from_degrees(*np.random.default_rng(3).uniform(-60, 60, (2, 120)))
    result = design_levels(places, cells, space=Sphere())
    result.save(tmp_path / "q.json")
    again = LevelQuantizer.load(tmp_path / "q.json")
    assert again == result
    assert again != design_levels(places, cells, space=Sphere(), init="random")
    np.testing.assert_array_equal(again.assign(places), result.assign(places))
    with pytest.raises(vr.InputError, match=r"load it as quantize\.LevelQuantizer"):
        Quantizer.load(tmp_path / "q.json")
    result.top.save(tmp_path / "top.json")
    with pytest.raises(vr.InputError, match="load it as Quantizer"):
        LevelQuantizer.load(tmp_path / "top.json")


def spoiled(content):
    """Yield files that are wrong somewhere below."""
    for change in (
        lambda single: single["below"].pop(),
        lambda single: single["below"][1].pop("costs"),
        lambda single: single["below"][1].update(more=1),
        lambda single: single["below"][0]["costs"].append(0.0),
        lambda single: single["below"][0]["centroids"][0].append(0.0),
        lambda single: single["below"].__setitem__(0, 5),
        lambda single: single.update(below=3),
        lambda single: single["below"][0].update(centroids=[["a", 1.0]], costs=[0.0]),
        lambda single: single["below"][0].update(
            below=[dict(single["below"][0])] * 4
        ),  # one cell alone goes deeper
        lambda single: single.update(version=9),
        lambda single: single["below"][0].update(centroids=[[0.0]] * 4),
    ):
        copy = json.loads(json.dumps(content))
        change(copy)
        yield copy


def test_what_is_wrong_below_is_seen(tmp_path):
    design_levels(vr.datasets.gaussian(80, 2, seed=4), (3, 4)).save(tmp_path / "q.json")
    content = json.loads((tmp_path / "q.json").read_text())
    for number, wrong in enumerate(spoiled(content)):
        (tmp_path / f"{number}.json").write_text(json.dumps(wrong))
        with pytest.raises(vr.InputError):
            LevelQuantizer.load(tmp_path / f"{number}.json")


def test_what_it_refuses():
    X = vr.datasets.gaussian(50, 2, seed=5)
    for cells, text in (((5,), "two numbers"), ((10, 6), "60 cells are more"), ((0, 3), "1 or more")):
        with pytest.raises(vr.InputError, match=text):
            design_levels(X, cells)
    result = design_levels(X, (3, 4))
    with pytest.raises(vr.InputError, match="2 levels; there is no level 3"):
        result.assign(X, level=3)
    with pytest.raises(vr.InputError, match="3 cells on top, and 2"):
        LevelQuantizer(result.top, result.below[:2])
    with pytest.raises(vr.InputError, match="one space"):
        LevelQuantizer(result.top, (*result.below[:2], Quantizer([[0.0, 0.0]], space=Manhattan())))
