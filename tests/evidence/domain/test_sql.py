from __future__ import annotations

from pathlib import Path

import pglast
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pglast import keywords

from evidence.domain import sql_words
from evidence.domain.sql import SqlRefused, check_expression, check_query, normalized_sql

LABELLED = [
    line.split(maxsplit=1)
    for line in (Path(__file__).parent / "sql_expressions.txt").read_text().splitlines()
    if not line.startswith("#")
]
EXPRESSIONS = [(label, text.replace("⏎", "\n")) for label, text in LABELLED]

WORDS = ["a", "t.c", "'x'", "1", ".", ",", "(", ")", "[", "]", "+", "-", "*", "=", "<", "::", "||"]
WORDS += ["NOT", "AND", "OR", "IS", "NULL", "IN", "LIKE", "BETWEEN", "CASE", "WHEN", "THEN", "ELSE"]
WORDS += [
    "END",
    "SELECT",
    "FROM",
    "AS",
    "f(",
    "ARRAY[",
    "OVER",
    "ANY",
    "DISTINCT",
    "int",
    ";",
    "--",
]


def accepts(text: str) -> bool:
    try:
        check_expression(text)
    except SqlRefused:
        return False
    return True


def postgresql_accepts(text: str) -> bool:
    try:
        pglast.parse_sql(f"SELECT ({text})")
    except pglast.Error:
        return False
    return True


def refusal_of(text: str, **kwargs: object) -> SqlRefused:
    with pytest.raises(SqlRefused) as caught:
        check_expression(text, **kwargs)  # type: ignore[arg-type]
    return caught.value


def test_the_labelled_set_is_large_and_has_no_text_twice() -> None:
    assert len(EXPRESSIONS) >= 300
    assert len({text for _, text in EXPRESSIONS}) == len(EXPRESSIONS)
    assert sum(label == "refuse" for label, _ in EXPRESSIONS) >= 100


@pytest.mark.parametrize(("label", "text"), EXPRESSIONS)
def test_each_labelled_text_is_judged_as_labelled(label: str, text: str) -> None:
    assert accepts(text) == (label == "accept")


def test_nothing_that_postgresql_refuses_is_accepted() -> None:
    wrong = [text for _, text in EXPRESSIONS if accepts(text) and not postgresql_accepts(text)]
    assert wrong == []


def test_the_labels_agree_with_postgresql() -> None:
    wrong = [text for label, text in EXPRESSIONS if postgresql_accepts(text) == (label == "refuse")]
    assert wrong == []


def test_nine_in_ten_of_the_valid_expressions_are_accepted() -> None:
    labels = [label for label, _ in EXPRESSIONS]
    assert labels.count("accept") >= 9 * labels.count("gap")


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=9))
def test_whatever_is_accepted_postgresql_accepts_too(words: list[str]) -> None:
    text = " ".join(words)
    assert not accepts(text) or postgresql_accepts(text)


@pytest.mark.parametrize("words", ["RESERVED", "COLUMN_NAMES", "FUNCTION_NAMES"])
def test_the_keywords_are_those_of_postgresql(words: str) -> None:
    theirs = {
        "RESERVED": keywords.RESERVED_KEYWORDS,
        "COLUMN_NAMES": keywords.COL_NAME_KEYWORDS,
        "FUNCTION_NAMES": keywords.TYPE_FUNC_NAME_KEYWORDS,
    }[words]
    assert getattr(sql_words, words) == {word.upper() for word in theirs}


@pytest.mark.parametrize(
    "text",
    [
        "SELECT a FROM t",
        "(SELECT 1)",
        "((SELECT 1))",
        "WITH q AS (SELECT 1) SELECT * FROM q",
        "VALUES (1)",
        "(VALUES (1))",
        "TABLE t",
        "(SELECT 1) UNION (SELECT 2)",
        "((SELECT 1) UNION (SELECT 2))",
        "SELECT 1 EXCEPT SELECT 2",
    ],
)
def test_a_complete_query_is_no_expression(text: str) -> None:
    assert not accepts(text)


@pytest.mark.parametrize(
    "text",
    [
        "EXISTS (SELECT 1 FROM t WHERE t.x = s.y)",
        "x IN (SELECT y FROM t)",
        "x > (SELECT avg(y) FROM t)",
        "(SELECT max(y) FROM t) - 1",
        "x = ANY (SELECT y FROM t)",
        "ARRAY(SELECT y FROM t)",
    ],
)
def test_a_query_inside_an_expression_is_allowed(text: str) -> None:
    check_expression(text)


