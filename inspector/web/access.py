"""Every page and endpoint enters through here: a person or a key, and its project."""

import base64
import binascii
from collections.abc import Callable
from functools import wraps
from typing import Any, cast

from django.http import HttpRequest, HttpResponse

from inspector.domain.accounts.selectors import (
    ProjectAccess,
    key_open,
    project_list,
    project_open,
)
from inspector.errors import InspectorError


class MemberRequest(HttpRequest):
    """A request of a person who may see the project in the address."""

    project: ProjectAccess


def member_page(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Let only members in; the view gets `request.project` and not the slug."""

    @wraps(view)
    def guarded(
        request: HttpRequest, *args: Any, slug: str, **kwargs: Any
    ) -> HttpResponse:
        member_request = cast(MemberRequest, request)
        member_request.project = project_open(user_id=signed_in(request), slug=slug)
        return view(member_request, *args, **kwargs)

    return guarded


def signed_in(request: HttpRequest) -> int:
    """The id of the person at the other end.

    Raises:
        InspectorError: `sign_in_needed`.
    """
    if request.user.pk is None:
        raise InspectorError("sign_in_needed")
    return int(request.user.pk)


def reader_of(request: HttpRequest) -> ProjectAccess:
    """Who reads through the API: a key with read scope, or else a signed-in member.

    A key names its project; a member names one as `?project=<slug>`, or has only one.
    """
    secret = secret_in(request)
    if secret or request.user.pk is None:
        return key_open(secret=secret, scope="read")
    slug = request.GET.get("project")
    if slug:
        return project_open(user_id=signed_in(request), slug=slug)
    projects = project_list(user_id=signed_in(request))
    if len(projects) != 1:
        raise InspectorError("project_not_found")
    return projects[0]


def sender_of(request: HttpRequest) -> ProjectAccess:
    """The project that a key with ingest scope sends to."""
    return key_open(secret=secret_in(request), scope="ingest")


def secret_in(request: HttpRequest) -> str:
    """The key of a request: Bearer, x-api-key, or the password of Basic; "" if none."""
    if own := request.headers.get("x-api-key", ""):
        return own.strip()
    kind, _, value = request.headers.get("Authorization", "").partition(" ")
    if kind.lower() == "bearer":
        return value.strip()
    return _basic_password(value) if kind.lower() == "basic" else ""


def _basic_password(value: str) -> str:
    try:
        pair = base64.b64decode(value, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""
    return pair.partition(":")[2]
