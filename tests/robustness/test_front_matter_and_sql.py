"""Damaged files, unedited saves and hostile SQL in large numbers (spec 90, Figures to reach)."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

import pglast
import sqlglot
import yaml
from hypothesis import HealthCheck, given, settings
from sqlglot.errors import SqlglotError

from evidence.domain.codec import dump_curated_markdown, parse_curated_markdown
from evidence.domain.sql import check_query
from evidence.domain.sql_tokens import SqlRefused
from evidence.domain.units import CuratedEvidence, UnitInvalid
from tests.evidence.domain.drawn import units
from tests.evidence.domain.test_codec import FILE, mutated
from tests.evidence.domain.test_sql import BOMBS, EXPRESSIONS, accepts, postgresql_accepts
from tests.robustness.counts import times
from tests.robustness.figures import Figures

TAKEN = [text for label, text in EXPRESSIONS if label == "accept"]
WORDS = [word for text in TAKEN for word in text.split()]
WORDS += ["rlike", "div", "qualify", "top", "::", "{", "`", ";", "--", "/*", "limit", "null", "as"]
PATH = "curated/formula/x.md"

Reading = Callable[[str], object]


def undecided(read: Reading, text: str) -> bool:
    """Tell whether a file is neither read nor refused with code, path and line."""
    try:
        read(text)
    except UnitInvalid as refused:
        last = text.count("\n") + 2
        return not (refused.code and refused.path == PATH and 1 <= (refused.line or 0) <= last)
    except Exception:  # noqa: BLE001 - a crash is what is counted
        return True
    return False


def undecided_of(read: Reading, count: int) -> int:
    """Count the files, damaged by chance, that are not decided."""
    drawn = random.Random(90)  # noqa: S311 - no secret is made here
    return sum(undecided(read, mutated(drawn)) for _ in range(count))


def test_a_damaged_file_is_read_or_refused_with_code_path_and_line(figures: Figures) -> None:
    count = times(10_000)
    wrong = undecided_of(lambda text: parse_curated_markdown(text, path=PATH), count)
    words = f"{count:,} mutated files: {wrong} crashes or refusals without a place"
    figures.measured("front matter", words, holds=not wrong)


def test_a_reading_with_pyyaml_alone_would_be_noticed(figures: Figures) -> None:
    wrong = undecided_of(lambda text: yaml.safe_load(text.split("\n---\n")[0]), 500)
    figures.caught("front matter", f"PyYAML alone: {wrong} of 500 undecided", noticed=wrong > 0)


def test_an_unedited_save_changes_no_byte(figures: Figures) -> None:
    saved: list[CuratedEvidence] = []

    @settings(max_examples=times(1_000), deadline=None, suppress_health_check=list(HealthCheck))
    @given(units)
    def saves(unit: CuratedEvidence) -> None:
        text = dump_curated_markdown(unit)
        assert changed(text, dump_curated_markdown) == 0
        saved.append(unit)

    saves()
    words = f"{len(saved):,} unedited saves: 0-byte diff"
    figures.measured("front matter", words, holds=len(saved) >= times(1_000))


def changed(text: str, dump: Callable[[CuratedEvidence], str]) -> int:
    """Count the lines that a save without an edit adds, drops or changes."""
    before, after = text.split("\n"), dump(parse_curated_markdown(text)).split("\n")
    return sum(one != other for one, other in zip(before, after, strict=False)) + abs(
        len(before) - len(after)
    )


def test_a_save_that_writes_yaml_in_its_own_style_would_be_noticed(figures: Figures) -> None:
    def restyled(unit: CuratedEvidence) -> str:
        fields = unit.model_dump(mode="json", exclude={"body"}, exclude_none=True)
        return f"---\n{yaml.safe_dump(fields, allow_unicode=True)}---\n{unit.body}"

    lines = changed(FILE, restyled)
    figures.caught("front matter", f"YAML restyled: {lines} lines differ", noticed=lines > 0)


def mutated_sql(drawn: random.Random) -> str:
    words = drawn.choice(TAKEN).split(" ")
    for _ in range(drawn.randint(1, 3)):
        place = drawn.randrange(len(words) + 1)
        words[place : place + drawn.randint(0, 1)] = drawn.choices(WORDS, k=drawn.randint(0, 2))
    return " ".join(words)


def test_no_expression_is_accepted_that_postgresql_refuses() -> None:
    drawn = random.Random(91)  # noqa: S311 - no secret is made here
    accepted = 0
    for _ in range(times(50_000)):
        text = mutated_sql(drawn)
        if accepts(text):
            accepted += 1
            assert postgresql_accepts(text), text
    assert accepted > times(50_000) // 20


def test_no_query_is_accepted_that_postgresql_refuses() -> None:
    drawn = random.Random(92)  # noqa: S311 - no secret is made here
    for _ in range(times(20_000)):
        text = f"SELECT {mutated_sql(drawn)} AS x FROM t WHERE {mutated_sql(drawn)}"  # noqa: S608 - never run
        try:
            check_query(text)
        except SqlRefused:
            continue
        assert len(pglast.parse_sql(text.removesuffix(";"))) == 1


def seconds_to_refuse(judge: Callable[[str], bool], bomb: str) -> float:
    """Give how long a judge took; for ever, when it took the bomb in or broke down."""
    started = time.process_time()
    try:
        taken = judge(bomb)
    except (RecursionError, MemoryError):
        taken = True
    return float("inf") if taken else time.process_time() - started


def test_every_bomb_is_refused_within_a_tenth_of_a_second(figures: Figures) -> None:
    # The best of three: a machine that is busy elsewhere takes its time now and then.
    slowest = max(
        min(seconds_to_refuse(accepts, bomb) for _ in range(3)) for bomb in BOMBS.values()
    )
    words = f"{len(BOMBS)} bombs refused, the slowest in {slowest * 1000:.0f} ms"
    figures.measured("SQL bombs", words, holds=len(BOMBS) >= 40 and slowest < 0.1)


def test_sqlglot_as_the_only_judge_would_be_noticed(figures: Figures) -> None:
    def naive(text: str) -> bool:
        try:
            sqlglot.parse_one(text, read="postgres")
        except SqlglotError:
            return False
        return True

    names = ("closed parentheses", "pluses", "a list", "selects")
    missed = [name for name in names if seconds_to_refuse(naive, BOMBS[name]) > 0.1]
    figures.caught("SQL bombs", f"sqlglot alone: {', '.join(missed)}", noticed=bool(missed))
