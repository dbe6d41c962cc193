"""The admin of `publishing`: importing it registers its pages."""

from publishing.admin import approvals, evaluations, events, generations

__all__ = ("approvals", "evaluations", "events", "generations")
