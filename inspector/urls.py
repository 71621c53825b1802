"""Every address: the receiver, the API, health, signing in, and the pages."""

from django.contrib.auth.views import LoginView, LogoutView
from django.urls import include, path

from inspector.web.api import api
from inspector.web.health import healthz, readyz
from inspector.web.otlp import traces_receive
from inspector.web.start import home, start

urlpatterns = [
    path("v1/traces", traces_receive, name="traces-receive"),
    path("api/v1/", api.urls),
    path("healthz", healthz, name="healthz"),
    path("readyz", readyz, name="readyz"),
    path("start/<str:token>", start, name="start"),
    path(
        "sign-in", LoginView.as_view(redirect_authenticated_user=True), name="sign-in"
    ),
    path("sign-out", LogoutView.as_view(), name="sign-out"),
    path("", home, name="home"),
    path("", include("inspector.web.pages.urls")),
]
