"""The text of a question and its filter are the same however the question was written down."""

from __future__ import annotations

import unicodedata
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from evidence.domain.units import EvidenceKind, EvidencePurpose
from publishing.domain.payload import MalformedPayload
from publishing.domain.points import GenerationKey, draft_points
from publishing.domain.query import (
    QuestionRefused,
    SearchContext,
    SearchRequest,
    build_request,
    check_match,
    make_filter,
    matches,
    render_query_text,
)
from tests.publishing.points import a_generation, a_unit

KEY = GenerationKey(UUID(int=1), "clinica-demo", "a" * 40, "it")
WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)
VALUES = st.lists(WORDS, max_size=8)


def request(query: str = "Che cosa?", **context: object) -> SearchRequest:
    return build_request({"query": query, "purpose": "rewriting", "context": context})


def test_the_text_has_four_lines_in_order():
    asked = request(
        "Come distinguo i pazienti pediatrici?",
        columns=["clinical.patient.birth_date"],
        tables=["clinical.patient"],
        concepts=["fascia pediatrica", "età"],
    )
    assert render_query_text(asked) == (
        "Domanda: Come distinguo i pazienti pediatrici?\n"
        "Concetti: età, fascia pediatrica\n"
        "Tabelle: clinical.patient\n"
        "Colonne: clinical.patient.birth_date"
    )


def test_empty_lines_are_left_out():
    assert render_query_text(request("Che cosa?", tables=["a.b"])) == (
        "Domanda: Che cosa?\nTabelle: a.b"
    )
    assert render_query_text(request("Che cosa?", concepts=["", "  "])) == "Domanda: Che cosa?"


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("  Che cosa?\n", "Che cosa?"),
        ("a\r\nb\rc\nd", "a\nb\nc\nd"),
        ("ETÀ  e   Reparto!", "ETÀ  e   Reparto!"),
        (unicodedata.normalize("NFD", "età"), "età"),
        ("\u2003perché\u00a0", "perché"),
    ],
)
def test_a_question_is_normalized_and_otherwise_kept(typed, kept):
    assert request(typed).query == kept


@pytest.mark.parametrize("empty", ["", "   ", "\r\n\t", "\u00a0"])
def test_an_empty_question_is_refused(empty):
    with pytest.raises(QuestionRefused, match="query"):
        request(empty)


@given(concepts=VALUES, tables=VALUES, columns=VALUES, data=st.data())
def test_permutations_repeats_and_unicode_forms_of_the_context_give_the_same_text(
    concepts, tables, columns, data
):
    def rewritten(values: list[str]) -> list[str]:
        repeated = values + data.draw(
            st.lists(st.sampled_from(values), max_size=3) if values else st.just([])
        )
        forms = [
            unicodedata.normalize(data.draw(st.sampled_from(["NFC", "NFD"])), value)
            for value in repeated
        ]
        padded = [f" {value}\n" for value in forms]
        return list(data.draw(st.permutations([*padded, ""])))

    plain = request(concepts=concepts, tables=tables, columns=columns)
    other = request(
        concepts=rewritten(concepts), tables=rewritten(tables), columns=rewritten(columns)
    )
    assert render_query_text(plain) == render_query_text(other)
    assert plain.context == other.context


@given(WORDS)
def test_normalizing_twice_changes_nothing(text):
    try:
        once = request(text)
    except QuestionRefused:
        assert not text.strip()
        return
    assert request(once.query) == once


def test_quoted_identifiers_keep_their_case_and_are_different_values():
    asked = request(columns=['clinical."Patient".ID', "clinical.patient.id"])
    assert asked.context.columns == ('clinical."Patient".ID', "clinical.patient.id")


def test_context_values_are_sorted_by_code_point():
    assert request(concepts=["é", "z", "Z", "a"]).context.concepts == ("Z", "a", "z", "é")


def test_required_values_are_not_part_of_the_text_and_others_are_not_part_of_the_filter():
    asked = request(
        "Che cosa?",
        concepts=["solo testo"],
        required_kinds=["formula"],
        required_concepts=["età"],
        required_tables=["a.b"],
        required_columns=["a.b.c"],
    )
    wanted = make_filter(asked, KEY)
    assert render_query_text(asked) == "Domanda: Che cosa?\nConcetti: solo testo"
    assert (wanted.workspace, wanted.revision, wanted.generation) == (
        KEY.workspace,
        KEY.revision,
        KEY.id,
    )
    assert wanted.purpose is EvidencePurpose.REWRITING
    assert wanted.kinds == (EvidenceKind.FORMULA,)
    assert (wanted.concepts, wanted.tables, wanted.columns) == (("età",), ("a.b",), ("a.b.c",))


def test_a_blank_required_value_is_refused_because_leaving_it_out_would_widen():
    with pytest.raises(QuestionRefused, match="required_concepts"):
        request(required_concepts=["età", "  "])


@pytest.mark.parametrize(
    "changes",
    [
        {"query": "x" * 20_001},
        {"query": "a\0b"},
        {"query": "\ud800"},
        {"query": 7},
        {"top_n": 0},
        {"top_n": 11},
        {"purpose": "memory"},
        {"unknown": 1},
        {"workspace_revision": "x" * 65},
        {"context": {"required_kinds": ["poem"]}},
        {"context": {"concepts": ["a\0b"]}},
        {"context": {"concepts": ["x" * 1_001]}},
        {"context": {"concepts": [str(number) for number in range(201)]}},
        {"context": {"concepts": [f"{number}{'x' * 990}" for number in range(21)]}},
        {"context": {"concepts": "a"}},
        {"context": {"unknown": []}},
    ],
)
def test_a_question_that_breaks_a_limit_is_refused_with_its_field(changes):
    with pytest.raises(QuestionRefused) as refused:
        build_request({"query": "Che cosa?", "purpose": "rewriting"} | changes)
    assert refused.value.code == "question_refused"
    assert next(iter(changes)) in str(refused.value)
    with pytest.raises(ValidationError):
        SearchRequest.model_validate({"query": "Che cosa?", "purpose": "rewriting"} | changes)


def test_the_longest_question_is_accepted():
    assert len(request("x" * 20_000).query) == 20_000


def test_a_request_cannot_be_changed():
    for value, name in ((request(), "top_n"), (SearchContext(), "concepts")):
        with pytest.raises(ValidationError):
            setattr(value, name, None)


def payload(**scope: object):
    unit = a_unit("Età", purposes=["rewriting"], scope=scope)
    generation = a_generation(workspace=KEY.workspace, revision=KEY.revision, id=KEY.id)
    return draft_points(unit, path="curated/glossary/eta.md", key=generation.key)[0].payload


def test_alternatives_inside_a_list_and_all_lists_together_decide():
    stored = payload(concepts=["a", "b"], tables=["s.t"])
    assert matches(stored, make_filter(request(required_concepts=["b", "x"]), KEY))
    assert not matches(stored, make_filter(request(required_concepts=["B"]), KEY))
    assert not matches(
        stored, make_filter(request(required_concepts=["a"], required_tables=["s.u"]), KEY)
    )
    assert not matches(stored, make_filter(request(required_kinds=["formula"]), KEY))


def test_a_fragment_of_another_purpose_or_with_another_text_is_malformed():
    wanted = make_filter(request(), KEY)
    check_match(payload(), wanted)
    for changes in (
        {"purposes": (EvidencePurpose.SQL_GENERATION,)},
        {"text": "altro"},
        {"vector_generation": UUID(int=2)},
    ):
        with pytest.raises(MalformedPayload):
            check_match(payload().model_copy(update=changes), wanted)
