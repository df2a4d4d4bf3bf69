"""A toy provider, "nearest pharmacy": it knows pharmacies and the service's public key, but no home.

It stands for any provider that gets a point instead of a home. `Provider.learned` holds all it ever learns
about a person.
"""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from voronym.errors import VoronymError
from voronym_location.globe import Place, metres

MOST_BYTES = 8192
"""Largest size of a statement, in bytes."""


class Unproven(VoronymError):  # noqa: N818 - an answer, not a failure
    """Raised for a statement that has expired or lacks the service's signature."""


class Provider:
    """Answers with the pharmacy nearest to the point of a statement.

    Parameters
    ----------
    pharmacies : mapping of str to (latitude, longitude)
    public : str
        The public key of the service, in Base64; all that it needs to check statements.
    now : callable, optional
        Returns the time.
    """

    def __init__(
        self,
        pharmacies: Mapping[str, Place],
        public: str,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        self.pharmacies, self._now = dict(pharmacies), now
        self._key = Ed25519PublicKey.from_public_bytes(b64decode(public))
        self.learned: dict[str, tuple[Any, ...]] = {}
        """Pseudonym and point of each person who asked, with the attributes of their group."""

    def nearest(self, place: Place) -> tuple[str, float]:
        """Return the nearest pharmacy and its distance in metres."""
        far = {name: metres(place, there) for name, there in self.pharmacies.items()}
        name = min(far, key=far.__getitem__)
        return name, far[name]

    def check(self, statement: Mapping[str, Any]) -> Place:
        """Return the point of a statement, if the service signed it and it has not expired."""
        from cryptography.exceptions import InvalidSignature

        try:
            signed = str(statement["signed"])
            self._key.verify(b64decode(str(statement["signature"])), signed.encode())
            result = json.loads(signed)
            latitude, longitude = (float(v) for v in result["centroid"])
            expires = datetime.fromisoformat(result["expires"])
        except (InvalidSignature, KeyError, TypeError, ValueError):
            raise Unproven("this statement was not signed by the service") from None
        if expires <= self._now():
            raise Unproven("this statement has run out")
        return latitude, longitude

    def answer(self, statement: Mapping[str, Any]) -> dict[str, Any]:
        """Answer a request with a statement, and record the provider's view."""
        place = self.check(statement)
        attributes = json.loads(str(statement["signed"])).get("attributes", {})
        self.learned[str(statement.get("pseudonym", ""))[:100]] = (*place, *attributes.values())
        name, far = self.nearest(place)
        return {"pharmacy": name, "metres": round(far)}


class Counter:
    """The provider's HTTP server: ``POST /nearest`` takes a statement as JSON.

    Parameters
    ----------
    provider : Provider
    host, port
        Address of the server; port 0 takes a free one.
    """

    def __init__(self, provider: Provider, host: str = "127.0.0.1", port: int = 0) -> None:
        self.server = ThreadingHTTPServer((host, port), _handler(provider))
        self.server.daemon_threads = True
        self.address = f"http://{host}:{self.server.server_address[1]}"
        self._thread = Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    def __enter__(self) -> Counter:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()
        self._thread.join()


def _handler(provider: Provider) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            size = self.headers.get("content-length", "")
            if self.path != "/nearest" or not size.isdecimal() or int(size) > MOST_BYTES:
                self._say(404 if self.path != "/nearest" else 413, {"error": "POST a statement to /nearest"})
                return
            try:
                given = json.loads(self.rfile.read(int(size)))
                if not isinstance(given, dict):
                    raise ValueError
                self._say(200, provider.answer(given))
            except Unproven as error:
                self._say(403, {"error": str(error)})
            except ValueError:
                self._say(400, {"error": "send the statement as JSON"})

        def do_GET(self) -> None:
            points = len(set(provider.learned.values()))
            self._say(
                200, {"asked": len(provider.learned), "points": points, "how": "POST a statement to /nearest"}
            )

        def _say(self, status: int, data: Mapping[str, Any]) -> None:
            body = json.dumps(data).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Print nothing."""

    return Handler
