"""Filters of the lists; the home page's numbers link to them by workspace slug."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from django.contrib.admin import ModelAdmin, SimpleListFilter
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from evidence.admin.wording import KINDS, PURPOSES, reader_words
from evidence.models import Workspace
from evidence.rates import Reader, readers
from evidence.stale import stale_units

Choices = Sequence[tuple[str, str]]


class WorkspaceFilter(SimpleListFilter):
    """Narrow a list to one workspace; hidden while there is only one."""

    title = _("workspace")
    parameter_name = "workspace"
    lookup: ClassVar[str] = "workspace__slug"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin[Any]) -> Choices:
        """List the workspaces by title."""
        return list(Workspace.objects.values_list("slug", "title"))

    def has_output(self) -> bool:
        """Leave a choice of one out."""
        return len(self.lookup_choices) > 1

    def queryset(self, request: HttpRequest, queryset: QuerySet[Model]) -> QuerySet[Model]:
        """Keep the rows of the chosen workspace."""
        return queryset.filter(**{self.lookup: self.value()}) if self.value() else queryset


class UnitsWorkspaceFilter(WorkspaceFilter):
    """The same, for rows that belong to a unit."""

    lookup = "unit__workspace__slug"


class RunsWorkspaceFilter(WorkspaceFilter):
    """The same, for rows that belong to a run."""

    lookup = "run__workspace__slug"


class ReaderFilter(SimpleListFilter):
    """Narrow runs to those of which one reader read a note."""

    title = _("read by")
    parameter_name = "reader"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin[Any]) -> Choices:
        """Name everybody who has read a note."""
        self.readers = {reader.key: reader for reader in readers()}
        return [(key, reader_words(reader)) for key, reader in self.readers.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Model]) -> QuerySet[Model]:
        """Keep the rows of the chosen reader; an unknown one has none."""
        if not self.value():
            return queryset
        reader = self.readers.get(self.value() or "")
        return queryset.none() if reader is None else self.rows_of(reader, queryset)

    def rows_of(self, reader: Reader, queryset: QuerySet[Model]) -> QuerySet[Model]:
        """Give the rows that are due to a reader."""
        return queryset.filter(pk__in=reader.readings().values("run"))


class ReadingReaderFilter(ReaderFilter):
    """The same, for readings."""

    def rows_of(self, reader: Reader, queryset: QuerySet[Model]) -> QuerySet[Model]:
        """Give what the reader read."""
        return queryset.filter(pk__in=reader.readings().values("pk"))


class UnitReaderFilter(ReaderFilter):
    """The same, for proposed units."""

    def rows_of(self, reader: Reader, queryset: QuerySet[Model]) -> QuerySet[Model]:
        """Give the units that come from what the reader read."""
        return queryset.filter(reading__in=reader.readings())


class KindFilter(SimpleListFilter):
    """Narrow units to one kind."""

    title = _("kind")
    parameter_name = "kind"
    lookup: ClassVar[str] = "kind"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin[Any]) -> Choices:
        """List the eight kinds in words."""
        return [(kind, str(words)) for kind, words in KINDS.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Model]) -> QuerySet[Model]:
        """Keep the units of the chosen kind."""
        return queryset.filter(**{self.lookup: self.value()}) if self.value() else queryset


class PurposeFilter(SimpleListFilter):
    """Narrow units to those that serve a purpose."""

    title = _("purpose")
    parameter_name = "purpose"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin[Any]) -> Choices:
        """List the four purposes in words."""
        return [(purpose, str(words)) for purpose, words in PURPOSES.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Model]) -> QuerySet[Model]:
        """Keep the units that serve it: SQLite has no JSON containment, so the text is matched."""
        chosen = self.value()
        known = chosen if chosen in PURPOSES else None
        return queryset.filter(purposes__icontains=f'"{known}"') if known else queryset


class AttentionFilter(SimpleListFilter):
    """Narrow units to those that need somebody."""

    title = _("needs attention")
    parameter_name = "attention"
    conditions: ClassVar[dict[str, dict[str, object]]] = {
        "invalid": {"is_valid": False},
        "open": {"open_items__gt": 0},
        "orphan": {"is_orphan": True},
    }

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin[Any]) -> Choices:
        """List the reasons."""
        return [
            ("invalid", gettext("cannot be read")),
            ("open", gettext("open review items")),
            ("orphan", gettext("orphans: their source is gone")),
            ("stale", gettext("not changed for a long time")),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Model]) -> QuerySet[Model]:
        """Keep the units with the chosen reason."""
        if self.value() == "stale":
            stale = stale_units(Workspace.objects.all(), timezone.now())
            return queryset.filter(pk__in=stale.order_by().values("pk"))
        return queryset.filter(**self.conditions.get(self.value() or "", {}))
