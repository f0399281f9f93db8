""".ci/checks: what it counts, and that a failure is never lost."""

import shutil
from pathlib import Path

import pytest
from machine import ROOT, Machine

GOALS = (
    "registers-check transpile-check msrv unit-rust unit-c unit-python conformance safety-check vm-test "
    "bench-micro-check ladder-check budget sanitize-check"
)
COUNT = len(GOALS.split())


@pytest.fixture
def project(machine: Machine, tmp_path: Path) -> Path:
    """A folder with .ci/checks and nothing else."""
    machine.real("make")
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci/checks", tmp_path / ".ci/checks")
    return tmp_path


def write_makefile(project: Path, **recipes: str) -> None:
    """Goals that succeed silently, but for those in `recipes` (with _ for -)."""
    rules = [f"{goal}:\n\t@{recipes.get(goal.replace('-', '_'), 'true')}\n" for goal in GOALS.split()]
    (project / "Makefile").write_text("".join(rules))


def last_line(output: str) -> str:
    return output.splitlines()[-1]


def test_sums_up_all_runners(machine: Machine, project: Path) -> None:
    write_makefile(
        project,
        unit_rust=r"printf 'test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out\n%s\n' "
        "'test result: ok. 3 passed; 0 failed; 0 ignored'",
        unit_python="echo '5 passed, 1 skipped in 0.12s'",
        unit_c="echo '4 passed, 0 failed'",
    )
    result = machine.run(".ci/checks", cwd=project)
    assert result.returncode == 0, result.stdout + result.stderr
    # Five goals count nothing and are one check each.
    assert last_line(result.stdout) == f"{12 + 3 + 5 + 4 + COUNT - 3} passed, 0 failed"


def test_goes_on_after_a_failure(machine: Machine, project: Path) -> None:
    write_makefile(
        project,
        registers_check="false",
        unit_python="echo '2 failed, 5 passed in 1.02s'; exit 1",
        budget="echo last",
    )
    result = machine.run(".ci/checks", cwd=project)
    assert result.returncode == 1
    assert "last" in (project / "build/logs/budget.log").read_text()
    assert "FAILED: make unit-python, see build/logs/unit-python.log" in result.stdout
    assert last_line(result.stdout) == f"{5 + COUNT - 2} passed, 3 failed"
    assert "2 failed, 5 passed" in (project / "build/logs/unit-python.log").read_text()


def test_shows_of_a_failure_what_failed_and_of_a_success_nothing(machine: Machine, project: Path) -> None:
    noise = "for i in $$(seq 2000); do echo a line of no interest $$i; done"
    machine.real("seq")
    write_makefile(
        project,
        unit_rust=f"{noise}; echo 'test ring::wraps ... FAILED'; {noise}; echo the last line; exit 1",
        unit_c="echo 'test result: ok. 4 passed; 0 failed'",
    )
    result = machine.run(".ci/checks", cwd=project)
    assert "test ring::wraps ... FAILED" in result.stdout
    assert "the last line" in result.stdout
    assert "test result" not in result.stdout
    # What was printed may be kept in part only, so all of it is little.
    assert len(result.stdout) < 4000


def test_a_failure_that_does_not_come_twice_is_told_and_no_failure(machine: Machine, project: Path) -> None:
    machine.real("ls")
    machine.environment["CI"] = "true"
    write_makefile(
        project,
        conformance="if ls tried 2>/dev/null; then echo '7 passed, 0 failed'; exit 0; fi; touch tried; "
        "echo '6 passed, 1 failed'; echo 'not ok: it came late'; exit 1",
    )
    result = machine.run(".ci/checks", cwd=project)
    assert result.returncode == 0
    assert "not ok: it came late" in result.stdout
    assert "FLAKY: make conformance passed at the second try only" in result.stdout
    assert "it came late" in (project / "build/logs/conformance.first.log").read_text()
    assert last_line(result.stdout) == f"{7 + COUNT - 1} passed, 0 failed"


def test_by_hand_a_goal_that_fails_is_tried_once(machine: Machine, project: Path) -> None:
    write_makefile(project, conformance="echo tried >>tries; exit 1")
    assert machine.run(".ci/checks", cwd=project).returncode == 1
    assert (project / "tries").read_text() == "tried\n"


def test_a_goal_that_breaks_after_its_tests_passed_is_a_failure(machine: Machine, project: Path) -> None:
    write_makefile(project, unit_c="echo '4 passed, 0 failed'; exit 1")
    result = machine.run(".ci/checks", cwd=project)
    assert result.returncode == 1
    assert last_line(result.stdout) == f"{4 + COUNT - 1} passed, 1 failed"


def test_what_is_skipped_is_named_and_counts_as_nothing(machine: Machine, project: Path) -> None:
    write_makefile(project, vm_test="echo 'skipped: no lists to be had'")
    result = machine.run(".ci/checks", cwd=project)
    assert result.returncode == 0
    assert "SKIPPED: make vm-test, no lists to be had" in result.stdout
    assert last_line(result.stdout) == f"{COUNT - 1} passed, 0 failed"


def test_a_goal_that_fails_is_not_skipped(machine: Machine, project: Path) -> None:
    write_makefile(project, vm_test="echo 'skipped: no lists to be had'; exit 1")
    result = machine.run(".ci/checks", cwd=project)
    assert result.returncode == 1
    assert "FAILED: make vm-test" in result.stdout
    assert last_line(result.stdout) == f"{COUNT - 1} passed, 1 failed"


def test_goals_before_the_tests(machine: Machine, project: Path) -> None:
    write_makefile(project)
    with (project / "Makefile").open("a") as makefile:
        makefile.write("lint:\n\t@false\n")
    result = machine.run(".ci/checks", "lint", cwd=project)
    assert result.returncode == 1
    assert result.stdout.index("== make lint") < result.stdout.index("== make registers-check")
    assert last_line(result.stdout) == f"{COUNT} passed, 1 failed"
