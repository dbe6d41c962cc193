"""The languages BM25 can analyse: a workspace's tag and Qdrant's name for it (spec 50, Upsert)."""

from __future__ import annotations

from types import MappingProxyType

from evidence.faults import OperatorFault
from evidence.messages import Message, gettext_noop

BM25_LANGUAGES = MappingProxyType(
    {
        "ar": "arabic",
        "az": "azerbaijani",
        "bn": "bengali",
        "ca": "catalan",
        "da": "danish",
        "de": "german",
        "el": "greek",
        "en": "english",
        "es": "spanish",
        "eu": "basque",
        "fi": "finnish",
        "fr": "french",
        "he": "hebrew",
        "hu": "hungarian",
        "id": "indonesian",
        "it": "italian",
        "ja": "japanese",
        "kk": "kazakh",
        "nb": "norwegian",
        "ne": "nepali",
        "nl": "dutch",
        "nn": "norwegian",
        "no": "norwegian",
        "pt": "portuguese",
        "ro": "romanian",
        "ru": "russian",
        "sl": "slovene",
        "sv": "swedish",
        "tg": "tajik",
        "tr": "turkish",
        "zh": "chinese",
    }
)


class LanguageUnsupported(OperatorFault):
    """BM25 has no analysis for the workspace's language."""

    code = "language_unsupported"


def bm25_language(tag: str) -> str:
    """Give Qdrant's name for a primary language tag. Raises `LanguageUnsupported`."""
    name = BM25_LANGUAGES.get(tag.lower())
    if name is None:
        raise LanguageUnsupported(
            Message(
                gettext_noop("BM25 cannot analyse the language %(language)s."), language=tag[:20]
            )
        )
    return name
