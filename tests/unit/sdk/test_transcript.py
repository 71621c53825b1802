"""The caller's list read once: what is known again, measured, told, and given back."""

import copy
from dataclasses import dataclass, field

import pytest

from tests.support.sdk import SizedRun, budget_of, call, messages, ordinals
from ullage.dialects import openai_chat
from ullage.errors import ConfigurationError
from ullage.estimator import MEDIA_TOKENS, TABLES
from ullage.messages import canonical_bytes, digest_of, extend_view
from ullage.transcript import Transcript

NOTATION = "S U A[a] T(a) A[b] T(b)"
TOOL = openai_chat.tool_definition("grep", "finds", {"type": "object"})


@dataclass
class CountingTable:
    """A table that remembers what it was asked to measure."""

    key: str = "any"
    texts: list[str] = field(default_factory=list)

    def measure(self, text):
        self.texts.append(text)
        return TABLES["any"].measure(text)


def transcript(**settings):
    return Transcript(TABLES["any"], **settings)


def sync(seen, natives, **settings):
    return seen.sync(natives, openai_chat, **settings)


def digest(message):
    return digest_of(canonical_bytes(openai_chat.read(message)[0].to_dict()))


class TestMeasuring:
    @pytest.fixture
    def table(self):
        return CountingTable()

    @pytest.fixture
    def seen(self, table):
        seen = Transcript(table)
        sync(seen, messages(NOTATION))
        table.texts.clear()
        return seen

    def test_messages_that_are_still_there_are_not_measured_again(self, table):
        natives, seen = messages(NOTATION), Transcript(table)
        before = sync(seen, natives)
        table.texts.clear()
        assert sync(seen, natives) == before
        assert table.texts == []

    def test_equal_messages_built_anew_are_not_measured_again(self, seen, table):
        """Frameworks that convert their own messages make new ones at every call."""
        sync(seen, messages(NOTATION))
        sync(seen, copy.deepcopy(messages(NOTATION)))
        assert table.texts == []

    def test_only_what_was_added_is_measured(self, seen, table):
        sync(seen, [*messages(NOTATION), {"role": "user", "content": "new"}])
        assert [text for text in table.texts if text] == ["new"]

    def test_a_repeated_text_is_measured_once(self, seen, table):
        again = {"role": "user", "content": "again"}
        found = sync(seen, [*messages(NOTATION), again, dict(again), dict(again)])
        assert table.texts.count("again") == 1
        assert len({entry.ordinal for entry in found}) == 9

    def test_tools_are_measured_once_however_often_they_are_built(self, table):
        seen = Transcript(table)
        first = seen.sync_tools([copy.deepcopy(TOOL)])
        table.texts.clear()
        assert seen.sync_tools([copy.deepcopy(TOOL)]) == first
        assert table.texts == []


class TestKnowing:
    def known(self, before, after):
        """Ordinals of a second list, after a first one was seen."""
        seen = transcript()
        sync(seen, before)
        return [entry.ordinal for entry in sync(seen, after)]

    @pytest.mark.parametrize(
        ("kept", "expected"),
        [
            ([0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5]),
            ([0, 1, 2], [0, 1, 2]),
            ([0, 1, 4, 5], [0, 1, 4, 5]),
            ([4, 5], [4, 5]),
        ],
        ids=["all", "the end cut off", "the middle cut out", "the start cut off"],
    )
    @pytest.mark.parametrize("built", [list, copy.deepcopy], ids=["same", "new"])
    def test_what_the_caller_left_out_does_not_change_the_rest(
        self, kept, expected, built
    ):
        natives = messages(NOTATION)
        after = built([natives[position] for position in kept])
        assert self.known(natives, after) == expected

    def test_what_was_put_in_front_is_new_and_the_rest_is_known(self):
        natives = messages(NOTATION)
        after = [natives[0], {"role": "user", "content": "first"}, *natives[1:]]
        assert self.known(natives, after) == [0, 6, 1, 2, 3, 4, 5]

    def test_equal_messages_are_told_apart(self):
        """Peers 9: two equal messages are two messages."""
        same = {"role": "user", "content": "go on"}
        natives = [dict(same), dict(same), same, same]
        assert self.known(natives, natives) == [0, 1, 2, 3]
        assert self.known(natives, copy.deepcopy(natives)) == [0, 1, 2, 3]

    @pytest.mark.parametrize(
        "edit",
        [
            lambda m: m.__setitem__("content", m["content"] + "!"),
            lambda m: m.__setitem__("content", None),
            lambda m: m.__setitem__("content", [{"type": "text", "text": "new"}]),
            lambda m: m.__setitem__("role", "user"),
            lambda m: m.__setitem__("tool_calls", [call("x")]),
        ],
        ids=["length", "none", "parts", "role", "calls"],
    )
    def test_an_edit_in_place_is_a_new_message(self, edit):
        natives, seen = messages("S U A A U"), transcript()
        sync(seen, natives)
        edit(natives[2])
        found = sync(seen, natives)
        assert [entry.ordinal for entry in found] == [0, 1, 5, 3, 4]

    def test_an_edit_in_place_of_equal_length_is_not_seen(self):
        """Documented: known by identity and a fingerprint, not by reading all of it."""
        natives, seen = messages("S U"), transcript()
        before = sync(seen, natives)
        natives[1]["content"] = natives[1]["content"].replace("word", "ward")
        assert sync(seen, natives) == before

    def test_the_same_edit_in_a_new_object_is_seen(self):
        natives, seen = messages("S U"), transcript()
        sync(seen, natives)
        text = natives[1]["content"].replace("word", "ward")
        found = sync(seen, [natives[0], {**natives[1], "content": text}])
        assert [entry.ordinal for entry in found] == [0, 2]


