"""The Makefile: the names of its goals, the text that `make help` prints, and what a long step prints."""

import os
import re
import subprocess

import pytest
from machine import ROOT, output

MAKEFILE = (ROOT / "Makefile").read_text()
GOALS = " ".join(re.findall(r"^([a-z0-9 -]+):", MAKEFILE, re.MULTILINE)).split()
PARTS = re.findall(r"^([a-z-]+)\) ## ", (ROOT / ".ci/part").read_text(), re.MULTILINE)


def test_help_prints_one_sentence_a_goal() -> None:
    goals = [line for line in output("make", "help").splitlines() if line.startswith("  make ")]
    assert 10 < len(goals) <= 18
    assert [line for line in goals if not re.fullmatch(r"  make [a-z0-9-]+ +[A-Z].*\.", line) or len(line) > 120] == []


def test_texts_name_only_goals_that_exist() -> None:
    unknown = set()
    for name in output("git", "ls-files").splitlines():
        # The changelog lists old names, and the tests of the set-up scripts use their own.
        if name == "CHANGELOG.md" or name.startswith("bench/setup/tests/") or not (ROOT / name).is_file():
            continue
        text = (ROOT / name).read_bytes().decode("utf-8", errors="ignore")
        # A page's blocks may be indented.
        goals = re.findall(r"(?:`|^ {0,4})make ([a-z][a-z0-9-]*)", text, re.MULTILINE)
        unknown |= {f"{name}: make {goal}" for goal in goals if goal not in GOALS}
        parts = re.findall(r"`(?:make test ONLY=|\.ci/part )([a-z-]+)", text)
        unknown |= {f"{name}: .ci/part {part}" for part in parts if part not in PARTS}
    assert unknown == set()


@pytest.mark.parametrize(
    ("goals", "ci", "strict"),
    [
        (["c-programs"], "true", True),
        (["c-programs"], "", False),
        (["into-c", "INTO=build/variants/no-lto", "C_LTO="], "true", False),
        (["into-c", "INTO=/nonexistent"], "true", False),
    ],
)
def test_only_the_default_build_treats_warnings_as_errors_in_ci(goals: list[str], ci: str, strict: bool) -> None:
    planned = output("make", "--dry-run", "--always-make", *goals, CI=ci)
    assert "c/src/driver/rx.c" in planned
    assert ("-Werror" in planned) == strict


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
