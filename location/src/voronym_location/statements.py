"""A signed statement to a person: a centroid that many share, with the same bytes for all of them.

The signed text names nobody: all people of a group get the same text and signature, so it does not tell a
provider who asks. The pseudonym is unsigned, next to it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from voronym_location.keys import ServiceKey

__all__ = ["Signer", "Statement", "Waiting", "clock_text"]


@dataclass(frozen=True)
class Statement:
    """A person's own statement.

    Parameters
    ----------
    signed : str
        The signed JSON text; the same for the whole group.
    signature : str
        Ed25519, in Base64.
    key : str
        Which key signed; see ``/v1/keys``.
    pseudonym : str
        The person's own, outside the signed text.
    latitude, longitude, epoch, expires, k
        The content of ``signed``.
    moving : bool
        Whether the person submitted another home meanwhile, which the next epoch will see.
    attributes : dict
        The published attributes of the group; also in ``signed``. Empty if none are declared.
    """

    signed: str
    signature: str
    key: str
    pseudonym: str
    latitude: float
    longitude: float
    epoch: int
    expires: str
    k: int
    moving: bool = False
    attributes: dict[str, Any] = field(default_factory=dict)

    def plain(self) -> dict[str, Any]:
        """Return it as sent."""
        fields = {name: value for name, value in vars(self).items() if name != "attributes" or value}
        return {"status": "served", **fields}


@dataclass(frozen=True)
class Waiting:
    """The reason why a person has no statement yet.

    Parameters
    ----------
    reason : str
        A sentence.
    until : str or None
        Time of the next epoch; None if unknown.
    """

    reason: str
    until: str | None

    def plain(self) -> dict[str, Any]:
        """Return it as sent."""
        return {"status": "waiting", **vars(self)}


class Signer:
    """Makes statements.

    Parameters
    ----------
    key : ServiceKey
        The signing key.
    name : str
        Name of the service.
    """

    def __init__(self, key: ServiceKey, name: str) -> None:
        self.key, self.name = key, name
        self.signed = lru_cache(maxsize=200_000)(self._sign)

    def _sign(
        self, epoch: int, expires: float, k: int, latitude: float, longitude: float, attributes: str | None
    ) -> tuple[str, str]:
        """Return a group's text and its signature; names are in a fixed order, without blanks."""
        result = ({"attributes": json.loads(attributes)} if attributes else {}) | {
            "centroid": [latitude, longitude],
            "epoch": epoch,
            "expires": clock_text(expires),
            "k": k,
            "service": self.name,
        }
        text = json.dumps(result, separators=(",", ":"), ensure_ascii=False)
        return text, self.key.sign(text.encode())


def clock_text(at: float) -> str:
    """Return a moment as text, in UTC."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
