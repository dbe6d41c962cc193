"""Sources that are no notes: YAML, JSON, Python and SQL as sectioned text."""

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.domain.findings import Severity
from evidence.domain.formats import RENDERERS, is_accepted, render_source
from evidence.domain.inspection import SourceInspection, inspect_source
from evidence.domain.normalization import contains_excerpt, normalize_source, source_hash
from evidence.domain.sections import SourceUnreadable
from evidence.domain.workspace import DEFAULT_FORMATS, WorkspaceFile, parse_workspace

OPT_IN = ("yaml", "yml", "json", "py", "sql")
HEAD = "schema_version: 1\nslug: a\ntitle: A\nlanguage: it\n"
SECRET = "hunter2sEcret9"


def opted_in() -> WorkspaceFile:
    return parse_workspace(f"{HEAD}evidence:\n  source_formats: [md, {', '.join(OPT_IN)}]\n")


def inspected(name: str, text: str) -> SourceInspection:
    return inspect_source(f"source/{name}", text.encode(), opted_in())


def rendered(name: str, text: str) -> str:
    return render_source(f"source/{name}", text)


@pytest.mark.parametrize("name", OPT_IN)
def test_each_format_is_taken_only_where_the_workspace_asks_for_it(name: str) -> None:
    assert name not in DEFAULT_FORMATS
    assert not is_accepted(f"source/a.{name}", None)
    assert is_accepted(f"source/A.{name.upper()}", opted_in())


def test_yaml_becomes_a_section_a_key() -> None:
    text = """\
# Reparto di cardiologia

# Glossario
ablazione: Distruzione mirata. # non sempre
modo:
  A: attivo   # sì
  '0802': sospeso
# Età
limite: 18
lungo: |
  Una riga.
  Due righe.
"""
    assert (
        rendered("a.yaml", text)
        == """\
Reparto di cardiologia

# ablazione

Glossario

Distruzione mirata.

non sempre

# modo

```yaml
modo:
  A: attivo   # sì
  '0802': sospeso
```

# limite

Età

18

# lungo

Una riga.
Due righe.
"""
    )


def test_yaml_documents_follow_one_another_and_flow_and_lists_stay_whole() -> None:
    text = "# Prima\n---\na: x\n---\n- uno\n- due\n---\n{b: 1, c: 2}\n---\nsolo testo\n"
    assert rendered("a.yml", text) == (
        "Prima\n\n# a\n\nx\n\n```yaml\n- uno\n- due\n```\n\n```yaml\n{b: 1, c: 2}\n```\n\n"
        "solo testo\n"
    )


@pytest.mark.parametrize("value", ["0802", "no", "1e3", "2024-02-31", "~", "0717", "12:30:45"])
def test_yaml_values_are_what_the_author_wrote(value: str) -> None:
    assert rendered("a.yaml", f"a: {value}\n") == f"# a\n\n{value}\n"


def test_yaml_anchors_and_tags_are_kept_and_never_resolved() -> None:
    bomb = "a: &a [x, x]\n" + "".join(
        f"{chr(98 + n)}: &{chr(98 + n)} [*{chr(97 + n)}, *{chr(97 + n)}]\n" for n in range(20)
    )
    assert "u: &u [*t, *t]" in rendered("a.yaml", bomb)
    assert len(rendered("a.yaml", bomb)) < 10 * len(bomb)
    assert "!!python/object:os.system" in rendered("a.yaml", "a: [!!python/object:os.system x]\n")


def test_json_is_printed_by_key_and_its_numbers_stay() -> None:
    text = '{"titolo": "Età\\nin anni", "n": 0.10, "v": [1e999, {"b": null, "c": []}], "t": true}'
    assert rendered("a.json", text) == (
        "# titolo\n\nEtà\nin anni\n\n# n\n\n```json\n0.10\n```\n\n# v\n\n```json\n[\n  1e999,\n"
        '  {\n    "b": null,\n    "c": []\n  }\n]\n```\n\n# t\n\n```json\ntrue\n```\n'
    )
    assert rendered("a.json", '["a", "b"]') == '```json\n[\n  "a",\n  "b"\n]\n```\n'


