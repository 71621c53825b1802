"""The inspector as people run it: a real process on loopback."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")
PATIENCE_SECONDS = 60.0
PROGRAM = (sys.executable, "-m", "inspector.management.cli")


def free_port() -> int:
    """A port that nobody listens at now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def until(claim: Callable[[], T], what: str) -> T:
    """Wait for a claim to come true, and give its value."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        value = claim()
        if value:
            return value
        time.sleep(0.05)
    raise AssertionError(f"waited {PATIENCE_SECONDS:.0f} s for {what}")


class InspectorProcess:
    """`ullage-inspector up` on a data folder of its own.

    `program` runs the inspector's commands: this checkout's, unless another is given.
    """

    def __init__(
        self,
        data_dir: Path,
        *arguments: str,
        program: Sequence[str] = PROGRAM,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.data_dir = data_dir
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self._program = program
        self._arguments = arguments
        inherited = {
            name: value
            for name, value in os.environ.items()
            if name
            not in {"ULLAGE_INSPECTOR_DATABASE_URL", "ULLAGE_INSPECTOR_BROKER_URL"}
        }
        self._environment = {
            **inherited,
            "ULLAGE_INSPECTOR_DATA_DIR": str(data_dir),
            "DJANGO_SETTINGS_MODULE": "inspector.settings",
            **(environment or {}),
        }
        self._output = data_dir.parent / f"output-{self.port}.txt"
        self.process: subprocess.Popen[bytes] | None = None
        # One browser: what the link signed in stays signed in.
        self._browser = urllib.request.build_opener(
            urllib.request.HTTPCookieProcessor()
        )

    def __enter__(self) -> "InspectorProcess":
        with self._output.open("wb") as output:
            self.process = subprocess.Popen(
                self._command("up", "--port", str(self.port), *self._arguments),
                env=self._environment,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # so that a kill reaches all of it
            )
        until(self._answers, f"the inspector to answer; it said: {self.output}")
        return self

    def __exit__(self, *error: object) -> None:
        if self.process is not None and self.process.poll() is None:
            self.kill()

    def _command(self, *arguments: str) -> list[str]:
        return [*self._program, *arguments]

    def _answers(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, self.output
        try:
            return self.get("/healthz")[0] == 200
        except OSError:
            return False

    @property
    def output(self) -> str:
        """What the process has printed so far."""
        return self._output.read_text(errors="replace")

    @property
    def key(self) -> str:
        """The key that the first start printed."""
        found = re.search(r"ulg_\S+", self.output)
        assert found, self.output
        return found[0]

    @property
    def start_path(self) -> str:
        """The path of the printed link."""
        (path,) = re.findall(rf"{self.address}(/start/\S+)", self.output)
        return str(path)

    @property
    def link(self) -> str:
        """The printed link."""
        return self.address + self.start_path

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Another command on the same data."""
        return subprocess.run(
            self._command(*arguments),
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )

    def get(self, path: str, **headers: str) -> tuple[int, str]:
        """Status and text of an answer."""
        return self._ask(urllib.request.Request(self.address + path, headers=headers))

    def post(self, body: Any, **headers: str) -> tuple[int, str]:
        """Send an export; a body that is no bytes travels chunked."""
        given = {
            "Content-Type": "application/x-protobuf",
            "x-api-key": self.key,
            **headers,
        }
        return self._ask(
            urllib.request.Request(f"{self.address}/v1/traces", body, given)
        )

    def _ask(self, request: urllib.request.Request) -> tuple[int, str]:
        try:
            with self._browser.open(request, timeout=PATIENCE_SECONDS) as answer:
                return answer.status, answer.read().decode(errors="replace")
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode(errors="replace")

    def interrupt(self) -> int:
        """Ctrl-C, and the exit code."""
        assert self.process is not None
        os.killpg(self.process.pid, signal.SIGINT)
        return self.process.wait(PATIENCE_SECONDS)

    def kill(self) -> None:
        """`kill -9` of everything that the process started."""
        assert self.process is not None
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(PATIENCE_SECONDS)
