"""The Makefile: the names of its goals, the text that `make help` prints, and what a long step prints."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from machine import ROOT

MAKEFILE = (ROOT / "Makefile").read_text()
GOALS = re.findall(r"^([a-z0-9-]+):", MAKEFILE, re.MULTILINE)
PARTS = re.findall(r"^([a-z-]+)\) ## ", (ROOT / ".ci/part").read_text(), re.MULTILINE)


def help_lines() -> list[str]:
    result = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    return result.stdout.splitlines()


def test_help_prints_one_sentence_a_goal() -> None:
    goals = [line for line in help_lines() if line.startswith("  make ")]
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


def test_a_rebuild_of_the_c_driver_warns_of_nothing(tmp_path: Path) -> None:
    done = subprocess.run(
        ["make", "into-c", f"INTO={tmp_path}"], cwd=ROOT, capture_output=True, text=True, check=True, timeout=300
    )
    assert (tmp_path / "c" / "ixgbe-fwd").is_file()
    assert done.stdout + done.stderr == ""


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


def step(command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a recipe that calls itself "the work"."""
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", f". bench/setup/step.sh the work; {command}"],
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )


@pytest.mark.parametrize(
    ("command", "limit", "status", "said"),
    [
        ("sleep 1.5; echo result", "1", 0, r"building the work\nresult\nbuilt the work in [12] s\n"),
        ("echo result", "9", 0, "result\n"),
        ("exit 3", "9", 3, "failed: the work, after 0 s\n"),
    ],
)
def test_a_step_says_what_it_does_if_it_takes_long_or_fails(command: str, limit: str, status: int, said: str) -> None:
    done = step(command, STEP_SECONDS=limit)
    assert done.returncode == status
    assert re.fullmatch(said, done.stdout), done.stdout


PROGRAMS = [
    *(f"build/bin/{name}" for name in ("nic", "triptych", "code-size")),
    *(f"build/bin/apps/{name}" for name in ("kv", "balancer", "http", "node", "node-controller")),
    *(f"build/bin/{driver}/ixgbe-fwd" for driver in ("c", "rust", "rust-unsafe")),
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_program_prints_the_version(program: str) -> None:
    if not (ROOT / program).exists():
        pytest.skip("not built; `make test` builds it first")
    version = re.search(r'^version = "([^"]+)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)
    said = subprocess.run([ROOT / program, "--version"], capture_output=True, text=True, timeout=10, check=False).stdout
    assert version is not None and said.strip() == f"{Path(program).name} {version[1]}"


def test_each_step_of_a_build_says_what_it_does() -> None:
    planned = subprocess.run(
        ["make", "--dry-run", "tools", "drivers", "variants-c", "variants-rust"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert len(re.findall(r"step\.sh '", planned)) == 10
