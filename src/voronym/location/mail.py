"""Mail: through a server (SMTP), or into a folder, one file for each message.

Messages are written to the database together with what they are about, and sent afterwards: a service that is
killed in between sends them when it starts again, some of them twice at worst.
"""

from __future__ import annotations

import smtplib
import ssl
import uuid
from email.message import EmailMessage
from email.utils import formatdate, make_msgid
from pathlib import Path

from sqlalchemy import Connection, delete, insert, select

from voronym.location.settings import ServiceSettings
from voronym.location.store import Store
from voronym.location.store.tables import outbox

__all__ = ["deliver", "post"]


def post(connection: Connection, recipient: str, subject: str, body: str) -> None:
    """Put a message where `deliver` finds it."""
    connection.execute(insert(outbox).values(recipient=recipient, subject=subject, body=body))


def deliver(store: Store, settings: ServiceSettings) -> int:
    """Send what is waiting, and return how many messages that was; what cannot be sent waits on."""
    sent = 0
    while True:
        with store.read() as connection:
            rows = connection.execute(select(outbox).order_by(outbox.c.id).limit(100)).all()
        for row in rows:
            message = _message(settings.sender, row.recipient, row.subject, row.body)
            if settings.smtp:
                _send(message, settings)
            else:
                _keep(message, settings.mailbox)
            with store.write() as connection:
                connection.execute(delete(outbox).where(outbox.c.id == row.id))
            sent += 1
        if len(rows) < 100:
            return sent


def _message(sender: str, recipient: str, subject: str, body: str) -> EmailMessage:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = sender, recipient, subject
    message["Date"], message["Message-ID"] = formatdate(), make_msgid(domain=sender.rpartition("@")[2])
    message.set_content(body)
    return message


def _send(message: EmailMessage, settings: ServiceSettings) -> None:
    host, _, port = settings.smtp.partition(":")
    with smtplib.SMTP(host, int(port or 587), timeout=20) as server:
        server.ehlo()
        if server.has_extn("starttls") or settings.smtp_user:
            server.starttls(context=ssl.create_default_context())
        if settings.smtp_user:
            server.login(settings.smtp_user, settings.smtp_password)
        server.send_message(message)


def _keep(message: EmailMessage, folder: Path) -> None:
    """Write a message under a name of our own choice; the address is inside, not in the name."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    name = uuid.uuid4().hex
    draft = folder / f".{name}"
    draft.write_bytes(message.as_bytes())
    draft.chmod(0o600)
    draft.rename(folder / f"{name}.eml")
