"""Spans in, runs out: whatever the order, the number or the damage."""

import json

import pytest

from inspector.domain.ingest.decode import JSON
from inspector.domain.runs.selectors import call_get, run_get, run_list
from inspector.store.inbox import DeadLetter, Inbox
from inspector.store.runs import Run
from tests.factories import take_in
from tests.support.otlp import WireRun, export, export_json, span, text_message
from ullage import semconv
from ullage.messages import canonical_bytes, digest_of, extend_view

SYSTEM = text_message("system", "You triage.")
TASK = text_message("user", "Why is it slow?")
LOOK = {
    "role": "assistant",
    "parts": [{"type": "tool_call", "id": "c1", "name": "grep", "arguments": {"q": 1}}],
}
FOUND = {
    "role": "tool",
    "parts": [{"type": "tool_call_response", "id": "c1", "response": "a lot of text"}],
}
MORE = text_message("user", "And the other one?")
ANSWER = text_message("assistant", "It waits for the disk.")


def pruned_run() -> WireRun:
    """Three calls; the second one's view loses the step, the run completes."""
    run = WireRun()
    run.call([SYSTEM, TASK], reply=LOOK)
    run.call([SYSTEM, TASK, LOOK, FOUND], units={2: 2, 3: 2}, input_tokens=5000)
    step = [digest_of(canonical_bytes(m)) for m in (LOOK, FOUND)]
    run.prune(
        [
            {
                "unit": 2,
                "do": "drop",
                "why": "over_budget",
                "tokens": [1240, 0],
                "roles": ["assistant", "tool"],
                "tools": ["grep"],
                "messages": step,
            }
        ]
    )
    run.call([SYSTEM, TASK, MORE], reply=ANSWER, dropped_units=1, input_tokens=700)
    run.end()
    return run


def states(rows):
    return [(row.role, row.state) for row in rows]


