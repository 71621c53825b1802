"""Celery as one more door: the name of the service, one line."""

from celery import shared_task

from inspector.domain.ingest import services


@shared_task(name="inspector.ingest_sweep", ignore_result=True)
def ingest_sweep() -> None:
    services.ingest_sweep()
