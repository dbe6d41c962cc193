"""English dates that nobody misreads: 12/01 is a day in January to half of the readers."""

from __future__ import annotations

from typing import Final

DATE_FORMAT: Final = "j M Y"
SHORT_DATE_FORMAT: Final = "j M Y"
DATETIME_FORMAT: Final = "j M Y, H:i"
SHORT_DATETIME_FORMAT: Final = "j M Y, H:i"
