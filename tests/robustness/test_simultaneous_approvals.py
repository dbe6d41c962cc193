"""Four people approve at one instant, in four processes (spec 90, Figures: approvals)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.everything import postgresql
from tests.robustness.counts import times
from tests.robustness.figures import Figures
from tests.robustness.programs import Program

APPROVERS = ("anna", "bruno", "carla", "dario")
ROUNDS = 40
SOON_S = 0.15
"""Long enough for four programs to read an order and wait for the instant."""
Round = list[list[str]]


@contextmanager
def sqlite() -> Iterator[str]:
    yield ""


@contextmanager
def approvers(
    home: Path, database_url: str, *, bug: bool = False
) -> Iterator[tuple[list[Program], list[list[str]]]]:
    """Arrange the workspace and start one program a person; each knows the revisions."""
    home.mkdir(exist_ok=True)
    with Program("arrange", home, PORTAL_DATABASE_URL=database_url) as arrange:
        arrange.ready()
        made = arrange.ask(approvers=APPROVERS, revisions=len(APPROVERS), bug=bug)
    assert made is not None, "the workspace could not be arranged"
    with ExitStack() as stack:
        started = [
            stack.enter_context(Program("approver", home, PORTAL_DATABASE_URL=database_url))
            for _ in APPROVERS
        ]
        for program in started:
            program.ready()
        yield started, made


def play(
    programs: list[Program], made: list[list[str]], *, rounds: int, bug: bool = False
) -> list[Round]:
    """Let everybody approve a revision of their own at once, and take the winner's back."""
    played = []
    for number in range(rounds):
        at = time.monotonic() + SOON_S
        for place, program in enumerate(programs):
            # Of the last revisions, in turns: nobody wins because of the revision.
            revision, digest = made[(number + place) % len(made)]
            program.tell(
                username=APPROVERS[place], revision=revision, digest=digest, at=at, bug=bug
            )
        told = [program.hear() for program in programs]
        played.append(told)
        assert programs[0].ask(username=APPROVERS[0]) == ["cancelled"]
    return played


def counted(played: list[Round]) -> tuple[int, int, int]:
    """Give the winners, the refusals that name a winner, and the rounds with exactly one winner."""
    winners = refusals = decided = 0
    for told in played:
        won = [APPROVERS[place] for place, words in enumerate(told) if words == ["won"]]
        winners += len(won)
        decided += len(won) == 1
        refusals += sum(
            words[0] == "approval_open" and any(name in words[1] for name in won) for words in told
        )
    return winners, refusals, decided


@pytest.mark.parametrize(("name", "database"), [("SQLite", sqlite), ("PostgreSQL", postgresql)])
def test_of_four_who_approve_at_once_one_wins_and_three_are_told_who(
    name: str, database: Callable[[], AbstractContextManager[str]], figures: Figures, tmp_path: Path
) -> None:
    rounds = times(ROUNDS)
    with (
        database() as url,
        approvers(tmp_path / "home", url) as (programs, made),
    ):
        winners, refusals, decided = counted(play(programs, made, rounds=rounds))
    figures.measured(
        "approvals",
        f"{name}, 4 x {rounds}: {winners} winners, {refusals} refusals that name the winner",
        holds=winners == decided == rounds and refusals == 3 * rounds,
    )


def test_a_check_before_the_write_is_noticed(figures: Figures, tmp_path: Path) -> None:
    with approvers(tmp_path / "home", "", bug=True) as (programs, made):
        winners, _, decided = counted(play(programs, made, rounds=10, bug=True))
    noticed = winners > 10 and decided < 10
    figures.caught("approvals", "an approval that is looked for and then written", noticed=noticed)
