"""Settings, the verbs of the command line, and a server that listens."""

from __future__ import annotations

import json
import logging
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from typer.testing import CliRunner

from location.client import bearer, clients, of
from location.town_hall import PASSWORD, quick_token, scattered
from voronym.cli import app
from voronym.errors import InputError
from voronym_location.logs import JsonLines
from voronym_location.metrics import Metrics
from voronym_location.settings import ServiceSettings
from web.house import quiet_port


def directory(folder: Path) -> Path:
    file = folder / "directory.csv"
    rows = [f"{item.address},{item.latitude},{item.longitude},{item.email}" for item in scattered(40)]
    file.write_text("address,latitude,longitude,email\n" + "\n".join(rows))
    return file


def test_a_file_is_read_and_the_environment_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "settings.toml"
    file.write_text('name = "a"\nperiod = 60\n[epochs]\nk = 20\nheadroom = 4\n')
    monkeypatch.setenv("VORONYM_LOCATION_PERIOD", "30")
    monkeypatch.setenv("VORONYM_LOCATION_EPOCHS_K", "25")
    monkeypatch.setenv("VORONYM_LOCATION_PROXY", "true")
    result = ServiceSettings.load(file, folder=tmp_path)
    assert (result.name, result.period, result.k, result.proxy) == ("a", 30.0, 25, True)
    assert result.epochs["headroom"] == 4
    assert ServiceSettings.from_json(result.to_json()) == result


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("nonsense = 1", "no setting 'nonsense'"),
        ("period = 'soon'", "'period' must be a number"),
        ("area = 0", "'area' must be more than 0"),
        ("[epochs]\nk = 1", "'k' of the epochs"),
        ("[epochs]\nheadrom = 3", "no setting 'headrom' of the epochs; there are: k, headroom"),
        ("[epochs]\nbudget = 7", "budget must be a number, 0 to 1"),
        ("port = 70000", "'port'"),
        ("= 3", "no TOML"),
    ],
)
def test_a_setting_that_cannot_be_is_said(tmp_path: Path, text: str, sentence: str) -> None:
    file = tmp_path / "settings.toml"
    file.write_text(text)
    with pytest.raises(InputError, match=sentence):
        ServiceSettings.load(file)


def test_importing_an_epoch_and_an_operator_from_the_command_line(tmp_path: Path) -> None:
    run, where = CliRunner(), ["--folder", str(tmp_path / "town")]
    done = run.invoke(app, ["location", "import", str(directory(tmp_path)), *where])
    new = f"a new, empty service is made in '{tmp_path / 'town'}'\n"
    assert (done.exit_code, done.stderr) == (0, new + "40 rows, 40 new people\n")
    done = run.invoke(app, ["location", "epoch", "--json", *where])
    assert json.loads(done.stdout)["served"] == 40
    done = run.invoke(
        app, ["location", "operator", "op@example.org", *where], input=f"{PASSWORD}\n{PASSWORD}\n"
    )
    assert "otpauth://totp/" in done.stdout
    assert run.invoke(app, ["location", "migrate", *where]).exit_code == 0
    for text in (b"address,latitude\nx,1", "address,latitude,longitude\nStraße,1,1".encode("latin-1")):
        (tmp_path / "directory.csv").write_bytes(text)
        done = run.invoke(app, ["location", "import", str(tmp_path / "directory.csv"), *where])
        assert isinstance(done.exception, InputError)
        assert "a new" not in done.stderr
    assert "UTF-8" in str(done.exception)


def test_a_mistyped_folder_does_not_become_a_service_of_nobody(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["location", "epoch", "--folder", str(tmp_path / "twon")])
    assert "there is no service in" in str(done.exception)
    assert not (tmp_path / "twon").exists()


def test_what_is_missing_is_said_before_a_service_is_made(tmp_path: Path) -> None:
    run, where = CliRunner(), ["--folder", str(tmp_path / "town")]
    done = run.invoke(app, ["location", "import", str(tmp_path / "none.csv"), *where])
    assert "cannot read the directory 'none.csv'" in str(done.exception)
    done = run.invoke(app, ["location", "operator", "op@example.org", *where], input="")
    assert "no password was given" in str(done.exception)
    assert not (tmp_path / "town").exists()


def test_a_port_that_somebody_has_is_said_before_anything_is_made(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        words = ["location", "serve", "--port", str(port), "--folder", str(tmp_path / "town")]
        done = CliRunner().invoke(app, words)
    assert isinstance(done.exception, InputError)
    assert f"port {port} of 127.0.0.1" in str(done.exception)
    assert "listening" not in done.stderr
    assert not (tmp_path / "town").exists()


def test_an_exception_that_is_logged_is_told_by_its_type() -> None:
    """Web servers log exceptions as they are; a log of JSON must neither break nor quote them."""
    record = logging.LogRecord("uvicorn.error", logging.ERROR, "", 1, OSError(98, "a value"), None, None)
    line = json.loads(JsonLines().format(record))
    assert (line["event"], line["error"]) == ("uvicorn.error", "OSError")
    assert "a value" not in str(line)


def test_a_folder_may_have_any_name(tmp_path: Path) -> None:
    with clients(tmp_path / "a#b? 50%20") as client:
        of(client).import_directory(scattered(30))
        of(client).run_epoch()
        token = quick_token(of(client), "p1@example.org")
        answer = client.get("/v1/statement", headers=bearer(token))
    assert answer.json()["status"] == "served"


def test_a_server_listens_and_ends_politely(tmp_path: Path) -> None:
    port = quiet_port()
    words = [
        sys.executable,
        "-m",
        "voronym.cli",
        "location",
        "serve",
        "--port",
        str(port),
        "--folder",
        tmp_path,
    ]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=os.environ | {"CI": "true"})
    try:
        answer = None
        for _ in range(1200):  # a busy machine takes its time to start it
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=2) as result:
                    answer = json.load(result)
                break
            except OSError:
                time.sleep(0.1)
        assert answer == {"status": "ok", "epoch": None}
        process.send_signal(signal.SIGINT)
        _, message = process.communicate(timeout=240)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 0
    assert "all that was acknowledged is stored" in message


def test_metrics_are_in_the_text_form_and_count() -> None:
    metrics = Metrics()
    for seconds in (0.001, 0.03, 9.0):
        metrics.saw("GET", "/v1/statement", 200, seconds)
    lines = metrics.text({"epoch": 3, "people": None, "served": 40}, True).splitlines()
    assert 'voronym_requests_total{method="GET",route="/v1/statement",status="200"} 3' in lines
    assert 'voronym_request_seconds_bucket{route="/v1/statement",le="0.05"} 2' in lines
    assert 'voronym_request_seconds_bucket{route="/v1/statement",le="+Inf"} 3' in lines
    assert "voronym_epoch 3" in lines
    assert not any(line.startswith("voronym_people") for line in lines)


def test_forgetting_nobody_fails_and_a_second_backup_names_its_folder(tmp_path: Path) -> None:
    run, where = CliRunner(), ["--folder", str(tmp_path / "town")]
    assert run.invoke(app, ["location", "import", str(directory(tmp_path)), *where]).exit_code == 0
    done = run.invoke(app, ["location", "forget", "nobody@example.org", *where])
    assert isinstance(done.exception, InputError)
    assert "no account has this e-mail address" in str(done.exception)
    copy = tmp_path / "copies" / "service.db"
    copy.parent.mkdir()
    assert run.invoke(app, ["location", "backup", str(copy), *where]).exit_code == 0
    done = run.invoke(app, ["location", "backup", str(copy), *where])
    assert str(copy) in str(done.exception)