def test_python_becomes_a_section_a_definition_with_its_docstring_as_words() -> None:
    text = '''\
"""Regole del reparto.

Valgono dal 2024.
"""
import os

# Soglia di età
SOGLIA = 18


@cache
def pediatrico(eta: int) -> bool:
    """Sono pediatrici i pazienti con meno di 18 anni.

    Età al ricovero.
    """
    return eta < SOGLIA


class Stato:
    "Gli stati."

    A = "attivo"


print("ciao")
'''
    assert (
        rendered("a.py", text)
        == """\
Regole del reparto.

Valgono dal 2024.

# SOGLIA

Soglia di età

```python
SOGLIA = 18
```

# pediatrico

Sono pediatrici i pazienti con meno di 18 anni.

Età al ricovero.

```python
@cache
def pediatrico(eta: int) -> bool:
    return eta < SOGLIA
```

# Stato

Gli stati.

```python
class Stato:

    A = "attivo"
```
"""
    )


def test_two_python_statements_on_one_line_are_told_once() -> None:
    assert rendered("a.py", "a = 1; b = 2\n") == "# a\n\n```python\na = 1; b = 2\n```\n"


def test_python_is_read_and_never_run() -> None:
    assert "raise SystemExit" in rendered("a.py", "def f(): raise SystemExit\nf()\n")


def test_sql_becomes_a_block_a_statement_after_the_words_of_its_comments() -> None:
    text = """\
/* Ricoveri
 * del reparto */

-- Quanti ricoveri nel 2024?
SELECT count(*) -- tutti
FROM clinical.admission WHERE note <> ';'; -- lento
-- Stati
-- - A = attivo

CREATE FUNCTION f() RETURNS int AS $$ BEGIN; RETURN 1; END $$ LANGUAGE plpgsql;
COMMENT ON COLUMN clinical.visit.mode IS 'A = attivo'
"""
    assert (
        rendered("a.sql", text)
        == """\
Ricoveri
del reparto

Quanti ricoveri nel 2024?

```sql
SELECT count(*) -- tutti
FROM clinical.admission WHERE note <> ';';
```

lento

Stati
- A = attivo

```sql
CREATE FUNCTION f() RETURNS int AS $$ BEGIN; RETURN 1; END $$ LANGUAGE plpgsql;
```

```sql
COMMENT ON COLUMN clinical.visit.mode IS 'A = attivo'
```
"""
    )


def test_code_that_holds_a_fence_is_fenced_more_strongly() -> None:
    assert rendered("a.yaml", "a:\n- |\n  ```sql\n  x\n  ```\n").startswith("# a\n\n````yaml\n")


def test_the_hash_is_that_of_the_file_and_excerpts_are_found_in_the_rendering() -> None:
    text = '{"nota": "Sono pediatrici\\ni minori."}\n'
    source = inspected("a.json", text)
    assert source.sha256 == source_hash(normalize_source(text.encode()))
    assert source.findings == ()
    assert source.text is not None
    assert contains_excerpt(source.text, "Sono pediatrici\ni minori.")


def test_what_an_escape_wrote_is_normalized_like_every_text() -> None:
    source = inspected("a.json", '{"a": "perche\\u0301"}')
    assert source.text is not None
    assert unicodedata.is_normalized("NFC", source.text)
    assert contains_excerpt(source.text, "perché")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('{"a": "x\\u202ey"}', "hidden_text"),
        ('{"a": "ada\\u0040example.org"}', "personal_data_suspected"),
        (f'{{"a": "pass\\u0077ord: {SECRET}"}}', "credential_detected"),
    ],
)
def test_what_an_escape_hides_in_the_file_is_seen_in_the_rendering(text: str, code: str) -> None:
    assert [found.code for found in inspected("a.json", text).findings] == [code]


