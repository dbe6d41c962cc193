"""A memory as plain JSON, and back; sentences keep their templates, so they can be translated."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from evidence.domain.dismissals import Side
from evidence.domain.findings import ValidationFinding, severity_of
from evidence.domain.likeness import Likeness
from evidence.domain.memory import NOTHING_KNOWN, KnownSource, KnownUnit, Memory
from evidence.domain.subjects import Subject
from evidence.messages import Message


def write_memory(memory: Memory, *, rules: str) -> dict[str, object]:
    """Give a memory as JSON can hold it; `rules` names the code that made it."""
    return {
        "rules": rules,
        "context": memory.context,
        "units": {path: _write_unit(known) for path, known in memory.units.items()},
        "sources": {path: _write_source(known) for path, known in memory.sources.items()},
    }


def read_memory(data: Any, *, rules: str) -> Memory:
    """Give a memory back, an empty one when other rules made it.

    Raises `ValueError`, `TypeError`, `KeyError` or `AttributeError` for what is none.
    """
    if data["rules"] != rules:
        return NOTHING_KNOWN
    return Memory(
        context=str(data["context"]),
        units={path: _read_unit(path, known) for path, known in data["units"].items()},
        sources={path: _read_source(known) for path, known in data["sources"].items()},
    )


def _write_source(known: KnownSource) -> list[object]:
    return [known.digest, known.accepted, known.sha256, _write_findings(known.findings)]


def _read_source(data: Any) -> KnownSource:
    digest, accepted, sha256, findings = data
    return KnownSource(digest, bool(accepted), sha256, _read_findings(findings))


def _write_unit(known: KnownUnit) -> list[object]:
    subject, likeness = known.subject, known.likeness
    return [
        known.digest,
        known.evidence_id,
        known.cited,
        known.review_items,
        _write_findings(known.findings),
        [subject.code, subject.key] if subject else None,
        [likeness.side.sha256, likeness.words, likeness.sketch] if likeness else None,
        known.supported_by,
        known.said,
    ]


def _read_unit(path: str, data: Any) -> KnownUnit:
    digest, evidence_id, cited, items, findings, subject, likeness, supported_by, said = data
    alike = None
    if likeness:
        sha256, words, sketch = likeness
        alike = Likeness(path, Side(evidence_id, sha256), words, tuple(sketch))
    return KnownUnit(
        digest=digest,
        evidence_id=evidence_id,
        cited=cited,
        review_items=int(items),
        findings=_read_findings(findings),
        subject=Subject(*subject) if subject else None,
        likeness=alike,
        supported_by=supported_by,
        said=said,
    )


def _write_findings(findings: Iterable[ValidationFinding]) -> list[object]:
    return [[each.code, each.path, _write_value(each.message)] for each in findings]


def _read_findings(data: Iterable[Any]) -> tuple[ValidationFinding, ...]:
    return tuple(
        ValidationFinding(severity_of(code), code, path, _read_message(message))
        for code, path, message in data
    )


def _write_value(value: object) -> object:
    if isinstance(value, Message):
        values = {name: _write_value(each) for name, each in value.values.items()}
        return {"template": value.template, "values": values}
    return value if isinstance(value, int) else str(value)


def _read_message(data: Any) -> Message:
    return Message(
        data["template"],
        **{
            name: _read_message(each) if isinstance(each, dict) else each
            for name, each in data["values"].items()
        },
    )
