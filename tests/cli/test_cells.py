"""The verbs about cells: design, assign, allocate."""

from __future__ import annotations

import io
import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from voronym.cli import app
from voronym.errors import InputError
from voronym.quantize import Quantizer, costs
from voronym.quantize.picture import cell_map


@pytest.fixture
def homes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    lat, lon = 52.5 + 0.1 * rng.standard_normal(240), 13.4 + 0.2 * rng.standard_normal(240)
    people = rng.integers(1, 9, 240)
    table = pl.DataFrame({"lat": lat, "lon": lon, "people": people, "x": lon * 10, "y": lat * 10})
    table.write_csv("homes.csv")
    return table


def call(*words):
    done = CliRunner().invoke(app, list(words))
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.stdout


def test_cells_of_equal_size_then_the_same_cells_again(homes):
    message = json.loads(
        call(
            "design",
            "homes.csv",
            "-o",
            "d.json",
            "--column",
            "x,y",
            "--cells",
            "8",
            "--map",
            "d.svg",
            "--json",
        )
    )
    assert (message["smallest"], message["largest"]) == (30, 30)
    call("assign", "homes.csv", "d.json", "-o", "out.csv", "--column", "x,y")
    out = pl.read_csv("out.csv")
    assert out["cell"].value_counts()["count"].to_list() == [30] * 8
    assert out.drop("cell").equals(pl.read_csv("homes.csv"))
    X, rule = homes.select("x", "y").to_numpy(), Quantizer.load("d.json")
    mean = np.square(X - rule.centroids[out["cell"].to_numpy()]).sum(axis=1).mean()
    assert message["distortion"] == pytest.approx(mean, rel=1e-6)
    drawn = ElementTree.parse("d.svg").getroot()  # noqa: S314 - our own
    assert len(drawn.findall("{*}polygon")) == 8
    assert len(drawn.findall("{*}circle")) == 8  # centroids; nobody's own point is drawn


def test_places_in_metres(homes):
    message = json.loads(
        call(
            "design",
            "homes.csv",
            "-o",
            "d.json",
            "--place",
            "lat,lon",
            "--cells",
            "6",
            "--map",
            "d.svg",
            "--json",
        )
    )
    call("assign", "homes.csv", "d.json", "-o", "out.csv", "--place", "lat,lon")
    cell = pl.read_csv("out.csv")["cell"].to_numpy()
    C = Quantizer.load("d.json").centroids[cell]
    lat, lon = np.radians(homes["lat"].to_numpy()), np.radians(homes["lon"].to_numpy())
    lat_c, lon_c = np.arcsin(C[:, 2]), np.arctan2(C[:, 1], C[:, 0])
    haversine = np.sin((lat - lat_c) / 2) ** 2 + np.cos(lat) * np.cos(lat_c) * np.sin((lon - lon_c) / 2) ** 2
    ways = 2 * 6_371_008.8 * np.arcsin(np.sqrt(haversine))
    assert message["mean_metres"] == pytest.approx(ways.mean(), rel=1e-6)
    assert message["largest_metres"] == pytest.approx(ways.max(), rel=1e-6)
    drawn = ElementTree.parse("d.svg").getroot()  # noqa: S314 - our own
    assert len({item.get("fill") for item in drawn.findall("{*}rect")}) == 6


def test_cells_equal_by_weight(homes):
    message = json.loads(
        call(
            "design",
            "homes.csv",
            "-o",
            "d.json",
            "--column",
            "x,y",
            "--cells",
            "5",
            "--weight",
            "people",
            "--json",
        )
    )
    total = homes["people"].sum()
    assert abs(message["smallest"] - total / 5) <= 4 * 8  # but for the few that are divided
    assert abs(message["largest"] - total / 5) <= 4 * 8


