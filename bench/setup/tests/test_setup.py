"""The set-up scripts on machines that lack a tool, have an old one, or forbid the installation."""

import hashlib
import re
from pathlib import Path

import pytest
from machine import ROOT, Machine

SETUP, RUST, PYTHON = (f"bench/setup/{name}.sh" for name in ("setup", "rust", "python"))
INSTALL = "apt-get -qq -y --no-install-recommends install "
# An apt-get that makes one command for each package, and dpkg-query that lists them as installed.
APT_GET = """
[[ "$*" != *" install "* ]] || for name in ${{*##* install }}; do
    printf '#!/bin/bash\\n' >"{bin}/$name"; chmod +x "{bin}/$name"
done"""
DPKG_QUERY = 'for word; do case "$word" in -*|{lacking}) ;; *) printf "%s=installed " "$word" ;; esac; done'


def complete(machine: Machine, lacking: str = "none") -> Machine:
    """A machine of root with all packages but these (`a|b`), and a Rust that is new enough."""
    machine.pretend("cargo", 'echo "cargo 1.95.0 (f2d3ce0bd 2026-03-21)"')
    machine.pretend("id", "echo 0")
    machine.pretend("apt-get", APT_GET.format(bin=machine.bin))
    machine.pretend("dpkg-query", DPKG_QUERY.format(lacking=lacking))
    return machine


@pytest.mark.parametrize("sudo", ["", 'case "$1" in -n) exit 0 ;; *) exec "$@" ;; esac'])
def test_announces_and_installs_missing_packages_once(machine: Machine, sudo: str) -> None:
    complete(machine, "make")
    if sudo:
        machine.pretend("id", "echo 1000")
        machine.pretend("sudo", sudo)
    result = machine.run(SETUP, "build")
    assert result.returncode == 0, result.stderr
    assert "installing Debian packages for make build: make\n" in result.stderr
    again = machine.run(SETUP, "build")
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "")
    assert [call for call in machine.calls() if call.startswith("apt-get")] == ["apt-get -qq update", f"{INSTALL}make"]


@pytest.mark.parametrize(
    ("command", "script", "said"),
    [
        ("id", "echo 1000", "sudo apt-get install --no-install-recommends make gcc"),
        ("sudo", "exit 1", "sudo apt-get install --no-install-recommends make gcc"),
        ("apt-get", None, "missing for make build: make gcc"),
        ("apt-get", "echo 'E: no network' >&2; exit 100", "E: no network"),
    ],
)
def test_what_cannot_be_installed_is_listed(machine: Machine, command: str, script: str | None, said: str) -> None:
    complete(machine, "make|gcc")
    if command == "sudo":
        machine.pretend("id", "echo 1000")
    if script is None:
        (machine.bin / command).unlink()
    else:
        machine.pretend(command, script)
    result = machine.run(SETUP, "build")
    assert result.returncode == 2
    assert said in result.stderr


@pytest.mark.parametrize(
    ("goal", "package"),
    [
        *(("peers", "git"), ("reproduce", "valgrind"), ("reproduce", "python3-venv"), ("apps", "wrk")),
        *(("paper", "libpango-1.0-0"), ("cluster", "munge"), ("test", "xz-utils"), ("test", "socat")),
        ("lint", "clang-tidy-19"),
    ],
)
def test_each_goal_has_its_packages_in_the_containerfile(machine: Machine, goal: str, package: str) -> None:
    complete(machine, package).pretend("id", "echo 1000")
    result = machine.run(SETUP, goal)
    assert f"missing for make {goal}: {package}\n" in result.stderr


@pytest.mark.parametrize(
    ("script", "argument", "said"),
    [
        (SETUP, "everything", "unknown goal 'everything'"),
        (SETUP, "reproduce", "this one has pages of 16 KiB"),
        ("bench/setup/hugepages.sh", "many", "usage: hugepages.sh"),
        ("rust-unsafe/transpile.sh", "--frobnicate", "usage: "),
        ("bench/ladder/rebase-patches.sh", "--frobnicate", ""),
    ],
)
def test_bad_usage_and_large_pages_are_refused(machine: Machine, script: str, argument: str, said: str) -> None:
    complete(machine).pretend("getconf", "echo 16384")
    result = machine.run(script, argument)
    assert result.returncode == 2
    assert said in result.stderr


