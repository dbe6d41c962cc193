"""Italian dates in figures: Django's own have the weekday, in capitals, and fit no column."""

from __future__ import annotations

from typing import Final

DATE_FORMAT: Final = "d/m/Y"
DATETIME_FORMAT: Final = "d/m/Y H:i"
