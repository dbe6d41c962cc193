"""The words, Italian and English, by which notes show what they are talking about."""

from __future__ import annotations

import re


def _words(*alternatives: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(alternatives)})(?!\w)", re.IGNORECASE)


AMBIGUOUS = re.compile(
    r"\?\?|\(\?\)|\btodo\b|(?<!\w)(?:forse|probabilmente|di solito|a volte|talvolta|mi pare|credo|"
    r"mi sembra|dovrebbe|dipende|non (?:è|e') chiaro|da (?:chiarire|verificare|confermare|capire)|"
    r"chiedere a|non (?:so|sono sicur[oa]|sappiamo)|boh|salvo errore|maybe|perhaps|probably|"
    r"usually|sometimes|it depends|unclear|not sure|to be (?:confirmed|checked|clarified)|tbc|"
    r"i think|should be|ask \w+ (?:before|first))(?!\w)",
    re.IGNORECASE,
)
"""A statement that its own author was not sure of."""

GLOSSARY_HEADING = _words(
    "glossario", "definizion[ei]", "termini", "terminologia", "sigle", "glossary", "definitions?",
    "terms", "terminology", "acronimi", "acronyms",
)  # fmt: skip
VALUES_HEADING = _words(
    "valori", "codifica", "codifiche", "codici", "stati", "values", "codes", "statuses", "enum",
    "legenda", "legend", "domini[oi]? (?:de[il] )?valori", "allowed values", "accepted values",
)  # fmt: skip
RULES_HEADING = _words(
    "normalizzazion[ei]", "abbreviazion[ei]", "sostituzion[ei]", "grafie", "varianti",
    "riscrittur[ae]", "normali[sz]ations?", "abbreviations?", "replacements?", "spellings?",
    "rewrit(?:es?|ing)", "come si scrive", "sinonimi da sostituire",
)  # fmt: skip
GENERIC_HEADING = re.compile(
    r"(?:note?|varie|appunti|altro|formul[ae]|calcol[oi]|esempi[o]?|query|quer(?:y|ies)|sql|link|"
    r"link utili|riferimenti|mappatur[ae]|colonne|definizion[ei]|glossario|valori|codici|"
    r"notes?|misc(?:ellaneous)?|other|formulas?|examples?|links|references?|mappings?|columns|"
    r"definitions?|glossary|values|codes|normalizzazion[ei]|abbreviazion[ei])\W*",
    re.IGNORECASE,
)
"""A heading that says what sort of thing follows, and not what it is about."""

LABEL = re.compile(
    r"(?:nota|note|n\.?b\.?|attenzione|importante|vedi|cfr|fonte|fonti|autor[ei]|data|versione|"
    r"ultimo aggiornamento|aggiornato|varie|todo|esempio|esempi|formula|calcolo|query|sql|link|"
    r"domanda|risposta|limiti|limitazioni|valori|codici|colonna|colonne|tabella|tabelle|"
    r"note|warning|important|see|source|author|date|version|updated|last updated|example|"
    r"question|answer|limitations?|values|codes|columns?|tables?|p\.?s\.?|http|https)",
    re.IGNORECASE,
)
"""A word before a colon that is no term."""

LIMITS = re.compile(
    r"(?:limiti|limitazioni|attenzione|n\.?b\.?|nota bene|avvertenz[ae]|limitations?|caveats?|"
    r"warning|note|nota)\s*:",
    re.IGNORECASE,
)
ANNOUNCED = re.compile(
    r"(?:(?<!\w)(?:formula|formule|calcolo|si calcola|calcolat[oa]|query|espressione|expression|"
    r"is computed|is calculated)(?!\w).{0,120})"
    r"(?::|\.\.\.|…|(?:tbd|todo|da (?:inserire|definire|aggiungere|completare|scrivere|recuperare)|"
    r"manca|mancante|in allegato|segue|to be added|to follow|missing|see attachment)\W*)$",
    re.IGNORECASE | re.DOTALL,
)
"""A formula or query that is announced; when no SQL follows, there is none to be had."""

NOISE = re.compile(
    r"(?:\[\[?_?toc_?\]?\]|\{\{.*\}\}|\{%.*%\}|@generated\b.*|"
    r"(?:ultimo aggiornamento|aggiornato il|last updated|autore|autori|authors?|"
    r"pagina|page|versione|version)\s*:?[^.\n]{0,80}|"
    r".{0,60}(?:generat[oa] automaticamente|auto-?generated|automatically generated|"
    r"do not edit|non modificare)[^\n]{0,120}|"
    r"(?:indice|sommario|table of contents|contents)\s*:?|"
    r"\W*(?:torna (?:su|all['’]indice|alla home|indietro)|back to (?:top|index|home)|"
    r"precedente|successiv[oa]|previous|next|home)\W*(?:(?:\||>|»|/|·)[^.\n]{0,120})?)",
    re.IGNORECASE,
)
"""Navigation and generated lines: no knowledge at all."""

FOREIGN_SQL = re.compile(
    r"`|\[[A-Za-z_]\w*\]|(?<!\w)(?:nvl2?|ifnull|isnull|getdate|datediff|dateadd|to_number|decode|"
    r"sysdate|iff?|rlike|regexp_like|date_format|timestampdiff|group_concat|safe_divide)\s*\(|"
    r"(?<!\w)(?:select\s+top\s+\d|rlike|qualify|sysdate|rownum|dual)(?!\w)|"
    r"::\s*(?:string|number|datetime)(?!\w)",
    re.IGNORECASE,
)
"""Words of other databases than PostgreSQL."""