class TestWire:
    def test_a_run_is_read_whole(self, cast):
        run = pruned_run()
        take_in(cast.project, export(run.spans).SerializeToString())
        detail = run_get(project_id=cast.project.pk, run_id=run.run_id)
        row = detail.run
        assert (row.agent, row.status, row.reason) == ("triage", "ended", "completed")
        assert (row.call_count, row.prune_count, row.dropped_unit_count) == (3, 1, 1)
        assert row.fills == (1000 / 8000, 5000 / 8000, 700 / 8000)
        assert (row.peak_fill, row.pruned_calls) == (5000 / 8000, (2,))
        assert row.worst_drift == pytest.approx(1100 / 5000)
        assert [call.is_pruned for call in detail.calls] == [False, False, True]
        assert detail.prunes[0].actions[0].tools == ("grep",)
        kinds = [(line.kind, line.depth) for line in detail.spans]
        assert kinds == [("run", 0), *[("call", 1)] * 2, ("prune", 1), ("call", 1)]

    def test_a_call_shows_what_was_sent_and_what_left(self, cast):
        run = pruned_run()
        take_in(cast.project, export(run.spans).SerializeToString())
        call = call_get(project_id=cast.project.pk, run_id=run.run_id, index=2)
        assert states(call.sent) == [
            ("system", "kept"),
            ("user", "kept"),
            ("user", "new"),
        ]
        assert states(call.left) == [("assistant", "dropped"), ("tool", "dropped")]
        (unit,) = call.dropped
        assert (unit.unit, unit.dropped_at_call, unit.is_new) == (2, 2, True)
        assert unit.messages[1].body == FOUND
        assert call.reply.body == ANSWER
        assert call.prune.outcome == "done"
        assert call.raw[semconv.REQUEST_MODEL] == "gpt-5-mini"

    def test_a_unit_that_returns_stands_outside_no_more(self, cast):
        run = pruned_run()
        run.spans.pop()  # its end, made anew below
        change = {"why": "window_grew", "tokens": [0, 1240], "messages": []}
        run.prune([{"unit": 2, "do": "return", **change}])
        run.call([SYSTEM, TASK, LOOK, FOUND, MORE])
        run.end()
        take_in(cast.project, export(run.spans).SerializeToString())
        call = call_get(project_id=cast.project.pk, run_id=run.run_id, index=3)
        assert call.dropped == ()
        assert [row.state for row in call.sent] == [
            "kept",
            "kept",
            "returned",
            "returned",
            "kept",
        ]

    def test_content_stays_away_where_it_was_not_sent(self, cast):
        run = WireRun(with_bodies=False)
        run.call([SYSTEM, TASK])
        take_in(cast.project, export(run.spans).SerializeToString())
        call = call_get(project_id=cast.project.pk, run_id=run.run_id, index=0)
        assert [row.body for row in call.sent] == [None, None]
        assert states(call.sent) == [("system", "new"), ("user", "new")]

    @pytest.mark.parametrize("as_json", [False, True], ids=["protobuf", "json"])
    def test_one_span_a_request_in_any_order_gives_the_same_run(self, cast, as_json):
        run = pruned_run()
        for one in reversed(run.spans):
            request = export([one])
            if as_json:
                take_in(cast.project, export_json(request), JSON)
            else:
                take_in(cast.project, request.SerializeToString())
        apart = run_get(project_id=cast.project.pk, run_id=run.run_id)
        take_in(cast.stranger_project, export(run.spans).SerializeToString())
        assert apart == run_get(project_id=cast.stranger_project.pk, run_id=run.run_id)

    def test_a_resend_changes_nothing(self, cast):
        run = pruned_run()
        body = export(run.spans).SerializeToString()
        take_in(cast.project, body)
        once = run_get(project_id=cast.project.pk, run_id=run.run_id)
        take_in(cast.project, body)
        assert run_get(project_id=cast.project.pk, run_id=run.run_id) == once
        assert run_list(project_id=cast.project.pk).total_count == 1

    def test_an_unknown_base_is_not_captured_and_heals(self, cast):
        run = WireRun()
        first = run.call([SYSTEM, TASK])
        second = run.call([SYSTEM, TASK, MORE])
        take_in(cast.project, export([second]).SerializeToString())
        call = call_get(project_id=cast.project.pk, run_id=run.run_id, index=1)
        assert [row.state for row in call.sent] == ["not_captured"] * 2 + ["new"]
        take_in(cast.project, export([first]).SerializeToString())
        call = call_get(project_id=cast.project.pk, run_id=run.run_id, index=1)
        assert states(call.sent) == [
            ("system", "kept"),
            ("user", "kept"),
            ("user", "new"),
        ]

    def test_a_run_without_its_root_is_running(self, cast):
        run = WireRun()
        run.call([SYSTEM, TASK])
        take_in(cast.project, export(run.spans).SerializeToString())
        (row,) = run_list(project_id=cast.project.pk).rows
        assert (row.run_id, row.status, row.reason) == (run.run_id, "running", "")

    def test_a_silent_run_is_lost_and_a_late_root_ends_it(self, cast):
        run = WireRun()
        run.call([SYSTEM, TASK])
        take_in(cast.project, export(run.spans).SerializeToString())
        Run.objects.update(touched_ns=0)
        assert run_list(project_id=cast.project.pk).rows[0].status == "lost"
        take_in(cast.project, export([run.end()]).SerializeToString())
        assert run_list(project_id=cast.project.pk).rows[0].status == "ended"

    def test_a_terminus_is_told_and_has_no_call(self, cast):
        run = WireRun()
        run.call([SYSTEM, TASK])
        run.truncate()
        run.end("context_truncated")
        take_in(cast.project, export(run.spans).SerializeToString())
        detail = run_get(project_id=cast.project.pk, run_id=run.run_id)
        assert (detail.run.reason, len(detail.calls)) == ("context_truncated", 1)
        assert (detail.terminus.call_index, detail.terminus.shortfall_tokens) == (
            1,
            2100,
        )

    def test_a_reason_that_nobody_knows_reads_as_unknown(self, cast):
        run = WireRun()
        run.end("ate_by_bear")
        take_in(cast.project, export(run.spans).SerializeToString())
        assert run_list(project_id=cast.project.pk).rows[0].reason == "unknown"

    def test_an_altered_message_is_told_from_a_new_one(self, cast):
        stub = {
            "role": "tool",
            "parts": [{"type": "tool_call_response", "id": "c1", "response": "(stub)"}],
        }
        run = WireRun()
        run.call([SYSTEM, TASK, LOOK, FOUND], units={2: 2, 3: 2})
        run.call([SYSTEM, TASK, LOOK, stub], units={2: 2, 3: 2})
        take_in(cast.project, export(run.spans).SerializeToString())
        call = call_get(project_id=cast.project.pk, run_id=run.run_id, index=1)
        assert [row.state for row in call.sent] == ["kept", "kept", "kept", "altered"]
        assert [row.state for row in call.left] == ["altered"]

    def test_a_host_call_and_its_inference_span_are_one(self, cast):
        run = WireRun()
        made = run.call(
            [SYSTEM, TASK],
            name=semconv.SPAN_CALL,
            input_tokens=None,
            **{semconv.RESPONSE_ID: "resp-1"},
        )
        theirs = span(
            "chat gpt-5-mini",
            {
                semconv.OPERATION_NAME: "chat",
                semconv.RESPONSE_ID: "resp-1",
                semconv.USAGE_INPUT_TOKENS: 321,
            },
            parent=run.run_span_id,
        )
        take_in(cast.project, export([theirs, made, run.end()]).SerializeToString())
        (call,) = run_get(project_id=cast.project.pk, run_id=run.run_id).calls
        assert (call.span_id, call.input_tokens) == (made.span_id.hex(), 321)


