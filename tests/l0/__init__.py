"""The server store against a real Qdrant server, by `QDRANT_URL` or from Docker; else skipped."""
