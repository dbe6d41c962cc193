"""Ends as a program does that writes through a mapped file while the disk is full."""

from __future__ import annotations

import os
import signal

os.kill(os.getpid(), signal.SIGBUS)
