"""Every setting of the inspector, read once from ULLAGE_INSPECTOR_* and nowhere else.

Three typed readers, then top to bottom. `inspector.checks` says at start what is wrong
with a value and what to do about it.
"""

import os
import secrets
import sys
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import django

PREFIX = "ULLAGE_INSPECTOR_"


def env_text(name: str, default: str = "") -> str:
    """What the environment says of a setting, or what the file <setting>_FILE holds."""
    file = os.environ.get(f"{PREFIX}{name}_FILE")
    if file:
        return Path(file).read_text().strip()
    return os.environ.get(PREFIX + name, default)


def env_int(name: str, default: int) -> int:
    """A whole number; anything else stops the start with a word about it."""
    text = env_text(name)
    try:
        return int(text) if text else default
    except ValueError:
        sys.exit(f"{PREFIX}{name} must be a whole number; it is {text!r}.")


def env_bool(name: str, default: bool = False) -> bool:
    """1, true, yes and on are true; everything else is false."""
    text = env_text(name)
    return text.lower() in {"1", "true", "yes", "on"} if text else default


def env_list(name: str) -> list[str]:
    """Values separated by commas."""
    return [part.strip() for part in env_text(name).split(",") if part.strip()]


# --- where things are -----------------------------------------------------------------
PACKAGE_DIR = Path(__file__).resolve().parent
CHECKOUT_DIR = PACKAGE_DIR.parent
IS_CHECKOUT = (CHECKOUT_DIR / "manage.py").is_file()
# A checkout has templates and static at the top, the wheel inside the package.
ASSETS_DIR = CHECKOUT_DIR if IS_CHECKOUT else PACKAGE_DIR


def user_data_dir() -> Path:
    """Where this kind of machine keeps a person's application data."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "ullage-inspector"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "ullage-inspector"
    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "ullage-inspector"


DATA_DIR = Path(
    env_text("DATA_DIR") or (CHECKOUT_DIR / "var" if IS_CHECKOUT else user_data_dir())
).absolute()


def secret_key() -> str:
    """The given key, or one made once and kept in the data folder, private."""
    if given := env_text("SECRET_KEY"):
        return given
    file = DATA_DIR / "secret_key"
    DATA_DIR.mkdir(parents=True, exist_ok=True)
    try:
        with open(
            os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w"
        ) as new:
            new.write(secrets.token_urlsafe(50))
    except FileExistsError:
        pass
    return file.read_text().strip()


def database(url: str) -> dict[str, Any]:
    """Django's settings of `sqlite:///path` or
    `postgres://user:password@host:port/name?option=…`."""
    parts = urlsplit(url)
    if parts.scheme == "sqlite":
        return {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": unquote(parts.path[1:]) or ":memory:",
            "OPTIONS": {
                # One writer at a time, taken at BEGIN: a reader that turns writer
                # halfway is refused at once, whatever the timeout says.
                "transaction_mode": "IMMEDIATE",
                "timeout": 10,
                "init_command": (
                    "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
                    " PRAGMA temp_store=MEMORY; PRAGMA cache_size=-32000;"
                ),
            },
        }
    if parts.scheme in {"postgres", "postgresql"}:
        return {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": unquote(parts.path[1:]),
            "USER": unquote(parts.username or ""),
            "PASSWORD": unquote(parts.password or ""),
            "HOST": parts.hostname or "",
            "PORT": str(parts.port or ""),
            "CONN_MAX_AGE": 60,
            "CONN_HEALTH_CHECKS": True,
            "OPTIONS": dict(parse_qsl(parts.query)),
        }
    sys.exit(f"{PREFIX}DATABASE_URL must begin with sqlite:/// or postgres://.")


# --- the server -----------------------------------------------------------------------
HOST = env_text("HOST", "127.0.0.1")
PORT = env_int("PORT", 8000)
PUBLIC_URL = env_text("PUBLIC_URL", f"http://{HOST}:{PORT}").rstrip("/")
DEBUG = env_bool("DEBUG")
SECRET_KEY = secret_key()
ALLOWED_HOSTS = [
    *filter(None, {HOST.strip("[]"), urlsplit(PUBLIC_URL).hostname}),
    "localhost",
    "127.0.0.1",
    "[::1]",
    *env_list("ALLOWED_HOSTS"),
]
CSRF_TRUSTED_ORIGINS = [PUBLIC_URL] if PUBLIC_URL.startswith("https://") else []
ROOT_URLCONF = "inspector.urls"
WSGI_APPLICATION = "inspector.wsgi.application"

# --- what a client may send -----------------------------------------------------------
MAX_BODY_BYTES = env_int("MAX_BODY_BYTES", 16 * 1024 * 1024)
MAX_INFLATED_BYTES = env_int("MAX_INFLATED_BYTES", 64 * 1024 * 1024)

# --- store and worker -----------------------------------------------------------------
DATABASES = {
    "default": database(
        env_text("DATABASE_URL") or f"sqlite:///{DATA_DIR / 'inspector.sqlite3'}"
    )
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
BROKER_URL = env_text("BROKER_URL", "memory://localhost/")
# Off only in the test that kills the process between the 200 and the worker.
WORKER_ENABLED = env_bool("WORKER_ENABLED", default=True)

# --- Django ---------------------------------------------------------------------------
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django_htmx",
    "inspector",
]
MIDDLEWARE = [
    "inspector.web.security.SecurityHeadersMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "inspector.web.errors.InspectorErrorMiddleware",
]
PARTIALS: list[str] = []
if django.VERSION < (6,):  # partials are built in from there on
    INSTALLED_APPS.append("template_partials")
    PARTIALS.append("template_partials.templatetags.partials")
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [ASSETS_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "builtins": PARTIALS,
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]
AUTH_USER_MODEL = "inspector.User"
LOGIN_URL = "sign-in"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "sign-in"
LANGUAGE_CODE = "en-us"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = False

STATIC_URL = "static/"
STATICFILES_DIRS = [ASSETS_DIR / "static"] if (ASSETS_DIR / "static").is_dir() else []
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = DEBUG

# --- safety ---------------------------------------------------------------------------
IS_HTTPS = PUBLIC_URL.startswith("https://")
SESSION_COOKIE_NAME = "ullage_session"
CSRF_COOKIE_NAME = "ullage_csrf"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = IS_HTTPS
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if IS_HTTPS else None
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

# --- log ------------------------------------------------------------------------------
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "plain": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"}
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "plain"}},
    # The other end is told what it did wrong; the log is for what we did.
    "loggers": {"django.request": {"level": "ERROR"}},
    "root": {"handlers": ["console"], "level": env_text("LOG_LEVEL", "WARNING")},
}