class TestEntries:
    def test_sizes_ids_and_tools(self):
        natives = messages("S U A[a,b] T(a) T(b)")
        found = sync(transcript(), natives)
        assert [e.role for e in found] == [m["role"] for m in natives]
        assert found[2].call_ids == ("a", "b")
        assert found[2].tools == ("tool_a", "tool_b")
        assert found[3].result_ids == ("a",)
        assert [e.digests for e in found] == [(digest(m),) for m in natives]
        assert found[1].body_bytes == len(
            canonical_bytes(openai_chat.read(natives[1])[0].to_dict())
        )

    def test_all_of_a_call_is_counted(self):
        """F44: no content, but 8,000 characters of arguments."""
        text = '{"x":"' + "word " * 1600 + '"}'
        native = {"role": "assistant", "content": None, "tool_calls": [call("a", text)]}
        (entry,) = sync(transcript(), [native])
        assert entry.tokens.upper >= TABLES["any"].measure(text).upper

    def test_results_of_every_shape_are_counted(self):
        """F46: JSON, and a list of parts."""
        text = '{"rows": [' + "1, " * 500 + "1]}"
        parts = [{"type": "text", "text": text}]
        for content in (text, parts):
            native = {"role": "tool", "tool_call_id": "a", "content": content}
            (entry,) = sync(transcript(), [native])
            assert entry.tokens.upper >= TABLES["any"].measure(text).upper

    @pytest.mark.parametrize("role", ["user", "tool"])
    @pytest.mark.parametrize("count", [1, 3])
    def test_a_picture_has_a_price_and_no_bytes(self, role, count):
        """W5, F52, F54: the same in every role; and the total is a floor."""
        url = "data:image/png;base64," + "A" * 2_000_000
        part = {"type": "image_url", "image_url": {"url": url}}
        native = {"role": role, "content": [part] * count, "tool_call_id": "a"}
        (entry,) = sync(transcript(), [native])
        assert count * MEDIA_TOKENS <= entry.tokens.upper < count * MEDIA_TOKENS + 10
        assert entry.is_open_ended

    @pytest.mark.parametrize(
        "text", ["<|endoftext|>", "a\0b", "cut \ud83d here", "\x1b[31m`<b>`"]
    )
    def test_odd_text_is_counted_as_plain_text(self, text):
        """F49, peers 9."""
        (entry,) = sync(transcript(), [{"role": "user", "content": text}])
        assert entry.tokens == TABLES["any"].measure(text)

    def test_pins_are_positions_in_this_list(self):
        seen, natives = transcript(), messages(NOTATION)
        first = sync(seen, natives, pins=[2])
        second = sync(seen, natives, pins=[3])
        assert [e.ordinal for e in first if e.is_pinned] == [2]
        assert [e.ordinal for e in second if e.is_pinned] == [3]

    @pytest.mark.parametrize("pins", [[6], [-1], [0, 99], ["0"], "01"])
    def test_a_pin_that_is_no_position_is_named(self, pins):
        with pytest.raises(ConfigurationError, match="no positions in a list of 6"):
            sync(transcript(), messages(NOTATION), pins=pins)


