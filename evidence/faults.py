"""What can go wrong, sorted by who can act on it."""

from __future__ import annotations

from evidence.messages import Message


class Fault(Exception):
    """Something went wrong; carries a stable code, a message, a hint, and where it happened.

    A class about the one file of its kind names it in `path`.
    """

    code: str = ""
    hint: str = ""
    path: str = ""

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        path: str = "",
        hint: str | None = None,
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        """Take the sentence for people (a `Message` when it can be translated) and the place."""
        super().__init__(message)
        self.message = message if isinstance(message, Message) else Message(str(message))
        self.code = code or type(self).code
        self.hint = type(self).hint if hint is None else hint
        self.path = path or type(self).path
        self.line = line
        self.column = column

    def as_json(self) -> dict[str, object]:
        """Give back `{code, message, path, hint}` as `--json` prints it (spec 70).

        The line, where there is one, stands in the message.
        """
        message = str(self.message)
        return {
            "code": self.code,
            "message": message if self.line is None else f"Line {self.line}: {message}",
            "path": self.path,
            "hint": self.hint,
        }


class CuratorFault(Fault):
    """The person editing can act: correct the input and try again."""


class OperatorFault(Fault):
    """Whoever installed the portal can act: settings, files, versions."""


class OutsideFault(Fault):
    """Nobody here can act: wait, it may pass."""
