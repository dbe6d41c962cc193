"""What any text may hold that it should not, as findings that never repeat it."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from evidence.domain.credentials import find_credentials
from evidence.domain.findings import ValidationFinding, finding
from evidence.domain.suspicions import has_hidden_text, has_personal_data, hidden_in
from evidence.messages import gettext_noop

MAX_PLACES = 50
MAX_NAMES = 5


def suspicions_of(path: str, text: str) -> Iterator[ValidationFinding]:
    """Give what is wrong or doubtful about the text of a unit or a source."""
    yield from credentials_of(path, text)
    if has_hidden_text(text):
        line, names = hidden_in(text)
        template = gettext_noop("From line %(line)s on, this text hides something: %(what)s.")
        what = ", ".join(names[:MAX_NAMES])
        yield finding("hidden_text", path, template, line=line, what=what)
    if has_personal_data(text):
        template = gettext_noop("Something here looks like personal data.")
        yield finding("personal_data_suspected", path, template)


def newly_suspected(
    path: str, rendered: str, known: Collection[ValidationFinding]
) -> tuple[ValidationFinding, ...]:
    """Give what only the rendering of a source shows: an escape may hide it in the file."""
    codes = {found.code for found in known}
    return tuple(found for found in suspicions_of(path, rendered) if found.code not in codes)


def credentials_of(path: str, text: str) -> Iterator[ValidationFinding]:
    """Name the lines that seem to hold something secret (spec 20, `credential_detected`)."""
    lines = dict.fromkeys(text.count("\n", 0, at) + 1 for at in find_credentials(text)[:MAX_PLACES])
    for line in lines:
        template = gettext_noop("Line %(line)s seems to hold a password or a key.")
        yield finding("credential_detected", path, template, line=line)
