"""vm.sh on systems where it cannot fetch the packages: it gives the reason and leaves no files."""

import hashlib
import os

import pytest
from machine import ROOT, Machine

LAST = "setup: missing for make vm-test: "


def test_another_processor(machine: Machine) -> None:
    machine.pretend("uname", "echo riscv64")
    result = machine.run("bench/setup/vm.sh")
    assert result.returncode == 2
    assert "this machine is riscv64" in result.stderr.splitlines()[-1]


def test_a_system_without_apt(machine: Machine) -> None:
    machine.pretend("uname", "echo x86_64")
    result = machine.run("bench/setup/vm.sh")
    assert result.returncode == 2
    assert result.stderr.splitlines()[-1].startswith(LAST)
    assert "apt-get" in result.stderr


def test_a_system_other_than_debian_needs_a_mirror(machine: Machine) -> None:
    machine.pretend("uname", "echo x86_64")
    machine.real("dpkg-deb", "gzip", "xz", "flock", "ln", "uniq")
    machine.pretend("apt-get")
    result = machine.run("bench/setup/vm.sh")
    assert result.returncode == 2, result.stderr
    assert "TRIPTYCH_DEBIAN_MIRROR=URL" in result.stderr.splitlines()[-1]


def test_a_machine_without_network(machine: Machine) -> None:
    machine.pretend("uname", "echo x86_64")
    machine.environment["TRIPTYCH_DEBIAN_MIRROR"] = "file:///nowhere"
    machine.real("dpkg-deb", "gzip", "xz", "flock", "ln", "uniq")
    machine.pretend("apt-get", 'case "$*" in *update*) echo "Could not resolve" >&2; exit 100 ;; esac')
    machine.pretend("apt-cache")
    result = machine.run("bench/setup/vm.sh")
    assert result.returncode == 2, result.stderr
    assert "Could not resolve" in result.stderr
    assert result.stderr.splitlines()[-1] == "setup: cannot fetch the lists of Debian's packages: is there a network?"
    cache = machine.folder / ".cache/triptych"
    assert [path.name for path in cache.iterdir()] == ["vm-trixie.lock"]


@pytest.fixture
def needs_vm(machine: Machine) -> Machine:
    """A machine that has all commands of vm.sh."""
    machine.pretend("uname", "echo x86_64")
    machine.environment["TRIPTYCH_DEBIAN_MIRROR"] = "file:///nowhere"
    machine.real("dpkg-deb", "gzip", "xz", "flock", "ln", "uniq", "find")
    machine.pretend("apt-get", "exit 100")
    return machine


def test_refuses_a_cache_that_other_users_may_change(needs_vm: Machine) -> None:
    cache = needs_vm.folder / ".cache/triptych"
    cache.mkdir(parents=True)
    cache.chmod(0o777)
    result = needs_vm.run("bench/setup/vm.sh")
    assert result.returncode == 2
    assert "all users may write to the folder" in result.stderr
    assert result.stderr.splitlines()[-1] == f"setup: Take away that right: chmod o-w {cache}"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_refuses_the_cache_of_another_user(needs_vm: Machine) -> None:
    cache = needs_vm.folder / ".cache/triptych"
    cache.mkdir(parents=True)
    os.chown(cache, 65534, 65534)
    result = needs_vm.run("bench/setup/vm.sh")
    assert result.returncode == 2
    assert "belongs to another user" in result.stderr
    assert "TRIPTYCH_CACHE=FOLDER" in result.stderr


def test_does_not_follow_a_link_in_place_of_the_lock(needs_vm: Machine) -> None:
    cache = needs_vm.folder / ".cache/triptych"
    cache.mkdir(parents=True)
    precious = needs_vm.folder / "precious"
    precious.write_text("kept")
    (cache / "vm-trixie.lock").symlink_to(precious)
    result = needs_vm.run("bench/setup/vm.sh")
    assert result.returncode == 2
    assert "vm-trixie.lock is a link" in result.stderr
    assert precious.read_text() == "kept"


def test_keys_that_are_too_old(machine: Machine) -> None:
    machine.pretend("uname", "echo x86_64")
    machine.environment["TRIPTYCH_DEBIAN_MIRROR"] = "file:///nowhere"
    machine.real("dpkg-deb", "gzip", "xz", "flock", "ln", "uniq")
    machine.pretend("apt-get", 'case "$*" in *update*) echo "NO_PUBKEY 6ED0E7B82643E131" >&2; exit 100 ;; esac')
    result = machine.run("bench/setup/vm.sh")
    assert result.returncode == 2
    assert "upgrade the package debian-archive-keyring" in result.stderr.splitlines()[-1]


def test_does_not_fetch_a_second_time(machine: Machine) -> None:
    machine.pretend("uname", "echo x86_64")
    machine.pretend("apt-get", "exit 100")
    folder = machine.folder / ".cache/triptych/vm-trixie"
    folder.mkdir(parents=True)
    # The checksum does not depend on the project's folder.
    sources = b"".join((ROOT / "bench/setup" / name).read_bytes() for name in ("vm.sh", "debian.sh", "guest-init.sh"))
    (folder / "recipe").write_text(hashlib.sha256(sources).hexdigest()[:16] + "\n")
    result = machine.run("bench/setup/vm.sh")
    assert (result.returncode, result.stdout.strip()) == (0, str(folder)), result.stderr
    assert not [call for call in machine.calls() if call.startswith("apt-get")]
