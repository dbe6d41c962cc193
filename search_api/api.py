"""The API as it is mounted: `/api/v1`."""

from __future__ import annotations

from ninja import NinjaAPI

api = NinjaAPI(title="Evidence Portal", version="1", urls_namespace="api-1", openapi_url="/openapi.json")