BROKEN: list[tuple[str, str, int | None]] = [
    ("a.yaml", "a: [\n", 2),
    ("a.yaml", "a: b: c\n", 1),
    ("a.yaml", "a: 1\nb: 2\na: 3\n", 3),
    ("a.yaml", "x:\n  a: 1\n  a: 2\n", 3),
    ("a.yaml", "<<: *a\n<<: *b\n", 2),
    ("a.yaml", "{a: 1, a: 2}\n", 1),
    ("a.yaml", "\ta: 1\n", 1),
    ("a.yaml", "a: \x01\n", None),
    ("a.yml", "[" * 50_000, 1),
    ("a.yml", "- " * 50_000, 1),
    ("a.json", "", 2),
    ("a.json", "{\n  'a': 1}\n", 2),
    ("a.json", '{"a": 1}{"b": 2}', 1),
    ("a.json", '{"a": 1, "a": 2}', None),
    ("a.json", '{"x": {"a": 1, "a": 2}}', None),
    ("a.json", "[NaN]", None),
    ("a.json", "[-Infinity]", None),
    ("a.json", '"\\ud800"', None),
    ("a.json", "[" * 50_000, 1),
    ("a.json", '{"a":' * 25 + "1" + "}" * 25, 1),
    ("a.json", "[" * 24 + "1," * 250_000 + "1" + "]" * 24, None),
    ("a.py", "def f(:\n", 1),
    ("a.py", "a = 1\n  b = 2\n", 2),
    ("a.py", "(" * 50_000, 1),
    ("a.py", "-" * 50_000 + "1", None),
    ("a.py", "1+" * 50_000 + "1", None),
    ("a.py", "if a: pass\n" + "elif a: pass\n" * 20_000, None),
    ("a.sql", "SELECT 'never closed", None),
    ("a.sql", "/* never closed", None),
]


@pytest.mark.parametrize(("name", "text", "line"), BROKEN)
def test_a_file_that_is_not_what_its_name_says_is_one_finding(
    name: str, text: str, line: int | None
) -> None:
    source = inspected(name, text)
    errors = [found.code for found in source.findings if found.severity is Severity.ERROR]
    assert errors == ["source_unreadable"]
    assert (source.accepted, source.text, source.sha256) == (True, None, None)
    said = str(source.findings[0].message)
    assert said.startswith(f"Line {line}: ") if line else not said.startswith("Line ")
    assert 0 < len(said) <= 500


def test_a_broken_file_that_holds_a_secret_says_both_and_repeats_nothing() -> None:
    source = inspected("a.yaml", f"password: {SECRET}\npassword: {SECRET}\n")
    assert {found.code for found in source.findings} == {"source_unreadable", "credential_detected"}
    assert SECRET not in str(source.findings)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.yaml", "k: " * 100_000),
        ("a.yaml", "# c\n" * 100_000 + "a: 1\n"),
        ("a.json", '"' + '\\"' * 200_000),
        ("a.json", '"a' * 200_000),
        ("a.py", "# c\n" * 100_000 + "def f(): pass\n"),
        ("a.sql", "--" + " " * 200_000 + "x\n"),
        ("a.sql", "(" * 200_000),
    ],
)
def test_no_text_costs_more_than_its_length(name: str, text: str) -> None:
    before = time.process_time()
    inspected(name, text)
    assert time.process_time() - before < 5


JUNK = (
    *(
        "a: ",
        "- ",
        "\n",
        "  ",
        '"',
        "'",
        "{",
        "}",
        "[",
        "]",
        "# x",
        "---\n",
        "|\n",
        ": ",
        ",",
        "&a",
    ),
    *("def f():", "@a\n", "x = 1", ";", "--", "/*", "*/", "$$", "\\", "`", "\t", "é", "1"),
)


@pytest.mark.parametrize("name", OPT_IN)
@given(pieces=st.lists(st.sampled_from(JUNK) | st.text(max_size=3), max_size=20))
def test_no_text_makes_a_rendering_fail_in_another_way(name: str, pieces: list[str]) -> None:
    text = "".join(pieces)
    try:
        done = RENDERERS[name](text)
    except SourceUnreadable:
        return
    assert done.endswith("\n")
    assert RENDERERS[name](text) == done