@pytest.mark.parametrize(
    ("cargo", "said"),
    [
        ("echo cargo 1.63.0 ", "cargo is 1.63.0, but Triptych needs version 1.85 or newer"),
        ("exit 1", "cargo is not working"),
        ("echo cargo 1.100.0-nightly", ""),
    ],
)
def test_the_version_of_cargo(machine: Machine, cargo: str, said: str) -> None:
    machine.pretend("cargo", cargo)
    result = machine.run(RUST)
    assert result.returncode == (2 if said else 0)
    assert said in result.stderr


@pytest.mark.parametrize(
    ("offered", "installed"),
    [
        ({"cargo": "0.66.0+ds1-1"}, ""),
        ({"cargo": "1.85.0+dfsg3-1", "rustup": "1.27.1-3"}, "cargo rustc rustfmt rust-clippy"),
        ({"cargo": "0.66.0+ds1-1", "cargo-web": "1.96.0+dfsg1-1~deb12u2"}, "cargo-web rustc-web"),
        ({"cargo": "1.75.0+dfsg0ubuntu1", "rustup": "1.26.0-3"}, "rustup"),
    ],
)
def test_without_cargo_the_newest_package_is_installed(
    machine: Machine, offered: dict[str, str], installed: str
) -> None:
    machine.pretend("id", "echo 0")
    lines = " ".join(f"{name}) echo '  Candidate: {version}' ;;" for name, version in offered.items())
    machine.pretend("apt-cache", f'case "$2" in {lines} esac')
    cargo = f"""printf '#!/bin/bash\\necho "cargo 1.96.0"\\n' >"{machine.bin}/cargo"; chmod +x "{machine.bin}/cargo" """
    machine.pretend("apt-get", "true" if installed == "rustup" else cargo)
    machine.pretend("rustup", cargo)
    result = machine.run(RUST)
    assert result.returncode == (0 if installed else 2), result.stderr
    assert f"{INSTALL}{installed}" in machine.calls() if installed else "no version 1.85 or newer" in result.stderr


def test_lint_needs_rustfmt_clippy_and_machete(machine: Machine) -> None:
    machine.pretend("cargo", 'echo "cargo 1.95.0"')
    assert "'make lint' needs cargo-fmt, which is missing" in machine.run(RUST, "--lint").stderr
    machine.real("find")
    for tool in ("cargo-fmt", "cargo-clippy"):
        machine.pretend(tool)
    assert machine.run(RUST, "--lint").returncode == 0
    assert any(call.startswith("cargo install cargo-machete --version ") for call in machine.calls())


def test_python_packages_need_a_new_python_and_are_installed_once(machine: Machine, tmp_path: Path) -> None:
    venv, file = tmp_path / "venv", tmp_path / "new.txt"
    venv.mkdir()  # a broken environment
    file.write_text("empty==1.0 --hash=sha256:0\n")
    machine.pretend("python3", 'case "$1" in -c) exit 1 ;; --version) echo "Python 3.9.2" ;; esac')
    result = machine.run(PYTHON, str(venv), str(file))
    assert result.returncode == 2
    assert "is broken" in result.stderr and "python3 is Python 3.9.2, but Triptych needs 3.10" in result.stderr
    machine.pretend(
        "python3", f'[ "$2" != venv ] || {{ mkdir -p "{venv}/bin"; cp "{machine.bin}/python3" "{venv}/bin/python"; }}'
    )
    assert "empty==1.0" in machine.run(PYTHON, str(venv), str(file)).stderr
    assert sum("--require-hashes --only-binary :all:" in call for call in machine.calls()) == 1
    assert machine.run(PYTHON, str(venv), str(file)).stderr == ""


COMPILERS = ("gcc-11", "gcc-12", "clang-13", "clang-14", "clang-15")
TOOLCHAINS = ("1.90.0", "1.95.0", "1.96.0")


