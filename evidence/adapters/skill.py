"""The instructions for a model: their file, their digest, and the schema they must quote."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from evidence.adapters.wire import WireAnswer, WireCandidate
from evidence.domain.text import MAX_ENTRIES

SKILL: Final = Path(__file__).resolve().parents[1] / "skills" / "evidence-authoring" / "SKILL.md"
_NOISE: Final = frozenset({"title", "default", "additionalProperties"})
_NAMED: Final = frozenset({"properties", "$defs"})
_NULL: Final = {"type": "null"}
_ITEM_BOUNDS: Final = {"minLength": "minItems", "maxLength": "maxItems"}


def skill_digest() -> str:
    """Give `sha256:<64 hex>` of the skill as it is delivered: its version."""
    return f"sha256:{hashlib.sha256(SKILL.read_bytes()).hexdigest()}"


def answer_schema() -> str:
    """Give the JSON schema of an answer as the skill quotes it: small, one definition a line.

    It is made from the models that read the answer, so that the two cannot differ.
    """
    schema = _compact(WireAnswer.model_json_schema())
    definitions = schema.pop("$defs") | {"answer": schema}
    lines = (f"{json.dumps(name)}: {json.dumps(each)}" for name, each in definitions.items())
    text = '{"$ref": "#/$defs/answer", "$defs": {\n' + ",\n".join(lines) + "\n}}"
    return text.replace(WireCandidate.__name__, "candidate")


def _compact(schema: Any) -> Any:
    """Drop what helps no reader: titles, defaults, the nulls of optional fields, our own bounds."""
    if isinstance(schema, list):
        return [_compact(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("anyOf", [])[1:] == [_NULL]:
        return _compact(schema["anyOf"][0])
    kept = {name: each for name, each in schema.items() if name not in _NOISE}
    if kept.get("type") == "array":
        kept = _with_item_bounds(kept)
    return {
        name: _by_name(each) if name in _NAMED else _compact(each) for name, each in kept.items()
    }


def _by_name(schemas: Mapping[str, Any]) -> dict[str, Any]:
    """Go into schemas by name: here `title` is a field and no noise."""
    return {name: _compact(each) for name, each in schemas.items()}


def _with_item_bounds(array: Mapping[str, Any]) -> dict[str, Any]:
    """Name the least number of entries as JSON Schema does; pydantic takes our lists for texts."""
    renamed = {_ITEM_BOUNDS.get(name, name): each for name, each in array.items()}
    return {name: each for name, each in renamed.items() if each != MAX_ENTRIES}
