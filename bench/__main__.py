"""`python -m bench`: run every benchmark over a home and a database of its own."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import django
from django.core.management import call_command


def main() -> int:
    """Give 0 when every ratio is within its bound."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        home = Path(folder)
        os.environ["PORTAL_HOME"] = str(home)
        os.environ["DJANGO_SETTINGS_MODULE"] = "portal.settings"
        django.setup()
        call_command("migrate", verbosity=0)
        from bench import sync  # noqa: PLC0415 (models can be imported only now)

        return 0 if sync.run() <= sync.ALLOWED else 1


if __name__ == "__main__":
    sys.exit(main())
