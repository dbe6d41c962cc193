"""The rules: what each shape of note becomes, what is doubted, what yields nothing."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.adapters.rules.restructurer import RulesRestructurer
from evidence.candidates import units_from
from evidence.domain.normalization import contains_excerpt, normalize_source, source_hash
from evidence.domain.units import CuratedEvidence
from evidence.ports import RestructureCandidate, RestructureRequest


def a_request(
    text: str, previous: Sequence[CuratedEvidence] = (), *, language: str = "it"
) -> RestructureRequest:
    """Give the request for one note."""
    normalized = normalize_source(text.encode())
    return RestructureRequest(
        source_file="source/nota.md",
        source_sha256=source_hash(normalized),
        normalized_text=normalized,
        language=language,
        previous_units=tuple(previous),
    )


def read(text: str, *, language: str = "it") -> tuple[RestructureCandidate, ...]:
    """Give what the rules make of a note."""
    return RulesRestructurer().restructure(a_request(text, language=language))


def units_of(text: str, previous: Sequence[CuratedEvidence] = ()) -> tuple[CuratedEvidence, ...]:
    """Give the units of a note, through the same checks as any restructurer's."""
    request = a_request(text, previous)
    return units_from(request, RulesRestructurer().restructure(request), taken=())


def the_only(text: str) -> RestructureCandidate:
    """Give the one candidate of a note."""
    (candidate,) = read(text)
    return candidate


def doubts(candidate: RestructureCandidate) -> set[str]:
    """Give the codes of a candidate's review items."""
    return {item.code for item in candidate.review_items}


# Terms


@pytest.mark.parametrize(
    ("line", "term", "definition"),
    [
        ("**Boarding**: attesa di un letto.", "Boarding", "attesa di un letto."),
        ("**Boarding:** attesa di un letto.", "Boarding", "attesa di un letto."),
        ("**Boarding** — attesa di un letto.", "Boarding", "attesa di un letto."),
        ("Boarding: attesa di un letto.", "Boarding", "attesa di un letto."),
        ("boarding = attesa di un letto", "boarding", "attesa di un letto"),
        ("- boarding: attesa di un letto", "boarding", "attesa di un letto"),
        ("Per boarding si intende l'attesa di un letto.", "boarding", "l'attesa di un letto."),
        ("By boarding we mean waiting for a bed.", "boarding", "waiting for a bed."),
        ("A boarder is a patient waiting for a bed.", "boarder", "is a patient waiting for a bed."),
    ],
)
def test_a_line_that_defines_a_term_is_glossary(line: str, term: str, definition: str) -> None:
    candidate = the_only(f"# Glossario\n\n{line}\n")
    assert candidate.kind == "glossary"
    assert candidate.payload["term"] == term
    assert candidate.payload["definition"] == definition


def test_outside_a_glossary_a_plain_definition_line_is_a_guess() -> None:
    assert doubts(the_only("# Reparti\n\nBoarding: attesa di un letto.\n")) == {"kind_inferred"}
    assert doubts(the_only("# Glossario\n\nBoarding: attesa di un letto.\n")) == set()


def test_other_names_of_a_term_are_its_synonyms() -> None:
    candidate = the_only("**Pronto soccorso** (detto anche PS, DEA): reparto di emergenza.\n")
    assert candidate.payload["synonyms"] == ("PS", "DEA")


def test_a_table_of_terms_gives_a_unit_a_row() -> None:
    found = read(
        "| Termine | Significato |\n|---|---|\n| PS | pronto soccorso |\n| DH | day hospital |\n"
    )
    assert [(each.kind, each.payload["term"]) for each in found] == [
        ("glossary", "PS"),
        ("glossary", "DH"),
    ]
    assert found[0].excerpts == ("| PS | pronto soccorso |",)


def test_a_heading_below_a_glossary_is_a_term() -> None:
    candidate = the_only("# Glossario\n\n## Degenza\n\nPeriodo tra ricovero e dimissione.\n")
    assert candidate.payload == {
        "term": "Degenza",
        "definition": "Periodo tra ricovero e dimissione.",
    }


