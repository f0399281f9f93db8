""".ci/checks: it counts the results of all test runners and reports every failure."""

import re
import shutil
import time
from pathlib import Path

import pytest
from machine import ROOT, Machine

GOALS = (ROOT / ".ci/checks").read_text().partition("TESTS=(")[2].partition(")")[0].split()
COUNT = len(GOALS)


@pytest.fixture
def project(machine: Machine, tmp_path: Path) -> Path:
    """A folder that holds only .ci/checks."""
    machine.real("make")
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci/checks", tmp_path / ".ci/checks")
    part = tmp_path / ".ci/part"
    part.write_text('#!/bin/sh\nexec make --no-print-directory "$1"\n')
    part.chmod(0o755)
    return tmp_path


def write_makefile(project: Path, **recipes: str) -> None:
    """Writes goals that succeed silently, except those in `recipes` (with _ for -)."""
    rules = [f"{goal}:\n\t@{recipes.get(goal.replace('-', '_'), 'true')}\n" for goal in GOALS]
    (project / "Makefile").write_text("".join(rules))


def test_in_ci_a_failure_that_happens_once_is_reported_as_flaky(machine: Machine, project: Path) -> None:
    machine.environment["CI"] = "true"
    write_makefile(
        project,
        test_conformance="if [ -e tried ]; then echo '7 passed, 0 failed'; exit 0; fi; touch tried; "
        "echo '6 passed, 1 failed'; echo 'not ok: it came late'; exit 1",
    )
    result = machine.run(".ci/checks", cwd=project)
    assert result.returncode == 0
    assert "not ok: it came late" in result.stdout
    assert "FLAKY: test-conformance passed only at the second try" in result.stdout
    assert "it came late" in (project / "build/logs/test-conformance.first.log").read_text()
    assert result.stdout.splitlines()[-1] == f"{7 + COUNT - 1} passed, 0 failed"


@pytest.mark.parametrize(
    ("recipe", "said", "passed", "failed"),
    [
        ("echo 'skipped: no lists'", "SKIPPED: vm-test, no lists", COUNT - 1, 0),
        ("echo 'skipped: no lists'; exit 1", "FAILED: vm-test", COUNT - 1, 1),
        ("echo '4 passed, 0 failed'; exit 1", "FAILED: vm-test", COUNT + 3, 1),
        ("echo '2 failed, 5 passed in 1.02s'; exit 1", "FAILED: vm-test, see build/logs/vm-test.log", COUNT + 4, 2),
        (r"printf 'test result: ok. %d passed; 0 failed; 1 ignored\n' 12 3", "", COUNT + 14, 0),
        ("seq 2000; echo 'test ring::wraps ... FAILED'; seq 2000; exit 1", "ring::wraps ... FAILED", COUNT - 1, 1),
    ],
)
def test_what_a_goal_says_decides_how_it_counts(
    machine: Machine, project: Path, recipe: str, said: str, passed: int, failed: int
) -> None:
    machine.real("seq")
    write_makefile(project, vm_test=recipe, budget="echo last")
    result = machine.run(".ci/checks", cwd=project)
    assert result.returncode == min(failed, 1)
    assert said in result.stdout
    assert (project / "build/logs/budget.log").read_text() == "last\n"
    # A CI system may keep only a part of the output, so the output is short.
    assert len(result.stdout) < 4000
    assert result.stdout.splitlines()[-1] == f"{passed} passed, {failed} failed"


def test_an_interrupt_ends_the_goals_that_run(machine: Machine, project: Path) -> None:
    machine.real("sleep")
    # The goal interrupts the script, which is the parent of make.
    interrupt = "kill -TERM $$(awk '{print $$4}' /proc/$$PPID/stat)"
    write_makefile(project, test_unit_rust=f"echo $$$$ >pid; {interrupt}; sleep 100; true")
    result = machine.run(".ci/checks", cwd=project)
    assert result.returncode == 1
    # The second goal may still run.
    assert re.search("^stopped: .*test-unit-rust", result.stdout, re.MULTILINE)
    shell = Path(f"/proc/{(project / 'pid').read_text().strip()}/cmdline")
    deadline = time.monotonic() + 20
    while shell.exists() and shell.read_text():
        assert time.monotonic() < deadline, "the goal still runs"
        time.sleep(0.05)
