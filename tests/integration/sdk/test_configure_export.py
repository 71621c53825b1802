"""One line sends a run's spans to a receiver, with the settings in their order.

OpenTelemetry's provider is set once in a process, so each case has one of its own.
"""

import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
)

SHUTDOWN = "trace.get_tracer_provider().shutdown()"
RUN = """
import ullage
from opentelemetry import trace

ullage.configure({arguments})
with ullage.ContextWindowManager(model="any-model").run(agent="a") as run:
    run.fit([{{"role": "user", "content": "hi"}}])
    run.observe(ullage.Usage(input_tokens=9))
trace.get_tracer_provider().shutdown()
"""


class Receiver(BaseHTTPRequestHandler):
    """Keeps what was posted: path, key, and the decoded request."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        request = ExportTraceServiceRequest.FromString(body)
        key = self.headers.get("Authorization")
        self.server.posted.append((self.path, key, request))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *args):
        """Say nothing."""


@pytest.fixture
def receiver():
    with HTTPServer(("127.0.0.1", 0), Receiver) as server:
        server.posted = []
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


CLIENT_RUN = """
import {library}
import ullage
from opentelemetry import trace

ullage.configure(endpoint="{address}")
with ullage.ContextWindowManager(model="any-model").run(agent="a"):
    with {library}.Client(trust_env=False) as client:
        client.post("{address}/model", content=b"")
trace.get_tracer_provider().shutdown()
"""


def sent(receiver, arguments="", **environment):
    """Path, key, resource and names of spans that one run sent."""
    address = f"http://127.0.0.1:{receiver.server_port}"
    code = RUN.format(arguments=arguments.format(address=address))
    settings = {name: v.format(address=address) for name, v in environment.items()}
    subprocess.run([sys.executable, "-c", code], env=os.environ | settings, check=True)
    ((path, key, request),) = receiver.posted
    (resource,) = request.resource_spans
    attributes = {a.key: a.value.string_value for a in resource.resource.attributes}
    spans = {span.name for scope in resource.scope_spans for span in scope.spans}
    return path, key, attributes, spans


def test_arguments_come_first(receiver):
    path, key, resource, spans = sent(
        receiver,
        "endpoint='{address}/', api_key='k1', service_name='triage', "
        "environment='test', instrument_httpx=False",
        ULLAGE_ENDPOINT="http://127.0.0.1:9",
        ULLAGE_API_KEY="k2",
        OTEL_SERVICE_NAME="other",
    )
    assert (path, key) == ("/v1/traces", "Bearer k1")
    assert resource["service.name"] == "triage"
    assert resource["deployment.environment.name"] == "test"
    assert spans == {"invoke_agent a", "ullage.call", "ullage.calibrate"}


def test_then_the_environment(receiver):
    path, key, resource, _ = sent(
        receiver,
        ULLAGE_ENDPOINT="{address}",
        ULLAGE_API_KEY="k2",
        OTEL_SERVICE_NAME="other",
    )
    assert (path, key) == ("/v1/traces", "Bearer k2")
    assert resource["service.name"] == "other"
    assert "deployment.environment.name" not in resource


def test_opentelemetry_s_own_settings_come_before_ours(receiver):
    path, key, resource, _ = sent(
        receiver,
        OTEL_EXPORTER_OTLP_ENDPOINT="{address}",
        OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer%20collector",
        OTEL_RESOURCE_ATTRIBUTES="service.name=shop",
        ULLAGE_ENDPOINT="http://127.0.0.1:9",
        ULLAGE_API_KEY="k2",
    )
    assert (path, key) == ("/v1/traces", "Bearer collector")
    assert resource["service.name"] == "shop"


def test_a_collector_s_key_is_not_sent_to_our_address(receiver):
    _, key, _, _ = sent(
        receiver,
        "endpoint='{address}'",
        OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer%20collector",
        ULLAGE_API_KEY="k2",
    )
    assert key == "Bearer k2"


def test_spans_arrive_though_the_script_just_ends(receiver):
    address = f"http://127.0.0.1:{receiver.server_port}"
    code = RUN.format(arguments=f"endpoint='{address}'").replace(SHUTDOWN, "")
    subprocess.run([sys.executable, "-c", code], check=True)
    ((_, _, request),) = receiver.posted
    assert len(request.resource_spans[0].scope_spans[0].spans) == 3


def test_then_defaults(receiver):
    _, key, resource, _ = sent(receiver, "endpoint='{address}'")
    assert (key, resource["service.name"]) == (None, "ullage")


@pytest.mark.parametrize("library", ["httpx", "httpx2"])
def test_the_host_s_requests_stand_under_the_run(receiver, library):
    address = f"http://127.0.0.1:{receiver.server_port}"
    code = CLIENT_RUN.format(library=library, address=address)
    subprocess.run([sys.executable, "-c", code], check=True)
    request = receiver.posted[-1][2]
    spans = [s for r in request.resource_spans for g in r.scope_spans for s in g.spans]
    by_name = {span.name: span for span in spans}
    assert by_name["POST"].parent_span_id == by_name["invoke_agent a"].span_id
