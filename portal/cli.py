"""`tht`: one command line for people and programs, put together from the packages' commands."""

from __future__ import annotations

import os

import django
import typer

app = typer.Typer()


def main() -> None:
    """Run the command line."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    django.setup()
    app()


if __name__ == "__main__":
    main()
