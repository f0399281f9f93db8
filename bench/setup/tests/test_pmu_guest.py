"""pmu-guest.sh on systems where it cannot fetch the machine: it gives the reason and leaves no files."""

import hashlib

import pytest
from machine import ROOT, Machine

SCRIPT = "bench/setup/pmu-guest.sh"


@pytest.fixture
def x86(machine: Machine) -> Machine:
    """A machine on which Rust has the libraries of the guest."""
    machine.pretend("uname", "echo x86_64")
    (machine.folder / "libraries").mkdir()
    machine.pretend("rustc", f"echo {machine.folder}/libraries")
    return machine


def test_another_processor(machine: Machine) -> None:
    machine.pretend("uname", "echo riscv64")
    result = machine.run(SCRIPT)
    assert result.returncode == 2
    assert "this machine is riscv64" in result.stderr.splitlines()[-1]


def test_a_rust_without_the_guests_libraries_needs_rustup(machine: Machine) -> None:
    machine.pretend("uname", "echo x86_64")
    machine.pretend("rustc", "echo /nonexistent")
    result = machine.run(SCRIPT)
    assert result.returncode == 2
    assert "no libraries for aarch64-unknown-linux-musl, and there is no rustup" in result.stderr.splitlines()[-1]


def test_rustup_adds_the_guests_libraries(x86: Machine) -> None:
    x86.pretend("rustc", "echo /nonexistent")
    x86.pretend("rustup", "echo 'no network' >&2; exit 1")
    result = x86.run(SCRIPT)
    assert result.returncode == 2
    assert "rustup --quiet target add aarch64-unknown-linux-musl" in x86.calls()
    assert "rustup could not add" in result.stderr.splitlines()[-1]


def test_a_system_without_apt(x86: Machine) -> None:
    result = x86.run(SCRIPT)
    assert result.returncode == 2
    assert result.stderr.splitlines()[-1].startswith("setup: missing for make pmu-test: apt-get")


def test_a_machine_without_network(x86: Machine) -> None:
    x86.environment["TRIPTYCH_DEBIAN_MIRROR"] = "file:///nowhere"
    x86.real("dpkg-deb", "flock", "tar", "ln", "uniq")
    x86.pretend("apt-get", 'case "$*" in *update*) echo "Could not resolve" >&2; exit 100 ;; esac')
    result = x86.run(SCRIPT)
    assert result.returncode == 2, result.stderr
    assert result.stderr.splitlines()[-1] == "setup: cannot fetch the lists of Debian's packages: is there a network?"
    cache = x86.folder / ".cache/triptych"
    assert [path.name for path in cache.iterdir()] == ["pmu-guest-trixie.lock"]


def test_does_not_fetch_a_second_time(x86: Machine) -> None:
    x86.pretend("apt-get", "exit 100")
    folder = x86.folder / ".cache/triptych/pmu-guest-trixie"
    folder.mkdir(parents=True)
    sources = b"".join((ROOT / "bench/setup" / name).read_bytes() for name in ("pmu-guest.sh", "debian.sh"))
    (folder / "recipe").write_text(hashlib.sha256(sources).hexdigest()[:16] + "\n")
    result = x86.run(SCRIPT)
    assert (result.returncode, result.stdout.strip()) == (0, str(folder)), result.stderr
    assert not [call for call in x86.calls() if call.startswith("apt-get")]
