"""Attacks on the page: none gets in, none leaves a file, none stops the server."""

from __future__ import annotations

import gzip
import io
import os
import re
import signal
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voronym.web.intake import label_of
from web.house import finished, roles, upload
from web.target import CANARY, SCRIPT, TABLE, Target

pytestmark = pytest.mark.usefixtures("unharmed")

# -- at the door -----------------------------------------------------------------------------------------

HOSTS = [
    "evil.example",
    "evil.example:PORT",
    "127.0.0.1",
    "127.0.0.1:1",
    "localhost.evil.example:PORT",
    "",
    "[::1]:PORT",
    "0.0.0.0:PORT",
    "127.0.0.1:PORT@evil.example",
    "127.0.0.1:PORT.evil.example",
]


@pytest.mark.parametrize("host", HOSTS)
def test_a_foreign_host(target: Target, host: str) -> None:
    host = host.replace("PORT", str(target.house.port))
    came = target.raw(f"GET {target.place}/read HTTP/1.1\r\nHost: {host}\r\nCookie: {target.cookie}\r\n\r\n")
    assert came.startswith("HTTP/1.1 400")
    assert CANARY not in came


def test_two_hosts(target: Target) -> None:
    own = f"127.0.0.1:{target.house.port}"
    for pair in ((own, "evil.example"), ("evil.example", own), (own, own)):
        hosts = "".join(f"Host: {item}\r\n" for item in pair)
        came = target.raw(f"GET {target.place}/read HTTP/1.1\r\n{hosts}Cookie: {target.cookie}\r\n\r\n")
        assert came.startswith("HTTP/1.1 400")


PLACES = [
    ("GET", "/"),
    ("GET", "TABLE/read"),
    ("GET", "TABLE/result/1/release"),
    ("GET", "/style.css"),
    ("GET", "TABLE/sketch"),
    ("POST", "/demo"),
    ("POST", "/tables?name=a.csv"),
    ("POST", "TABLE/forget"),
]


@pytest.mark.parametrize(("method", "path"), PLACES)
def test_without_a_cookie(target: Target, method: str, path: str) -> None:
    answer = target.ask(method, path, **{"sec-fetch-site": "same-origin"})
    assert answer.status_code == 403
    assert CANARY not in answer.text


COOKIES: list[Callable[[str], str]] = [
    lambda _: "voronym=1",
    lambda own: own[:-1],
    lambda own: own + "x",
    lambda own: own.partition("=")[0] + "=",
    lambda own: re.sub(r"-\d+=", "-1=", own),
    lambda own: own.partition("=")[0] + "=" + "é" * 43,
    lambda own: own.upper(),
]


@pytest.mark.parametrize("number", range(len(COOKIES)))
def test_a_wrong_cookie(target: Target, number: int) -> None:
    forged = COOKIES[number](target.cookie).encode("utf-8").decode("latin-1")
    own = f"127.0.0.1:{target.house.port}"
    came = target.raw(f"GET {target.place}/read HTTP/1.1\r\nHost: {own}\r\nCookie: {forged}\r\n\r\n")
    assert came.startswith("HTTP/1.1 403")


def test_tokens_are_good_once_and_not_guessed(target: Target) -> None:
    used = re.findall(r"token=(\S+)", target.house.printed).pop(0)
    for token in (used, "", "x", used[:-1], target.house.address.partition("token=")[2][:-1]):
        assert target.ask("GET", f"/?token={token}").status_code == 403
    assert target.ask("POST", f"/?token={used}", **{"sec-fetch-site": "same-origin"}).status_code == 403


ELSEWHERE = [
    ("POST", {"sec-fetch-site": "cross-site"}),
    ("POST", {"sec-fetch-site": "same-site"}),
    ("POST", {"sec-fetch-site": "none"}),
    ("POST", {"origin": "http://evil.example"}),
    ("POST", {"origin": "null", "sec-fetch-site": "same-origin"}),
    ("POST", {"origin": "http://127.0.0.1:1"}),
    ("POST", {}),
    ("GET", {"sec-fetch-site": "cross-site"}),
    ("GET", {"sec-fetch-site": "cross-site", "sec-fetch-dest": "iframe"}),
    ("GET", {"origin": "https://evil.example"}),
]


