"""The field's words as people read them: kinds, purposes, faults with their code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from evidence.faults import Fault
from evidence.rates import Reader
from evidence.translation import sentence

KINDS: Mapping[str, str | Promise] = {
    "glossary": _("Glossary term"),
    "domain": _("Domain note"),
    "enum": _("List of values"),
    "example": _("Worked example"),
    "mapping": _("Where it is stored"),
    "normalization": _("Replacement rules"),
    "formula": _("Formula"),
    "reference": _("Reference link"),
}
PURPOSES: Mapping[str, str | Promise] = {
    "disambiguation": _("understanding the question"),
    "rewriting": _("rewording the question"),
    "schema_linking": _("finding tables and columns"),
    "sql_generation": _("writing the query"),
}


def kind_label(kind: str) -> str:
    """Give a kind in words; an unknown one as it stands."""
    return str(KINDS.get(kind, kind))


def purpose_label(purpose: str) -> str:
    """Give a purpose in words; an unknown one as it stands."""
    return str(PURPOSES.get(purpose, purpose))


def reader_words(reader: Reader) -> str:
    """Name who reads notes: the restructurer, its model and the version of its skill."""
    version = reader.skill_digest.removeprefix("sha256:")[:8]
    return " · ".join(word for word in (reader.restructurer, reader.model, version) if word)


def with_code(text: str, code: str) -> SafeString:
    """Give a sentence with its stable code in small print."""
    return format_html('{} <small class="ep-code">{}</small>', text, code)


def fault_line(fault: Fault) -> SafeString:
    """Give a fault as one line: what happened, what to do, and the code in small print."""
    hint = sentence(fault.hint) if fault.hint else ""
    return with_code(f"{sentence(fault.message)} {hint}".strip(), fault.code)


def short(commit: str) -> str:
    """Give the first digits of a commit, as people quote it."""
    return commit[:10]


def badge(text: str | Promise, tone: str = "") -> SafeString:
    """Give a word on a coloured ground; `tone` is ok, info, warn, bad or nothing."""
    return format_html('<span class="ep-badge {}">{}</span>', f"ep-{tone}" if tone else "", text)


class Item(Protocol):
    """An open review item, in a file or in the mirror."""

    @property
    def code(self) -> str: ...

    @property
    def message(self) -> str: ...

    @property
    def field(self) -> str | None: ...


@dataclass(frozen=True, slots=True)
class Doubt:
    """An open review item in the reader's language."""

    code: str
    text: str
    field: str


def doubts(items: Iterable[Item]) -> tuple[Doubt, ...]:
    """Give review items in the reader's language, where the sentence is one of ours."""
    return tuple(Doubt(item.code, gettext(item.message), item.field or "") for item in items)
