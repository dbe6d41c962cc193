"""Where everything is served."""

from __future__ import annotations

from django.contrib import admin
from django.urls import path
from django.views.generic import RedirectView

from portal import health
from search_api.api import api

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="admin:index")),
    path("healthz", health.alive),
    path("api/v1/", api.urls),
    path("admin/", admin.site.urls),
]