@pytest.mark.parametrize(("method", "heads"), ELSEWHERE)
def test_a_request_from_elsewhere(target: Target, method: str, heads: dict[str, str]) -> None:
    for path in ("TABLE/forget",) if method == "POST" else ("TABLE/read", "TABLE/result/1/release"):
        answer = target.ask(method, path, cookie=target.cookie, **heads)
        assert answer.status_code == 403
        assert CANARY not in answer.text


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"])
def test_a_strange_method(target: Target, method: str) -> None:
    answer = target.ask(method, "TABLE/read", cookie=target.cookie, **{"sec-fetch-site": "same-origin"})
    assert answer.status_code == 405


def test_a_socket(target: Target) -> None:
    own = f"127.0.0.1:{target.house.port}"
    wish = "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " + "A" * 22 + "==\r\n"
    came = target.raw(f"GET / HTTP/1.1\r\nHost: {own}\r\n{wish}\r\n")
    assert " 101 " not in came.split("\r\n")[0]


def test_every_answer_is_signed(target: Target) -> None:
    for path in ("/", "/page.js", f"{target.place}/read", "/nothing"):
        heads = target.client.get(path).headers
        assert heads["content-security-policy"].startswith("default-src 'none'; script-src 'self'")
        assert heads["cache-control"] == "no-store"
        assert heads["x-content-type-options"] == "nosniff"
        assert heads["x-frame-options"] == "DENY"


# -- uploads ---------------------------------------------------------------------------------------------

NAMES = [
    "../../etc/cron.d/x.csv",
    "/etc/passwd.csv",
    "C:\\..\\..\\x.csv",
    "..",
    ".csv",
    "x\0.csv",
    "n" * 5000 + ".csv",
    "a/../../b.csv",
    "x.csv\r\nSet-Cookie: a=b",
    "x.csv;.sh",
    "\u202evsc.exe",
    "table",
    "x.exe",
    "x.sqlite",
    "x.duckdb",
    "",
    "~/.bashrc.csv",
    "-o.csv",
    "postgresql://evil.example/x.csv",
]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_never_a_path(target: Target, name: str) -> None:
    answer = upload(target.client, name, b"\0\1\2 no table \xff")
    assert answer.status_code == 422
    assert answer.json()["field"] == "file"
    assert "defect" not in answer.json()["error"]


@given(st.text())
def test_a_label_has_no_path_in_it(name: str) -> None:
    label = label_of(name)
    assert label
    assert label == Path(label).name
    assert not re.search(r"[/\\\0\r\n\"'<>|]", label)
    assert label not in (".", "..")
    assert len(label.encode()) <= 255


def zipped(size: int) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b"0" * size)
    return out.getvalue()


def zstd(size: int) -> bytes:
    zstandard = pytest.importorskip("zstandard")
    return bytes(zstandard.compress(b"0" * size))


CONTENTS: dict[str, tuple[str, Callable[[], bytes], str]] = {
    "a gigabyte in a megabyte": (
        "b.csv.gz",
        lambda: gzip.compress(b"0" * (64 << 20)) * 16,
        "unpacks to more than 12 MB",
    ),
    "zstd": ("b.csv.zst", lambda: zstd(64 << 20), "unpacks to more than 12 MB"),
    "a spreadsheet": ("b.xlsx", lambda: zipped(64 << 20), "unpacks to more than 12 MB"),
    "too large": ("b.csv", lambda: b"a,b\n" + b"1,2\n" * (3 << 20), "the file has more than 8 MB"),
    "empty": ("b.csv", lambda: b"", "is empty"),
    "ten thousand columns": (
        "b.csv",
        lambda: (",".join(f"c{i}" for i in range(10_000)) + "\n" + ",".join("1" * 10_000) + "\n").encode(),
        "10,000 columns",
    ),
    "damaged gzip": ("b.csv.gz", lambda: gzip.compress(TABLE)[:-9], "damaged"),
    "no gzip": ("b.csv.gz", lambda: TABLE, "is not a .gz file"),
    "damaged spreadsheet": ("b.xlsx", lambda: b"PK\3\4" + b"x" * 99, ""),
    "damaged parquet": ("b.parquet", lambda: b"PAR1" + b"\xff" * 99 + b"PAR1", ""),
    "damaged arrow": ("b.arrow", lambda: b"ARROW1\0\0" + b"\xff" * 99, ""),
    "damaged spss": ("b.sav", lambda: b"$FL2" + b"\xff" * 400, ""),
    "a heading alone": ("b.csv", lambda: b"a,b,c\n", ""),
    "a program": ("b.csv", lambda: b"\x7fELF" + bytes(range(256)), ""),
}


@pytest.mark.parametrize("what", CONTENTS)
def test_an_upload_that_should_not_be(target: Target, what: str) -> None:
    name, make, sentence = CONTENTS[what]
    answer = upload(target.client, name, make())
    assert answer.status_code == 422
    assert sentence in answer.json()["error"]
    assert "defect" not in answer.json()["error"]


