"""The key of a service: it signs statements, and derived keys protect secrets against guessing."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import hmac
import json
import os
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives import serialization as form
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from voronym.errors import InputError, WriteError

__all__ = ["ServiceKey"]


class ServiceKey:
    """An Ed25519 key in a file only for its owner.

    Parameters
    ----------
    private : Ed25519PrivateKey
        The key.
    retired : sequence of mappings
        Keys before it: identifier, public key, and until when statements of theirs may be around.
    """

    def __init__(self, private: Ed25519PrivateKey, retired: Sequence[Mapping[str, Any]] = ()) -> None:
        self._private, self.retired = private, list(retired)
        raw = private.public_key().public_bytes(form.Encoding.Raw, form.PublicFormat.Raw)
        self.public = base64.b64encode(raw).decode()
        self.id = hashlib.sha256(raw).hexdigest()[:16]
        seed = private.private_bytes(form.Encoding.Raw, form.PrivateFormat.Raw, form.NoEncryption())
        self._secret = hmac.digest(seed, b"voronym location: keyed digests", "sha256")

    @classmethod
    def open(cls, file: Path) -> ServiceKey:
        """Read a key; make one if the file is missing."""
        with contextlib.suppress(FileExistsError):
            _make(file)
        try:
            result = file.read_bytes()
            mode = stat.S_IMODE(file.stat().st_mode)
        except OSError as error:
            raise InputError(f"cannot read the key {file.name!r}: {error.strerror}") from None
        if os.name == "posix" and mode & 0o077:
            raise InputError(
                f"other users of this machine may read the key {file.name!r}, and sign in the name of the "
                f"service: run chmod 600 {file.name}"
            )
        try:
            private = form.load_pem_private_key(result, None)
        except (ValueError, TypeError):
            private = None
        if not isinstance(private, Ed25519PrivateKey):
            raise InputError(f"{file.name!r} is no Ed25519 key in PEM form without a password")
        return cls(private, _retired(file))

    def replaced(self, file: Path, until: float) -> ServiceKey:
        """Replace this key by a new one and return the new one; keep only the public half of this one."""
        gone = [*self.retired, {"id": self.id, "key": self.public, "until": until}]
        _write(file.with_name(f"{file.name}.retired"), json.dumps(gone).encode(), replace=True)
        _write(file, _fresh(), replace=True)
        return ServiceKey.open(file)

    def sign(self, text: bytes) -> str:
        """Return the signature of bytes in Base64; the same bytes always have the same signature."""
        return base64.b64encode(self._private.sign(text)).decode()

    def digest(self, purpose: str, *words: str) -> bytes:
        """Return a keyed digest of words; without the key nobody can test guesses against it."""
        text = "\0".join((purpose, *words)).encode()
        return hmac.digest(self._secret, text, "sha256")


def _make(file: Path) -> None:
    """Write a new key, then give the file its name, so that an existing key file is complete."""
    if file.exists():
        raise FileExistsError
    _write(file, _fresh(), replace=False)


def _fresh() -> bytes:
    private = Ed25519PrivateKey.generate()
    return private.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())


def _retired(file: Path) -> list[dict[str, Any]]:
    try:
        return list(json.loads(file.with_name(f"{file.name}.retired").read_text(encoding="utf-8")))
    except FileNotFoundError:
        return []
    except (OSError, ValueError):
        raise InputError(f"{file.name + '.retired'!r} cannot be read: it lists keys as JSON") from None


def _write(file: Path, text: bytes, *, replace: bool) -> None:
    draft = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        file.parent.mkdir(0o700, parents=True, exist_ok=True)
        handle = os.open(draft, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600)
        with os.fdopen(handle, "wb") as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        try:
            if replace:
                draft.replace(file)
            else:
                os.link(draft, file)
        finally:
            draft.unlink(missing_ok=True)
    except FileExistsError:
        raise
    except OSError as error:
        raise WriteError(f"cannot make the key {file.name!r}: {error.strerror}") from None
