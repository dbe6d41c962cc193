"""`evaluation.yaml`: the exam every candidate generation sits (spec 50, Evaluation)."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import BeforeValidator, Field, model_validator

from evidence.domain.file_models import FileModel, Version, Words, empty_list, read_model
from evidence.domain.identifiers import EvidenceId
from evidence.domain.problems import FieldRefused
from evidence.domain.text import Text, distinct
from evidence.domain.units import EvidencePurpose
from evidence.faults import CuratorFault
from evidence.messages import Message, gettext_noop


class EvaluationInvalid(CuratorFault):
    """`evaluation.yaml` does not say what it must; the message names the field."""

    code = "evaluation_invalid"
    path = "evaluation.yaml"
    hint = gettext_noop("Correct evaluation.yaml.")


class Profile(StrEnum):
    """What a question leans on: its very words, its meaning, or both."""

    LEXICAL = "lexical"
    SEMANTIC = "semantic"
    MIXED = "mixed"


QuestionText = Annotated[Text, Field(max_length=20_000)]


class Question(FileModel):
    """One question of the exam and the ids of which one must be found."""

    id: Words
    query: QuestionText
    profile: Annotated[Profile, Field(strict=False)]
    purpose: Annotated[EvidencePurpose, Field(strict=False)]
    expected: Annotated[
        tuple[EvidenceId, ...], Field(strict=False, min_length=1), BeforeValidator(empty_list)
    ]


class EvaluationSet(FileModel):
    """All questions, and some that this workspace does not answer."""

    schema_version: Version
    queries: Annotated[
        tuple[Question, ...], Field(strict=False, min_length=1), BeforeValidator(empty_list)
    ]
    off_topic: Annotated[
        tuple[QuestionText, ...], Field(strict=False), BeforeValidator(empty_list)
    ] = ()

    @model_validator(mode="after")
    def _ids_are_distinct_and_profiles_complete(self) -> EvaluationSet:
        distinct(self.queries, key=lambda query: query.id, label=lambda query: query.id)
        present = {query.profile for query in self.queries}
        for profile in Profile:
            if profile not in present:
                template = gettext_noop("There is no question with the profile %(profile)s.")
                raise FieldRefused(Message(template, profile=profile.value))
        return self


def parse_evaluation(text: str) -> EvaluationSet:
    """Read `evaluation.yaml`. Raises `EvaluationInvalid`, for broken YAML too."""
    return read_model(EvaluationSet, text, EvaluationInvalid)
