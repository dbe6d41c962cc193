"""Users and groups, in the same clothes as the rest of the admin."""

from __future__ import annotations

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, User
from unfold.admin import ModelAdmin
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

admin.site.unregister(User)
admin.site.unregister(Group)


@admin.register(User)
class UserPage(UserAdmin, ModelAdmin):  # type: ignore[misc, type-arg]  # Unfold ships no types
    """The people who sign in; their groups say what they may do."""

    form = UserChangeForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm
    list_filter_sheet = False


@admin.register(Group)
class GroupPage(GroupAdmin, ModelAdmin):  # type: ignore[misc]  # Unfold ships no types
    """What a set of people may do."""
