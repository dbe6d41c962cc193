"""A database URL becomes Django's settings, or a fault that names the variable."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidence.environment import SettingInvalid
from portal import databases

HOME = Path("/srv/portal")


def test_without_a_url_it_is_sqlite_in_the_home_as_it_never_locks():
    found = databases.database("", HOME)
    assert found["ENGINE"] == "django.db.backends.sqlite3"
    assert found["NAME"] == "/srv/portal/portal.sqlite3"
    assert found["OPTIONS"]["transaction_mode"] == "IMMEDIATE"
    assert found["OPTIONS"]["timeout"] == 20
    assert "journal_mode=WAL" in found["OPTIONS"]["init_command"]


def test_a_url_gives_every_part_of_the_address_unquoted():
    found = databases.database("postgresql://ada:p%40ss%2F@db.example:5433/portal%20x", HOME)
    assert found["ENGINE"] == "django.db.backends.postgresql"
    names = ("NAME", "USER", "PASSWORD", "HOST", "PORT")
    parts = tuple(found[name] for name in names)
    assert parts == ("portal x", "ada", "p@ss/", "db.example", "5433")
    assert found["CONN_HEALTH_CHECKS"]


def test_a_socket_folder_may_stand_in_the_query():
    found = databases.database("postgresql://postgres@/portal?host=/run/postgresql", HOME)
    assert (found["HOST"], found["PORT"], found["USER"]) == ("/run/postgresql", "", "postgres")


@pytest.mark.parametrize(
    "url",
    [
        "mysql://ada@localhost/portal",
        "postgresql://ada@localhost",
        "postgresql://ada@localhost/",
        "portal.sqlite3",
        "postgresql://ada@localhost:port/portal",
        "postgresql://ada@localhost:99999/portal",
        "postgresql://ada@localhost:0/portal",
        "postgresql://[::1/portal",
    ],
)
def test_any_other_url_is_refused_by_the_name_of_the_variable_and_not_repeated(url):
    with pytest.raises(SettingInvalid) as refused:
        databases.database(url, HOME)
    assert str(refused.value.message).startswith("PORTAL_DATABASE_URL takes ")
    assert "ada" not in str(refused.value.message)
