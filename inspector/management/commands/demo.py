"""Show recorded runs as if they had just ended, or take them out again."""

import time
import urllib.request
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError

from django.core.management.base import CommandError, CommandParser

import inspector
from inspector.domain.accounts.rules import INGEST
from inspector.domain.accounts.selectors import project_named
from inspector.domain.accounts.services import FIRST_PROJECT, key_create, key_revoke
from inspector.domain.demo.rules import make_current, recording_read, trace_ids_of
from inspector.domain.demo.selectors import traces_missing
from inspector.domain.demo.services import demo_remove
from inspector.management.address import address_known
from inspector.management.base import InspectorCommand

RECORDINGS = Path(inspector.__file__).parent / "demo"
WAIT_SECONDS = 30


class Command(InspectorCommand):
    help = "Send the recorded demo runs through the receiver, or remove them."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("action", choices=("load", "remove"))
        parser.add_argument("--address", help="where the inspector listens")
        parser.add_argument("--project", default=FIRST_PROJECT, help="its slug")
        parser.add_argument("--folder", type=Path, default=RECORDINGS)
        parser.add_argument(
            "--if-missing", action="store_true", help="do nothing where all are there"
        )

    def handle(self, *, action: str, project: str, **options: Any) -> None:
        project_id = project_named(slug=project).id
        if action == "remove":
            self.stdout.write(
                f"Removed {demo_remove(project_id=project_id)} demo runs."
            )
        else:
            self._load(project_id, **options)

    def _load(
        self,
        project_id: int,
        *,
        address: str | None,
        folder: Path,
        if_missing: bool,
        **options: Any,
    ) -> None:
        files = sorted(folder.glob("*.otlp.gz"))
        requests = [r for file in files for r in recording_read(file.read_bytes())]
        trace_ids = trace_ids_of(requests)
        if if_missing and not traces_missing(
            project_id=project_id, trace_ids=trace_ids
        ):
            return
        base = (address or address_known()).rstrip("/")
        make_current(requests, now_ns=time.time_ns())
        key = key_create(project_id=project_id, name="demo loader", scopes=(INGEST,))
        try:
            for request in requests:
                send(f"{base}/v1/traces", key, request.SerializeToString())
        finally:
            key_revoke(secret=key)


def send(url: str, key: str, body: bytes) -> None:
    """Post one export request; wait for a server that is starting or busy."""
    headers = {"Content-Type": "application/x-protobuf", "x-api-key": key}
    request = urllib.request.Request(url, body, headers)
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        try:
            urllib.request.urlopen(request, timeout=WAIT_SECONDS).close()
            return
        except HTTPError as error:
            if error.code != 503 or time.monotonic() > deadline:
                raise CommandError(f"{url} answered {error.code}.") from error
        except URLError as error:
            if time.monotonic() > deadline:
                raise CommandError(
                    f"{url} cannot be reached: {error.reason}"
                ) from error
        time.sleep(0.1)
