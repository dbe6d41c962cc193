"""Notes and units shown as HTML: what is highlighted, and what never lives."""

from __future__ import annotations

import pytest
from django.utils.safestring import mark_safe

from evidence.admin.differences import words_changed
from evidence.admin.passages import Passage, highlight
from evidence.admin.rendering import render_markdown

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "[x](vbscript:msgbox(1))",
    "![x](https://elsewhere.example/pixel.png)",
    "![x](javascript:alert(1))",
    '<a href="https://x" onclick="alert(1)">x</a>',
    '<div x-data="alert(1)" x-init="alert(1)">x</div>',
    '<form action="/admin/"><button>x</button></form>',
    '<iframe src="//elsewhere.example"></iframe>',
    "<style>body{display:none}</style>",
    "<meta http-equiv=refresh content=0>",
    "[x](&#106;avascript:alert(1))",
    '<https://x/" onmouseover=alert(1)>',
    "<base href='//elsewhere.example/'>",
]
ALIVE = (
    "<script",
    "<img",
    "<svg",
    "<iframe",
    "<form",
    "<style",
    "<meta",
    "<base",
    "<div",
    '="javascript',
    '="data:',
    '="vbscript',
)


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_hostile_in_a_note_lives(text: str) -> None:
    html = render_markdown(f"Prima.\n\n{text}\n\nDopo.").lower()
    assert not [sign for sign in ALIVE if sign in html]
    opened = [part.split(">")[0] for part in html.split("<")[1:]]
    assert not [tag for tag in opened if " on" in tag or " x-" in tag]
    assert "prima." in html
    assert "dopo." in html


def test_tables_lists_code_and_links_of_a_note_are_shown() -> None:
    text = (
        "# Titolo\n\n- uno\n- due\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```sql\nSELECT 1\n```\n\n"
    )
    html = render_markdown(text + "[guida](https://example.org/guida)")
    for part in ("<h1>", "<li>uno</li>", "<td>2</td>", "SELECT 1"):
        assert part in html
    assert 'href="https://example.org/guida" rel="noopener noreferrer nofollow"' in html


def test_a_passage_is_marked_though_emphasis_cuts_it() -> None:
    html = render_markdown("Sono **pediatrici** i pazienti con meno di 18 anni.")
    marked = highlight(html, [Passage("Sono **pediatrici** i pazienti", "u1", "Fascia")])
    assert marked.count("<mark") == 3
    assert marked.count('id="u1"') == 1
    assert "Sono </mark><strong>" in marked
    assert "con meno di 18 anni." in marked.rpartition("</mark>")[2]


def test_a_table_row_is_marked_though_its_bars_are_gone() -> None:
    html = render_markdown("| codice | senso |\n|---|---|\n| 01 | medico |\n| 02 | chirurgico |")
    marked = highlight(html, [Passage("| 02 | chirurgico |", "u1", "Regime")])
    assert '<td><span id="u1"></span><mark class="ep-mark" title="Regime">02</mark></td>' in marked
    assert ">medico<" in marked


def test_two_units_that_quote_the_same_words_share_the_mark() -> None:
    passages = [Passage("ricovero ordinario", "u1", "Uno"), Passage("ordinario", "u2", "Due")]
    marked = highlight(render_markdown("Il ricovero ordinario."), passages)
    assert 'title="Uno; Due"' in marked
    assert marked.count("<mark") == 2


def test_a_passage_that_is_not_there_leaves_the_note_as_it_is() -> None:
    html = render_markdown("Il ricovero & il resto.")
    assert highlight(html, [Passage("altro", "u1", "x")]) == html


def test_a_title_cannot_break_out_of_the_mark() -> None:
    marked = highlight(mark_safe("<p>ricovero</p>"), [Passage("ricovero", 'a"b', '"><script>')])
    assert "<script>" not in marked
    assert 'a"b' not in marked


def test_words_that_changed_are_told_from_those_that_stayed() -> None:
    runs = words_changed("meno di 18 anni", "meno di 16 anni")
    assert [(run.change, run.text) for run in runs] == [
        ("same", "meno di "),
        ("out", "18"),
        ("in", "16"),
        ("same", " anni"),
    ]


def test_a_very_long_text_is_compared_by_line() -> None:
    before = "parola " * 5000 + "\nfine\n"
    runs = words_changed(before, before.replace("fine", "inizio"))
    assert [run.change for run in runs] == ["same", "out", "in"]