@pytest.mark.parametrize(
    "text",
    [
        "La disciplina raggruppa\nreparti diversi che fanno lo stesso mestiere: due cardiologie.",
        "Un accesso senza\n`seen_at` è un abbandono: il paziente se ne è andato.",
        "I valori fuori intervallo sono segnati con un\nriferimento: H se alti, L se bassi.",
        "Una riga senza `beds` è un errore di chi la ha scritta.",
    ],
)
def test_a_colon_in_a_wrapped_line_defines_nothing(text: str) -> None:
    assert [each.kind for each in read(f"# Reparti\n\n{text}\n")] == ["domain"]


# Values


@pytest.mark.parametrize(
    "note",
    [
        "Valori di clinical.visit.mode:\n\n- A: attivo\n- 0802 = sospeso\n",
        "valori di `clinical.visit.mode`\n- A: attivo\n- 0802: sospeso\n",
        "# clinical.visit.mode\n\n* `A` → attivo\n* `0802` -> sospeso\n",
        "Il campo clinical.visit.mode (A = attivo, 0802 = sospeso) è obbligatorio.\n",
        "clinical.visit.mode: A = attivo, 0802 = sospeso\n",
        "# clinical.visit.mode\n\n| Valore | Significato |\n|---|---|\n"
        "| A | attivo |\n| 0802 | sospeso |\n",
        "| Campo | Valori |\n|---|---|\n| clinical.visit.mode | A = attivo<br>0802 = sospeso |\n",
        "```sql\nCOMMENT ON COLUMN clinical.visit.mode IS 'A = attivo, 0802 = sospeso';\n```\n",
        "```sql\nINSERT INTO clinical.visit (mode, label)\n"
        "VALUES ('A', 'attivo'), ('0802', 'sospeso');\n```\n",
    ],
)
def test_a_list_of_values_of_a_named_column_is_an_enum(note: str) -> None:
    candidate = the_only(note)
    assert candidate.kind == "enum"
    assert candidate.payload == {
        "column": "clinical.visit.mode",
        "values": (
            {"value": "A", "meaning": "attivo"},
            {"value": "0802", "meaning": "sospeso"},
        ),
    }
    assert candidate.scope.columns == ("clinical.visit.mode",)


def test_values_of_no_named_column_are_kept_in_words_and_doubted() -> None:
    candidate = the_only("# Stati\n\nValori:\n\n- A: attivo\n- S: sospeso\n")
    assert candidate.kind == "domain"
    assert "column_unknown" in doubts(candidate)
    assert "- A: attivo" in candidate.body


def test_a_value_with_two_meanings_is_a_contradiction() -> None:
    candidate = the_only("# clinical.visit.mode\n\n- A: attivo\n- A: archiviato\n")
    assert doubts(candidate) == {"source_contradicts_itself"}


# Formulas, examples


def test_an_expression_in_a_fence_is_a_formula_named_by_its_heading() -> None:
    candidate = the_only(
        "# Durata della degenza\n\n```sql\nclinical.stay.ended_at - clinical.stay.started_at\n```\n"
    )
    assert candidate.kind == "formula"
    assert candidate.payload == {
        "concept": "Durata della degenza",
        "columns": ("clinical.stay.ended_at", "clinical.stay.started_at"),
        "sql": "clinical.stay.ended_at - clinical.stay.started_at",
    }


def test_an_expression_in_backticks_is_a_formula_with_what_limits_it() -> None:
    candidate = the_only(
        "Età al ricovero (conto di Anna):\n`age(clinical.stay.started_at, clinical.patient.born)`\n"
        "Senza data di nascita non viene nulla.\n"
    )
    assert candidate.payload["concept"] == "Età al ricovero"
    assert candidate.payload["limitations"] == "Senza data di nascita non viene nulla."
    assert len(candidate.excerpts) == 1


def test_a_formula_without_a_full_column_is_doubted() -> None:
    assert "column_unknown" in doubts(the_only("Età: `age(ended_at, born)`\n"))


def test_a_query_in_a_fence_is_an_example_with_the_question_before_it() -> None:
    candidate = the_only(
        "Quanti pazienti ci sono?\n\n```sql\nSELECT count(*) FROM clinical.patient;\n```\n"
    )
    assert candidate.kind == "example"
    assert candidate.payload == {
        "question": "Quanti pazienti ci sono?",
        "sql": "SELECT count(*) FROM clinical.patient",
    }
    assert doubts(candidate) == set()


