"""The drivers, each built in one way, and their names."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

NAMES = {
    "c": "C",
    "rust": "safe Rust",
    "rust-unsafe": "unsafe Rust",
    "ixy": "ixy",
    "ixy-rs": "ixy.rs",
    "ixy-c2rust": "ixy by C2Rust",
    "dpdk-vector": "DPDK, vector",
    "dpdk-scalar": "DPDK, scalar",
}
"""Implementations in prose."""

VARIANT_NAMES = {
    "overflow-checks": "overflow checks",
    "untrusted-device": "untrusted device",
    "untrusted-device-copy": "untrusted device, copy",
    "trapping-ubsan": "trapping UBSan",
    "fortified": "fortified",
    "no-lto": "without LTO",
    "own-flags": "own flags",
    "mac": "MAC addresses",
}
"""Variants in prose."""


@dataclass(frozen=True)
class Driver:
    """An implementation, built in one way."""

    impl: str
    variant: str = "default"

    @property
    def name(self) -> str:
        """Its name in prose."""
        name = NAMES[self.impl]
        return name if self.variant == "default" else f"{name}, {VARIANT_NAMES.get(self.variant, self.variant)}"


C, RUST, UNSAFE = Driver("c"), Driver("rust"), Driver("rust-unsafe")
CHECKED = Driver("rust", "overflow-checks")
UNSAFE_CHECKED = Driver("rust-unsafe", "overflow-checks")
TRAPPING_UBSAN, FORTIFIED = Driver("c", "trapping-ubsan"), Driver("c", "fortified")

DRIVERS = (C, RUST, UNSAFE)
"""The three drivers as they are built by default."""

UPSTREAM = {"c": "ixy", "rust": "ixy-rs", "rust-unsafe": "ixy-c2rust"}
"""The paper's own driver in the language of each of ours."""


class Subject(Enum):
    """The drivers that a verdict is about."""

    UPSTREAM = "upstream"
    """The paper's own drivers, measured here: their verdicts say what reproduces."""
    OURS = "ours"
    """This project's drivers: their verdicts say what another implementation of the same task changes."""

    def impl(self, role: str) -> str:
        """Return the implementation that a claim means by one of the names of our drivers."""
        return UPSTREAM[role] if self is Subject.UPSTREAM else role


OWN_FLAGS = "own-flags"
"""The variant of another project's driver that has the flags of its own build files."""


def upstream(driver: Driver) -> Driver:
    """Return the paper's counterpart of one of our drivers, built in the same way."""
    return Driver(UPSTREAM[driver.impl], driver.variant)


def by_own_flags(driver: Driver) -> Driver:
    """Return another project's driver as its own build files build it, which is how the paper's drivers were built."""
    return Driver(driver.impl, OWN_FLAGS) if driver.variant == "default" else driver
