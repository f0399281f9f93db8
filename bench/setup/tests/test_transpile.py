"""rust-unsafe/transpile.sh --check without C2Rust: the recorded hashes reveal stale output."""

import shutil
from pathlib import Path

import pytest
from machine import ROOT, Machine

SCRIPT = "rust-unsafe/transpile.sh"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the files that the script reads."""
    for folder in ("c/src", "rust-unsafe", "bench/setup"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    return tmp_path


def test_fresh_output_passes(machine: Machine, project: Path) -> None:
    result = machine.run(SCRIPT, "--check", cwd=project)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "up to date, by its hashes" in result.stdout


def test_reports_a_changed_c_file(machine: Machine, project: Path) -> None:
    with (project / "c/src/driver/rx.c").open("a") as source:
        source.write("/* changed */\n")
    result = machine.run(SCRIPT, "--check", cwd=project)
    assert result.returncode == 1
    assert "c/src/driver/rx.c" in result.stdout
    assert "run 'make transpile'" in result.stderr


def test_reports_a_new_c_file(machine: Machine, project: Path) -> None:
    (project / "c/src/new.c").write_text("int new;\n")
    result = machine.run(SCRIPT, "--check", cwd=project)
    assert result.returncode == 1
    assert "c/src/new.c" in result.stdout


def test_reports_an_edited_output_file(machine: Machine, project: Path) -> None:
    with (project / "rust-unsafe/src/gen/driver/rx.rs").open("a") as output:
        output.write("// edited\n")
    result = machine.run(SCRIPT, "--check", cwd=project)
    assert result.returncode == 1
    assert "rust-unsafe/src/gen/driver/rx.rs" in result.stdout


def test_reports_missing_hashes(machine: Machine, project: Path) -> None:
    (project / "rust-unsafe/src/gen/SOURCES.sha256").unlink()
    result = machine.run(SCRIPT, "--check", cwd=project)
    assert result.returncode == 1
    assert "SOURCES.sha256 is missing" in result.stderr


def test_bad_usage(machine: Machine, project: Path) -> None:
    assert machine.run(SCRIPT, "--frobnicate", cwd=project).returncode == 2
