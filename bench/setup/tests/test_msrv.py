"""msrv.sh: it builds the drivers with the oldest Rust that they support."""

import pytest
from machine import Machine

NAME = "1.85.0-x86_64-unknown-linux-gnu"
OTHERS = "stable-x86_64-unknown-linux-gnu 1.8.0-x86_64-unknown-linux-gnu 1.95.0-x86_64-unknown-linux-gnu"


def with_rust(machine: Machine, toolchains: str, cargo: str = "") -> Machine:
    machine.pretend("rustup", f"printf '%s\\n' {toolchains}")
    machine.pretend("cargo", f'echo "by $RUSTUP_TOOLCHAIN"\n{cargo}')
    return machine


@pytest.mark.parametrize("name", [NAME, "1.85-x86_64-unknown-linux-gnu"])
def test_checks_the_drivers_with_the_oldest_toolchain(machine: Machine, name: str) -> None:
    result = with_rust(machine, f"{OTHERS} {name}").run("bench/setup/msrv.sh")
    assert result.returncode == 0, result.stderr
    assert f"by {name}" in result.stdout
    (call,) = [call for call in machine.calls() if call.startswith("cargo")]
    assert "--package ixgbe --package forwarder-abi-rust --package ixgbe-unsafe" in call


def test_drivers_that_need_a_newer_rust_fail(machine: Machine) -> None:
    assert with_rust(machine, NAME, "exit 101").run("bench/setup/msrv.sh").returncode == 101


def test_without_the_toolchain_it_skips_and_names_the_reason(machine: Machine) -> None:
    result = with_rust(machine, OTHERS).run("bench/setup/msrv.sh")
    assert result.returncode == 0
    assert result.stdout.startswith("skipped: Rust 1.85 is not installed; 'rustup toolchain install 1.85")


def test_without_rustup_it_skips_and_installs_nothing(machine: Machine) -> None:
    assert machine.run("bench/setup/msrv.sh").stdout.startswith("skipped: Rust 1.85")
    assert machine.run("bench/setup/msrv.sh", "--install").returncode == 0


def test_installs_the_toolchain_once(machine: Machine) -> None:
    with_rust(machine, NAME).run("bench/setup/msrv.sh", "--install")
    assert not any("install" in call for call in machine.calls())
    with_rust(machine, OTHERS).run("bench/setup/msrv.sh", "--install")
    assert "rustup --quiet toolchain install 1.85 --profile minimal" in machine.calls()
