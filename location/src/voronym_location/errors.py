"""The errors of the service; each type has its HTTP status."""

from __future__ import annotations

from voronym.errors import InputError, VoronymError


class ServiceError(VoronymError):
    """Base of the service's deliberate errors; the sentence goes to the client."""

    status = 400


class BadRequest(ServiceError, InputError):  # noqa: N818 - as HTTP has it
    """Raised for a request that cannot be used; the sentence says how to change it and repeats no value."""


class Refused(ServiceError):  # noqa: N818 - an answer, not a failure
    """The client is not authorised."""

    status = 401


class Forbidden(ServiceError):  # noqa: N818 - an answer, not a failure
    """The client is known, but not permitted."""

    status = 403


class TooMany(ServiceError):  # noqa: N818 - an answer, not a failure
    """Too many attempts.

    Parameters
    ----------
    message : str
        The sentence.
    wait : float
        Seconds until the next attempt has a chance.
    """

    status = 429

    def __init__(self, message: str, wait: float) -> None:
        super().__init__(message)
        self.wait = wait


class TooLarge(ServiceError):  # noqa: N818 - an answer, not a failure
    """The request is too large."""

    status = 413


class Unavailable(ServiceError):  # noqa: N818 - a state, not a defect
    """Raised if the database cannot be reached; nothing was changed."""

    status = 503


class Busy(ServiceError):  # noqa: N818 - a state, not a defect
    """Another epoch is being made."""

    status = 409
