"""Django's own checks pass inside the test process too, not only by `make check`."""

from __future__ import annotations

import pytest
from django.core.management import call_command


@pytest.mark.django_db
def test_the_system_check_finds_nothing_even_to_warn_of() -> None:
    call_command("check", fail_level="WARNING")
