"""The one error of the inspector: a code, the facts, and words that say what to do.

The domain raises it and knows nothing of HTTP; `inspector.web.errors` alone turns a
code into a status. A code that is not listed here is a programming error (a test reads
them all).
"""

from typing import Final

MESSAGES: Final[dict[str, str]] = {
    "key_missing": (
        "This address needs a key. Send it as `Authorization: Bearer <key>`, as"
        " `x-api-key`, or as the password of Basic authentication."
    ),
    "key_unknown": (
        "This key is not known here, or it was revoked. Make a new one with"
        " `ullage-inspector key` and give it to the SDK as ULLAGE_API_KEY."
    ),
    "key_scope": "This key lacks the scope `{scope}`. Use a key that has it.",
    "sign_in_needed": "Sign in first. `ullage-inspector link` prints a link for that.",
    "role_needed": "Only a project's {role} may do this.",
    "project_not_found": "There is no such project, or you are not a member of it.",
    "run_not_found": (
        "There is no run {run_id} in this project. It may not have arrived yet."
    ),
    "trace_not_found": "Nothing of trace {trace_id} has arrived in this project.",
    "call_not_found": "Run {run_id} has no call {index}.",
    "cursor_invalid": "The cursor `after` is not one that this inspector gave out.",
    "start_link_used": (
        "This link was used or is too old. Run `ullage-inspector link` to print a new"
        " one."
    ),
    "not_started": "There is no admin yet. Run `ullage-inspector up` once.",
    "request_invalid": "The request does not fit: {problem}.",
    "content_type": (
        "Send OTLP as `Content-Type: application/x-protobuf` or `application/json`;"
        " this was `{content_type}`."
    ),
    "content_encoding": (
        "Send the body plain or as `Content-Encoding: gzip`; this was `{encoding}`."
    ),
    "body_too_large": (
        "The body is larger than {limit_bytes} bytes {stage}. Export smaller batches,"
        " or raise ULLAGE_INSPECTOR_{setting}."
    ),
    "body_undecodable": "The body cannot be read as {encoding}: {problem}.",
    "body_cut": "The gzip stream cannot be inflated: {problem}.",
    "length_required": "This server cannot read a chunked body. Send a Content-Length.",
    "method_not_allowed": "Use POST here.",
    "store_unavailable": "The store cannot take data now. Send it again shortly.",
    "inbox_full": (
        "More data is waiting than the inspector can work off. Send it again shortly."
    ),
}


class InspectorError(Exception):
    """Something a caller can understand and act upon.

    Attributes:
        code: one of `MESSAGES`; stable, for machines.
        facts: the numbers and names of this case, JSON-able.
        message: one or two sentences for people.
    """

    def __init__(self, code: str, **facts: object) -> None:
        self.code = code
        self.facts = facts
        self.message = MESSAGES[code].format(**facts)
        super().__init__(self.message)