def test_a_query_without_a_question_is_doubted() -> None:
    candidate = the_only("# Pazienti\n\n```sql\nSELECT count(*) FROM clinical.patient\n```\n")
    assert doubts(candidate) == {"kind_inferred"}


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT TOP 5 * FROM clinical.patient",
        "SELECT `name` FROM clinical.patient",
        "SELECT IFNULL(a, 0) FROM clinical.patient",
    ],
)
def test_sql_of_another_database_is_doubted_and_never_runnable_unseen(sql: str) -> None:
    candidate = the_only(f"# Pazienti\n\n```sql\n{sql}\n```\n")
    assert "dialect_uncertain" in doubts(candidate)


@pytest.mark.parametrize(
    "note",
    [
        "La formula per il boarding è la seguente:\n",
        "Formula: da inserire\n",
        "Il calcolo della degenza: TODO\n",
        "# Indice\n\nLa formula dell'indice di Charlson è in allegato\n",
    ],
)
def test_a_formula_that_is_announced_and_missing_is_not_made_up(note: str) -> None:
    assert read(note) == ()


# Mappings


@pytest.mark.parametrize(
    ("line", "term", "target"),
    [
        ("Il peso è memorizzato in clinical.stay.weight_kg.", "peso", {}),
        ("Peso: `clinical.stay.weight_kg`", "Peso", {}),
        ("The weight is stored in clinical.stay.weight_kg.", "weight", {}),
        ("Weight means clinical.stay.weight_kg", "Weight", {}),
        (
            "Il peso si trova in clinical.stay.weight_kg, NON in clinical.patient.weight.",
            "peso",
            {},
        ),
        (
            "L'obesità è registrata in clinical.stay.weight_kg con valore 'O'.",
            "obesità",
            {"value": "O"},
        ),
        (
            "**Obeso**: `clinical.stay.weight_kg > 120`",
            "Obeso",
            {"condition": "clinical.stay.weight_kg > 120"},
        ),
    ],
)
def test_where_a_term_is_stored_is_a_mapping(line: str, term: str, target: dict[str, str]) -> None:
    candidate = the_only(f"{line}\n")
    assert candidate.kind == "mapping"
    assert candidate.payload == {
        "term": term,
        "targets": ({"column": "clinical.stay.weight_kg", **target},),
    }


def test_a_table_of_terms_and_columns_gives_mappings() -> None:
    found = read("| Concetto | Colonna |\n|---|---|\n| peso | clinical.stay.weight_kg |\n")
    assert [each.kind for each in found] == ["mapping"]


# Replacements


@pytest.mark.parametrize(
    "line",
    [
        "«PS» va letto come «pronto soccorso»",
        '"PS" diventa "pronto soccorso"',
        "Scrivere «pronto soccorso» invece di «PS».",
        "Sostituire «PS» con «pronto soccorso».",
        'Replace "PS" with "pronto soccorso".',
    ],
)
def test_what_is_written_for_what_is_a_normalization(line: str) -> None:
    candidate = the_only(f"# Reparto\n\n{line}\n")
    assert candidate.kind == "normalization"
    assert candidate.payload["rules"] == ({"match": "PS", "replacement": "pronto soccorso"},)
    assert candidate.payload["target"] == "Reparto"
    assert doubts(candidate) == {"column_unknown"}


@pytest.mark.parametrize(
    "note",
    [
        "# Abbreviazioni di clinical.ward.name\n\n"
        "- TI → Terapia intensiva\n- PS = Pronto soccorso\n",
        "# Abbreviazioni di clinical.ward.name\n\n| Sigla | Forma estesa |\n|---|---|\n"
        "| TI | Terapia intensiva |\n| PS | Pronto soccorso |\n",
    ],
)
def test_a_list_or_table_of_abbreviations_is_one_normalization(note: str) -> None:
    candidate = the_only(note)
    assert candidate.payload == {
        "target": "clinical.ward.name",
        "rules": (
            {"match": "TI", "replacement": "Terapia intensiva"},
            {"match": "PS", "replacement": "Pronto soccorso"},
        ),
    }
    assert doubts(candidate) == set()