def test_room_is_kept_at_the_least_cost(homes):
    C = np.array([[133.0, 524.0], [135.0, 526.0], [134.0, 525.0]])
    pl.DataFrame({"x": C[:, 0], "y": C[:, 1], "beds": [60, 60, 120]}).write_csv("places.csv")
    words = ["--column", "x,y", "--capacity", "beds", "--map", "p.svg", "--json"]
    message = json.loads(call("allocate", "homes.csv", "places.csv", "-o", "plan.csv", *words))
    assert message["loads"] == [60, 60, 120]
    place = pl.read_csv("plan.csv")["place"].to_numpy()
    assert np.bincount(place).tolist() == [0, 60, 60, 120]
    X = homes.select("x", "y").to_numpy()
    least = costs.transport(X, C, [60, 60, 120]).cost
    assert np.square(X - C[place - 1]).sum() == pytest.approx(least, rel=1e-6)
    assert "price of room" in call("allocate", "homes.csv", "places.csv", "-o", "b.csv", *words[:4])


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--cells", "4"], "--column X,Y, or --place"),
        (["--cells", "4", "--column", "x,z"], "z"),
        (["--cells", "4", "--place", "lat"], "two columns, LAT,LON"),
        (["--cells", "4", "--place", "x,y"], "no latitude"),
        (["--cells", "999", "--column", "x,y"], "240"),
        (["--cells", "4", "--column", "x,y,lat", "--map", "m.svg"], "two coordinates"),
        (["--cells", "4", "--column", "x,y", "--map", "m.png"], r"call the file 'm\.svg', not 'm\.png'"),
        (["--cells", "4", "--column", "x,y", "--place", "lat,lon"], "not both"),
        (["--cells", "4", "--column", "x,y,x"], "names 'x' twice"),
        (["--cells", "0", "--column", "x,y"], "from 1 on"),
        (["--cells", "4", "--column", "x,far"], "2 of 240 values of 'far' are infinite"),
        (["--cells", "4", "--column", "x,yy"], "'a, b'$"),
    ],
)
def test_what_cannot_be_asked(homes, words, sentence):
    far = homes["x"].to_numpy().copy()
    far[:2] = np.inf
    homes.with_columns(pl.Series("far", far), pl.lit(1.0).alias("a, b")).write_csv("homes.csv")
    with pytest.raises(InputError, match=sentence):
        call("design", "homes.csv", "-o", "d.json", *words)
    assert not Path("d.json").exists()  # what is wrong is said before anything is written


def test_tables_that_are_read_are_never_written_over(homes):
    homes[:3].write_csv("places.csv")
    before = Path("places.csv").read_bytes()
    words = ["allocate", "homes.csv", "places.csv", "--column", "x,y", "--overwrite"]
    for outputs in (["-o", "places.csv"], ["-o", "plan.csv", "--map", "places.csv"]):
        with pytest.raises(InputError, match=r"places\.csv, which is read"):
            call(*words, *outputs)
    assert Path("places.csv").read_bytes() == before


def test_a_table_on_stdout_is_alone_there(homes):
    call("design", "homes.csv", "-o", "d.json", "--column", "x,y", "--cells", "8")
    for words in (["assign", "homes.csv", "d.json"], ["allocate", "homes.csv", "homes.csv"]):
        out = call(*words, "-o", "-", "--column", "x,y")
        assert len(pl.read_csv(io.StringIO(out))) == 240
        with pytest.raises(InputError, match="cannot both go to standard output"):
            call(*words, "-o", "-", "--column", "x,y", "--json")
    with pytest.raises(InputError, match="the quantizer has 2 coordinates, and --column names 1"):
        call("assign", "homes.csv", "d.json", "-o", "-", "--column", "x")


def test_numbers_on_the_map_are_those_of_the_table(homes):
    pl.DataFrame({"x": [134.0, 200.0], "y": [525.0, 525.0], "room": [200, 40]}).write_csv("places.csv")
    words = ["--column", "x,y", "--map", "plan.svg"]
    message = call("allocate", "homes.csv", "places.csv", "-o", "plan.csv", "--capacity", "room", *words)
    assert "240 records to 2 places" in message
    assert "the least possible." in message
    drawn = ElementTree.parse("plan.svg").getroot()  # noqa: S314 - our own
    places = {int(item.text): float(item.get("x")) for item in drawn.findall("{*}text")}
    assert set(places) == {1, 2} == set(pl.read_csv("plan.csv")["place"])
    assert places[1] < places[2] < 720.0  # a place far from everybody is on the map, too
    message = call("design", "homes.csv", "-o", "one.json", "--column", "x,y", "--cells", "1")
    assert message.startswith("1 cell of 240 points, written to one.json.")


def test_on_the_globe_costs_are_in_square_kilometres_and_maps_have_a_scale(homes):
    there = pl.DataFrame({"lat": [0.0, 0.0], "lon": [0.0, 1.0]})
    there.write_csv("places.csv")
    pl.DataFrame({"lat": [0.0, 0.0], "lon": [0.1, 1.0]}).write_csv("few.csv")
    message = call("allocate", "few.csv", "places.csv", "-o", "q.csv", "--place", "lat,lon", "--map", "q.svg")
    total = float(message.split("Sum of squared distances ")[1].split(" km²")[0])
    assert total == pytest.approx(
        (6371.0088 * np.radians(0.1)) ** 2, rel=1e-4
    )  # one goes a tenth of a degree
    scale = ElementTree.parse("q.svg").getroot().find("{*}g")  # noqa: S314 - our own
    assert scale.find("{*}text").text.endswith(" km")
    picture = cell_map(Quantizer([[0.0, 0.0], [1.0, 0.0]]), (0, 0, 1, 1), points=np.array([[0.5, 0.5]]))
    assert picture.count('class="point"') == 1
    assert ">0.2</text>" in picture


