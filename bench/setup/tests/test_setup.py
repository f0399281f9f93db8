"""The set-up scripts on machines that lack a tool, have an old one, or forbid the installation."""

import hashlib
import os
import subprocess
import zipfile
from pathlib import Path

import pytest
from machine import ROOT, Machine

NEEDED = "1.85"  # Cargo.toml's rust-version
ROOT_USER = "echo 0"
PLAIN_USER = "echo 1000"
# An apt-get that simulates installing: each package becomes one command of the same name.
APT_GET = """
case "$*" in *" install "*)
    for word; do
        case "$word" in -*|install) continue ;; esac
        printf '#!/bin/bash\\n' >"{bin}/$word"; chmod +x "{bin}/$word"
    done ;;
esac"""


def complete(machine: Machine) -> Machine:
    """Adds every tool that `setup.sh build` looks for. A test then removes some of them."""
    machine.real("make", "gcc")
    machine.pretend("cargo", 'echo "cargo 1.95.0 (f2d3ce0bd 2026-03-21)"')
    machine.pretend("id", ROOT_USER)
    machine.pretend("apt-get", APT_GET.format(bin=machine.bin))
    return machine


def test_does_nothing_if_nothing_is_missing(machine: Machine) -> None:
    complete(machine)
    result = machine.run("bench/setup/setup.sh", "build")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    assert machine.calls() == ["cargo --version"]


def test_root_announces_and_installs_missing_packages(machine: Machine) -> None:
    complete(machine)
    (machine.bin / "make").unlink()
    result = machine.run("bench/setup/setup.sh", "build")
    assert result.returncode == 0, result.stderr
    assert "installing Debian packages for make build: make\n" in result.stderr
    assert "apt-get -qq update" in machine.calls()
    assert "apt-get -qq -y --no-install-recommends install make" in machine.calls()


def test_a_plain_user_installs_through_sudo(machine: Machine) -> None:
    complete(machine)
    (machine.bin / "make").unlink()
    machine.pretend("id", PLAIN_USER)
    machine.pretend("sudo", 'case "$1" in -n) exit 0 ;; *) exec "$@" ;; esac')
    result = machine.run("bench/setup/setup.sh", "build")
    assert result.returncode == 0, result.stderr
    assert "sudo apt-get -qq update" in machine.calls()


@pytest.mark.parametrize("sudo", [None, "exit 1"], ids=["no sudo", "sudo wants a password"])
def test_a_plain_user_without_sudo_gets_the_command(machine: Machine, sudo: str | None) -> None:
    complete(machine)
    (machine.bin / "make").unlink()
    (machine.bin / "gcc").unlink()
    machine.pretend("id", PLAIN_USER)
    if sudo is not None:
        machine.pretend("sudo", sudo)
    result = machine.run("bench/setup/setup.sh", "build")
    assert result.returncode == 2
    packages = "gcc libc6-dev libsqlite3-dev linux-libc-dev make"
    assert f"sudo apt-get install --no-install-recommends {packages}" in result.stderr
    assert not [call for call in machine.calls() if call.startswith("apt-get")]


def test_a_system_without_apt_gets_the_list_of_packages(machine: Machine) -> None:
    complete(machine)
    (machine.bin / "make").unlink()
    (machine.bin / "apt-get").unlink()
    result = machine.run("bench/setup/setup.sh", "build")
    assert result.returncode == 2
    assert "missing for make build: make" in result.stderr
    assert "no apt-get" in result.stderr


def test_a_failure_of_apt_is_an_error(machine: Machine) -> None:
    complete(machine)
    (machine.bin / "make").unlink()
    machine.pretend("apt-get", "echo 'E: no network' >&2; exit 100")
    result = machine.run("bench/setup/setup.sh", "build")
    assert result.returncode == 2
    assert "E: no network" in result.stderr
    assert "could not install: make" in result.stderr


def test_the_report_needs_the_pdf_libraries(machine: Machine) -> None:
    complete(machine)
    # This Python has venv, but cannot load Pango.
    machine.pretend("python3", 'case "$*" in *ctypes*) exit 1 ;; esac')
    machine.pretend("id", PLAIN_USER)
    result = machine.run("bench/setup/setup.sh", "paper")
    assert result.returncode == 2
    assert "missing for make paper: libpango-1.0-0 libpangoft2-1.0-0" in result.stderr


def test_the_tests_need_the_tools_of_the_tested_scripts(machine: Machine) -> None:
    complete(machine)
    machine.real("git", "valgrind")
    machine.pretend("python3")
    machine.pretend("id", PLAIN_USER)
    result = machine.run("bench/setup/setup.sh", "test")
    assert result.returncode == 2
    packages = "apache2-utils curl iproute2 iputils-ping patch redis-tools socat tshark util-linux wrk xz-utils"
    assert f"missing for make test: {packages}" in result.stderr


