"""The web process of the team profile: no worker inside."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "inspector.settings")

application = get_wsgi_application()
