"""A warning is dismissed by one line, in one commit, by a person."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidence import committing, conf, curation, dismissing, mirror, plugged
from evidence.dismissing import DismissalRefused, Warned
from evidence.domain.dismissals import DismissalsInvalid, parse_dismissals
from evidence.domain.units import CuratedEvidence
from evidence.models import FindingRecord, PortalCommit, Workspace
from tests.evidence.mirrors import assert_mirrors
from tests.makers import CURATOR, a_corpus, a_unit, a_workspace, git, put, unit_file

pytestmark = pytest.mark.django_db

FIRST, SECOND, THIRD = (f"curated/glossary/{name}.md" for name in ("a", "b", "c"))


def a_term(name: str, definition: str) -> CuratedEvidence:
    return a_unit(
        f"evidence:{name}",
        source="source/nota-0.md",
        text="La regola 0 vale per i pediatrici.\n",
        payload={"term": "età", "definition": definition},
    )


@pytest.fixture
def workspace(portal_home: Path) -> Workspace:
    units = (a_term("a", "Anni."), a_term("b", "Mesi."), a_term("c", "Giorni."))
    files = {f"evidence/{path}": data for path, data in map(unit_file, units)}
    made = a_workspace(a_corpus(1) | files)
    mirror.sync_workspace(made.slug)
    return made


def dismiss(path: str = FIRST, other: str = SECOND, code: str = "conflicting_term") -> str:
    return dismiss_all(Warned(code, path, other))


def dismiss_all(*warnings: Warned) -> str:
    return dismissing.dismiss(workspace="clinica", warnings=warnings, author=CURATOR)


def restore(*lines: str) -> str:
    return dismissing.restore(workspace="clinica", lines=lines, author=CURATOR)


def pairs() -> set[tuple[str, str]]:
    rows = FindingRecord.objects.filter(code="conflicting_term")
    return {(row.path, row.values["other"]) for row in rows}


def bare() -> Path:
    return conf.current().repository_path("clinica")


def stored() -> str:
    return git(bare(), "show", "main:evidence/dismissals.yaml")


def test_a_dismissal_is_one_commit_of_the_person_and_quiets_both_sides(workspace: Workspace):
    assert pairs() == {(FIRST, SECOND), (SECOND, FIRST), (THIRD, FIRST)}
    made = dismiss()
    assert git(bare(), "show", "--format=", "--name-only", made) == "evidence/dismissals.yaml"
    said = git(bare(), "log", "-1", "--format=%an|%s|%(trailers:only)", made)
    assert said.startswith(
        "Ada Lovelace|Dismiss conflicting_term of evidence:a and evidence:b|Evidence-Id: evidence:a"
    )
    assert PortalCommit.objects.get(commit=made).action == "dismiss"
    assert pairs() == {(FIRST, THIRD), (SECOND, THIRD), (THIRD, FIRST)}
    assert_mirrors(workspace)


def test_the_lines_stay_sorted_and_a_second_one_joins_them(workspace: Workspace):
    dismiss(SECOND, FIRST)
    dismiss(THIRD, FIRST)
    lines = stored().split("\n")[2:]
    assert len(lines) == 2
    assert lines == sorted(lines)
    assert pairs() == {(SECOND, THIRD), (THIRD, SECOND)}


def test_after_a_change_the_warning_is_back_and_a_new_line_takes_the_old_ones_place(
    workspace: Workspace,
):
    dismiss()
    path, data = unit_file(a_term("b", "Settimane."))
    put(bare(), {f"evidence/{path}": data})
    mirror.sync_workspace(workspace.slug)
    assert (FIRST, SECOND) in pairs()
    dismiss()
    assert (FIRST, SECOND) not in pairs()
    assert len(parse_dismissals(stored())) == 1


@pytest.mark.parametrize(
    ("path", "other", "code"),
    [
        (FIRST, SECOND, "near_duplicate"),
        (FIRST, THIRD, "conflicting_term"),
        (FIRST, "curated/glossary/gone.md", "conflicting_term"),
        ("../etc/passwd", SECOND, "conflicting_term"),
    ],
)
def test_a_warning_that_is_not_there_cannot_be_dismissed(
    workspace: Workspace, path: str, other: str, code: str
):
    head = plugged.repository("clinica").head("main")
    with pytest.raises(DismissalRefused):
        dismiss(path, other, code)
    assert plugged.repository("clinica").head("main") == head


def test_a_unit_that_went_meanwhile_is_named(workspace: Workspace):
    put(bare(), {f"evidence/{SECOND}": b"---\nbroken"})
    with pytest.raises(DismissalRefused, match=r"b\.md is no unit any more"):
        dismiss()


@pytest.mark.parametrize(("pair", "lines"), [((THIRD, FIRST), 2), ((SECOND, FIRST), 1)])
def test_what_another_curator_dismissed_at_the_same_moment_is_kept(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, pair: tuple[str, str], lines: int
):
    overtaken: list[bool] = []

    def slow(**arguments):
        if not overtaken:
            overtaken.append(True)
            dismiss(*pair)
        return committing.commit(**arguments)

    monkeypatch.setattr("evidence.dismissing.commit", slow)
    dismiss()
    assert len(parse_dismissals(stored())) == lines
    assert (FIRST, SECOND) not in pairs()
    assert_mirrors(workspace)


def test_what_is_dismissed_cannot_be_dismissed_again(workspace: Workspace):
    dismiss()
    with pytest.raises(DismissalRefused):
        dismiss()


def test_a_broken_file_of_dismissals_is_not_overwritten(workspace: Workspace):
    put(bare(), {"evidence/dismissals.yaml": b"dismissals: ["})
    mirror.sync_workspace(workspace.slug)
    with pytest.raises(DismissalsInvalid):
        dismiss()


def test_a_typed_file_of_dismissals_is_read_before_it_is_saved(workspace: Workspace):
    with pytest.raises(DismissalsInvalid):
        curation.save_file(
            workspace="clinica", path="dismissals.yaml", text="- x\n", blob="", author=CURATOR
        )


def commits() -> int:
    return int(git(bare(), "rev-list", "--count", "main"))


def stored_lines() -> list[str]:
    return sorted(each.line for each in parse_dismissals(stored()))


def test_several_warnings_are_dismissed_in_one_commit_that_names_every_unit(workspace: Workspace):
    before = commits()
    both = Warned("conflicting_term", SECOND, FIRST), Warned("conflicting_term", THIRD, FIRST)
    made = dismiss_all(Warned("conflicting_term", FIRST, SECOND), *both)
    assert commits() == before + 1
    assert len(stored_lines()) == 2, "the two sides of one warning are one dismissal"
    said = git(bare(), "log", "-1", "--format=%s|%(trailers:only,unfold)", made)
    assert said.startswith("Dismiss 2 warnings|Evidence-Id: evidence:a\nEvidence-Id: evidence:b\n")
    assert pairs() == {(SECOND, THIRD), (THIRD, SECOND)}
    assert_mirrors(workspace)


def test_when_one_warning_of_several_is_gone_none_is_dismissed(workspace: Workspace):
    before = commits()
    with pytest.raises(DismissalRefused):
        dismiss_all(
            Warned("conflicting_term", FIRST, SECOND), Warned("conflicting_term", FIRST, THIRD)
        )
    assert commits() == before


def test_an_error_cannot_be_dismissed(workspace: Workspace):
    put(bare(), {f"evidence/{SECOND}": b"---\nbroken"})
    mirror.sync_workspace(workspace.slug)
    for error in FindingRecord.objects.filter(severity="error"):
        with pytest.raises(DismissalRefused):
            dismiss(error.path, FIRST, error.code)


def test_a_dismissed_warning_is_brought_back_by_one_commit(workspace: Workspace):
    dismiss()
    before = pairs()
    made = restore(*stored_lines())
    assert (FIRST, SECOND) in pairs() - before
    assert stored_lines() == []
    said = git(bare(), "log", "-1", "--format=%an|%s", made)
    assert said == "Ada Lovelace|Bring back conflicting_term of evidence:a and evidence:b"
    assert PortalCommit.objects.get(commit=made).action == "restore-warning"
    assert_mirrors(workspace)


def test_bringing_back_one_leaves_the_others_dismissed(workspace: Workspace):
    dismiss_all(Warned("conflicting_term", FIRST, SECOND), Warned("conflicting_term", THIRD, FIRST))
    first, second = stored_lines()
    restore(first)
    assert stored_lines() == [second]


def test_what_is_not_dismissed_cannot_be_brought_back(workspace: Workspace):
    dismiss()
    before = commits()
    with pytest.raises(DismissalRefused):
        restore(*stored_lines(), "conflicting_term evidence:a x evidence:b y")
    assert commits() == before