@pytest.mark.parametrize(
    ("compilers", "toolchains", "status"),
    [(COMPILERS, TOOLCHAINS, 0), (COMPILERS[:4], TOOLCHAINS, 1), (COMPILERS, TOOLCHAINS[:2], 1)],
)
def test_compilers_are_installed_or_named(
    machine: Machine, compilers: tuple[str, ...], toolchains: tuple[str, ...], status: int
) -> None:
    complete(machine, "*-*")
    machine.pretend("apt-cache", f'[[ " {" ".join(compilers)} " != *" $2 "* ]] || echo "  Candidate: 1:1.0"')
    machine.pretend("rustup", f'[ "$*" != "toolchain list" ] || printf "%s-x86_64\\n" {" ".join(toolchains)}')
    result = machine.run("bench/setup/compilers.sh")
    assert result.returncode == status, result.stderr
    assert f"{INSTALL}{' '.join(compilers)}" in machine.calls()
    assert "this system's packages do not include gcc-13" in result.stderr
    assert f"{len(compilers)} C compilers and {len(toolchains)} Rust toolchains are installed" in result.stderr
    assert "rustup --quiet toolchain install 1.85.1 --profile minimal --component llvm-tools" in machine.calls()
    assert "rustup --quiet component add llvm-tools --toolchain 1.90.0-x86_64" in machine.calls()


def test_the_oldest_rust_is_checked_installed_or_skipped(machine: Machine) -> None:
    script = "bench/setup/msrv.sh"
    assert machine.run(script).stdout.startswith("skipped: Rust 1.85 is not installed")
    machine.pretend("rustup", "echo 1.8.0-x86_64")
    machine.run(script, "--install")
    assert "rustup --quiet toolchain install 1.85 --profile minimal" in machine.calls()
    machine.pretend("rustup", "echo 1.85.0-x86_64")
    machine.pretend("cargo", 'echo "by $RUSTUP_TOOLCHAIN"; exit 101')
    result = machine.run(script)
    assert (result.returncode, result.stdout) == (101, "by 1.85.0-x86_64\n")


@pytest.mark.parametrize("name", ["vm", "pmu-guest"])
def test_a_guest_is_fetched_once_or_the_reason_comes_last(machine: Machine, name: str) -> None:
    setup = f"bench/setup/{name}.sh"
    machine.pretend("uname", "echo x86_64")
    machine.pretend("rustc", "echo /")
    machine.environment["TRIPTYCH_DEBIAN_MIRROR"] = "file:///nowhere"
    machine.real("dpkg-deb", "gzip", "xz", "flock", "ln", "uniq", "find", "tar")
    folder = machine.folder / f".cache/triptych/{name}-trixie"
    assert "missing for make test ONLY=" in machine.run(setup).stderr.splitlines()[-1]
    for said, reason in (("Could not resolve", "is there a network?"), ("NO_PUBKEY", "upgrade the package")):
        machine.pretend("apt-get", f'case "$*" in *update*) echo "{said}" >&2; exit 100 ;; esac')
        result = machine.run(setup)
        assert result.returncode == 2
        assert reason in result.stderr.splitlines()[-1]
    assert {path.suffix for path in folder.parent.iterdir()} <= {".lock"}
    folder.mkdir()
    names = (f"{name}.sh", "debian.sh", "guest-init.sh")
    sources = b"".join((ROOT / "bench/setup" / file).read_bytes() for file in names)
    (folder / "recipe").write_text(hashlib.sha256(sources).hexdigest()[:16] + "\n")
    result = machine.run(setup)
    assert (result.returncode, result.stdout.strip()) == (0, str(folder)), result.stderr
    folder.parent.chmod(0o777)
    assert "all users may write to the folder" in machine.run(setup).stderr


def test_pinned_versions_are_the_same_everywhere() -> None:
    def read(file: str, pattern: str) -> str:
        found = re.search(pattern, (ROOT / file).read_text(), re.MULTILINE)
        assert found is not None, f"{file} has no {pattern}"
        return found[1]

    rust = read("bench/setup/versions.sh", "^RUST=(.*)$")
    assert read("Containerfile", "^FROM rust:([^-]*)-") == rust
    assert read(".github/workflows/ci.yml", "rustup toolchain install ([^ ]*) ") == rust
    clang = read("bench/setup/versions.sh", "^CLANG=(.*)$")
    assert read("Containerfile", "clang-format-([0-9]+)") == clang
    version = read("Cargo.toml", '^version = "([^"]+)"')
    assert read("CITATION.cff", "^version: (.*)$") == version == read("CHANGELOG.md", r"^## \[([^]]+)]")
    for member in re.findall(r'^    "([^"]+)",$', (ROOT / "Cargo.toml").read_text(), re.MULTILINE):
        assert read(f"{member}/Cargo.toml", r"^(version\.workspace = true)$")