class TestDamage:
    def test_a_bad_span_is_refused_alone(self, cast):
        run = WireRun()
        good = run.call([SYSTEM, TASK])
        bad = span("no id")
        bad.span_id = bytes(8)
        take_in(cast.project, export([bad, good, run.end()]).SerializeToString())
        assert run_get(project_id=cast.project.pk, run_id=run.run_id).calls
        letter = DeadLetter.objects.get()
        assert letter.reason == "span_invalid"
        assert "span_id is not 8 bytes" in letter.detail
        assert letter.payload == bad.SerializeToString()

    def test_a_body_that_is_not_what_its_digest_says_is_a_dead_letter(self, cast):
        run = WireRun()
        run.call([SYSTEM, TASK], **{semconv.MESSAGES_BODIES: ['{"role":"user","pa']})
        take_in(cast.project, export(run.spans).SerializeToString())
        assert DeadLetter.objects.get().reason == "body_mismatch"
        call = call_get(project_id=cast.project.pk, run_id=run.run_id, index=0)
        assert [row.body for row in call.sent] == [None, None]

    def test_a_view_that_is_not_what_its_links_make_is_a_dead_letter(self, cast):
        run = WireRun()
        run.call([SYSTEM, TASK], **{semconv.VIEW_ADDED: ["ab" * 16]})
        take_in(cast.project, export(run.spans).SerializeToString())
        assert DeadLetter.objects.get().reason == "view_mismatch"

    @pytest.mark.parametrize("body", ["no JSON at all", "[1]"])
    def test_a_body_that_proves_its_digest_may_still_be_no_message(self, cast, body):
        digest = digest_of(body.encode())
        run = WireRun()
        run.call(
            [],
            **{
                semconv.VIEW_DIGEST: extend_view("", [digest]),
                semconv.VIEW_LENGTH: 1,
                semconv.VIEW_ADDED: [digest],
                semconv.MESSAGES_BODIES: [body],
            },
        )
        take_in(cast.project, export(run.spans).SerializeToString())
        (sent,) = call_get(project_id=cast.project.pk, run_id=run.run_id, index=0).sent
        assert (sent.state, sent.role, sent.body) == ("new", "", None)

    def test_nul_bytes_are_replaced_everywhere(self, cast):
        run = WireRun()
        run.call([text_message("user", "a\0b")])
        run.end(**{semconv.CONVERSATION_ID: "x\0y"})
        take_in(cast.project, export(run.spans).SerializeToString())
        (row,) = run_list(project_id=cast.project.pk).rows
        assert row.conversation_id == "x\ufffdy"
        (sent,) = call_get(project_id=cast.project.pk, run_id=run.run_id, index=0).sent
        assert sent.body["parts"][0]["content"] == "a\ufffdb"

    def test_lone_surrogates_are_replaced(self, cast):
        body = export_json(export([span("x", {"note": "SURROGATE"})]))
        body = body.replace(b"SURROGATE", b"\\ud83e")
        take_in(cast.project, body, JSON)
        assert not DeadLetter.objects.exists()
        assert not Inbox.objects.exists()

    def test_figures_of_the_wrong_kind_cost_only_themselves(self, cast):
        run = WireRun()
        run.call(
            [SYSTEM, TASK],
            **{
                semconv.REQUEST_MODEL: ["a", "list"],
                semconv.BUDGET_TOKENS: "12.0",
                semconv.USAGE_OUTPUT_TOKENS: -3,
                semconv.RESPONSE_FINISH_REASONS: '["stop"]',
            },
        )
        take_in(cast.project, export(run.spans).SerializeToString())
        (call,) = run_get(project_id=cast.project.pk, run_id=run.run_id).calls
        assert (call.model, call.budget_tokens, call.output_tokens) == ("", 12, None)
        assert call.finish_reasons == ("stop",)

    def test_parents_in_a_circle_end_nothing(self, cast):
        one = span("a", span_id="a" * 16, parent="b" * 16)
        two = span("b", span_id="b" * 16, parent="a" * 16)
        chat = span("chat m", {semconv.OPERATION_NAME: "chat"}, parent="a" * 16)
        take_in(cast.project, export([one, two, chat]).SerializeToString())
        (row,) = run_list(project_id=cast.project.pk).rows
        detail = run_get(project_id=cast.project.pk, run_id=row.run_id)
        assert (row.run_id, len(detail.spans)) == ("11" * 16, 3)


