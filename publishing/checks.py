"""What `manage.py check` says about the settings of publishing."""

from __future__ import annotations

from collections.abc import Sequence

from django.apps import AppConfig
from django.core.checks import CheckMessage, Error
from pydantic import ValidationError

from publishing import conf


def check_settings(app_configs: Sequence[AppConfig] | None, **kwargs: object) -> list[CheckMessage]:
    """Give an error for each value of `settings.PUBLISHING` that cannot be used."""
    try:
        conf.current()
    except ValidationError as error:
        return [
            Error(
                f"settings.PUBLISHING: {'.'.join(map(str, one['loc']))}: {one['msg']}",
                id="publishing.E001",
            )
            for one in error.errors(include_input=False)
        ]
    return []
