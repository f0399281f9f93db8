"""The drivers, each built in one way, and their names."""

from __future__ import annotations

from dataclasses import dataclass

NAMES = {"c": "C", "rust": "safe Rust", "rust-unsafe": "unsafe Rust"}
"""Implementations in prose."""

VARIANT_NAMES = {
    "overflow-checks": "overflow checks",
    "untrusted-device": "untrusted device",
    "untrusted-device-copy": "untrusted device, copy",
    "trapping-ubsan": "trapping UBSan",
    "fortified": "fortified",
    "no-lto": "without LTO",
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
