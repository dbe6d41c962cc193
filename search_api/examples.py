"""Examples for the published contract: what the demo is asked, what it answers, what it refuses."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

Json = dict[str, Any]

GENERATION: Final = "0d9f2f3e-4f1a-4b8e-9d35-6a5b1c2d3e4f"
REVISION: Final = "ab4319e01b16d4f47625abe59b3b4a2896d98dae"
UNIT: Final = "evidence:fascia-pediatrica"
SESSION: Final = "domanda-17"
HASH: Final = "sha256:efe142795f0985e8ddfc6fd491a20cf6f5eeac25f1f55b11abc7538bc460fba9"
QUESTION: Final = "Come distinguo i pazienti pediatrici?"
SQL: Final = (
    "age(clinical.admission.admitted_at, clinical.patient.birth_date) < interval '18 years'"
)
COLUMNS: Final = ["clinical.patient.birth_date", "clinical.admission.admitted_at"]
SOURCE: Final[Json] = {"source_file": "source/domain/pazienti.md", "source_sha256": HASH}
WHERE: Final[Json] = {"generation": GENERATION, "workspace_revision": REVISION}
PATH: Final = "curated/formula/fascia-pediatrica.md"
RECEIPT: Final[Json] = {
    "stage": "cte",
    "purpose": "sql_generation",
    "vector_generation": GENERATION,
    "evidence_ids": [UNIT],
}
FORMULA: Final[Json] = {
    "schema_version": 1,
    "stage": "cte",
    "concept": "paziente anziano",
    "sql": SQL.replace("< interval '18 years'", ">= interval '65 years'"),
    "columns": COLUMNS,
    "rationale": "In questa domanda anziano vale dai 65 anni al ricovero.",
    "origin": "synthesized",
    "decision": "approved",
}
REQUESTS: Final[Mapping[str, Json]] = {
    "search": {
        "query": QUESTION,
        "purpose": "sql_generation",
        "context": {"concepts": ["minorenni"], "required_kinds": ["formula"]},
        "top_n": 1,
        "session": {"id": SESSION, "stage": "cte"},
    },
    "ground": {"values": ["ablazione"]},
    "context": {"question": QUESTION, "stage": "cte", "token_budget": 300},
    "put_receipt": RECEIPT,
    "propose_formula": FORMULA,
}
"""By operation; those without a body are absent."""
ANSWERS: Final[Mapping[str, Json]] = {
    "search": {
        "status": "available",
        **WHERE,
        "confidence": "grounded",
        "results": [
            {
                "evidence_id": UNIT,
                "kind": "formula",
                "title": "Fascia pediatrica",
                "purposes": ["sql_generation"],
                "score": 1.0,
                "excerpts": [{"ordinal": 0, "text": f"Formula: Fascia pediatrica\nSQL: {SQL}"}],
                "citation": SOURCE | {"path": PATH, "revision": REVISION},
                "document": f"/api/v1/workspaces/clinica-demo/units/{UNIT}?generation={GENERATION}",
            }
        ],
        "receipt": RECEIPT,
    },
    "unit": {
        "schema_version": 1,
        "id": UNIT,
        "kind": "formula",
        "title": "Fascia pediatrica",
        "language": "it",
        "purposes": ["sql_generation"],
        "scope": {
            "concepts": ["fascia pediatrica", "minorenni"],
            "tables": ["clinical.patient"],
            "columns": ["clinical.patient.birth_date"],
        },
        "provenance": SOURCE
        | {"supporting_excerpts": ["Sono pediatrici i pazienti con meno di 18 anni al ricovero."]},
        "payload": {
            "concept": "fascia pediatrica",
            "columns": COLUMNS,
            "sql": SQL,
            "limitations": "Età al ricovero, non alla dimissione.",
        },
        "review_items": [],
        "body": "Serve l'unione tra `clinical.patient` e `clinical.admission` su `patient_id`.",
        **WHERE,
        "path": PATH,
    },
    "ground": {
        "status": "available",
        **WHERE,
        "values": [
            {
                "value": "ablazione",
                "matches": [
                    {
                        "column": "clinical.procedure.procedure_code",
                        "stored_value": "37.34",
                        "meaning": "ablazione",
                        "match": "exact",
                        "score": 1.0,
                        "evidence_id": "evidence:ablazione",
                    }
                ],
                "formulas": [],
            }
        ],
    },
    "context": {
        "status": "available",
        **WHERE,
        "stage": "cte",
        "purpose": "sql_generation",
        "confidence": "grounded",
        "markdown": f"# Evidence\n\n## Formulas\n\n```text\nSQL: {SQL}\n```\n[{UNIT}]",
        "token_budget": 300,
        "token_count": 53,
        "counted_as": "ceil(UTF-8 bytes / 3)",
        "included": [UNIT],
        "left_out": ["evidence:durata-della-degenza"],
    },
    "put_receipt": RECEIPT,
    "receipts": {"session": SESSION, "receipts": [RECEIPT]},
    "step_back": {"session": SESSION, "receipts": []},
    "propose_formula": {
        "id": 42,
        "session": SESSION,
        "proposed_at": "2026-03-02T09:30:00Z",
        "formula": FORMULA,
    },
}
UNAVAILABLE: Final[Json] = {
    "status": "unavailable",
    "code": "no_active_generation",
    "message": "Nothing is published in this workspace yet.",
    "retriable": False,
}
PARAMETERS: Final[Mapping[str, str]] = {
    "workspace": "clinica-demo",
    "evidence_id": UNIT,
    "generation": GENERATION,
    "session": SESSION,
    "stage": "cte",
    "from": "cte",
}
REFUSALS: Final[Mapping[HTTPStatus, tuple[str, str]]] = {
    HTTPStatus.BAD_REQUEST: ("request_unreadable", "The request body is not JSON."),
    HTTPStatus.UNAUTHORIZED: ("key_unknown", "An API key is needed."),
    HTTPStatus.FORBIDDEN: ("access_refused", "This key may not do this here."),
    HTTPStatus.NOT_FOUND: ("generation_unknown", "This generation does not answer."),
    HTTPStatus.CONFLICT: ("session_full", "A session keeps at most 100 formula proposals."),
    HTTPStatus.UNPROCESSABLE_ENTITY: (
        "request_invalid",
        "Some fields of the request are not valid.",
    ),
    HTTPStatus.TOO_MANY_REQUESTS: (
        "too_many_requests",
        "This key has asked too often in this minute.",
    ),
    HTTPStatus.SERVICE_UNAVAILABLE: (
        "repository_unavailable",
        "The portal is not able to answer; its operator has to act.",
    ),
}
"""Code and detail of the refusal that a caller meets first under each status."""


def refusal(status: HTTPStatus) -> Json:
    """Give the problem document that stands for a status."""
    code, detail = REFUSALS[status]
    title = status.phrase
    return {
        "type": "about:blank",
        "title": title,
        "status": status.value,
        "code": code,
        "detail": detail,
    }
