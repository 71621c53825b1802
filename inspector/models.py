"""Hands the tables of `inspector.store` to Django; nothing else lives here."""

from inspector.store.accounts import Key, Member, Project, StartToken, User
from inspector.store.content import Message, View
from inspector.store.inbox import DeadLetter, Inbox
from inspector.store.runs import Call, PlanAction, Run
from inspector.store.spans import Span, TraceState

__all__ = [
    "Call",
    "DeadLetter",
    "Inbox",
    "Key",
    "Member",
    "Message",
    "PlanAction",
    "Project",
    "Run",
    "Span",
    "StartToken",
    "TraceState",
    "User",
    "View",
]
