"""The inspector's own settings, on the database and broker that the tester names.

pytest-django reads settings before any conftest, so the environment is made here.
"""

import atexit
import os
import shutil
import tempfile

from tests.support.environment import clean_environment

clean_environment()
_data_dir = tempfile.mkdtemp(prefix="ullage-tests-")
atexit.register(shutil.rmtree, _data_dir, ignore_errors=True)
_given = {
    "ULLAGE_INSPECTOR_DATA_DIR": _data_dir,
    "ULLAGE_INSPECTOR_DATABASE_URL": os.environ.get("ULLAGE_TEST_DATABASE_URL"),
    "ULLAGE_INSPECTOR_BROKER_URL": os.environ.get("ULLAGE_TEST_BROKER_URL"),
}
os.environ.update({name: value for name, value in _given.items() if value})

from inspector.settings import *  # noqa: E402, F403 — the environment stands first