@pytest.mark.parametrize("word", ["VACUUM", "begin", "Commit", "CHECKPOINT", "ANALYZE", "default"])
def test_a_lone_statement_word_is_no_column(word: str) -> None:
    assert not accepts(word)


def test_a_comment_inside_is_kept_and_one_at_the_end_of_a_line_is_refused_at_the_end() -> None:
    check_expression("a /* why */ + b")
    check_expression("a -- why\n + b")
    for text in ("a -- why", "a -- why\n", "a /* x */ -- why"):
        assert "end in a comment" in str(refusal_of(text))


def test_a_comment_never_hides_a_second_statement() -> None:
    for text in ("a /* */; b", "a -- x\n; b", "a {# #}; b", "a /* /* */ ; b", "a;"):
        assert not accepts(text)
    check_expression("a /* ; DROP TABLE t */")


def test_a_refusal_says_where_it_was_met() -> None:
    assert refusal_of("a + ; b").offset == 4
    assert refusal_of("a AS b").offset == 2
    assert refusal_of("f(x)[1]").offset == 4
    assert "alias" in str(refusal_of("a b"))
    assert refusal_of("a +").offset is None


def test_the_bounds_are_exact() -> None:
    check_expression("(" * 40 + "a" + ")" * 40)
    assert "nested" in str(refusal_of("(" * 41 + "a" + ")" * 41))
    check_expression("'" + "x" * 19_998 + "'")
    assert "20001" in str(refusal_of("'" + "x" * 19_999 + "'"))


def nested(depth: int) -> bool:
    return accepts("coalesce(a, " * 40 + "b" + ")" * 40) if depth == 0 else nested(depth - 1)


def test_the_answer_does_not_depend_on_how_deep_the_caller_is() -> None:
    assert nested(0)
    assert nested(600)


