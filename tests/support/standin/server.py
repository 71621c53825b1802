"""The stand-in's door: HTTP/1.1 on loopback, one thread for each connection."""

import json
import socket
import threading
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from tests.support.standin import refusals
from tests.support.standin.completions import CREATED_SECONDS, Completion
from tests.support.standin.provider import Model, Provider
from tests.support.standin.refusals import OVERFLOW, Refusal, RefusedError
from tests.support.standin.replies import Reply
from tests.support.standin.scripts import Playback, Script

RUN_HEADER = "x-standin-run"
COMPLETIONS_PATH = "/v1/chat/completions"
MODELS_PATH = "/v1/models"


class StandIn:
    """A model server for tests.

        with StandIn([Model("gpt-5-mini", 8_000, 1_000)], script=agent) as server:
            client = openai.OpenAI(base_url=server.base_url, api_key="unused")

    `script` answers every request that bears no run header; `follow` and `play` give a
    run a script or a transcript of its own. Scripts that are shared by concurrent runs
    must be pure. `keep_requests` bounds how many bodies are kept (None = all).
    """

    def __init__(
        self,
        models: Iterable[Model],
        script: Script | None = None,
        *,
        keep_requests: int | None = None,
    ) -> None:
        self._provider = Provider(models, script or _no_script, keep_requests)
        self._http = _Server(("127.0.0.1", 0), _Handler)
        self._http.provider = self._provider
        self._thread = threading.Thread(
            target=self._http.serve_forever, args=(0.02,), name="stand-in", daemon=True
        )

    def __enter__(self) -> "StandIn":
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.hang_up()
        self._http.server_close()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    @property
    def requests(self) -> deque[dict[str, Any]]:
        """The bodies of all requests that could be parsed, in order of arrival."""
        return self._provider.requests

    @property
    def overflows(self) -> int:
        """How many requests were told that they are too long."""
        return self._provider.refused[OVERFLOW]

    @property
    def violations(self) -> Counter[str]:
        """Every other rule that was broken, by kind (see `rules`, `refusals`)."""
        return Counter(
            {k: n for k, n in self._provider.refused.items() if k != OVERFLOW}
        )

    def follow(self, run: str, script: Script) -> dict[str, str]:
        """Let this run follow a script of its own, and start it anew.

        Returns:
            the headers by which the run's requests are known.
        """
        self._provider.follow(run, script)
        return {RUN_HEADER: run}

    def play(self, run: str, transcript: Sequence[Mapping[str, Any]]) -> dict[str, str]:
        """Like `follow`: the replies are the assistant messages of the transcript."""
        return self.follow(run, Playback(transcript))


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    provider: Provider

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._lock:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def hang_up(self) -> None:
        """End the connections that clients still keep alive."""
        with self._lock:
            still_open = list(self._open)
        for connection in still_open:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:  # the client was faster
                continue


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "stand-in"
    disable_nagle_algorithm = True
    wbufsize = -1  # head and body leave in one packet
    server: _Server

    def do_POST(self) -> None:
        raw = self._body()
        if raw is None:
            return
        if self.path != COMPLETIONS_PATH:
            self._refuse(refusals.unknown_url(self.command, self.path))
            return
        try:
            run = self.headers.get(RUN_HEADER, "")
            request, completion = self.server.provider.answer(raw, run)
        except RefusedError as error:
            self._refuse(error.refusals[0])
            return
        if request.is_stream:
            self._stream(completion, include_usage=request.include_usage)
        else:
            self._send(200, completion.body())

    def do_GET(self) -> None:
        models = self.server.provider.models
        name = self.path.removeprefix(f"{MODELS_PATH}/")
        if self.path == MODELS_PATH:
            listed = [_model_body(known) for known in models]
            self._send(200, {"object": "list", "data": listed})
        elif name == self.path:
            self._refuse(refusals.unknown_url(self.command, self.path))
        elif name not in models:
            self._refuse(refusals.unknown_model(name))
        else:
            self._send(200, _model_body(name))

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: a test's output is the test's own."""

    def _body(self) -> bytes | None:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal():
            self.close_connection = True
            text = "Requests need a Content-Length here."
            self._refuse(Refusal("length_required", text, status=411))
            return None
        return self.rfile.read(int(length))

    def _refuse(self, refusal: Refusal) -> None:
        self._send(refusal.status, refusal.body())

    def _send(self, status: int, body: dict[str, Any]) -> None:
        payload = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(payload)))
        if status >= 500:
            self.send_header("x-should-retry", "false")
        self.end_headers()
        self.wfile.write(payload)

    def _stream(self, completion: Completion, *, include_usage: bool) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for chunk in completion.chunks(include_usage=include_usage):
            self._event(json.dumps(chunk))
        self._event("[DONE]")
        self.wfile.write(b"0\r\n\r\n")

    def _event(self, data: str) -> None:
        event = f"data: {data}\n\n".encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))


def _model_body(name: str) -> dict[str, Any]:
    return {
        "id": name,
        "object": "model",
        "created": CREATED_SECONDS,
        "owned_by": "stand-in",
    }


def _no_script(messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> Reply:
    raise LookupError("this run has no script: pass one to StandIn, follow or play")
