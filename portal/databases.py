"""A database URL as Django's settings, with what each engine needs to be safe here."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from evidence.environment import SettingInvalid
from evidence.messages import Message, gettext_noop


def sqlite(path: Path) -> dict[str, Any]:
    """Give SQLite with the only combination that never said "database is locked" (spec 90)."""
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": str(path),
        "OPTIONS": {
            "timeout": 20,
            "transaction_mode": "IMMEDIATE",
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
        },
    }


def postgresql(url: str) -> dict[str, Any]:
    """Give PostgreSQL from `postgresql://user:password@host:port/name?host=<socket folder>`."""
    if not _names_a_database(url):
        raise SettingInvalid(
            Message(
                gettext_noop("PORTAL_DATABASE_URL takes postgresql://user:password@host:port/name.")
            )
        )
    parts = urlsplit(url)
    socket = parse_qs(parts.query).get("host", [""])[0]
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.strip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": socket or parts.hostname or "",
        "PORT": str(parts.port or ""),
        "CONN_MAX_AGE": 60,
        "CONN_HEALTH_CHECKS": True,
    }


def _names_a_database(url: str) -> bool:
    try:
        parts = urlsplit(url)
        is_usable = parts.scheme in {"postgresql", "postgres"} and parts.port != 0
    except ValueError:  # a port that is no number, or half an IPv6 address
        return False
    return is_usable and bool(parts.path.strip("/"))


def database(url: str, home: Path) -> dict[str, Any]:
    """Give the database a URL names, or SQLite in the portal's home when it is empty."""
    return postgresql(url) if url else sqlite(home / "portal.sqlite3")
