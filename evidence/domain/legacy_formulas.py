"""The old store of formulas, one file or a pair of files a concept, read as it was written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from evidence.domain.codec import read_front_matter, read_yaml_mapping
from evidence.domain.normalization import InvalidUtf8, normalize_source
from evidence.domain.text import normalize_text
from evidence.domain.yaml_reader import FileUnreadable
from evidence.domain.yaml_writer import write_yaml
from evidence.faults import CuratorFault
from evidence.messages import Message, gettext_noop

REVIEWED = "reviewed"
STATUSES = frozenset({REVIEWED, "auto", "draft"})
SUFFIXES = (".yaml", ".yml", ".sql", ".md")
_FIELDS = frozenset({"concept", "columns", "sql", "status", "sources", "limitations"})
_WORDING = ("description", "notes")


class LegacyFormulaUnreadable(CuratorFault):
    """A file of the old store is not a formula that can be taken over; says why."""

    code = "legacy_formula_unreadable"


@dataclass(frozen=True, slots=True)
class LegacyFormula:
    """One formula of the old store; `name` is that of its file without the suffix.

    `wording` is what the file says in prose, and `rest` its other fields as YAML.
    """

    name: str
    concept: str
    columns: tuple[str, ...]
    sql: str
    status: str
    sources: tuple[str, ...]
    limitations: str = ""
    wording: str = ""
    rest: str = ""


@dataclass(frozen=True, slots=True)
class LegacyStore:
    """What an old store holds: its formulas by name, and a fault for each unusable one."""

    formulas: tuple[LegacyFormula, ...]
    refused: tuple[LegacyFormulaUnreadable, ...]


def read_store(files: Mapping[str, bytes]) -> LegacyStore:
    """Read the files of an old store, by name; other suffixes are passed over."""
    formulas: list[LegacyFormula] = []
    refused: list[LegacyFormulaUnreadable] = []
    for name, parts in sorted(_by_name(files).items()):
        try:
            formulas.append(_formula(name, parts))
        except LegacyFormulaUnreadable as fault:
            refused.append(fault)
    return LegacyStore(tuple(formulas), tuple(refused))


def _by_name(files: Mapping[str, bytes]) -> dict[str, dict[str, bytes]]:
    named: dict[str, dict[str, bytes]] = {}
    for file, data in files.items():
        name, dot, suffix = file.rpartition(".")
        if name and dot + suffix in SUFFIXES:
            named.setdefault(name, {})[dot + suffix] = data
    return named


def _formula(name: str, parts: Mapping[str, bytes]) -> LegacyFormula:
    described = [suffix for suffix in parts if suffix != ".sql"]
    if len(described) > 1:
        raise _refused(name, gettext_noop("Several files describe this formula."))
    try:
        sql = normalize_source(parts[".sql"]) if ".sql" in parts else ""
        fields, body = _described(parts, described[0]) if described else ({}, "")
    except (InvalidUtf8, FileUnreadable) as fault:
        raise LegacyFormulaUnreadable(
            fault.message, path=name + (described or [".sql"])[0], line=fault.line
        ) from fault
    return _read(name, fields, body=body, sql=sql)


def _described(parts: Mapping[str, bytes], suffix: str) -> tuple[dict[str, Any], str]:
    text = normalize_source(parts[suffix])
    return read_front_matter(text) if suffix == ".md" else (read_yaml_mapping(text), "")


def _read(name: str, fields: Mapping[str, Any], *, body: str, sql: str) -> LegacyFormula:
    status = _text(name, fields, "status") or "draft"
    if status not in STATUSES:
        message = gettext_noop("“%(status)s” is no status: reviewed, auto or draft.")
        raise _refused(name, message, status=status[:40])
    rest = {key: value for key, value in fields.items() if key not in {*_FIELDS, *_WORDING}}
    prose = (*(_text(name, fields, field) for field in _WORDING), body)
    return LegacyFormula(
        name=name,
        concept=_text(name, fields, "concept") or name,
        columns=tuple(_list(name, fields, "columns")),
        sql=_one_sql(name, _bare(_text(name, fields, "sql")), _bare(sql)),
        status=status,
        sources=tuple(_list(name, fields, "sources")),
        limitations=_text(name, fields, "limitations"),
        wording="\n\n".join(filter(None, (words.strip() for words in prose))),
        rest=write_yaml(rest) if rest else "",
    )


def _one_sql(name: str, written: str, beside: str) -> str:
    if written and beside and written != beside:
        raise _refused(name, gettext_noop("The two files of this formula hold different SQL."))
    if not (written or beside):
        raise _refused(name, gettext_noop("There is no SQL."))
    return written or beside


def _bare(sql: str) -> str:
    return sql.strip().removesuffix(";").rstrip()


def _text(name: str, fields: Mapping[str, Any], field: str) -> str:
    value = fields.get(field, "")
    if not isinstance(value, str):
        raise _refused(name, gettext_noop("%(field)s must be text."), field=field)
    return normalize_text(value).strip()


def _list(name: str, fields: Mapping[str, Any], field: str) -> Iterator[str]:
    value = fields.get(field) or []
    for entry in [value] if isinstance(value, str) else value:
        if not isinstance(entry, str) or not isinstance(value, (str, list)):
            raise _refused(name, gettext_noop("%(field)s must be a list of names."), field=field)
        yield normalize_text(entry).strip()


def _refused(name: str, template: str, **values: object) -> LegacyFormulaUnreadable:
    return LegacyFormulaUnreadable(Message(template, **values), path=name)
