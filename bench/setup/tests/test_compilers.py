"""compilers.sh: it installs the compilers that a machine lacks, and names those that it cannot install."""

import pytest
from machine import Machine

# Like apt-cache, this program goes on writing after the line that the script needs. Its write to a closed pipe fails.
APT_CACHE = """
case " {packages} " in
    *" $2 "*)
        printf '%s:\\n  Installed: (none)\\n  Candidate: 1:1.0\\n' "$2"
        for i in {{1..20000}}; do echo "  $i"; done ;;
esac"""
# For each package, makes a command of the same name and records the package as installed.
APT_GET = """
case "$*" in *" install "*)
    for word; do
        case "$word" in -*|install) continue ;; esac
        printf '#!/bin/bash\\n' >"{bin}/$word"; chmod +x "{bin}/$word"; echo "$word" >>"{folder}/installed"
    done ;;
esac"""
DPKG_QUERY = 'grep -qx "$3" "{folder}/installed" && printf installed'
RUSTUP = """
case "$*" in
    "toolchain list") printf '%s\\n' {toolchains} ;;
    "component list "*) printf '%s\\n' rustc {components} ;;
esac"""
OFFERED = ("gcc-11", "gcc-12", "clang-13", "clang-14", "clang-15", "llvm-15")
RUST = tuple(f"{release}-x86_64-unknown-linux-gnu" for release in ("1.85.0", "1.90.0", "1.95.0", "1.96.0"))


def prepared(
    machine: Machine, offered: tuple[str, ...] = OFFERED, rust: tuple[str, ...] = RUST, components: str = "llvm-tools"
) -> Machine:
    machine.pretend("id", "echo 0")
    machine.pretend("apt-cache", APT_CACHE.format(packages=" ".join(offered)))
    machine.pretend("apt-get", APT_GET.format(bin=machine.bin, folder=machine.folder))
    machine.pretend("dpkg-query", DPKG_QUERY.format(folder=machine.folder))
    machine.pretend("rustup", RUSTUP.format(toolchains=" ".join(rust), components=components))
    (machine.folder / "installed").touch()
    return machine


def run(machine: Machine) -> tuple[int, str]:
    result = machine.run("bench/setup/compilers.sh")
    return result.returncode, result.stderr


def test_installs_the_offered_packages_and_names_the_others(machine: Machine) -> None:
    code, said = run(prepared(machine))
    assert code == 0, said
    install = next(call for call in machine.calls() if " install " in call)
    assert install.split()[install.split().index("install") + 1 :] == list(OFFERED)
    assert "this system's packages do not include gcc-13" in said
    assert "libclang-rt" not in said
    assert "5 C compilers and 4 Rust toolchains are installed" in said


def test_fetches_the_package_lists_before_it_reads_them(machine: Machine) -> None:
    run(prepared(machine))
    calls = machine.calls()
    first = next(place for place, call in enumerate(calls) if call.startswith("apt-cache"))
    assert "apt-get -qq update" in calls[:first]


def test_installs_missing_rust_and_adds_llvm_tools(machine: Machine) -> None:
    run(prepared(machine, rust=RUST[:3], components="cargo"))
    calls = machine.calls()
    assert "rustup --quiet toolchain install 1.96.0 --profile minimal --component llvm-tools" in calls
    assert f"rustup --quiet component add llvm-tools --toolchain {RUST[0]}" in calls


@pytest.mark.parametrize(("offered", "rust"), [(OFFERED[:4], RUST), (OFFERED, RUST[:2])])
def test_too_few_compilers_are_a_failure(machine: Machine, offered: tuple[str, ...], rust: tuple[str, ...]) -> None:
    code, said = run(prepared(machine, offered, rust))
    assert code == 1
    assert "needs five and three" in said