def test_a_list_of_replacements_takes_its_column_from_the_paragraph_before_and_quotes_it() -> None:
    note = (
        "# Sigle\n\n`clinical.ward.name` ha il nome per esteso. Si sostituisce:\n\n"
        '- "TI" diventa "Terapia intensiva"\n- "PS" diventa "Pronto soccorso"\n'
    )
    (rules,) = (each for each in read(note) if each.kind == "normalization")
    assert rules.payload["target"] == "clinical.ward.name"
    assert len(rules.payload["rules"]) == 2  # type: ignore[arg-type]
    assert "`clinical.ward.name` ha il nome per esteso." in rules.excerpts[0]


# References


@pytest.mark.parametrize(
    "line",
    [
        "Linee guida del triage: https://guide.example/triage",
        "Vedi [Linee guida del triage](https://guide.example/triage).",
        "Linee guida del triage (https://guide.example/triage)",
    ],
)
def test_a_web_address_is_a_reference(line: str) -> None:
    candidate = the_only(f"{line}\n")
    assert candidate.kind == "reference"
    assert candidate.payload["url"] == "https://guide.example/triage"
    assert candidate.payload["label"] == "Linee guida del triage"
    assert doubts(candidate) == {"purpose_inferred"}


def test_an_address_with_a_user_in_it_is_no_reference() -> None:
    assert all(each.kind != "reference" for each in read("Vedi: https://anna@guide.example/x\n"))


# Prose


def test_prose_below_a_heading_is_a_domain_unit_word_for_word() -> None:
    text = "Gli accessi stanno in emergency.visit.\nUna riga per accesso, anche senza visita."
    candidate = the_only(f"# Accessi\n\n{text}\n")
    assert (candidate.kind, candidate.title, candidate.body) == ("domain", "Accessi", text)
    assert candidate.excerpts == (text,)
    assert candidate.scope.tables == ("emergency.visit",)
    assert doubts(candidate) == set()


def test_prose_without_heading_is_a_guess() -> None:
    candidate = the_only("I turni cambiano ogni otto ore in tutti i reparti.\n")
    assert doubts(candidate) == {"kind_inferred", "purpose_inferred"}


def test_an_uncertain_statement_is_doubted() -> None:
    candidate = the_only("# Turni\n\nDi notte forse non si registra nulla, chiedere a Giulia.\n")
    assert "ambiguous_statement" in doubts(candidate)


def test_two_definitions_of_one_term_contradict_each_other() -> None:
    found = read(
        "# Glossario\n\n- **Grave**: con punteggio alto\n- **Grave**: in terapia intensiva\n"
    )
    assert [doubts(each) for each in found] == [{"source_contradicts_itself"}] * 2


def test_a_long_section_is_cut_into_units_that_quote_all_of_it() -> None:
    paragraphs = [f"Paragrafo {n}: " + "parola " * 90 for n in range(20)]
    text = "# Lunga\n\n" + "\n\n".join(line.strip() + "." for line in paragraphs) + "\n"
    found = read(text)
    assert len(found) > 1
    quoted = " ".join(excerpt for each in found for excerpt in each.excerpts)
    assert all(f"Paragrafo {n}:" in quoted for n in range(20))


def test_a_hash_inside_a_fence_is_no_heading() -> None:
    found = read("# Vero\n\n```\n# finto\n```\n\nUna frase abbastanza lunga da restare.\n")
    assert [each.title for each in found] == ["Vero"]


@pytest.mark.parametrize(
    "note",
    [
        "",
        "# Solo un titolo\n",
        "Home > Guide > Triage\n",
        "[Indice](indice.md) | [Torna su](#top)\n",
        "- [Capitolo uno](uno.md)\n- [Capitolo due](due.md)\n",
        "[TOC]\n",
        "<!-- BEGIN generated -->\nBoarding: attesa di un letto.\n<!-- END generated -->\n",
        "Pagina generata automaticamente, non modificare\n",
        "Ultimo aggiornamento: 3 marzo\n",
        "<!-- Boarding: attesa di un letto. -->\n",
    ],
)
def test_navigation_and_generated_text_yield_nothing(note: str) -> None:
    assert read(note) == ()