BOMBS = {
    "parentheses": "(" * 20_000,
    "closed parentheses": "(" * 9_999 + "1" + ")" * 9_999,
    "too long": "a + " * 5_001,
    "brackets": "[" * 20_000,
    "types within types": "date(" * 40 + "1" + ")" * 40,
    "decimals": "decimal(" * 40 + "1" + ")" * 40,
    "structs": "struct(" * 41 + "1" + ")" * 41,
    "arrays": "array[" * 40 + "1" + "]" * 40,
    "angle brackets": "array<" * 3_000,
    "cases": "case when a then " * 1_100 + "1" + " end" * 1_100,
    "open cases": "case " * 4_000,
    "nots": "not " * 4_999 + "a",
    "minus signs": "- " * 9_999 + "a",
    "tildes": "~ " * 9_999 + "a",
    "pluses": "a" + "+a" * 9_999,
    "comparisons": "a" + "=a" * 9_999,
    "casts": "a" + "::int" * 3_999,
    "subscripts": "a" + "[1]" * 6_666,
    "a list": "a in (" + "1," * 9_990 + "1)",
    "arguments": "f(" + "a," * 9_990 + "a)",
    "names": "a" + ".a" * 9_999,
    "selects": "(select " * 2_000 + "1" + ")" * 2_000,
    "exists": "exists (select " * 1_000 + "1" + ")" * 1_000,
    "open comments": "/*" * 10_000,
    "quotes": "'" * 19_999,
    "double quotes": '"' * 19_999,
    "dollars": "$" * 20_000,
    "dollar tags": "$a$" * 6_665 + "$b$",
    "backslashes": "E'" + "\\" * 19_997,
    "semicolons": ";" * 20_000,
    "braces": "{{" * 10_000,
    "at signs": "@" * 20_000,
    "stars": "*" * 20_000,
    "dots": "." * 20_000,
    "dashes": "-" * 20_000,
    "spaces": " " * 20_000,
    "unions": "(select 1 union " * 1_200,
    "joins": "exists (select 1 from " + "(" * 19_000,
    "betweens": "a between " * 2_000,
    "likes": "a like " * 2_500,
    "intervals": "interval " * 2_200,
    "zero-width": "\u200b" * 20_000,
    "a huge text": "x" * 5_000_000,
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused(name: str) -> None:
    # How quickly is held to its figure in tests/robustness, where no line is counted meanwhile.
    assert not accepts(BOMBS[name])


def test_a_column_with_a_full_name_must_be_declared() -> None:
    declared = {"clinical.patient.birth_date", 'clinical.patient."Sex"'}
    check_expression("Clinical.Patient.BIRTH_DATE > now()", declared=declared)
    check_expression('clinical.patient."Sex" = 1 and p.other = short', declared=declared)
    refused = refusal_of("a + clinical.patient.name", declared=declared)
    assert "clinical.patient.name" in str(refused)
    assert refused.offset == 4
    assert not_declared("coalesce(s.t.data -> 'k', 'x')")
    assert not_declared("f(s.t.a) over (partition by s.t.b)")
    assert not_declared("exists (select 1 from s.t where s.t.a = 1)")
    assert not_declared('s.t."A"')
    check_expression("exists (select 1 from s.t)", declared=())
    check_expression("'s.t.a' || \"s.t.a\" /* s.t.a */", declared=())


def not_declared(text: str) -> bool:
    return "not declared" in str(refusal_of(text, declared={"s.t.other"}))


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1",
        "select a, count(*) as n from s.t group by a order by n desc limit 5;",
        "WITH q AS (SELECT 1 AS x) SELECT x FROM q",
        "WITH RECURSIVE q (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM q) SELECT n FROM q",
        "VALUES (1, 'a'), (2, 'b')",
        "(SELECT 1) UNION ALL (SELECT 2)",
        "((SELECT 1))",
        "SELECT * FROM a JOIN b USING (id) LEFT JOIN (c CROSS JOIN d) ON a.x = c.x",
        "SELECT x.n FROM (VALUES (1), (2)) AS x (n) WHERE x.n IN (SELECT 1)",
        "SELECT sum(a) OVER w FROM t WINDOW w AS (ORDER BY b)",
        "SELECT DISTINCT ON (a) a FROM t ORDER BY a, b DESC NULLS LAST FETCH FIRST 3 ROWS ONLY",
        "SELECT a FROM t, LATERAL (SELECT t.a) u, generate_series(1, 3) WITH ORDINALITY g (i, n)",
        "SELECT a FROM t GROUP BY GROUPING SETS ((a), ()) HAVING count(*) > 1",
    ],
)
def test_a_read_only_query_is_taken(text: str) -> None:
    check_query(text)
    assert len(pglast.parse_sql(text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        ";",
        "a + b",
        "SELECT 1; SELECT 2",
        "SELECT 1;;",
        "SELECT 1 -- end",
        "SELECT a INTO b FROM t",
        "SELECT a FROM t FOR UPDATE",
        "WITH q AS (DELETE FROM t RETURNING 1) SELECT * FROM q",
        "WITH q AS (SELECT 1) DELETE FROM t",
        "INSERT INTO t VALUES (1)",
        "UPDATE t SET a = 1",
        "TABLE t",
        "EXPLAIN SELECT 1",
        "COPY (SELECT 1) TO STDOUT",
        "BEGIN; SELECT 1",
        "SELECT a, FROM t",
        "SELECT TOP 5 a FROM t",
        "SELECT a FROM t QUALIFY b",
        "SELECT a FROM t LIMIT 5, 10",
        "SELECT a FROM t WHERE",
        "SELECT a FROM `t`",
        "SELECT $1",
        "SELECT a b c",
        "SELECT * FROM (SELECT 1 UNION",
        "SELECT a FROM a.b.c.d",
        "SELECT a FROM ((VALUES (1)) v (a))",
        "SELECT a FROM f() AS (b)",
        "SELECT a FROM t FETCH FIRST 1 ROW WITH TIES",
        "SELECT NULLS LAST",
    ],
)
def test_anything_but_one_read_only_query_is_refused(text: str) -> None:
    with pytest.raises(SqlRefused):
        check_query(text)


def test_two_spellings_of_one_expression_are_one() -> None:
    assert normalized_sql("A  +  b /* why */") == normalized_sql("a + B")
    assert normalized_sql('"A" + b') != normalized_sql("a + b")
    assert normalized_sql("count( * )") == normalized_sql("COUNT(*)")
    with pytest.raises(SqlRefused):
        normalized_sql("a +")
