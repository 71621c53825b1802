"""`ullage-inspector up` as a process: what a person at a terminal sees happen."""

import json
import socket
import sqlite3
from contextlib import closing

import pytest

from inspector.domain.demo.rules import recording_write
from tests.support.otlp import WireRun, export, text_message
from tests.support.process import InspectorProcess, until

pytestmark = pytest.mark.timeout(120)


@pytest.fixture
def data_dir(tmp_path):
    return tmp_path / "data"


def one_run(**named):
    run = WireRun(**named)
    run.call([text_message("user", "Hello")])
    run.call([text_message("user", "Hello"), text_message("user", "Are you there?")])
    run.end()
    return run, export(run.spans).SerializeToString()


def arrival(inspector, run):
    """What the inspector says of a run's trace, once the worker is done with it."""

    def settled():
        status, text = inspector.get(
            f"/api/v1/ingest/{run.trace_id}", **{"x-api-key": inspector.key}
        )
        told = json.loads(text)
        return told if status == 200 and not told["is_pending"] else None

    return until(settled, "the worker to finish")


def count(data_dir, table):
    with closing(sqlite3.connect(data_dir / "inspector.sqlite3")) as store:
        return store.execute(f"SELECT count(*) FROM inspector_{table}").fetchone()[0]


def test_a_chunked_body_is_read_and_a_task_really_runs(data_dir):
    run, body = one_run()
    with InspectorProcess(data_dir) as inspector:
        portions = (body[start : start + 100] for start in range(0, len(body), 100))
        assert inspector.post(portions, **{"Transfer-Encoding": "chunked"})[0] == 200
        assert arrival(inspector, run)["run_ids"] == [run.run_id]
        assert inspector.interrupt() == 0


def test_a_killed_inspector_loses_nothing_that_it_answered(data_dir):
    _, body = one_run()
    idle = {"ULLAGE_INSPECTOR_WORKER_ENABLED": "0"}
    with InspectorProcess(data_dir, environment=idle) as inspector:
        key = inspector.key
        assert inspector.post(body)[0] == 200
        inspector.kill()
    assert (count(data_dir, "inbox"), count(data_dir, "run")) == (1, 0)
    with InspectorProcess(data_dir) as again:
        assert key not in again.output
        until(lambda: count(data_dir, "run") == 1, "the run to be folded")
        assert again.get(again.start_path)[0] == 200
    assert (count(data_dir, "inbox"), count(data_dir, "call")) == (0, 2)


def test_a_kill_in_the_middle_of_the_work_loses_nothing(data_dir):
    bodies = [one_run(trace_id=f"{number + 1:032x}")[1] for number in range(30)]
    with InspectorProcess(data_dir) as inspector:
        for body in bodies:
            assert inspector.post(body)[0] == 200
        inspector.kill()
    with InspectorProcess(data_dir):
        until(lambda: count(data_dir, "run") == 30, "every run to be folded")
    assert (count(data_dir, "inbox"), count(data_dir, "call")) == (0, 60)


def test_the_link_opens_the_runs(data_dir):
    with InspectorProcess(data_dir) as inspector:
        assert inspector.output.count("/start/") == 1
        status, page = inspector.get(inspector.start_path)
        assert (status, "<html" in page) == (200, True)
        fresh = inspector.run("link").stdout.strip()
        assert inspector.get(fresh.removeprefix(inspector.address))[0] == 200
        assert inspector.interrupt() == 0
    assert "Traceback" not in inspector.output


def test_a_taken_port_is_told_with_the_way_out(data_dir):
    inspector = InspectorProcess(data_dir)
    with socket.socket() as other:
        other.bind(("127.0.0.1", inspector.port))
        other.listen()
        refused = inspector.run("up", "--port", str(inspector.port))
    assert refused.returncode == 1
    assert f"PORT={inspector.port + 1} make run" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_commands_on_an_empty_folder_say_what_to_do(data_dir):
    inspector = InspectorProcess(data_dir)
    for command in (("link",), ("key",), ("demo", "remove")):
        refused = inspector.run(*command)
        assert refused.returncode == 1
        assert "`ullage-inspector up`" in refused.stderr
        assert "Traceback" not in refused.stderr


def test_nothing_listens_beyond_loopback(data_dir):
    with InspectorProcess(data_dir) as inspector:
        for family, address in (
            (socket.AF_INET, "127.0.0.2"),
            (socket.AF_INET6, "::1"),
        ):
            with socket.socket(family) as other:
                assert other.connect_ex((address, inspector.port)) != 0


def test_demo_runs_come_through_the_receiver_and_go_again(data_dir, tmp_path):
    folder = tmp_path / "recordings"
    folder.mkdir()
    own, own_body = one_run(trace_id="ff" * 16)
    for number in range(3):
        run, _ = one_run(trace_id=f"{number + 1:032x}")
        recording = recording_write(export([one]) for one in run.spans)
        (folder / f"run-{number}.otlp.gz").write_bytes(recording)
    with InspectorProcess(data_dir) as inspector:
        inspector.post(own_body)
        arrival(inspector, own)
        load = ("demo", "load", "--folder", str(folder))
        assert inspector.run(*load).returncode == 0
        until(lambda: count(data_dir, "run") == 4, "the demo runs")
        until(lambda: count(data_dir, "call") == 8, "their calls")
        page = inspector.get(inspector.start_path)[1]
        assert page.count('href="/p/main/runs/') >= 4
        removed = inspector.run("demo", "remove")
        assert removed.stdout.strip() == "Removed 3 demo runs."
    assert [count(data_dir, t) for t in ("run", "call", "view", "message")] == [
        1,
        2,
        2,
        2,
    ]
