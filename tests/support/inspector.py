"""The inspector as a process of its own: started, asked for its link, stopped.

Used where only the whole will do: in browsers, from the installed wheel, under kill.
"""

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

COMMAND = Path(sys.executable).with_name("ullage-inspector")
LINK = re.compile(r"https?://\S+/start/\S+")
START_SECONDS = 120
STOP_SECONDS = 20


@dataclass
class Inspector:
    """A running `ullage-inspector up` and what it has printed."""

    process: subprocess.Popen[str]
    lines: list[str] = field(default_factory=list)
    link: str = ""

    @property
    def url(self) -> str:
        """Scheme, host and port, without a slash at the end."""
        return self.link.partition("/start/")[0]

    def await_link(self) -> None:
        """Wait until the link is printed; where it never is, tell what was."""
        found = threading.Event()
        threading.Thread(target=self._read, args=(found,), daemon=True).start()
        if not found.wait(START_SECONDS) or not self.link:
            raise AssertionError("no link was printed:\n" + "".join(self.lines))

    def await_answer(self) -> None:
        """Wait until it answers requests."""
        last = time.monotonic() + START_SECONDS
        while not self._answers():
            if time.monotonic() > last or self.process.poll() is not None:
                raise AssertionError("it does not answer:\n" + "".join(self.lines))
            time.sleep(0.05)

    def stop(self) -> int:
        """Stop it as Ctrl-C in its terminal does, and return its exit code."""
        os.killpg(self.process.pid, signal.SIGINT)
        return self.process.wait(STOP_SECONDS)

    def _answers(self) -> bool:
        try:
            urllib.request.urlopen(f"{self.url}/healthz", timeout=5).close()
        except OSError:
            return False
        return True

    def _read(self, found: threading.Event) -> None:
        assert self.process.stdout
        with self.process.stdout as output:
            for line in output:
                self.lines.append(line)
                if not self.link and (link := LINK.search(line)):
                    self.link = link[0]
                    found.set()
        found.set()


def free_port() -> int:
    """A port of this machine that nothing listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running_inspector(
    data_dir: Path, *options: str, command: Path = COMMAND
) -> Iterator[Inspector]:
    """Start `ullage-inspector up` on a free port, and stop it at the end."""
    words = [str(command), "up", "--port", str(free_port()), *options]
    with running(words, data_dir, {"ULLAGE_INSPECTOR_DATA_DIR": str(data_dir)}) as up:
        yield up


@contextmanager
def running(
    command: list[str], folder: Path, environment: Mapping[str, str]
) -> Iterator[Inspector]:
    """Start whatever prints the link, in a terminal session of its own."""
    settings = {"DJANGO_SETTINGS_MODULE": "inspector.settings", **environment}
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | settings,
        cwd=folder,
        start_new_session=True,
    )
    inspector = Inspector(process)
    try:
        inspector.await_link()
        inspector.await_answer()
        yield inspector
    finally:
        if process.poll() is None:
            inspector.stop()