def test_another_space_and_a_column_that_is_there(homes):
    call("design", "homes.csv", "-o", "d.json", "--place", "lat,lon", "--cells", "4")
    with pytest.raises(InputError, match="give --place LAT,LON"):
        call("assign", "homes.csv", "d.json", "-o", "out.csv", "--column", "x,y")
    homes.rename({"people": "cell"}).write_csv("again.csv")
    with pytest.raises(InputError, match="a column 'cell' already"):
        call("assign", "again.csv", "d.json", "-o", "out.csv", "--place", "lat,lon")


def test_a_quantizer_is_json_whatever_the_name_says(homes, tmp_path):
    with pytest.raises(InputError, match=r"call the file 'q\.json', not 'q\.npz'"):
        call("design", "homes.csv", "-o", "q.npz", "--column", "x,y", "--cells", "4")
    assert not (tmp_path / "q.npz").exists()
    call("design", "homes.csv", "-o", "Q.JSON", "--column", "x,y", "--cells", "4")
    assert Quantizer.load("Q.JSON").n_cells == 4


def test_files_of_another_country_are_read_as_said(homes, tmp_path):
    def german(frame, name):
        text = frame.write_csv(separator=";").replace(".", ",")
        (tmp_path / name).write_text("exported yesterday\n" + text, encoding="cp1252")

    german(homes, "german.csv")
    reading = ["--delimiter", ";", "--decimal", ",", "--encoding", "cp1252", "--skip-rows", "1"]
    call("design", "homes.csv", "-o", "d.json", "--place", "lat,lon", "--cells", "6")
    call("design", "german.csv", "-o", "g.json", "--place", "lat,lon", "--cells", "6", *reading)
    assert Quantizer.load("g.json") == Quantizer.load("d.json")
    call("assign", "homes.csv", "d.json", "-o", "a.csv", "--place", "lat,lon")
    call("assign", "german.csv", "d.json", "-o", "b.parquet", "--place", "lat,lon", *reading)
    cells = pl.read_csv("a.csv")["cell"]
    assert pl.read_parquet("b.parquet")["cell"].to_list() == cells.to_list()
    wards = pl.DataFrame({"lat": [52.4, 52.6], "lon": [13.2, 13.6], "beds": [120, 120]})
    wards.write_csv("wards.csv")
    german(wards, "wards-german.csv")
    room = ["--place", "lat,lon", "--capacity", "beds", "--json"]
    plain = json.loads(call("allocate", "homes.csv", "wards.csv", "-o", "c.csv", *room))
    there = [word.replace("--", "--places-") for word in reading]
    words = ["allocate", "german.csv", "wards-german.csv", "-o", "d.csv", *room, *reading, *there]
    assert json.loads(call(*words)) == plain


def test_the_way_to_a_place_is_in_metres(homes):
    pl.DataFrame({"lat": [52.4, 52.6], "lon": [13.2, 13.6]}).write_csv("wards.csv")
    words = ["allocate", "homes.csv", "wards.csv", "--place", "lat,lon", "-o"]
    message = json.loads(call(*words, "p.csv", "--json"))
    place = pl.read_csv("p.csv")["place"].to_numpy() - 1
    lat, lon = np.radians(homes["lat"].to_numpy()), np.radians(homes["lon"].to_numpy())
    lat_c, lon_c = np.radians([52.4, 52.6])[place], np.radians([13.2, 13.6])[place]
    cosine = np.sin(lat) * np.sin(lat_c) + np.cos(lat) * np.cos(lat_c) * np.cos(lon - lon_c)
    assert message["mean_metres"] == pytest.approx((6_371_008.8 * np.arccos(cosine)).mean(), rel=1e-6)
    assert "mean metres" in call(*words, "q.csv")


def test_cells_within_cells(homes):
    message = json.loads(
        call("design", "homes.csv", "-o", "d.json", "--place", "lat,lon", "--cells", "4,5", "--json")
    )
    assert (message["cells"], message["smallest"], message["largest"]) == (20, 12, 12)
    output = json.loads(
        call("assign", "homes.csv", "d.json", "-o", "out.csv", "--place", "lat,lon", "--json")
    )
    assert pl.read_csv("out.csv")["cell"].value_counts()["count"].to_list() == [12] * 20
    assert output["mean_metres"] == pytest.approx(message["mean_metres"])
    for cells, more, words in (
        ("4,5", ["--map", "m.svg"], "one level"),
        ("4,0", [], "--cells is a whole number"),
        ("some", [], "--cells is a whole number"),
    ):
        with pytest.raises(InputError, match=words):
            call("design", "homes.csv", "-o", "e.json", "--place", "lat,lon", "--cells", cells, *more)