def genai_call(messages, *, start_s, parent="", **extra):
    named = {
        semconv.OPERATION_NAME: "chat",
        semconv.REQUEST_MODEL: "gpt-4o",
        semconv.INPUT_MESSAGES: json.dumps(messages),
        semconv.USAGE_INPUT_TOKENS: 400,
        **extra,
    }
    return span("chat gpt-4o", named, start_s=start_s, parent=parent)


class TestForeign:
    def test_dropped_turns_are_inferred_from_the_views(self, cast):
        root = span("handle", span_id="c" * 16, end_s=9)
        long = [SYSTEM, TASK, LOOK, FOUND, ANSWER, MORE]
        spans = [
            genai_call(long, start_s=1, parent="c" * 16),
            genai_call([SYSTEM, TASK, ANSWER, MORE], start_s=3, parent="c" * 16),
            root,
        ]
        take_in(cast.project, export(spans).SerializeToString())
        (row,) = run_list(project_id=cast.project.pk).rows
        assert (row.source, row.reason, row.agent) == ("genai", "completed", "tests")
        assert (row.prune_count, row.dropped_unit_count) == (1, 1)
        assert row.fills == (None, None)
        call = call_get(project_id=cast.project.pk, run_id=row.run_id, index=1)
        (unit,) = call.dropped
        assert (unit.why, unit.dropped_at_call) == ("inferred", 1)
        assert [message.body for message in unit.messages] == [LOOK, FOUND]
        assert [m.state for m in call.left] == ["dropped", "dropped"]

    def test_fill_is_known_where_a_window_is_told(self, cast):
        told = genai_call([TASK], start_s=1, **{semconv.WINDOW_TOKENS: 1000})
        take_in(cast.project, export([told]).SerializeToString())
        assert run_list(project_id=cast.project.pk).rows[0].fills == (0.4,)

    def test_messages_that_were_cut_give_no_verdict(self, cast):
        spans = [
            genai_call([SYSTEM, TASK, MORE], start_s=1),
            genai_call([], start_s=3, **{semconv.INPUT_MESSAGES: '[{"role": "us'}),
        ]
        take_in(cast.project, export(spans).SerializeToString())
        (row,) = run_list(project_id=cast.project.pk).rows
        assert (row.call_count, row.prune_count) == (2, 0)

    def test_a_sub_agent_is_a_run_of_its_own(self, cast):
        agent = {semconv.OPERATION_NAME: "invoke_agent"}
        outer = span("invoke_agent a", agent, span_id="a" * 16, end_s=9)
        inner = span("invoke_agent b", agent, span_id="b" * 16, parent="a" * 16)
        spans = [
            genai_call([TASK], start_s=1, parent="a" * 16),
            genai_call([MORE], start_s=2, parent="b" * 16),
            inner,
            outer,
        ]
        take_in(cast.project, export(spans).SerializeToString())
        rows = {
            row.run_span_id: row for row in run_list(project_id=cast.project.pk).rows
        }
        assert {r.call_count for r in rows.values()} == {1}
        assert rows["b" * 16].parent_run_id == rows["a" * 16].run_id
        trace_id = rows["a" * 16].trace_id
        found = run_get(project_id=cast.project.pk, run_id=trace_id)
        assert found.run.run_span_id == "a" * 16
