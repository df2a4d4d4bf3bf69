"""The server: uvicorn in one process or several, and the scheduler in the first."""

from __future__ import annotations

import os
import socket
from typing import Any

from fastapi import FastAPI

from voronym.errors import InputError
from voronym_location import logs
from voronym_location.app import create_app
from voronym_location.scheduler import Scheduler
from voronym_location.service import Service
from voronym_location.settings import ServiceSettings
from voronym_location.store.locks import hold

__all__ = ["serve"]

HANDED = "VORONYM_LOCATION_HANDED"
"""Environment variable that passes the settings from the first process to the others."""
SEALING = "homes are being sealed with another key: start the service when that has ended"


def check_port(settings: ServiceSettings) -> None:
    """Raise a clear error if the port is taken, before anything is begun."""
    try:
        kind = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)[0]
        with socket.socket(*kind[:2]) as door:
            door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            door.bind(kind[4])
    except OSError as error:
        raise InputError(
            f"cannot listen on port {settings.port} of {settings.host}: {error.strerror}. Stop the "
            f"program that uses it, or choose another one with --port or --host"
        ) from None


def serve(settings: ServiceSettings) -> None:
    """Answer requests until a signal ends the server."""
    import uvicorn

    logs.start()
    given: dict[str, Any] = {
        "host": settings.host, "port": settings.port, "log_config": None, "access_log": False,
        "server_header": False, "timeout_keep_alive": 30, "limit_concurrency": 2000, "backlog": 512,
        "proxy_headers": settings.proxy, "forwarded_allow_ips": "127.0.0.1",
    }  # fmt: skip
    with Service(settings) as service, hold(service.store, "serving", SEALING, shared=True):
        scheduler = Scheduler(service)
        scheduler.start()
        try:
            if settings.workers == 1:
                uvicorn.run(create_app(settings, service), **given)
            else:
                os.environ[HANDED] = settings.to_json()
                uvicorn.run(
                    "voronym_location.serving:worker", factory=True, workers=settings.workers, **given
                )
        finally:
            scheduler.close()


def worker() -> FastAPI:
    """Return the application in one of several processes."""
    logs.start()
    return create_app(ServiceSettings.from_json(os.environ[HANDED]))
