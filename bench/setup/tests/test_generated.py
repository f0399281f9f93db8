"""What scripts write into the repository: rust-unsafe/transpile.sh --check finds stale output without C2Rust, and
bench/ladder/rebase-patches.sh adapts the patches of the ladder to a changed safe driver."""

import shutil
from pathlib import Path

import pytest
from machine import ROOT, Machine

TRANSPILE, PATCHES = "rust-unsafe/transpile.sh", "bench/ladder/rebase-patches.sh"


@pytest.fixture
def project(machine: Machine, tmp_path: Path) -> Path:
    """A copy of the files that the scripts read, on a machine with the commands that they need."""
    machine.real("cp", "find", "git", "ls", "patch", "sed")
    for folder in ("c/src", "rust", "rust-unsafe", "bench/setup", "bench/ladder"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("target"))
    return tmp_path


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("", None),
        ("c/src/driver/rx.c", "/* changed */"),
        ("c/src/new.c", "int new;"),
        ("rust-unsafe/src/gen/driver/rx.rs", "// edited"),
        ("rust-unsafe/src/gen/SOURCES.sha256", None),
    ],
)
def test_stale_output_of_c2rust_is_found(machine: Machine, project: Path, file: str, text: str | None) -> None:
    if text is not None:
        with (project / file).open("a") as source:
            source.write(text + "\n")
    elif file:
        (project / file).unlink()
    result = machine.run(TRANSPILE, "--check", cwd=project)
    assert result.returncode == (1 if file else 0), result.stdout + result.stderr
    assert Path(file).name in result.stdout + result.stderr


def patches(project: Path) -> dict[str, str]:
    """All patches, by name."""
    folder = project / "bench/ladder"
    return {str(path.relative_to(folder)): path.read_text() for path in folder.glob("*/*.patch")}


def test_patches_that_fit_do_not_change_and_a_rung_can_be_added(machine: Machine, project: Path) -> None:
    before = patches(project)
    result = machine.run(PATCHES, cwd=project)
    assert result.returncode == 0, result.stdout + result.stderr
    assert patches(project) == before
    (project / "bench/ladder/add/18-new.patch").touch()
    assert "add/18-new is applied" in machine.run(PATCHES, "18-new", cwd=project).stdout
    assert machine.run(PATCHES, "99-nothing", cwd=project).returncode == 2
    assert "changes nothing" in machine.run(PATCHES, cwd=project).stdout
    with (project / "build/ladder-patches/add/rust/src/driver/tx.rs").open("a") as source:
        source.write("// more\n")
    assert machine.run(PATCHES, cwd=project).returncode == 0
    after = patches(project)
    assert "+// more" in after.pop("add/18-new.patch")
    assert after == before


def test_after_a_conflict_is_resolved_all_patches_fit(machine: Machine, project: Path) -> None:
    old, new = "let received = batch.count();", "let received: usize = batch.count();"
    source = project / "rust/src/driver/rx.rs"
    assert source.read_text().count(old) == 1
    source.write_text(source.read_text().replace(old, new))
    assert "remove/04-owned-value no longer fits" in machine.run(PATCHES, cwd=project).stdout
    assert "has conflicts" in machine.run(PATCHES, cwd=project).stdout
    assert machine.run(PATCHES, "--abort", cwd=project).returncode == 0
    assert not (project / "build/ladder-patches").exists()
    machine.run(PATCHES, cwd=project)
    for order, resolution in (("remove", ""), ("add", "        let received = packets.len() - held;\n")):
        source = project / f"build/ladder-patches/{order}/rust/src/driver/rx.rs"
        text = source.read_text()
        first, middle, last = (text.index(mark) for mark in ("<<<<<<<", "=======", ">>>>>>>"))
        kept = resolution or text[text.index("\n", middle) + 1 : last]
        source.write_text(text[:first] + kept + text[text.index("\n", last) + 1 :])
        result = machine.run(PATCHES, cwd=project)
    assert result.returncode == 0, result.stdout + result.stderr
    assert f"-        {new}" in patches(project)["remove/04-owned-value.patch"]
    assert f"-        {new}" in patches(project)["add/15-vec-push.patch"]
