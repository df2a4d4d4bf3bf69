"""Homes at rest: sealed with a key outside the database, so that a copy of the database reveals no home.

Latitude, longitude, household and attributes are encrypted by AES-GCM, bound to the number of the person, so
that rows cannot be swapped. The key file has one key per line; the first one seals, and all of them can open.
"""

from __future__ import annotations

import base64
import binascii
import os
import stat
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from voronym.errors import InputError, WriteError
from voronym_location.errors import Unavailable

__all__ = ["Place", "Seal"]

FORM = struct.Struct(">ddq")
NONCE = 12
ROOM = 256
"""Bytes of sealed attributes, padded with blanks, so that their length reveals nothing."""


class Place(NamedTuple):
    """The facts about a home."""

    latitude: float
    longitude: float
    household: int
    attributes: str = ""
    """JSON, see `voronym_location.attributes`."""


class Seal:
    """Seals and opens homes; without keys they are stored in plain.

    Parameters
    ----------
    keys : sequence of bytes
        Keys of 32 bytes each, the newest first.

    Examples
    --------
    >>> seal = Seal([bytes(32)])
    >>> columns = seal.close(7, Place(48.1, 11.5, 3))
    >>> columns["latitude"], seal.open(7, columns)
    (None, Place(latitude=48.1, longitude=11.5, household=3, attributes=''))
    """

    def __init__(self, keys: list[bytes] | tuple[bytes, ...] = ()) -> None:
        self.keys = list(keys)
        self._ciphers = [AESGCM(key) for key in keys]

    @classmethod
    def read(cls, file: Path | None) -> Seal:
        """Read a file of keys; it must exist, and be readable only by its owner."""
        if file is None:
            return cls()
        try:
            lines = file.read_text(encoding="ascii").split()
            mode = stat.S_IMODE(file.stat().st_mode)
        except (OSError, UnicodeDecodeError):
            raise InputError(
                f"cannot read the keys of homes {file.name!r}: make them by voronym location rotate-homes"
            ) from None
        if os.name == "posix" and mode & 0o077:
            raise InputError(f"other users may read the keys of homes: run chmod 600 {file.name}")
        try:
            keys = [base64.b64decode(line, validate=True) for line in lines]
        except binascii.Error:
            keys = [b""]
        if not keys or any(len(key) != 32 for key in keys):
            raise InputError(f"{file.name!r} has to hold keys of 32 bytes in Base64, one in each line")
        return cls(keys)

    def write(self, file: Path) -> None:
        """Write the keys, readable only by their owner; the file is replaced as a whole."""
        text = "".join(base64.b64encode(key).decode() + "\n" for key in self.keys)
        draft = file.with_name(f".{file.name}.{os.getpid()}")
        try:
            file.parent.mkdir(0o700, parents=True, exist_ok=True)
            with os.fdopen(os.open(draft, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "w") as out:
                out.write(text)
                out.flush()
                os.fsync(out.fileno())
            draft.replace(file)
        except OSError as error:
            raise WriteError(f"cannot write the keys of homes {file.name!r}: {error.strerror}") from None

    def renewed(self) -> Seal:
        """Return a seal with a new key in front of the present ones."""
        return Seal([AESGCM.generate_key(256), *self.keys])

    def close(self, person: int, place: Place) -> dict[str, Any]:
        """Return the columns of a home, sealed if there is a key."""
        if not self._ciphers:
            return {**place._asdict(), "attributes": place.attributes or None, "sealed": None}
        nonce, text = os.urandom(NONCE), place.attributes.encode()
        text = FORM.pack(*place[:3]) + text.ljust(ROOM)
        sealed = nonce + self._ciphers[0].encrypt(nonce, text, str(person).encode())
        return {**dict.fromkeys(Place._fields), "sealed": sealed}

    def open(self, person: int, columns: Mapping[Any, Any]) -> Place:
        """Return a home from its columns."""
        sealed = columns["sealed"]
        if sealed is None:
            return Place(
                columns["latitude"], columns["longitude"], columns["household"], columns["attributes"] or ""
            )
        for cipher in self._ciphers:
            try:
                text = cipher.decrypt(sealed[:NONCE], sealed[NONCE:], str(person).encode())
            except InvalidTag:
                continue
            latitude, longitude, household = FORM.unpack(text[: FORM.size])
            return Place(latitude, longitude, household, text[FORM.size :].decode().rstrip())
        raise Unavailable(
            "homes in the database are sealed with a key that is not here: set home_key to its file"
        )