class TestTools:
    def test_none_is_nothing(self):
        assert transcript().sync_tools(()) == ("", TABLES["any"].measure(""))

    def test_order_and_content_tell_definitions_apart(self):
        other = openai_chat.tool_definition("sed", "edits", {})
        lists = [[TOOL], [other], [TOOL, other], [other, TOOL]]
        assert len({transcript().sync_tools(tools)[0] for tools in lists}) == 4

    @pytest.mark.parametrize("tools", ["grep", TOOL, ["grep"], [None], 7, iter([TOOL])])
    def test_what_is_no_list_of_definitions_is_told_so(self, tools):
        """Peers 9: text, or one thing, given where a list is meant."""
        with pytest.raises(ConfigurationError, match="tools"):
            transcript().sync_tools(tools)


def fitted_from(seen, natives, run):
    return run.fit(sync(seen, natives))


class TestView:
    def test_the_callers_own_objects_come_back_in_a_new_list(self):
        natives, seen = messages(NOTATION), transcript()
        fitted = fitted_from(seen, natives, SizedRun(budget_of(5000)))
        view = seen.view(fitted, openai_chat)
        assert view is not natives
        assert all(a is b for a, b in zip(view, natives, strict=True))

    def test_the_note_is_a_user_message_behind_the_head(self):
        natives, seen = messages(NOTATION), transcript()
        fitted = fitted_from(seen, natives, SizedRun(budget_of(1000)))
        view = seen.view(fitted, openai_chat)
        assert view[2] == {"role": "user", "content": fitted.note}
        assert view[3:] == natives[4:]

    def test_objects_built_anew_are_the_ones_that_come_back(self):
        seen, run = transcript(), SizedRun(budget_of(5000))
        fitted_from(seen, messages(NOTATION), run)
        again = messages(NOTATION)
        view = seen.view(fitted_from(seen, again, run), openai_chat)
        assert all(a is b for a, b in zip(view, again, strict=True))


class TestTelling:
    def tell(self, seen, natives, run):
        return seen.describe(fitted_from(seen, natives, run))

    def test_a_first_view_has_no_base(self):
        natives = messages(NOTATION)
        view = self.tell(transcript(), natives, SizedRun(budget_of(5000)))
        digests = tuple(digest(m) for m in natives)
        assert (view.base, view.added, view.length) == ("", digests, 6)
        assert view.digest == extend_view("", digests)
        assert [shape.digest for shape in view.described] == list(digests)
        assert [shape.unit for shape in view.described] == [0, 1, 2, 2, 3, 3]

    def test_a_longer_view_tells_what_it_added(self):
        seen, run, natives = transcript(), SizedRun(budget_of(5000)), messages(NOTATION)
        first = self.tell(seen, natives, run)
        more = [*natives, {"role": "assistant", "content": "done"}]
        second = self.tell(seen, more, run)
        assert second.base == first.digest
        assert second.added == (digest(more[-1]),)
        assert [shape.role for shape in second.described] == ["assistant"]

    def test_after_a_prune_the_base_is_what_both_share(self):
        seen, natives = transcript(), messages(NOTATION)
        run = SizedRun(budget_of(5000))
        for length in (2, 6):
            self.tell(seen, natives[:length], run)
        view = seen.describe(run.fit(sync(seen, natives), budget=budget_of(1000)))
        assert view.base == extend_view("", [digest(m) for m in natives[:2]])
        (note,) = view.described
        assert (note.role, note.unit) == ("user", None)
        assert view.added[0] == note.digest

    def test_what_was_never_sent_is_described_too(self):
        seen = transcript()
        fitted = fitted_from(seen, messages(NOTATION), SizedRun(budget_of(1000)))
        assert set(ordinals(fitted.view)) < set(range(6))
        assert len(seen.describe(fitted).described) == 7  # and our note

    def test_the_same_view_adds_nothing(self):
        seen, run = transcript(), SizedRun(budget_of(1000))
        first = self.tell(seen, messages(NOTATION), run)
        second = self.tell(seen, messages(NOTATION), run)
        assert (second.base, second.added, second.described) == (first.digest, (), ())

    def test_bodies_are_told_once_and_only_on_demand(self):
        same = {"role": "user", "content": "again"}
        natives, run = [same, dict(same)], SizedRun(budget_of(5000))
        quiet = self.tell(transcript(), natives, run).described
        told = self.tell(transcript(keeps_bodies=True), natives, run).described
        assert [shape.body for shape in quiet] == [None, None]
        body = '{"parts":[{"content":"again","type":"text"}],"role":"user"}'
        assert [shape.body for shape in told] == [body, None]

    def test_bodies_are_let_go_once_they_were_told(self):
        seen, run = transcript(keeps_bodies=True), SizedRun(budget_of(50_000))
        text = "kept by the caller alone " * 1000
        natives = [{"role": "user", "content": text}]
        self.tell(seen, natives, run)
        held = [s.body for s in seen._shapes.values()]
        assert held == [None]

    def test_pins_are_told(self):
        seen, run = transcript(), SizedRun(budget_of(5000))
        fitted = run.fit(sync(seen, messages(NOTATION), pins=[4]))
        pinned = [s.is_pinned for s in seen.describe(fitted).described]
        assert pinned == [False, False, False, False, True, False]

    def test_tools_are_told_once(self):
        seen, run = transcript(keeps_bodies=True), SizedRun(budget_of(5000))
        views = []
        for tools in ([TOOL], [TOOL], []):
            seen.sync_tools(tools)
            views.append(self.tell(seen, messages("S U"), run))
        assert [view.tools[0].name for view in views if view.tools] == ["grep"]
        assert [bool(view.tools_body) for view in views] == [True, False, False]
        assert digest_of(views[0].tools_body.encode()) == views[0].tools_digest
        assert views[0].tools_digest == views[1].tools_digest
        assert views[2].tools_digest == ""

    def test_a_reply_is_described_once(self):
        seen, run = transcript(keeps_bodies=True), SizedRun(budget_of(5000))
        natives = messages("S U")
        self.tell(seen, natives, run)
        message = {"role": "assistant", "content": "done"}
        reply = seen.read_reply({"choices": [{"message": message}]})
        shape = seen.reply_shape(reply)
        assert shape.digest == digest(message)
        assert '"done"' in shape.body
        view = self.tell(seen, [*natives, message], run)
        assert [(s.digest, s.body) for s in view.described] == [(shape.digest, None)]

    def test_an_answer_of_no_known_shape_is_none(self):
        assert transcript().read_reply({"content": "done"}) is None


