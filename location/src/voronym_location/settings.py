"""The settings of a service: a TOML file, and environment variables, which override it.

Every setting has a name in the file (``period = 3600``) and in the environment
(``VORONYM_LOCATION_PERIOD=3600``). Settings of groups are in the table ``[epochs]`` of the file (``k = 20``;
in the environment ``VORONYM_LOCATION_EPOCHS_K=20``), see `voronym_location.epochs.Settings`.
"""

from __future__ import annotations

import dataclasses
import json
import os
import tomllib
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from voronym.errors import InputError
from voronym_location.attributes import Attributes
from voronym_location.rules import Settings

__all__ = ["ServiceSettings"]

PREFIX = "VORONYM_LOCATION_"


@dataclass(frozen=True)
class ServiceSettings:
    """The settings of a service; the page on the server explains each."""

    name: str = "voronym"
    """Name of the service, shown in every statement."""
    operator: str = ""
    """Name of the operator, shown on its pages."""
    contact: str = ""
    """How to reach the operator: an address, a telephone number, an e-mail address."""
    terms: str = ""
    """Further facts for people before they sign up, in a few sentences."""
    backups: int = 0
    """Days for which backups are kept. The pages show it, because backups contain people who have left."""
    zone: str = "UTC"
    """The time zone in which pages write times, such as Europe/Madrid."""
    folder: Path = Path("voronym-location")
    """Folder of the database, the key and the mailbox."""
    database: str = ""
    """Address of the database; by default a SQLite file in the folder."""
    key: str = ""
    """File with the Ed25519 signing key; by default in the folder, made if missing."""
    home_key: str = ""
    """File with the keys that seal homes, outside the database; without it homes are not sealed."""
    host: str = "127.0.0.1"
    """Address to listen on."""
    port: int = 8750
    """Port to listen on."""
    workers: int = 1
    """Number of processes that answer requests."""
    proxy: bool = False
    """Whether a proxy on this machine passes on network addresses (``X-Forwarded-For``)."""
    period: float = 86400.0
    """Seconds between epochs; with 0, run ``voronym location epoch`` yourself."""
    valid: float = 2.0
    """Number of periods for which a statement is valid."""
    smtp: str = ""
    """``host:port`` of the mail server; by default mail is put into the folder ``mailbox``."""
    smtp_user: str = ""
    """User name at the mail server."""
    smtp_password: str = field(default="", repr=False)
    """Password at the mail server."""
    sender: str = "anonymizer@localhost"
    """Sender of the mails."""
    age: int = 1
    """Epochs before a new home counts towards k; imported people count at once."""
    area: float = 1000.0
    """Side in metres of the squares in which newcomers are counted."""
    newcomers: float = 0.2
    """Largest growth of the counted people in a square, per epoch; at least half of k."""
    snap: float = 10.0
    """Metres within which homes are one household, if no directory was imported."""
    reach: float = 100.0
    """Largest distance in metres from a home to an address of the directory; a home farther away is refused.
    """
    token_days: float = 30.0
    """Days for which a session is valid."""
    code_minutes: float = 30.0
    """Minutes for which a mailed code is valid."""
    attempts: int = 60
    """Largest number of sign-ups, codes and sign-ins from one network address per minute; 0 means no limit.
    """
    body: int = 65_536
    """Largest request, in bytes."""
    upload: int = 64_000_000
    """Largest directory, in bytes."""
    rows: int = 5_000_000
    """Most rows of a directory."""
    metrics_token: str = field(default="", repr=False)
    """Bearer token for /metrics from another machine; without it only this machine may read them."""
    hash_memory: int = 19_456
    """KiB of memory that argon2id takes for a password."""
    hash_rounds: int = 2
    """Passes of argon2id over that memory."""
    epochs: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the groups, such as ``k`` and ``headroom``."""
    attributes: Mapping[str, Any] = field(default_factory=dict)
    """Tables ``[attributes.NAME]`` of the attributes that are grouped with homes, such as the year of birth.
    """

    def __post_init__(self) -> None:
        for name, least in (("age", 0), ("newcomers", 0), ("attempts", 0), ("period", 0), ("backups", 0)):
            if getattr(self, name) < least:
                raise InputError(f"the setting {name!r} must be {least} or more")
        for name in ("area", "snap", "reach", "valid", "token_days", "code_minutes", "body", "workers"):
            if not getattr(self, name) > 0:
                raise InputError(f"the setting {name!r} must be more than 0")
        if not isinstance(self.k, int) or self.k < 2:
            raise InputError("the setting 'k' of the epochs must be a whole number, 2 or more")
        try:
            ZoneInfo(self.zone)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise InputError(
                "the setting 'zone' must be the name of a time zone, such as Europe/Madrid"
            ) from None
        if not 0 <= self.port < 65536:
            raise InputError("the setting 'port' must be a whole number up to 65535")
        unknown = sorted(set(self.epochs) - set(Settings.names()))
        if unknown:  # report it at the start, not at the first epoch a day later
            known = ", ".join(Settings.names())
            raise InputError(f"there is no setting {unknown[0]!r} of the epochs; there are: {known}")
        try:
            Settings(**self.epochs)
        except InputError as error:
            raise InputError(f"the settings of the epochs cannot be used: {error}") from None
        Attributes.of(self.attributes)

    @classmethod
    def load(cls, file: Path | None = None, **given: Any) -> ServiceSettings:
        """Read a file and the environment.

        Parameters
        ----------
        file : Path, optional
            The TOML file.
        **given
            Settings that win over both.
        """
        result: dict[str, Any] = {}
        if file is not None:
            try:
                result = tomllib.loads(file.read_text(encoding="utf-8"))
            except OSError as error:
                raise InputError(f"cannot read the settings {file.name!r}: {error.strerror}") from None
            except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
                raise InputError(f"the settings {file.name!r} are no TOML: {error}") from None
        groups, asked = dict(result.pop("epochs", {})), result.pop("attributes", {})
        for name, value in os.environ.items():
            if name.startswith(f"{PREFIX}EPOCHS_"):
                groups[name.removeprefix(f"{PREFIX}EPOCHS_").lower()] = _number(value)
            elif name.startswith(PREFIX) and name not in (f"{PREFIX}CONFIG", f"{PREFIX}HANDED"):
                result[name.removeprefix(PREFIX).lower()] = value
        result |= {name: value for name, value in given.items() if value is not None}
        kinds = typing.get_type_hints(cls)
        unknown = sorted(set(result) - {field.name for field in dataclasses.fields(cls)})
        if unknown:
            raise InputError(f"there is no setting {unknown[0]!r}; the page on the server lists them")
        if "attributes" in result or not isinstance(asked, dict):
            raise InputError(
                "attributes are declared in the file of settings, each in a table [attributes.NAME]"
            )
        plain = {name: _as(kinds[name], name, value) for name, value in result.items()}
        return cls(**plain, epochs=groups, attributes=asked)

    def to_json(self) -> str:
        """Return all settings as text, for another process."""
        return json.dumps(dataclasses.asdict(self), default=str)

    @classmethod
    def from_json(cls, text: str) -> ServiceSettings:
        """Read the result of `to_json`."""
        result = json.loads(text)
        return cls(**result | {"folder": Path(result["folder"])})

    @property
    def k(self) -> int:
        """The least size of a group."""
        return typing.cast("int", self.epochs.get("k", 10))

    @property
    def url(self) -> str:
        """The address of the database."""
        return self.database or f"sqlite:///{self.folder / 'service.db'}"

    @property
    def key_file(self) -> Path:
        """The file of the signing key."""
        return Path(self.key) if self.key else self.folder / "service.key"

    @property
    def home_keys(self) -> Path | None:
        """The file of the keys that seal homes; None without one."""
        return Path(self.home_key) if self.home_key else None

    @property
    def mailbox(self) -> Path:
        """The folder for unsent mail."""
        return self.folder / "mailbox"


def _as(kind: type, name: str, value: Any) -> Any:
    """Return a value as a type; values of the environment are texts."""
    try:
        if kind is bool:
            return {"true": True, "false": False, "1": True, "0": False}[str(value).lower()]
        if kind is not str and isinstance(value, bool):
            raise ValueError
        return kind(value)
    except (TypeError, ValueError, KeyError):
        words = {bool: "true or false", int: "a whole number", float: "a number", str: "text", Path: "a path"}
        raise InputError(f"the setting {name!r} must be {words.get(kind, 'something else')}") from None


def _number(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return {"true": True, "false": False}.get(text.lower(), text)
