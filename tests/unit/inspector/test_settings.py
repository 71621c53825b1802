"""Settings: what the environment says, and what is made of it."""

import stat
import subprocess
import sys
from types import SimpleNamespace

import pytest

from inspector import checks, settings

PREFIX = "ULLAGE_INSPECTOR_"


class TestReaders:
    def test_a_secret_may_come_from_a_file(self, monkeypatch, tmp_path):
        file = tmp_path / "secret"
        file.write_text("from the file\n")
        monkeypatch.setenv(f"{PREFIX}SECRET_KEY_FILE", str(file))
        assert settings.env_text("SECRET_KEY") == "from the file"

    def test_a_number_that_is_none_stops_the_start_in_words(self, monkeypatch):
        monkeypatch.setenv(f"{PREFIX}PORT", "eighty")
        with pytest.raises(SystemExit, match=r"PORT must be a whole number.*eighty"):
            settings.env_int("PORT", 8000)

    @pytest.mark.parametrize(
        ("text", "value"), [("", True), ("1", True), ("Yes", True), ("off", False)]
    )
    def test_yes_and_no(self, monkeypatch, text, value):
        monkeypatch.setenv(f"{PREFIX}DEBUG", text)
        assert settings.env_bool("DEBUG", default=True) is value

    def test_lists(self, monkeypatch):
        monkeypatch.setenv(f"{PREFIX}ALLOWED_HOSTS", "a.example, b.example,")
        assert settings.env_list("ALLOWED_HOSTS") == ["a.example", "b.example"]


class TestDatabase:
    def test_sqlite_has_one_writer_and_a_log(self):
        made = settings.database("sqlite:////data/x.sqlite3")
        assert made["NAME"] == "/data/x.sqlite3"
        assert made["OPTIONS"]["transaction_mode"] == "IMMEDIATE"
        assert "journal_mode=WAL" in made["OPTIONS"]["init_command"]

    def test_postgres_takes_everything_from_the_address(self):
        made = settings.database("postgres://me:p%40ss@db:5433/ullage?sslmode=require")
        kept = {
            name: made[name] for name in ("NAME", "USER", "PASSWORD", "HOST", "PORT")
        }
        assert kept == {
            "NAME": "ullage",
            "USER": "me",
            "PASSWORD": "p@ss",
            "HOST": "db",
            "PORT": "5433",
        }
        assert made["OPTIONS"] == {"sslmode": "require"}

    def test_another_database_is_refused_in_words(self):
        with pytest.raises(SystemExit, match="must begin with sqlite"):
            settings.database("mysql://x")


class TestSecretKey:
    def test_it_is_made_once_and_readable_by_its_owner_alone(
        self, monkeypatch, tmp_path
    ):
        monkeypatch.setattr(settings, "DATA_DIR", tmp_path / "data")
        first = settings.secret_key()
        assert settings.secret_key() == first
        assert len(first) > 50
        mode = (tmp_path / "data" / "secret_key").stat().st_mode
        assert stat.S_IMODE(mode) == 0o600

    def test_a_given_key_leaves_no_file(self, monkeypatch, tmp_path):
        monkeypatch.setattr(settings, "DATA_DIR", tmp_path / "data")
        monkeypatch.setenv(f"{PREFIX}SECRET_KEY", "given")
        assert settings.secret_key() == "given"
        assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    ("platform", "ending"),
    [
        ("linux", "/given/ullage-inspector"),
        ("darwin", "Library/Application Support/ullage-inspector"),
        ("win32", "local/ullage-inspector"),
    ],
)
def test_each_platform_has_its_folder(monkeypatch, platform, ending):
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setenv("XDG_DATA_HOME", "/given")
    monkeypatch.setenv("LOCALAPPDATA", "local")
    assert settings.user_data_dir().as_posix().endswith(ending)


class TestChecks:
    @pytest.mark.parametrize(
        ("changed", "found"),
        [
            ({}, []),
            ({"DATA_DIR": f"{__file__}/data"}, ["inspector.E001"]),
            ({"MAX_BODY_BYTES": 0}, ["inspector.E002"]),
            ({"MAX_INFLATED_BYTES": 1}, ["inspector.E002"]),
            ({"BROKER_URL": "redis://x"}, ["inspector.W002"]),
            (
                {"DATABASES": {"default": {"ENGINE": "x.postgresql"}}},
                ["inspector.W001"],
            ),
            (
                {
                    "DATABASES": {"default": {"ENGINE": "x.postgresql"}},
                    "BROKER_URL": "redis://x",
                },
                [],
            ),
        ],
    )
    def test_each_says_what_to_do(self, monkeypatch, tmp_path, changed, found):
        good = {
            "DATA_DIR": tmp_path / "to be made",
            "MAX_BODY_BYTES": 10,
            "MAX_INFLATED_BYTES": 10,
            "DATABASES": {"default": {"ENGINE": "x.sqlite3"}},
            "BROKER_URL": "memory://localhost/",
        }
        monkeypatch.setattr(checks, "settings", SimpleNamespace(**{**good, **changed}))
        told = [message for check in checks.CHECKS for message in check(None)]
        assert [message.id for message in told] == found
        assert all(message.hint for message in told)


def test_the_command_takes_the_data_folder_before_settings_are_read(tmp_path):
    made = subprocess.run(
        [
            sys.executable,
            "-m",
            "inspector.management.cli",
            "check",
            "--data-dir",
            tmp_path,
        ],
        capture_output=True,
        text=True,
        check=False,
        env={"DJANGO_SETTINGS_MODULE": "inspector.settings"},
    )
    assert made.returncode == 0, made.stderr
    assert (tmp_path / "secret_key").is_file()
