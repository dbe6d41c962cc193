"""Filters of the lists of publication; rows know their workspace by slug."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib.admin import ModelAdmin, SimpleListFilter
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from publishing.admin.wording import GENERATIONS
from publishing.models import Generation

Choices = Sequence[tuple[str, str]]


class WorkspaceFilter(SimpleListFilter):
    """Narrow a list to one workspace; hidden while there is only one."""

    title = _("workspace")
    parameter_name = "workspace"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin[Any]) -> Choices:
        """List the workspaces that were ever published."""
        slugs = Generation.objects.order_by("workspace").values_list("workspace", flat=True)
        return [(slug, slug) for slug in slugs.distinct()]

    def has_output(self) -> bool:
        """Leave a choice of one out."""
        return len(self.lookup_choices) > 1

    def queryset(self, request: HttpRequest, queryset: QuerySet[Model]) -> QuerySet[Model]:
        """Keep the rows of the chosen workspace."""
        return queryset.filter(workspace=self.value()) if self.value() else queryset


class StateFilter(SimpleListFilter):
    """Narrow generations to one state, in words."""

    title = _("state")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin[Any]) -> Choices:
        """List the states in the order of a generation's life."""
        return [(state, str(words)) for state, (words, _tone) in GENERATIONS.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Model]) -> QuerySet[Model]:
        """Keep the generations in the chosen state."""
        return queryset.filter(state=self.value()) if self.value() else queryset
