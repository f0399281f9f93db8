"""The version: all programs print it, and all files that name it agree."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from machine import ROOT

PROGRAMS = {
    "build/bin/nic": "nic",
    "build/bin/triptych": "triptych",
    "build/bin/code-size": "code-size",
    "build/bin/apps/kv": "kv",
    "build/bin/apps/balancer": "balancer",
    "build/bin/apps/http": "http",
    "build/bin/apps/node": "node",
    "build/bin/apps/node-controller": "node-controller",
    "build/cargo/release/apps-hostile": "apps-hostile",
    "build/cargo/release/safety": "safety",
    "build/bin/c/ixgbe-fwd": "ixgbe-fwd",
    "build/bin/rust/ixgbe-fwd": "ixgbe-fwd",
    "build/bin/rust-unsafe/ixgbe-fwd": "ixgbe-fwd",
}


def version() -> str:
    """The version in the workspace's Cargo.toml."""
    match = re.search(r'^version = "([^"]+)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)
    assert match is not None
    return match.group(1)


def test_every_crate_has_the_version_of_the_workspace() -> None:
    members = re.findall(r'^    "([^"]+)",$', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)
    others = [
        member for member in members if "version.workspace = true" not in (ROOT / member / "Cargo.toml").read_text()
    ]
    assert others == []


def test_citation_and_changelog_have_the_version() -> None:
    assert f"\nversion: {version()}\n" in (ROOT / "CITATION.cff").read_text()
    newest = re.search(r"^## \[([^]]+)]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest is not None
    assert newest.group(1) == version()


@pytest.mark.parametrize("module", ["table", "report", "example"])
def test_every_python_program_prints_the_version(module: str) -> None:
    command = [sys.executable, "-m", f"triptych_paper.{module}", "--version"]
    result = subprocess.run(command, cwd=ROOT / "paper", capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout.strip()) == (0, f"triptych_paper {version()}")


@pytest.mark.parametrize(("path", "name"), PROGRAMS.items(), ids=PROGRAMS)
def test_every_program_prints_the_version(path: str, name: str) -> None:
    program = ROOT / path
    if not Path(program).exists():
        pytest.skip("not built; `make test` builds it first")
    result = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=10, check=False)
    assert (result.returncode, result.stdout.strip()) == (0, f"{name} {version()}")
