"""llvm-mca.sh: finds LLVM's programs in the pinned version, installs them, or says how to get them."""

import shutil
from pathlib import Path

import pytest
from machine import ROOT, Machine

SCRIPT = "bench/setup/llvm-mca.sh"
VERSION = "99"  # no system has it


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the set-up scripts that pins LLVM 99."""
    folder = tmp_path / "project"
    shutil.copytree(ROOT / "bench/setup", folder / "bench/setup", ignore=shutil.ignore_patterns("tests", "__pycache__"))
    versions = folder / "bench/setup/versions.sh"
    text = versions.read_text()
    assert "\nLLVM_MCA=22\n" in text
    versions.write_text(text.replace("\nLLVM_MCA=22\n", f"\nLLVM_MCA={VERSION}\n"))
    return folder


def programs(folder: Path, version: str) -> Path:
    """A folder with programs that print this version."""
    folder.mkdir()
    for name in ("llvm-mca", "llvm-mc"):
        (folder / name).write_text(f"#!/bin/bash\necho 'LLVM version {version}'\n")
        (folder / name).chmod(0o755)
    return folder


def test_prints_the_folder_that_the_variable_names(machine: Machine, project: Path) -> None:
    folder = programs(machine.folder / "llvm", "99.1.0")
    machine.environment["TRIPTYCH_LLVM"] = str(folder)
    result = machine.run(SCRIPT, cwd=project)
    assert (result.returncode, result.stdout, result.stderr) == (0, f"{folder}\n", "")


@pytest.mark.parametrize("version", ["98.1.0", "9.9.1", "990.1.0"])
def test_refuses_another_version(machine: Machine, project: Path, version: str) -> None:
    machine.environment["TRIPTYCH_LLVM"] = str(programs(machine.folder / "llvm", version))
    result = machine.run(SCRIPT, cwd=project)
    assert result.returncode == 2
    assert "TRIPTYCH_LLVM" in result.stderr


def test_only_looks_if_asked_to(machine: Machine, project: Path) -> None:
    machine.pretend("apt-get")
    result = machine.run(SCRIPT, "--installed", cwd=project)
    assert (result.returncode, machine.calls()) == (2, [])
    assert SCRIPT in result.stderr


def test_installs_the_package(machine: Machine, project: Path) -> None:
    machine.pretend("id", "echo 0")
    machine.pretend("apt-cache", "echo '  Candidate: 1:99.1'")
    machine.pretend("apt-get")
    result = machine.run(SCRIPT, cwd=project)
    assert "apt-get -qq -y --no-install-recommends install llvm-99" in machine.calls()
    # The simulated package installs nothing, and the script notices.
    assert result.returncode == 2


def test_a_plain_user_learns_what_to_install(machine: Machine, project: Path) -> None:
    machine.pretend("id", "echo 1000")
    machine.pretend("apt-cache", "echo '  Candidate: 1:99.1'")
    machine.pretend("apt-get")
    result = machine.run(SCRIPT, cwd=project)
    assert result.returncode == 2
    assert "sudo apt-get install --no-install-recommends llvm-99" in result.stderr


def test_names_the_way_where_no_package_exists(machine: Machine, project: Path) -> None:
    machine.pretend("id", "echo 0")
    machine.pretend("apt-cache", "echo '  Candidate: (none)'")
    machine.pretend("apt-get")
    result = machine.run(SCRIPT, cwd=project)
    assert result.returncode == 2
    assert "TRIPTYCH_LLVM=" in result.stderr
    assert "apt-get -qq update" in machine.calls()


def test_refuses_unknown_arguments(machine: Machine) -> None:
    result = machine.run(SCRIPT, "--help-me")
    assert (result.returncode, result.stdout) == (2, "")
