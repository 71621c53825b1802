"""Start the inspector on this machine: one process, nothing else to install."""

import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError, CommandParser
from django.db import connections
from granian.constants import Interfaces
from granian.log import LogLevels
from granian.server import Server

from inspector.domain.accounts.services import (
    FirstStart,
    first_start,
    start_token_create,
)
from inspector.management.address import address_note
from inspector.management.base import InspectorCommand

BLOCKING_THREADS = 8


class Command(InspectorCommand):
    help = "Start the inspector on this machine and print the link that opens it."

    def add_arguments(self, parser: CommandParser) -> None:
        # These three are settings: `cli.main` has taken them before settings were read.
        parser.add_argument("--host", help=f"default {settings.HOST}")
        parser.add_argument("--port", help=f"default {settings.PORT}")
        parser.add_argument("--data-dir", help="folder where the data is kept")
        parser.add_argument(
            "--demo", action="store_true", help="load the recorded demo runs"
        )

    def handle(self, *, demo: bool, **options: Any) -> None:
        host, port = settings.HOST, settings.PORT
        port_check(host, port)
        settings.DATA_DIR.mkdir(parents=True, exist_ok=True)
        call_command("migrate", verbosity=0)
        made = first_start()
        address = f"http://{f'[{host}]' if ':' in host else host}:{port}"
        address_note(address)
        self.stdout.write(words_of(address, start_token_create(), made))
        self.stdout.flush()
        connections.close_all()  # the server forks, and a connection must not be shared
        serve(host, port, demo_address=address if demo else None)
        self.stdout.write("Stopped. The data stays where it is.")


def port_check(host: str, port: int) -> None:
    """Refuse early, in words, where the address cannot be listened at."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except (OSError, OverflowError) as error:
            why = getattr(error, "strerror", None) or error
            raise CommandError(
                f"Port {port} of {host} is not free ({why}). Take another:"
                f" PORT={port + 1} make run, or ullage-inspector up --port {port + 1}"
            ) from error


def words_of(address: str, token: str, made: FirstStart | None) -> str:
    """What the terminal shows."""
    lines = ["", "  Ullage inspector", "", f"  Open   {address}/start/{token}", ""]
    if made:
        lines += [
            "  Point an SDK at it (this key is shown only once):",
            f"    export ULLAGE_ENDPOINT={address}",
            f"    export ULLAGE_API_KEY={made.key}",
            "",
        ]
    lines += [
        f"  Data is kept in {shown_path(settings.DATA_DIR)}. Ctrl-C stops it.",
        "",
    ]
    return "\n".join(lines)


def shown_path(folder: Path) -> str:
    """A folder as seen from here, where it lies below."""
    return str(
        folder.relative_to(Path.cwd()) if folder.is_relative_to(Path.cwd()) else folder
    )


def serve(host: str, port: int, *, demo_address: str | None) -> None:
    """Serve until a signal; one worker, for the memory broker and SQLite live in it."""
    server = Server(
        "inspector.embedded:application_start",
        address=host,
        port=port,
        interface=Interfaces.WSGI,
        workers=1,
        blocking_threads=BLOCKING_THREADS,
        factory=True,
        log_level=LogLevels.error,
        workers_kill_timeout=5,
    )
    loaders: list[subprocess.Popen[bytes]] = []
    if demo_address:

        @server.on_startup
        def load() -> None:
            command = [sys.executable, "-m", "inspector.management.cli", "demo", "load"]
            environment = {
                **os.environ,
                "ULLAGE_INSPECTOR_DATA_DIR": str(settings.DATA_DIR),
            }
            loaders.append(
                subprocess.Popen(
                    [*command, "--if-missing", "--address", demo_address],
                    env=environment,
                    start_new_session=True,  # Ctrl-C is for the server, which ends it
                )
            )

    try:
        server.serve()
    finally:
        for loader in loaders:
            loader.terminate()
            loader.wait()
