"""Takes no byte, gives no sign of life, and does not heed a polite end."""

from __future__ import annotations

import signal
import time

signal.signal(signal.SIGTERM, signal.SIG_IGN)
time.sleep(600)
