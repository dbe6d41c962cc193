"""Pi is started with nothing but what it needs, and its every end has a code."""

from __future__ import annotations

import json
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evidence.adapters.pi import PiRestructurer
from evidence.adapters.skill import SKILL, skill_digest
from evidence.environment import PiSettings
from evidence.faults import Fault
from evidence.ports import Restructurer
from tests.evidence.pi.stand_ins import (
    EMPTY_ANSWER,
    REQUEST,
    a_program,
    a_restructurer,
    obedient,
)

AT_FILE = "@/etc/passwd ; rm -rf / $(id)\n"


def seen_by(program: Path) -> list[dict[str, Any]]:
    """Give what an obedient program was given, call by call."""
    return [json.loads(line) for line in Path(f"{program}.seen").read_text().splitlines()]


def refusal(restructurer: Restructurer) -> Fault:
    """Give the fault of asking about the usual source."""
    with pytest.raises(Fault) as refused:
        restructurer.restructure(REQUEST)
    return refused.value


def test_pi_gets_the_skill_as_system_prompt_no_tools_and_no_session(tmp_path: Path) -> None:
    program = obedient(tmp_path)
    a_restructurer(program, provider="openai", model="m-35b").restructure(REQUEST)
    (seen,) = seen_by(program)
    arguments = seen["arguments"]
    assert arguments[-6:] == [
        "--system-prompt",
        str(SKILL),
        "--provider",
        "openai",
        "--model",
        "m-35b",
    ]
    assert {"--print", "--no-tools", "--no-session", "--no-extensions", "--no-skills"} <= set(
        arguments
    )
    assert {"--no-context-files", "--no-prompt-templates"} <= set(arguments)


def test_no_argument_comes_from_a_note_whatever_stands_in_it(tmp_path: Path) -> None:
    program = obedient(tmp_path)
    request = replace(REQUEST, normalized_text=AT_FILE, curator_notes=(AT_FILE,))
    a_restructurer(program).restructure(request)
    (seen,) = seen_by(program)
    assert not [each for each in seen["arguments"] if each.startswith("@") or "passwd" in each]
    message = json.loads(seen["message"])
    assert (message["normalized_text"], message["curator_notes"]) == (AT_FILE, [AT_FILE])


def test_the_message_is_the_request(tmp_path: Path) -> None:
    program = obedient(tmp_path)
    a_restructurer(program).restructure(REQUEST)
    message = json.loads(seen_by(program)[0]["message"])
    assert message == {
        "source_file": "source/età.md",
        "source_sha256": REQUEST.source_sha256,
        "language": "it",
        "curator_notes": [],
        "previous_units": [],
        "normalized_text": REQUEST.normalized_text,
    }


def test_the_environment_is_ours_and_what_the_operator_lists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    monkeypatch.setenv("PORTAL_SECRET_KEY", "secret")
    monkeypatch.setenv("PI_SESSION_FILE", "elsewhere")
    program = obedient(tmp_path)
    a_restructurer(program, env=("OPENAI_API_KEY", "HOME", "NOT_SET")).restructure(REQUEST)
    environment = seen_by(program)[0]["environment"]
    environment.pop("LC_CTYPE", None)  # Python's own, in the stand-in
    assert set(environment) == {
        "PATH",
        "LANG",
        "HOME",
        "PI_OFFLINE",
        "PI_CODING_AGENT_DIR",
        "OPENAI_API_KEY",
    }
    assert (environment["LANG"], environment["PI_OFFLINE"]) == ("C.UTF-8", "1")
    assert environment["HOME"] != str(Path.home())


def test_each_call_has_folders_and_a_session_of_its_own(tmp_path: Path) -> None:
    program = obedient(tmp_path)
    restructurer = a_restructurer(program)
    restructurer.restructure(REQUEST)
    restructurer.restructure(REQUEST)
    first, second = seen_by(program)
    for name in ("HOME", "PI_CODING_AGENT_DIR"):
        assert first["environment"][name] != second["environment"][name]
        assert not Path(first["environment"][name]).exists()
    assert first["session"]
    assert not Path(first["folder"]).exists()
    assert first["agent"] == ["settings.json"]