def test_the_same_note_gives_english_titles_in_an_english_workspace() -> None:
    (candidate,) = read("# clinical.visit.mode\n\n- A: active\n- S: suspended\n", language="en")
    assert candidate.title == "Values of clinical.visit.mode"


# People's work

NOTE = (
    "# Glossario\n\n- **Boarding**: attesa di un letto.\n\n# Valori di clinical.visit.mode\n\n"
    "- A: attivo\n- S: sospeso\n\n# Reparti\n\nI reparti chirurgici aprono alle otto di mattina.\n"
)


def test_reading_again_gives_the_same_units_and_no_more() -> None:
    units = units_of(NOTE)
    assert units_of(NOTE, units) == units


def test_what_people_wrote_and_resolved_comes_back_unchanged() -> None:
    edited = tuple(
        unit.model_copy(update={"title": f"A mano {at}", "review_items": (), "body": "Nota."})
        for at, unit in enumerate(units_of(NOTE))
    )
    assert units_of(NOTE, edited) == edited


def test_new_text_adds_units_and_touches_no_other() -> None:
    units = units_of(NOTE)
    after = units_of(NOTE + "\n# Altro\n\n**Triage**: scelta delle priorità.\n", units)
    assert [unit.title for unit in after[len(units) :]] == ["Triage"]
    assert [unit.id for unit in after[: len(units)]] == [unit.id for unit in units]


def test_a_value_added_within_a_list_renews_the_unit_under_its_id() -> None:
    units = units_of(NOTE)
    (values,) = (unit for unit in units if unit.kind == "enum")
    after = units_of(NOTE.replace("- S: sospeso", "- N: nuovo\n- S: sospeso"), units)
    (renewed,) = (unit for unit in after if unit.kind == "enum")
    assert renewed.id == values.id
    assert [entry.value for entry in renewed.payload.values] == ["A", "N", "S"]  # type: ignore[union-attr]


def test_the_same_words_twice_are_two_places() -> None:
    once = "# Uno\n\nI reparti aprono alle otto di mattina.\n"
    units = units_of(once)
    after = units_of(once + "\n# Due\n\nI reparti aprono alle otto di mattina.\n", units)
    assert [unit.title for unit in after] == ["Uno", "Due"]


def test_two_units_may_quote_the_same_place() -> None:
    (unit,) = units_of("# Uno\n\nI reparti aprono alle otto di mattina.\n")
    twin = unit.model_copy(update={"id": "evidence:gemella"})
    assert units_of("# Uno\n\nI reparti aprono alle otto di mattina.\n", (unit, twin)) == (
        unit,
        twin,
    )


# Whatever people write

PIECES = (
    *("# Titolo\n", "## Glossario\n", "**Termine**: significato di prova.\n", "- A: attivo\n"),
    *("- clinical.visit.mode = 'A'\n", "```sql\n", "SELECT 1\n", "```\n", "| a | b |\n"),
    *("|---|---|\n", "`clinical.visit.a + 1`\n", "https://guide.example/x\n", "«a» diventa «b»\n"),
    *("\n", "\n\n", "Frase di prosa abbastanza lunga. E un'altra ancora?\n", "> citazione\n"),
    *("1. uno\n", "Valori:\n", "<!-- nota -->\n", "clinical.visit.mode (A = uno, B = due)\n"),
    *("  - annidato: con due parole\n", "Peso è memorizzato in clinical.stay.kg.\n", "\\|\n"),
    *("\u00e8\u0301 \u2028 x\n", "***\n"),
)


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_every_excerpt_is_literal_and_reading_again_adds_nothing(
    note: str,
) -> None:
    request = a_request(note)
    for candidate in RulesRestructurer().restructure(request):
        assert all(contains_excerpt(request.normalized_text, each) for each in candidate.excerpts)
    units = units_of(note)
    assert units_of(note, units) == units


def test_no_note_takes_long() -> None:
    dice = random.Random(7)  # noqa: S311
    for letter in '[(`*_|<>:="«.-# \n':
        assert isinstance(read(letter * 20_000), tuple)
    assert isinstance(read("".join(dice.choices(PIECES, k=2_000))), tuple)