def test_a_kernel_with_large_pages_is_refused_with_the_remedy(machine: Machine) -> None:
    complete(machine).pretend("getconf", "echo 16384")
    result = machine.run("bench/setup/setup.sh", "reproduce")
    assert result.returncode == 2
    assert "this one has pages of 16 KiB" in result.stderr
    assert "kernel=kernel8.img" in result.stderr


def test_unknown_goal_is_bad_usage(machine: Machine) -> None:
    result = complete(machine).run("bench/setup/setup.sh", "everything")
    assert result.returncode == 2
    assert "unknown goal 'everything'" in result.stderr


def test_old_cargo_names_both_versions(machine: Machine) -> None:
    machine.pretend("cargo", 'echo "cargo 1.63.0 (fd9c4297c 2022-07-01)"')
    result = machine.run("bench/setup/rust.sh")
    assert result.returncode == 2
    assert "cargo is 1.63.0, but Triptych needs version 1.85 or newer" in result.stderr


@pytest.mark.parametrize("version", ["1.85.0", "1.85.1-nightly", "1.100.0", "2.0.0"])
def test_a_new_cargo_is_accepted(machine: Machine, version: str) -> None:
    machine.pretend("cargo", f'echo "cargo {version}"')
    assert machine.run("bench/setup/rust.sh").returncode == 0


def test_broken_cargo_is_an_error(machine: Machine) -> None:
    machine.pretend("cargo", "exit 1")
    result = machine.run("bench/setup/rust.sh")
    assert result.returncode == 2
    assert "cargo is not working" in result.stderr


def apt_cache(cargo: str, rustup: str, cargo_web: str = "") -> str:
    """An apt-cache that offers these versions; an empty version means that it has no package."""
    return f"""
case "$2" in cargo) version="{cargo}" ;; cargo-web) version="{cargo_web}" ;; rustup) version="{rustup}" ;; esac
[ -z "$version" ] || printf '%s:\\n  Installed: (none)\\n  Candidate: %s\\n' "$2" "$version"
"""


def test_no_cargo_and_no_package_to_install(machine: Machine) -> None:
    machine.pretend("apt-cache", apt_cache(cargo="0.66.0+ds1-1", rustup=""))
    result = machine.run("bench/setup/rust.sh")
    assert result.returncode == 2
    assert f"no version {NEEDED} or newer" in result.stderr
    assert "rustup.rs" in result.stderr


def test_no_cargo_but_a_package_of_cargo(machine: Machine) -> None:
    machine.pretend("id", ROOT_USER)
    machine.pretend("apt-cache", apt_cache(cargo="1.85.0+dfsg3-1", rustup="1.27.1-3"))
    machine.pretend(
        "apt-get",
        f"""printf '#!/bin/bash\\necho "cargo 1.85.0"\\n' >"{machine.bin}/cargo"; chmod +x "{machine.bin}/cargo" """,
    )
    result = machine.run("bench/setup/rust.sh")
    assert result.returncode == 0, result.stderr
    assert "apt-get -qq -y --no-install-recommends install cargo rustc rustfmt rust-clippy" in machine.calls()


def test_no_cargo_but_debian_12s_newer_package(machine: Machine) -> None:
    machine.pretend("id", ROOT_USER)
    machine.pretend("apt-cache", apt_cache(cargo="0.66.0+ds1-1", rustup="", cargo_web="1.96.0+dfsg1-1~deb12u2"))
    machine.pretend(
        "apt-get",
        f"""printf '#!/bin/bash\\necho "cargo 1.96.0"\\n' >"{machine.bin}/cargo"; chmod +x "{machine.bin}/cargo" """,
    )
    result = machine.run("bench/setup/rust.sh")
    assert result.returncode == 0, result.stderr
    assert "apt-get -qq -y --no-install-recommends install cargo-web rustc-web" in machine.calls()


def test_no_cargo_but_a_package_of_rustup(machine: Machine) -> None:
    machine.pretend("id", ROOT_USER)
    machine.pretend("apt-cache", apt_cache(cargo="1.75.0+dfsg0ubuntu1-0ubuntu7", rustup="1.26.0-3"))
    machine.pretend("apt-get")
    machine.pretend(
        "rustup",
        f"""printf '#!/bin/bash\\necho "cargo 1.95.0"\\n' >"{machine.bin}/cargo"; chmod +x "{machine.bin}/cargo" """,
    )
    result = machine.run("bench/setup/rust.sh")
    assert result.returncode == 0, result.stderr
    assert "apt-get -qq -y --no-install-recommends install rustup" in machine.calls()
    assert "rustup default stable" in machine.calls()


def test_lint_needs_rustfmt_and_clippy(machine: Machine) -> None:
    machine.pretend("cargo", 'echo "cargo 1.95.0"')
    machine.pretend("cargo-fmt")
    result = machine.run("bench/setup/rust.sh", "--lint")
    assert result.returncode == 2
    assert "'make lint' needs cargo-clippy, which is missing" in result.stderr


