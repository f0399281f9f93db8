"""The Makefile: the names of its goals, and the text that `make help` prints."""

import re
import subprocess

import pytest
from machine import ROOT

MAKEFILE = (ROOT / "Makefile").read_text()
GOALS = re.findall(r"^([a-z0-9-]+):", MAKEFILE, re.MULTILINE)
# Users and other programs rely on these names.
PUBLIC = """
    test reproduce bench paper table compilers ladder vm-test budget lint format hugepages build clean transpile
    registers safety
""".split()  # noqa: SIM905, words are easier to read than a list of this length


def help_lines() -> list[str]:
    result = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    return result.stdout.splitlines()


@pytest.mark.parametrize("goal", PUBLIC)
def test_public_goals_keep_their_names(goal: str) -> None:
    assert goal in GOALS
    result = subprocess.run(["make", "--dry-run", goal], cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def test_help_prints_one_sentence_a_goal() -> None:
    goals = [line for line in help_lines() if line.startswith("  make ")]
    assert len(goals) > 30
    assert [line for line in goals if not re.fullmatch(r"  make [a-z0-9-]+ +[A-Z].*\.", line)] == []


def test_help_fits_a_terminal_of_120_columns() -> None:
    assert [line for line in help_lines() if len(line) > 120] == []


def test_texts_name_only_goals_that_exist() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    unknown = set()
    for name in listed.splitlines():
        # The changelog lists old names, and the tests of the set-up scripts use their own.
        if name == "CHANGELOG.md" or name.startswith("bench/setup/tests/") or not (ROOT / name).is_file():
            continue
        text = (ROOT / name).read_bytes().decode("utf-8", errors="ignore")
        for goal in re.findall(r"`make ([a-z0-9-]+)", text):
            if goal not in GOALS:
                unknown.add(f"{name}: make {goal}")
    assert unknown == set()
