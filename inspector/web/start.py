"""The first steps of a browser: the one-time link, and the way to the runs."""

from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from inspector.domain.accounts.selectors import project_list
from inspector.domain.accounts.services import start_token_use
from inspector.errors import InspectorError
from inspector.web.access import signed_in


@never_cache
@require_safe
def start(request: HttpRequest, token: str) -> HttpResponse:
    """Sign the browser in, once; one that is signed in goes on in any case."""
    if not request.user.is_authenticated:
        login(request, start_token_use(token=token))
    return home(request)


@never_cache
def home(request: HttpRequest) -> HttpResponse:
    """The runs of the first project of whoever is signed in."""
    projects = project_list(user_id=signed_in(request))
    if not projects:
        raise InspectorError("project_not_found")
    return redirect("run-list", slug=projects[0].slug)
