"""Every answer that is not a 200, in OpenAI's own words and shape.

Texts and fields are as seen in public reports of the Chat Completions API. `kind` is
our name for the rule that was broken; it never travels.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

OVERFLOW = "context_length_exceeded"


@dataclass(frozen=True, slots=True)
class Refusal:
    """One broken rule and the error body that tells of it."""

    kind: str
    message: str
    param: str | None = None
    code: str | None = None
    status: int = 400
    type: str = "invalid_request_error"

    def body(self) -> dict[str, Any]:
        return {
            "error": {
                "message": self.message,
                "type": self.type,
                "param": self.param,
                "code": self.code,
            }
        }


class RefusedError(Exception):
    """A request that gets an error; the first refusal is what the client sees."""

    def __init__(self, *refusals: Refusal):
        super().__init__(refusals[0].message)
        self.refusals = refusals


@dataclass(frozen=True, slots=True)
class Bill:
    """The tokens of one request, as the overflow answer splits them up."""

    messages_tokens: int
    functions_tokens: int
    completion_tokens: int | None

    @property
    def total_tokens(self) -> int:
        prompt_tokens = self.messages_tokens + self.functions_tokens
        return prompt_tokens + (self.completion_tokens or 0)


def window_exceeded(bill: Bill, context_tokens: int) -> Refusal:
    """Prompt, or prompt and wanted answer, are more than the model holds."""
    split = [f"{bill.messages_tokens} in the messages"]
    nouns = ["messages"]
    if bill.functions_tokens:
        split.append(f"{bill.functions_tokens} in the functions")
        nouns.append("functions")
    if bill.completion_tokens is not None:
        split.append(f"{bill.completion_tokens} in the completion")
        nouns.append("completion")
    verb = (
        "your messages resulted in"
        if bill.completion_tokens is None
        else "you requested"
    )
    told = f" ({', '.join(split)})" if len(split) > 1 else ""
    return _overflow(
        f"This model's maximum context length is {context_tokens} tokens. However, "
        f"{verb} {bill.total_tokens} tokens{told}. "
        f"Please reduce the length of the {_or(nouns)}."
    )


def input_cap_exceeded(prompt_tokens: int, input_cap_tokens: int) -> Refusal:
    """The prompt fits into the window, but the model takes less input than that."""
    return _overflow(
        f"Input tokens exceed the configured limit of {input_cap_tokens} tokens. Your "
        f"messages resulted in {prompt_tokens} tokens. Please reduce the length of the "
        "messages."
    )


def output_cap_exceeded(param: str, wanted_tokens: int, cap_tokens: int) -> Refusal:
    """More output wanted than the model can ever write: not an overflow."""
    message = (
        f"{param} is too large: {wanted_tokens}. This model supports at most "
        f"{cap_tokens} completion tokens, whereas you provided {wanted_tokens}."
    )
    return Refusal("output_cap_exceeded", message, param, "invalid_value")


def unparsable_body(reason: str) -> Refusal:
    message = (
        "We could not parse the JSON body of your request. (HINT: This likely means "
        f"you aren't using your HTTP library correctly. {reason})"
    )
    return Refusal("invalid_json", message)


def missing_parameter(name: str) -> Refusal:
    message = f"Missing required parameter: '{name}'."
    return Refusal("missing_parameter", message, name, "missing_required_parameter")


def unknown_model(name: object) -> Refusal:
    message = f"The model `{name}` does not exist or you do not have access to it."
    return Refusal("unknown_model", message, code="model_not_found", status=404)


def unknown_url(method: str, path: str) -> Refusal:
    return Refusal("unknown_url", f"Invalid URL ({method} {path})", status=404)


def script_failed(error: Exception) -> Refusal:
    """The scripted model itself broke: the test is at fault, not the request."""
    message = f"The stand-in's script failed: {type(error).__name__}: {error}"
    return Refusal("script_failed", message, status=500, type="server_error")


def invalid_type(kind: str, path: str, wanted: str, got: object) -> Refusal:
    message = (
        f"Invalid type for '{path}': expected {wanted}, but got {_noun(got)} instead."
    )
    return Refusal(kind, message, path, "invalid_type")


def empty(kind: str, path: str, noun: str) -> Refusal:
    """An `array` or a `string` that must not be empty."""
    article = "an" if noun == "array" else "a"
    message = (
        f"Invalid '{path}': empty {noun}. Expected {article} {noun} with minimum "
        f"length 1, but got an empty {noun} instead."
    )
    return Refusal(kind, message, path, f"empty_{noun}")


def unsupported_value(
    kind: str, path: str, got: object, supported: Iterable[str]
) -> Refusal:
    *most, last = (f"'{value}'" for value in supported)
    message = (
        f"Invalid value: '{got}'. Supported values are: {', '.join(most)}, and {last}."
    )
    return Refusal(kind, message, path, "invalid_value")


def _overflow(message: str) -> Refusal:
    return Refusal(OVERFLOW, message, "messages", OVERFLOW)


def _or(nouns: list[str]) -> str:
    if len(nouns) < 3:
        return " or ".join(nouns)
    return f"{', '.join(nouns[:-1])}, or {nouns[-1]}"


def _noun(value: object) -> str:
    names = {
        type(None): "null",
        bool: "a boolean",
        int: "an integer",
        float: "a decimal number",
        str: "a string",
        list: "an array",
    }
    return names.get(type(value), "an object")
