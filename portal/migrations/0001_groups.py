"""Make the four groups of the portal with their permissions (spec 40, Permissions)."""

from django.apps.registry import Apps
from django.contrib.auth.management import create_permissions
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

READERS = {
    "evidence": (
        "view_workspace",
        "view_sourcerecord",
        "view_unitrecord",
        "view_reviewitemrecord",
        "view_findingrecord",
        "view_revisionrecord",
        "view_preparationrun",
    ),
    "publishing": (
        "view_approval",
        "view_generation",
        "view_evaluation",
        "view_publicationevent",
    ),
}
CURATORS = {"evidence": ("curate_workspace",)}
APPROVERS = {"publishing": ("approve_revision",)}
OPERATORS = {
    "evidence": ("operate_workspace", "add_workspace"),
    "search_api": ("view_apikey", "add_apikey", "change_apikey"),
}
GROUPS = {
    "Readers": (READERS,),
    "Curators": (READERS, CURATORS),
    "Approvers": (READERS, CURATORS, APPROVERS),
    "Operators": (READERS, OPERATORS),
}


def make_groups(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Make the permissions, then the groups that hold them."""
    for label in ("evidence", "publishing", "search_api"):
        config = apps.get_app_config(label)
        # Django makes permissions only after all migrations; the groups need them now.
        config.models_module = True
        create_permissions(config, verbosity=0, apps=apps)
        config.models_module = None
    fill_groups(apps)


def fill_groups(apps: Apps) -> None:
    """Give each group its permissions, and no others; repeating it changes nothing."""
    group_model = apps.get_model("auth", "Group")
    permission_model = apps.get_model("auth", "Permission")
    for name, parts in GROUPS.items():
        group, _created = group_model.objects.get_or_create(name=name)
        wanted = [
            permission_model.objects.get(content_type__app_label=label, codename=codename)
            for part in parts
            for label, codenames in part.items()
            for codename in codenames
        ]
        group.permissions.set(wanted)


def remove_groups(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Take the groups away; the people in them stay."""
    apps.get_model("auth", "Group").objects.filter(name__in=GROUPS).delete()


class Migration(migrations.Migration):
    """Data only."""

    initial = True
    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
        ("evidence", "0001_initial"),
        ("publishing", "0001_initial"),
        ("search_api", "0001_initial"),
    ]
    operations = [migrations.RunPython(make_groups, remove_groups)]
