"""Addresses of the pages; a page's URL name is `<noun>-<page>`."""

from django.urls import path

from inspector.web.pages import runs

urlpatterns = [
    path("p/<slug:slug>/runs", runs.runs_page, name="run-list"),
    path("p/<slug:slug>/runs/news", runs.runs_news, name="run-news"),
    path("p/<slug:slug>/runs/<str:run_id>", runs.run_page, name="run-detail"),
]
