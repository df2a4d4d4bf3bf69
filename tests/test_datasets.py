from __future__ import annotations

import hashlib
import http.server
import threading

import numpy as np
import pytest

from voronym import datasets
from voronym.errors import InputError, ReadError


def test_hospital_is_seeded_and_grows():
    assert datasets.hospital(50, seed=3).equals(datasets.hospital(50, seed=3))
    assert not datasets.hospital(50, seed=3).equals(datasets.hospital(50, seed=4))
    table = datasets.hospital(500)
    assert table.height == 500
    assert table["patient_id"].n_unique() == 500
    assert table["weight"].null_count() > 0


def test_hospital_with_planted_outliers_changes_no_other_row():
    plain, planted = datasets.hospital(300, seed=3), datasets.hospital(300, outliers=7, seed=3)
    rows = datasets.hospital_outliers(300, outliers=7, seed=3)
    assert len(rows) == 7
    others = np.setdiff1d(np.arange(300), rows)
    assert planted[others].equals(plain[others])
    assert planted.schema == plain.schema
    lonely = planted[rows]
    assert lonely["age"].min() > plain["age"].max()
    assert not set(lonely["nationality"]) & set(plain["nationality"])
    assert not set(lonely["zip"]) & set(plain["zip"])
    days = np.sort([d.toordinal() for d in (*lonely["admitted"], plain["admitted"].min())])
    assert np.diff(days).min() >= 365  # far from everybody and from each other
    assert lonely["days"].min() > plain["days"].max()


def test_hospital_of_any_size():
    assert datasets.hospital(1).height == 1
    assert datasets.hospital(500, outliers=500).height == 500
    for many in (-1, 11):
        with pytest.raises(InputError, match="cannot be outliers"):
            datasets.hospital(10, outliers=many)


def test_hospital_taxonomy_covers_every_diagnosis():
    tree = datasets.hospital_taxonomy()
    assert set(datasets.hospital(2000, outliers=3)["diagnosis"]) <= set(tree)
    assert {len(path) for path in tree.values()} == {3}
    assert {path[-1] for path in tree.values()} == {"*"}


def test_gaussian_has_its_correlation():
    X = datasets.gaussian(20000, 3, rho=0.5, seed=1)
    off = np.corrcoef(X.T)[np.triu_indices(3, 1)]
    np.testing.assert_allclose(off, 0.5, atol=0.03)


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "shape"),
    [("census", (1080, 13)), ("tarragona", (834, 13)), ("eia", (4092, 11)), ("adult", (48842, 15))],
)
def test_reference_files(name, shape):
    assert getattr(datasets, name)().shape == shape


def test_without_a_place_it_says_what_to_set(monkeypatch):
    monkeypatch.delenv("VORONYM_DATA", raising=False)
    with pytest.raises(ReadError, match="set VORONYM_DATA"):
        datasets.census()


def test_a_changed_file_is_refused(monkeypatch, tmp_path):
    monkeypatch.setenv("VORONYM_DATA", str(tmp_path))
    with pytest.raises(ReadError, match=r"no census\.csv"):
        datasets.census()
    (tmp_path / "census.csv").write_text("a\n1\n")
    with pytest.raises(ReadError, match="SHA-256"):
        datasets.census()


def test_fetching_once_from_an_address(monkeypatch, tmp_path):
    (tmp_path / "served").mkdir()
    body = b"a,b\n1,2\n"
    (tmp_path / "served" / "census.csv").write_bytes(body)
    monkeypatch.setitem(datasets._SHA256, "census", hashlib.sha256(body).hexdigest())
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    asked = []

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args):
            super().__init__(*args, directory=tmp_path / "served")

        def log_message(self, *args):
            asked.append(args)

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        monkeypatch.setenv("VORONYM_DATA", f"http://127.0.0.1:{server.server_port}/")
        try:
            assert datasets.census().shape == (1, 2)
            assert datasets.census().shape == (1, 2)
            assert len(asked) == 1
            with pytest.raises(ReadError, match="cannot fetch"):
                datasets.eia()
            assert not list((tmp_path / "cache").rglob("*.part"))
        finally:
            server.shutdown()
            thread.join()