def test_an_agent_folder_that_the_operator_configured_is_used(tmp_path: Path) -> None:
    program = obedient(tmp_path)
    configured = tmp_path / "agent"
    configured.mkdir()
    (configured / "models.json").write_text("{}")
    a_restructurer(program, agent_dir=configured).restructure(REQUEST)
    (seen,) = seen_by(program)
    assert seen["environment"]["PI_CODING_AGENT_DIR"] == str(configured)
    assert seen["agent"] == ["models.json"]


def test_a_restructurer_says_which_model_reads_by_which_skill() -> None:
    restructurer = PiRestructurer(PiSettings(provider="p", model="m"), debug=Path("/nowhere"))
    assert (restructurer.name, restructurer.local) == ("pi", False)
    assert (restructurer.model, restructurer.skill_digest) == ("p/m", skill_digest())


def test_a_missing_program_is_not_found(tmp_path: Path) -> None:
    assert refusal(a_restructurer(tmp_path / "nowhere")).code == "pi_not_found"


def test_a_program_whose_interpreter_is_missing_is_not_found(tmp_path: Path) -> None:
    program = tmp_path / "pi"
    program.write_text("#!/nowhere/node\n")
    program.chmod(0o755)
    assert refusal(a_restructurer(program)).code == "pi_not_found"


@pytest.mark.parametrize("version", ["0.73.0", "0.9.12", "v0.72.4"])
def test_an_older_pi_is_refused_before_it_reads_a_note(tmp_path: Path, version: str) -> None:
    program = a_program(tmp_path, f"print({EMPTY_ANSWER!r}); open(__file__ + '.ran', 'w')")
    program.write_text(program.read_text().replace("1.6.0", version))
    fault = refusal(a_restructurer(program))
    assert fault.code == "pi_too_old"
    assert version.strip("v") in fault.message
    assert not Path(f"{program}.ran").exists()


@pytest.mark.parametrize("version", ["0.73.1", "1.6.0", "pi 2.0.0-beta.1", "of our own"])
def test_a_newer_pi_and_a_wrapper_without_a_version_are_taken(tmp_path: Path, version: str) -> None:
    program = a_program(tmp_path, f"print({EMPTY_ANSWER!r})", version=version)
    assert a_restructurer(program).restructure(REQUEST) == ()


def test_the_version_is_asked_once(tmp_path: Path) -> None:
    code = f"print({EMPTY_ANSWER!r})"
    program = a_program(tmp_path, code)
    count = "open(__file__ + '.asked', 'a').write('x')"
    program.write_text(program.read_text().replace("    print(", f"    {count}\n    print(", 1))
    restructurer = a_restructurer(program)
    for _ in range(3):
        restructurer.restructure(REQUEST)
    assert Path(f"{program}.asked").read_text() == "x"


def test_what_was_said_is_in_a_file_for_the_operator_and_in_no_message(tmp_path: Path) -> None:
    program = a_program(tmp_path, "print('raw-answer'); print('raw-complaint', file=sys.stderr)")
    fault = refusal(a_restructurer(program))
    assert fault.code == "pi_output_invalid"
    assert "raw" not in json.dumps(fault.as_json())
    (kept,) = (tmp_path / "debug").iterdir()
    assert kept.name in fault.hint
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert b"raw-answer" in kept.read_bytes()
    assert b"raw-complaint" in kept.read_bytes()


def test_only_the_newest_debug_files_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evidence.adapters.debug_files.KEPT", 2)
    restructurer = a_restructurer(obedient(tmp_path))
    for _ in range(3):
        restructurer.restructure(REQUEST)
    assert len(list((tmp_path / "debug").iterdir())) == 2


def test_a_folder_that_cannot_be_written_costs_no_answer(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "debug").write_text("a file where the folder should be")
    assert a_restructurer(obedient(tmp_path)).restructure(REQUEST) == ()
    assert "could be kept" in caplog.text
