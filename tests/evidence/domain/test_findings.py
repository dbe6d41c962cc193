from __future__ import annotations

import pytest

from evidence.domain.findings import (
    Severity,
    finding,
    finding_of,
    report_of,
    severity_of,
)
from evidence.domain.normalization import InvalidUtf8


def test_a_code_that_the_specification_lacks_has_no_severity() -> None:
    with pytest.raises(KeyError):
        severity_of("made_up")


def test_a_long_message_is_cut_at_five_hundred_characters() -> None:
    assert len(finding("unit_invalid", "a.md", "%(x)s", x="y" * 900).message) == 500


def test_a_message_keeps_its_template_for_translation() -> None:
    found = finding_of(InvalidUtf8(3, "cp1252"), "a.md")
    assert (found.code, found.severity) == ("invalid_utf8", Severity.ERROR)
    assert found.message.values == {"offset": 3, "encoding": "cp1252"}


def test_a_finding_is_printed_as_four_plain_texts() -> None:
    assert finding("hidden_text", "a.md", "Hidden.").as_json() == {
        "severity": "warning",
        "code": "hidden_text",
        "path": "a.md",
        "message": "Hidden.",
    }


def test_a_thousand_warnings_do_not_hide_an_error() -> None:
    warnings = [finding("hidden_text", f"{number:04}", "Hidden.") for number in range(1_000)]
    report = report_of(
        [*warnings, finding("unit_invalid", "z", "Broken.")], open_review_items=0, orphans=0
    )
    assert report.findings[0].code == "unit_invalid"
    assert (report.omitted, report.publishable) == (1, False)
