"""Passwords and second factors. A check takes the same time with or without an account."""

from __future__ import annotations

import hmac
import secrets
import struct

import argon2

from voronym_location.errors import BadRequest

__all__ = ["Passwords", "check_password", "one_time_code"]

LEAST, MOST = 10, 200
STEP = 30
"""Seconds for which a second factor's code is valid (RFC 6238)."""


class Passwords:
    """Hashes and checks passwords with argon2id.

    Parameters
    ----------
    memory : int
        KiB for each.
    rounds : int
        Passes over the memory.
    """

    def __init__(self, memory: int, rounds: int) -> None:
        self._hasher = argon2.PasswordHasher(time_cost=rounds, memory_cost=memory, parallelism=1)
        self._nobody = self._hasher.hash(secrets.token_hex(16))

    def hash(self, password: str) -> str:
        """Return the stored hash of a password."""
        return self._hasher.hash(_bytes(password))

    def check(self, stored: str | None, password: str) -> bool:
        """Return whether a password is right; unknown accounts take the same time and fail."""
        try:
            self._hasher.verify(stored or self._nobody, _bytes(password))
        except (argon2.exceptions.VerificationError, argon2.exceptions.InvalidHashError):
            return False
        return stored is not None


def check_password(password: object) -> str:
    """Return a password; raise if it is too weak."""
    if not isinstance(password, str) or not LEAST <= len(password) <= MOST:
        raise BadRequest(f"a password has {LEAST} to {MOST} characters")
    return password


def _bytes(password: str) -> bytes:
    return password.encode(errors="replace")  # half a sign can be sent, too


def one_time_code(secret: bytes, at: float, drift: int = 0) -> str:
    """Return the six digits of a second factor at a moment (TOTP: RFC 6238, SHA-1, 30 seconds)."""
    digest = hmac.digest(secret, struct.pack(">Q", int(at // STEP) + drift), "sha1")
    start = digest[-1] & 15
    number = struct.unpack(">I", digest[start : start + 4])[0] & 0x7FFFFFFF
    return f"{number % 1_000_000:06d}"
