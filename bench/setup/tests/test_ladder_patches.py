"""bench/ladder/rebase-patches.sh: it adapts the patches of the ladder to a changed safe driver."""

import shutil
from pathlib import Path

import pytest
from machine import ROOT, Machine

SCRIPT = "bench/ladder/rebase-patches.sh"


@pytest.fixture
def project(tmp_path: Path, machine: Machine) -> Path:
    """A copy of the files that the script reads, on a machine with the commands that it needs."""
    machine.real("cp", "find", "git", "ls", "patch", "sed")
    for folder in ("rust", "c/src", "bench/ladder"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("target"))
    return tmp_path


def patches(project: Path) -> dict[str, str]:
    """All patches, by name."""
    folder = project / "bench/ladder"
    return {str(path.relative_to(folder)): path.read_text() for path in folder.glob("*/*.patch")}


def change(path: Path, old: str, new: str) -> None:
    """Replaces a text that must occur once."""
    text = path.read_text()
    assert text.count(old) == 1, f"{path} has {old!r} {text.count(old)} times"
    path.write_text(text.replace(old, new))


def test_patches_that_fit_do_not_change(machine: Machine, project: Path) -> None:
    before = patches(project)
    result = machine.run(SCRIPT, cwd=project)
    assert result.returncode == 0, result.stdout + result.stderr
    assert patches(project) == before
    assert not (project / "build/ladder-patches").exists()


def test_after_a_conflict_is_resolved_all_patches_fit(machine: Machine, project: Path) -> None:
    line = "let received = batch.count();"
    change(project / "rust/src/driver/rx.rs", line, "let received: usize = batch.count();")
    stopped = machine.run(SCRIPT, cwd=project)
    assert stopped.returncode == 1
    assert "remove/04-owned-value no longer fits" in stopped.stdout
    again = machine.run(SCRIPT, cwd=project)
    assert again.returncode == 1
    assert "has conflicts" in again.stdout

    tree = project / "build/ladder-patches/remove"
    source = tree / "rust/src/driver/rx.rs"
    kept: list[str] = []
    theirs = False
    for text in source.read_text().splitlines(keepends=True):
        if text.startswith(("<<<<<<<", "=======", ">>>>>>>")):
            theirs = text.startswith("<<<<<<<")
        elif not theirs:
            kept.append(text)
    source.write_text("".join(kept))
    result = machine.run(SCRIPT, cwd=project)
    assert "add/15-vec-push no longer fits" in result.stdout
    source = project / "build/ladder-patches/add/rust/src/driver/rx.rs"
    text = source.read_text()
    first, last = text.index("<<<<<<<"), text.index(">>>>>>>\n") + len(">>>>>>>\n")
    source.write_text(text[:first] + "        let received = packets.len() - held;\n" + text[last:])
    result = machine.run(SCRIPT, cwd=project)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "-        let received: usize = batch.count();" in patches(project)["remove/04-owned-value.patch"]
    assert "-        let received: usize = batch.count();" in patches(project)["add/15-vec-push.patch"]


def test_a_rung_can_be_added(machine: Machine, project: Path) -> None:
    before = patches(project)
    (project / "bench/ladder/add/18-new.patch").touch()
    stopped = machine.run(SCRIPT, "18-new", cwd=project)
    assert stopped.returncode == 1
    assert "add/18-new is applied" in stopped.stdout
    unchanged = machine.run(SCRIPT, cwd=project)
    assert unchanged.returncode == 1
    assert "changes nothing" in unchanged.stdout
    with (project / "build/ladder-patches/add/rust/src/driver/tx.rs").open("a") as source:
        source.write("// more\n")
    result = machine.run(SCRIPT, cwd=project)
    assert result.returncode == 0, result.stdout + result.stderr
    after = patches(project)
    assert "+// more" in after.pop("add/18-new.patch")
    assert after == before


def test_abort_removes_the_unfinished_work(machine: Machine, project: Path) -> None:
    machine.run(SCRIPT, "12-ring-bounds", cwd=project)
    assert (project / "build/ladder-patches").exists()
    assert machine.run(SCRIPT, "--abort", cwd=project).returncode == 0
    assert not (project / "build/ladder-patches").exists()


@pytest.mark.parametrize("arguments", [("--frobnicate",), ("99-nothing",), ("12-ring-bounds", "more")])
def test_bad_usage(machine: Machine, project: Path, arguments: tuple[str, ...]) -> None:
    result = machine.run(SCRIPT, *arguments, cwd=project)
    assert result.returncode == 2
    assert result.stderr
