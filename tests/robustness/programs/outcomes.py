"""Count how calls end: done, refused by a lock of the database, or otherwise."""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Callable

from django.db import OperationalError

from evidence.faults import Fault


def counted(act: Callable[[int], None], *, times: int) -> dict[str, int]:
    """Call with the numbers from 0 on; what is no fault of the portal keeps its last line."""
    ends: Counter[str] = Counter()
    for number in range(times):
        try:
            act(number)
        except OperationalError as error:
            ends["locked" if "locked" in str(error) else str(error)[:200]] += 1
        except Fault as fault:
            ends[fault.code] += 1
        except AssertionError as error:
            ends[f"wrong: {error}"] += 1
        except Exception:  # noqa: BLE001 - it is told by name
            ends[traceback.format_exc(limit=-1)[-200:]] += 1
        else:
            ends["done"] += 1
    return dict(ends)