class TestRedaction:
    def redact(self, body):
        parts = [
            {**part, "content": part["content"].replace("secret", "[hidden]")}
            for part in body["parts"]
        ]
        return {**body, "parts": parts}

    def test_digests_are_of_what_is_told(self):
        """A secret cannot be guessed from a digest of it."""
        natives = [{"role": "user", "content": "the secret is 4711"}]
        told = [{"role": "user", "content": "the [hidden] is 4711"}]
        seen = transcript(redact=self.redact, keeps_bodies=True)
        fitted = fitted_from(seen, natives, SizedRun(budget_of(5000)))
        (shape,) = seen.describe(fitted).described
        assert shape.digest == digest(told[0])
        assert "secret" not in shape.body
        assert seen.view(fitted, openai_chat) == natives

    def test_sizes_are_of_what_is_sent(self):
        native = {"role": "user", "content": "secret " * 50}
        (plain,) = sync(transcript(), [native])
        (redacted,) = sync(transcript(redact=self.redact), [native])
        assert redacted.tokens == plain.tokens

    def test_what_is_hidden_still_tells_messages_apart(self):
        """Two messages that differ in the secret alone have sizes of their own."""
        seen = transcript(redact=lambda body: {**body, "parts": []})
        natives = [
            {"role": "user", "content": "short"},
            {"role": "user", "content": "long " * 100},
        ]
        first, second = sync(seen, natives)
        assert first.digests == second.digests
        assert first.tokens != second.tokens
        again = sync(seen, [natives[1]])
        assert again[0].tokens == second.tokens

    def test_our_own_note_passes_the_hook_too(self):
        def redact(body):
            text = body["parts"][0]
            return {**body, "parts": [{**text, "content": "[hidden]"}]}

        seen = transcript(redact=redact)
        natives = messages("S U A~300 A~300 A")
        view = seen.describe(fitted_from(seen, natives, SizedRun(budget_of(1200))))
        hidden = digest({"role": "user", "content": "[hidden]"})
        assert view.added[2] == view.described[-1].digest == hidden

    def test_a_hook_that_edits_in_place_cannot_reach_the_callers_messages(self):
        def redact(body):
            body["parts"][0]["response"][0]["content"] = "[hidden]"
            return body

        parts = [{"type": "text", "text": "secret"}]
        native = {"role": "tool", "tool_call_id": "a", "content": parts}
        before = copy.deepcopy(native)
        sync(transcript(redact=redact), [native])
        assert native == before
