"""Let every group see gaps, proposed formulas and receipts (spec 40, Gaps; Units: used in)."""

from django.apps.registry import Apps
from django.contrib.auth.management import create_permissions
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

SEEN = ("view_gap", "view_formulaproposal", "view_receiptrecord")
GROUPS = ("Readers", "Curators", "Approvers", "Operators")


def let_see(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Make the permissions, then give them."""
    config = apps.get_app_config("search_api")
    # Django makes permissions only after all migrations; the groups need them now.
    config.models_module = True
    create_permissions(config, verbosity=0, apps=apps)
    config.models_module = None
    add_to_groups(apps)


def add_to_groups(apps: Apps) -> None:
    """Give each group the permissions; repeating it changes nothing."""
    group_model = apps.get_model("auth", "Group")
    permission_model = apps.get_model("auth", "Permission")
    seen = permission_model.objects.filter(
        content_type__app_label="search_api", codename__in=SEEN
    )
    for group in group_model.objects.filter(name__in=GROUPS):
        group.permissions.add(*seen)


def take_back(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Take the permissions from the groups."""
    permission_model = apps.get_model("auth", "Permission")
    seen = permission_model.objects.filter(
        content_type__app_label="search_api", codename__in=SEEN
    )
    for group in apps.get_model("auth", "Group").objects.filter(name__in=GROUPS):
        group.permissions.remove(*seen)


class Migration(migrations.Migration):
    """Data only."""

    dependencies = [("portal", "0001_groups"), ("search_api", "0002_sessions")]
    operations = [migrations.RunPython(let_see, take_back)]