def test_an_upload_that_breaks_off(target: Target) -> None:
    own = f"127.0.0.1:{target.house.port}"
    heads = f"Host: {own}\r\nCookie: {target.cookie}\r\nSec-Fetch-Site: same-origin\r\n"
    heads += "Content-Length: 5000000\r\n"
    before = target.house.files()
    target.raw(f"POST /tables?name=b.csv HTTP/1.1\r\n{heads}\r\na,b\n1,2\n", seconds=1.0)  # no answer comes
    target.client.get("/")
    ends = time.monotonic() + 60
    while target.house.files() != before and time.monotonic() < ends:  # the server hears of it when it does
        time.sleep(0.05)


def test_html_and_formulas_stay_text(target: Target) -> None:
    rows = "".join(f'"=cmd|\'/C calc\'!A{i}",{20 + i % 3},"{SCRIPT}"\n' for i in range(12))
    content = f'"=1+1","{SCRIPT}","</textarea>{SCRIPT}"\n'.encode() + rows.encode()
    place = upload(target.client, f"{SCRIPT}.csv", content).json()["go"].rpartition("/")[0]
    client = target.client
    pages = [client.get(f"{place}/read"), client.get(f"{place}/roles"), client.get("/")]
    given = {"role-0": "other", "role-1": "key", "role-2": "other"}
    pages.append(client.post(f"{place}/roles", data=given))
    client.post(f"{place}/protect", data={"k": "3", "method": "mdav"})
    pages.append(finished(client, f"{place}/run/1"))
    for page in pages:
        assert page.status_code == 200
        assert "<script>alert" not in page.text
        assert "<img src=x" not in page.text
    written = client.get(f"{place}/result/1/release")
    assert "attachment" in written.headers["content-disposition"]
    cells = [line.split(",")[0].strip('"') for line in written.text.splitlines()]
    assert all(not cell.startswith("=") for cell in cells)
    report = client.get(f"{place}/result/1/report")
    assert "sandbox" in report.headers["content-security-policy"]
    assert "script-src" not in report.headers["content-security-policy"]
    for path in ("..%2f..%2frecipe.toml", "recipe.toml", "%2fetc%2fpasswd", "run-1", "release.csv"):
        assert client.get(f"{place}/result/1/{path}").status_code == 404
    client.post(f"{place}/forget")


# -- force -----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_job_that_is_killed_from_outside(target: Target) -> None:
    client = target.client
    rows = b"".join(b"%d,%d,%d\n" % (i, i * 7919 % 1009, i * 104729 % 997) for i in range(3000))
    place = upload(client, "long.csv", b"a,b,c\n" + rows).json()["go"].rpartition("/")[0]
    before = target.house.files()
    client.post(f"{place}/roles", data=roles(dict.fromkeys("abc", "key")))
    idle = {worker.pid: worker.cpu_times().user for worker in target.workers}
    client.post(f"{place}/protect", data={"k": "5", "time_limit": "100"})
    busy: list[int] = []
    while not busy:  # the run takes 100 s, so one of them is at work soon
        time.sleep(0.2)
        busy = [
            worker.pid
            for worker in target.workers
            if worker.cpu_times().user > idle.get(worker.pid, 0.0) + 1.0
        ]
    os.kill(busy[0], signal.SIGKILL)
    ended = finished(client, f"{place}/run/1", 60)
    assert "There is no release" in ended.text
    assert "the work stopped" in ended.text
    assert target.house.files() == before
    live = client.post(f"{place}/alone", data=roles(dict.fromkeys("abc", "key")))
    assert live.json()["set"]["alone"].startswith("3,000 of 3,000")  # another worker has read the table
    client.post(f"{place}/forget")


@pytest.mark.slow
def test_all_workers_killed(target: Target) -> None:
    for worker in target.workers:
        worker.kill()
    live = target.client.post(
        f"{target.place}/alone", data=roles({"who": "identifier", "age": "key", "town": "other"})
    )
    assert live.status_code == 200


@pytest.mark.slow
def test_a_full_desk(target: Target) -> None:
    assert all(target.client.post("/demo").status_code == 200 for _ in range(3))
    full = target.client.post("/demo")
    assert full.status_code == 422
    assert "4 tables are open" in full.text
    for place in set(re.findall(r'href="(/t/[^"]+)/forget"', full.text)) - {target.place}:
        target.client.post(f"{place}/forget")
