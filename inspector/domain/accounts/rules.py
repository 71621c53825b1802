"""Secrets and what they may do; pure."""

import hashlib
import secrets

INGEST, READ, ADMIN = "ingest", "read", "admin"
SCOPES = (INGEST, READ, ADMIN)
KEY_PREFIX = "ulg_"
SHOWN_CHARACTERS = 10
ROLES = ("viewer", "member", "owner")  # rising


def key_make() -> str:
    """A new key: 256 bits of chance, so that a plain hash of it is safe to keep."""
    return KEY_PREFIX + secrets.token_urlsafe(32)


def secret_hash(secret: str) -> str:
    """What is kept of a key or a link: SHA-256 in hexadecimal."""
    return hashlib.sha256(secret.encode()).hexdigest()


def role_reaches(role: str, needed: str) -> bool:
    """Whether a role allows what another one allows."""
    return ROLES.index(role) >= ROLES.index(needed)
