from __future__ import annotations

import time

import pytest

from evidence.domain.formats import is_accepted, is_excluded, render_source
from evidence.domain.workspace import WorkspaceFile, parse_workspace


def workspace(evidence: str) -> WorkspaceFile:
    head = "schema_version: 1\nslug: a\ntitle: A\nlanguage: it\n"
    return parse_workspace(f"{head}evidence: {evidence}\n")


@pytest.mark.parametrize(
    ("path", "accepted"),
    [
        ("source/a.md", True),
        ("source/deep/er/a.MARKDOWN", True),
        ("source/a.txt", True),
        ("source/a.sql.md", True),
        ("source/a.sql", False),
        ("source/a.docx", False),
        ("source/md", False),
        ("source/.hidden.md", False),
        ("source/.obsidian/a.md", False),
        ("curated/formula/a.md", False),
        ("source", False),
        ("notes.md", False),
    ],
)
def test_text_and_markdown_under_source_are_accepted_by_default(path: str, accepted: bool) -> None:
    assert is_accepted(path, None) is accepted
    assert is_accepted(path, workspace("{}")) is accepted


def test_source_formats_replace_the_default_list() -> None:
    only_sql = workspace("{source_formats: [sql.md]}")
    assert is_accepted("source/a.sql.md", only_sql)
    assert not is_accepted("source/a.md", only_sql)


@pytest.mark.parametrize(
    ("pattern", "path", "excluded"),
    [
        ("**/archivio/**", "source/archivio/a.md", True),
        ("**/archivio/**", "source/x/archivio/y/a.md", True),
        ("**/archivio/**", "source/archivio.md", False),
        ("archivio/*", "source/archivio/a.md", True),
        ("archivio/*", "source/archivio/x/a.md", False),
        ("source/archivio/*", "source/archivio/a.md", True),
        ("*.md", "source/a.md", True),
        ("*.md", "source/x/a.md", False),
        ("**/*.md", "source/x/y/a.md", True),
        ("**", "source/a.md", True),
        ("a?.md", "source/ab.md", True),
        ("A.md", "source/a.md", False),
    ],
)
def test_patterns_name_files_from_source_or_below_it(
    pattern: str, path: str, excluded: bool
) -> None:
    assert is_excluded(path, workspace(f"{{exclude: ['{pattern}']}}")) is excluded


def test_a_hostile_pattern_costs_no_backtracking() -> None:
    hostile = workspace(f"{{exclude: ['{'**/' * 60}x']}}")
    before = time.process_time()
    assert not is_excluded("source/" + "a/" * 400 + "y.md", hostile)
    assert time.process_time() - before < 1


def test_the_default_formats_are_rendered_as_they_stand() -> None:
    assert render_source("source/a.sql.md", "# A\n") == "# A\n"
