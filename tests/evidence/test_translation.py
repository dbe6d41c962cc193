"""Messages in the reader's language, whatever they carry."""

from __future__ import annotations

from django.utils.translation import override

from evidence.messages import Message
from evidence.translation import filled, sentence

DOUBT = "The kind was guessed from the wording. Is it right?"


def test_a_doubt_inside_a_finding_speaks_the_language_of_its_reader() -> None:
    values = {"code": "kind_inferred", "message": DOUBT}
    with override("it"):
        said = filled("Open review item %(code)s: %(message)s", values)
    assert said == (
        "Punto da verificare kind_inferred: Il tipo è stato dedotto dalla formulazione. È giusto?"
    )


def test_what_somebody_else_wrote_of_a_doubt_stays_as_it_is() -> None:
    values = {"code": "x", "message": "100 % of “DH”?"}
    with override("it"):
        assert filled("Open review item %(code)s: %(message)s", values).endswith("100 % of “DH”?")
        assert filled("Open review item %(code)s: %(message)s", {"code": "x", "message": ""})


def test_a_message_inside_a_message_is_translated_too() -> None:
    inner = Message("This must be a list.")
    with override("it"):
        said = sentence(Message("%(field)s: %(problem)s", field="purposes", problem=inner))
    assert said == "purposes: Deve essere un elenco."
