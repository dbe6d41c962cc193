"""Qdrant's OpenAPI document as a judge of requests and answers."""

from __future__ import annotations

import gzip
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs

FOLDER = Path(__file__).resolve().parents[2] / "vendor"
DOCUMENT = next(FOLDER.glob("qdrant-openapi-*.json.gz"))
VERSION = DOCUMENT.name.removeprefix("qdrant-openapi-").removesuffix(".json.gz")
BM25 = "qdrant/bm25"


@cache
def document() -> Any:
    return json.loads(gzip.decompress(DOCUMENT.read_bytes()))


def operation_of(method: str, path: str) -> tuple[str, dict[str, Any]] | None:
    """Find the template and operation of a path; a literal template goes before a variable one."""
    for template in sorted(document()["paths"], key=lambda one: one.count("{")):
        pattern = re.sub(r"\\{\w+\\}", "[^/]+", re.escape(template))
        found = document()["paths"][template].get(method.lower())
        if found and re.fullmatch(pattern, path):
            return template, found
    return None


def problems_of_request(
    operation: dict[str, Any], params: dict[str, str], body: object
) -> list[str]:
    """Tell what the document does not allow; keys that it does not name are not allowed either."""
    known = {one["name"]: one["schema"] for one in operation.get("parameters", [])}
    found = [f"unknown parameter {name}" for name in params if name not in known]
    for name, value in params.items():
        wanted = known.get(name, {}).get("type")
        if wanted == "boolean" and value not in {"true", "false"}:
            found.append(f"parameter {name} is no boolean")
        if wanted == "integer" and not value.isdecimal():
            found.append(f"parameter {name} is no integer")
    if "requestBody" in operation:
        schema = operation["requestBody"]["content"]["application/json"]["schema"]
        found += _problems(schema, body, strict=True)
        found += [problem for options in _bm25_options(body) for problem in options]
    elif body is not None:
        found.append("a body that nobody wants")
    return found


def problems_of_answer(operation: dict[str, Any], body: object) -> list[str]:
    schema = operation["responses"]["200"]["content"]["application/json"]["schema"]
    return _problems(schema, body, strict=False)


def _problems(schema: Any, body: object, *, strict: bool) -> list[str]:
    errors = _validator(json.dumps(schema), strict).iter_errors(body)
    return [f"{'/'.join(map(str, error.instance_path))}: {error.message[:200]}" for error in errors]


def _bm25_options(body: object) -> list[list[str]]:
    """Hold the options of every BM25 text to their own schema: the document takes any object."""
    if isinstance(body, list):
        return [found for part in body for found in _bm25_options(part)]
    if not isinstance(body, dict):
        return []
    if body.get("model") == BM25:
        schema = {"$ref": "#/components/schemas/Bm25Config"}
        return [_problems(schema, body.get("options", {}), strict=True)]
    return [found for part in body.values() for found in _bm25_options(part)]


@cache
def _validator(schema: str, strict: bool) -> Any:
    components = {"schemas": _converted(document()["components"]["schemas"], strict=strict)}
    return jsonschema_rs.Draft202012Validator(
        {**_converted(json.loads(schema), strict=strict), "components": components},
        validate_formats=False,
    )


def _converted(node: Any, *, strict: bool) -> Any:
    """Turn OpenAPI 3.0 into JSON Schema: `nullable`, and no keys but named ones when strict."""
    if isinstance(node, list):
        return [_converted(part, strict=strict) for part in node]
    if not isinstance(node, dict):
        return node
    out = {key: _converted(value, strict=strict) for key, value in node.items()}
    if out.pop("nullable", False) is True:
        out = {"anyOf": [out, {"type": "null"}]} if out else {"type": "null"}
    is_object = isinstance(node.get("properties"), dict) and node.get("type") == "object"
    if strict and is_object and "anyOf" not in out:
        out.setdefault("additionalProperties", False)
    return out
