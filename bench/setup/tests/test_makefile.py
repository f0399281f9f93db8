"""The Makefile: the names of its goals, the text that `make help` prints, and what a long step prints."""

import os
import re
import subprocess

import pytest
from machine import ROOT

MAKEFILE = (ROOT / "Makefile").read_text()
GOALS = re.findall(r"^([a-z0-9-]+):", MAKEFILE, re.MULTILINE)
PARTS = re.findall(r"^([a-z-]+)\) ## ", (ROOT / ".ci/part").read_text(), re.MULTILINE)


def test_help_prints_one_sentence_a_goal() -> None:
    said = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    goals = [line for line in said.splitlines() if line.startswith("  make ")]
    assert 10 < len(goals) <= 18
    assert [line for line in goals if not re.fullmatch(r"  make [a-z0-9-]+ +[A-Z].*\.", line) or len(line) > 120] == []


def test_texts_name_only_goals_that_exist() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    unknown = set()
    for name in listed.splitlines():
        # The changelog lists old names, and the tests of the set-up scripts use their own.
        if name == "CHANGELOG.md" or name.startswith("bench/setup/tests/") or not (ROOT / name).is_file():
            continue
        text = (ROOT / name).read_bytes().decode("utf-8", errors="ignore")
        unknown |= {f"{name}: make {goal}" for goal in re.findall(r"`make ([a-z0-9-]+)", text) if goal not in GOALS}
        parts = re.findall(r"`(?:make test ONLY=|\.ci/part )([a-z-]+)", text)
        unknown |= {f"{name}: .ci/part {part}" for part in parts if part not in PARTS}
    assert unknown == set()


def test_only_the_default_build_treats_warnings_as_errors_in_ci() -> None:
    def strict(*goals: str, ci: str) -> bool:
        command = ["make", "--dry-run", "--always-make", *goals]
        planned = subprocess.run(
            command, cwd=ROOT, env=os.environ | {"CI": ci}, capture_output=True, text=True, check=True
        ).stdout
        assert "c/src/driver/rx.c" in planned
        return "-Werror" in planned

    assert strict("c-programs", ci="true")
    assert not strict("c-programs", ci="")
    assert not strict("into-c", "INTO=build/variants/no-lto", "C_LTO=", ci="true")
    assert not strict("into-c", "INTO=/nonexistent", ci="true")


@pytest.mark.parametrize(
    ("command", "limit", "status", "said"),
    [
        ("sleep 1.5; echo result", "1", 0, r"building the work\nresult\nbuilt the work in [12] s\n"),
        ("echo result", "9", 0, "result\n"),
        ("exit 3", "9", 3, "failed: the work, after 0 s\n"),
    ],
)
def test_a_step_says_what_it_does_if_it_takes_long_or_fails(command: str, limit: str, status: int, said: str) -> None:
    recipe = ["bash", "-euo", "pipefail", "-c", f". bench/setup/step.sh the work; {command}"]
    environment = os.environ | {"STEP_SECONDS": limit}
    done = subprocess.run(recipe, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=30)
    assert done.returncode == status
    assert re.fullmatch(said, done.stdout), done.stdout