def test_the_needed_version_is_that_of_cargo_toml() -> None:
    assert f'rust-version = "{NEEDED}"' in (ROOT / "Cargo.toml").read_text()


def test_an_old_python_is_an_error(machine: Machine, tmp_path: Path) -> None:
    machine.pretend("python3", 'case "$1" in -c) exit 1 ;; --version) echo "Python 3.9.2" ;; esac')
    result = machine.run("bench/setup/python.sh", str(tmp_path / "venv"), "paper/requirements.txt")
    assert result.returncode == 2
    assert "python3 is Python 3.9.2, but Triptych needs 3.10 or newer" in result.stderr


def pretend_python(machine: Machine) -> None:
    """Adds a Python whose virtual environments record the calls of pip."""
    machine.pretend(
        "python3",
        f"""
[ "$2" != venv ] || {{ mkdir -p "$3/bin"; printf '%s\\n' '#!/bin/bash' \
    'echo "pip $*" >>"{machine.log}"' >"$3/bin/python"; chmod +x "$3/bin/python"; }}""",
    )


def pip_calls(machine: Machine) -> list[str]:
    return [call for call in machine.calls() if call.startswith("pip -m pip")]


def test_installs_python_packages_once(machine: Machine, tmp_path: Path) -> None:
    pretend_python(machine)
    requirements = tmp_path / "requirements.txt"
    requirements.write_text("pandas==2.3.3\n")
    for _ in range(2):
        result = machine.run("bench/setup/python.sh", str(tmp_path / "venv"), str(requirements))
        assert result.returncode == 0, result.stderr
    assert len(pip_calls(machine)) == 1
    assert result.stderr == ""

    requirements.write_text("pandas==2.3.4\n")
    result = machine.run("bench/setup/python.sh", str(tmp_path / "venv"), str(requirements))
    assert "pandas==2.3.4" in result.stderr
    assert len(pip_calls(machine)) == 2


def wheel(folder: Path) -> str:
    """Writes a Python package without code to the folder, and returns its hash."""
    file = folder / "empty-1.0-py3-none-any.whl"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("empty.py", "")
        archive.writestr("empty-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: empty\nVersion: 1.0\n")
        archive.writestr("empty-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr("empty-1.0.dist-info/RECORD", "")
    return hashlib.sha256(file.read_bytes()).hexdigest()


def test_refuses_python_packages_without_the_right_hash(tmp_path: Path) -> None:
    digest = wheel(tmp_path)
    requirements = tmp_path / "requirements.txt"
    environment = {**os.environ, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path)}

    def install(requirement: str) -> subprocess.CompletedProcess[str]:
        requirements.write_text(requirement)
        command = [ROOT / "bench/setup/python.sh", tmp_path / "venv", requirements]
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)

    other = install(f"empty==1.0 --hash=sha256:{'0' * 64}\n")
    assert other.returncode == 2
    assert "hash that differs" in other.stderr
    without = install("empty==1.0\n")
    assert without.returncode == 2
    assert "--hash" in without.stderr
    right = install(f"empty==1.0 --hash=sha256:{digest}\n")
    assert right.returncode == 0, right.stderr
    python = tmp_path / "venv/bin/python"
    subprocess.run([python, "-c", "import empty"], timeout=60, check=True)


def test_makes_a_new_venv_if_the_old_one_is_broken(machine: Machine, tmp_path: Path) -> None:
    pretend_python(machine)
    requirements = tmp_path / "requirements.txt"
    requirements.write_text("pandas==2.3.3\n")
    (tmp_path / "venv").mkdir()
    result = machine.run("bench/setup/python.sh", str(tmp_path / "venv"), str(requirements))
    assert result.returncode == 0, result.stderr
    assert "is broken" in result.stderr
    assert len(pip_calls(machine)) == 1


def test_hugepages_needs_a_number(machine: Machine) -> None:
    result = machine.run("bench/setup/hugepages.sh", "many")
    assert result.returncode == 2
    assert "usage: hugepages.sh [COUNT]" in result.stderr


def pinned(name: str) -> str:
    """Returns a version from bench/setup/versions.sh."""
    versions = (ROOT / "bench/setup/versions.sh").read_text()
    (version,) = [line.partition("=")[2] for line in versions.splitlines() if line.startswith(f"{name}=")]
    return version


def test_the_containerfile_and_the_hosted_ci_use_the_pinned_rust() -> None:
    assert f"FROM rust:{pinned('RUST')}-" in (ROOT / "Containerfile").read_text()
    assert f"rustup toolchain install {pinned('RUST')} " in (ROOT / ".github/workflows/ci.yml").read_text()


def test_the_makefile_uses_the_pinned_version_of_clang() -> None:
    assert f"\nCLANG := {pinned('CLANG')}\n" in (ROOT / "Makefile").read_text()
