"""What can go wrong with Pi, each with the code of spec 20; none repeats what Pi said."""

from __future__ import annotations

from evidence.faults import OperatorFault
from evidence.messages import gettext_noop
from evidence.ports import RestructuringFailed


class PiNotFound(OperatorFault):
    """The Pi command line cannot be started from here."""

    code = "pi_not_found"
    hint = gettext_noop(
        "Install Pi and name it in PORTAL_PI_EXECUTABLE; it needs Node in the PATH."
    )


class PiTooOld(OperatorFault):
    """Pi is older than what was tried with the portal."""

    code = "pi_too_old"
    hint = gettext_noop(
        "An older Node makes the package manager pick an older Pi: Pi 1.6 needs Node 22.19."
    )


class PiTimeout(RestructuringFailed):
    """Pi took longer than PORTAL_PI_TIMEOUT_S and was stopped."""

    code = "pi_timeout"


class PiFailed(RestructuringFailed):
    """Pi ended without an answer."""

    code = "pi_failed"


class PiOutputTooLarge(RestructuringFailed):
    """Pi wrote more than it may and was stopped."""

    code = "pi_output_too_large"


class PiOutputInvalid(RestructuringFailed):
    """What Pi answered is not the one JSON object that was asked for."""

    code = "pi_output_invalid"
