"""Mail: through a server (SMTP), or into a folder, one file per message.

Messages are stored in the database with their cause, and sent afterwards. A service that was killed in
between sends them after its next start; some may be sent twice.
"""

from __future__ import annotations

import smtplib
import ssl
import threading
import uuid
from collections import Counter
from collections.abc import Callable
from email.message import EmailMessage
from email.utils import formatdate, make_msgid
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import Connection, delete, insert, select

from voronym_location.settings import ServiceSettings
from voronym_location.store import Store
from voronym_location.store.tables import outbox

__all__ = ["Delivery", "Postman", "deliver", "post"]

AGAIN = 60.0
"""Seconds before unsent mail is tried again."""


def post(connection: Connection, recipient: str, subject: str, body: str) -> None:
    """Queue a message for `deliver`."""
    connection.execute(insert(outbox).values(recipient=recipient, subject=subject, body=body))


class Delivery(NamedTuple):
    """Numbers of messages sent, refused for good, and postponed."""

    sent: int = 0
    refused: int = 0
    waiting: int = 0


def deliver(store: Store, settings: ServiceSettings) -> Delivery:
    """Send the waiting mail; a failing message does not delay the others.

    Messages that the server refuses for good are deleted; messages it defers wait. Raises if the server
    cannot be reached; then all messages wait.
    """
    done, last = Counter[str](), 0
    while True:
        with store.read() as connection:
            query = select(outbox).where(outbox.c.id > last).order_by(outbox.c.id).limit(100)
            rows = connection.execute(query).all()
        for row in rows:
            last = row.id
            message = _message(settings.sender, row.recipient, row.subject, row.body)
            outcome = _send(message, settings) if settings.smtp else _keep(message, settings.mailbox)
            done[outcome] += 1
            if outcome != "waiting":
                with store.write() as connection:
                    connection.execute(delete(outbox).where(outbox.c.id == row.id))
        if len(rows) < 100:
            return Delivery(**done)


class Postman:
    """Sends mail from its own thread; failed mail is tried again a minute later.

    Parameters
    ----------
    send : callable
        Sends the waiting mail, and returns whether all of it was sent.
    """

    def __init__(self, send: Callable[[], bool]) -> None:
        self._send, self._wake, self._over = send, threading.Event(), False
        self._thread = threading.Thread(target=self._run, name="voronym-mail", daemon=True)
        self._wake.set()  # an earlier service may have left some
        self._thread.start()

    def wake(self) -> None:
        """Signal that there is mail."""
        self._wake.set()

    def close(self) -> None:
        """Send the waiting mail, and end; mail that failed before waits for the next start."""
        self._over = True
        self._wake.set()
        self._thread.join()

    def _run(self) -> None:
        gone, over = True, False
        while not over:
            self._wake.wait(None if gone else AGAIN)
            over = self._over
            self._wake.clear()
            if gone or not over:
                gone = self._send()


def _message(sender: str, recipient: str, subject: str, body: str) -> EmailMessage:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = sender, recipient, subject
    message["Date"], message["Message-ID"] = formatdate(), make_msgid(domain=sender.rpartition("@")[2])
    message.set_content(body)
    return message


def _send(message: EmailMessage, settings: ServiceSettings) -> str:
    """Hand a message to the mail server, and return the outcome."""
    host, _, port = settings.smtp.partition(":")
    with smtplib.SMTP(host, int(port or 587), timeout=20) as server:
        server.ehlo()
        if server.has_extn("starttls") or settings.smtp_user:
            server.starttls(context=ssl.create_default_context())
        if settings.smtp_user:
            server.login(settings.smtp_user, settings.smtp_password)
        try:
            server.send_message(message)
        except smtplib.SMTPRecipientsRefused as error:
            codes = [code for code, _ in error.recipients.values()]
        except smtplib.SMTPDataError as error:
            codes = [error.smtp_code]
        else:
            return "sent"
    return "refused" if min(codes, default=0) >= 500 else "waiting"


def _keep(message: EmailMessage, folder: Path) -> str:
    """Write a message under a generated name; the address is inside, not in the name."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    name = uuid.uuid4().hex
    draft = folder / f".{name}"
    draft.write_bytes(message.as_bytes())
    draft.chmod(0o600)
    draft.rename(folder / f"{name}.eml")
    return "sent"
