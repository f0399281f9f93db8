//! The variants in which the drivers are built or run, and where each build lies.

use std::path::{Path, PathBuf};

use record::{short_toolchain, Build, Implementation};

pub const DEFAULT: &str = "default";
/// The build `default` with buffers that do not alias in the first-level cache.
pub const STRIDE: &str = "stride";
/// The build `default` by the tuned path.
pub const TUNED: &str = "tuned";
/// The build `default` by the path without batches. Only C and safe Rust have it.
pub const AGENT: &str = "agent";
/// The variant in which overflowing arithmetic panics. Only the Rust drivers have it.
pub const OVERFLOW_CHECKS: &str = "overflow-checks";
/// The variant in which safe Rust's packets are slices of the device's memory. It trusts the device
/// not to write to a packet after DD.
pub const TRUSTED_DEVICE: &str = "trusted-device";
/// The variant in which safe Rust's packets are slices of private copies.
pub const UNTRUSTED_DEVICE_COPY: &str = "untrusted-device-copy";
/// The variant in which the compiler checks C's array indices and signed arithmetic. A violation traps.
pub const TRAPPING_UBSAN: &str = "trapping-ubsan";
/// The variant in which C is built with the hardening flags of Linux distributions.
pub const FORTIFIED: &str = "fortified";
pub const NO_LTO: &str = "no-lto";

/// The variant of a peer that has the flags of its own build files. `default` has this project's.
pub const OWN_FLAGS: &str = "own-flags";
/// The variant of DPDK's program that writes MAC addresses. `default` changes no frame.
pub const MAC: &str = "mac";
pub const PEER_VARIANTS: [&str; 2] = [OWN_FLAGS, MAC];

/// The default, its other paths, and the variants that `make variants` builds, in the order of tables.
pub const VARIANTS: [&str; 10] = [
    DEFAULT,
    STRIDE,
    TUNED,
    AGENT,
    OVERFLOW_CHECKS,
    TRUSTED_DEVICE,
    UNTRUSTED_DEVICE_COPY,
    TRAPPING_UBSAN,
    FORTIFIED,
    NO_LTO,
];

pub type Driver = (Implementation, String);

/// Whether a driver has a variant. A variant that the Makefile does not know exists
/// where its folder does.
pub fn exists(build: &Path, implementation: Implementation, variant: &str) -> bool {
    match (variant, implementation) {
        (_, peer) if peer.is_peer() => false,
        (DEFAULT | STRIDE | TUNED | NO_LTO, _) => true,
        (AGENT, implementation) => implementation != Implementation::RustUnsafe,
        (OVERFLOW_CHECKS, implementation) => implementation != Implementation::C,
        (TRUSTED_DEVICE | UNTRUSTED_DEVICE_COPY, implementation) => {
            implementation == Implementation::Rust
        }
        (TRAPPING_UBSAN | FORTIFIED, implementation) => implementation == Implementation::C,
        _ => build_folder(build, implementation, variant).is_dir(),
    }
}

pub fn build_folder(build: &Path, implementation: Implementation, variant: &str) -> PathBuf {
    let parent = match variant {
        DEFAULT | STRIDE | TUNED | AGENT => build.join("bin"),
        variant => build.join("variants").join(variant),
    };
    parent.join(implementation.to_string())
}

/// A build with the compiler and the flags of its `toolchain.txt`.
pub fn built_with((implementation, variant): &Driver, flags: String) -> Build {
    Build {
        implementation: *implementation,
        variant: variant.clone(),
        toolchain: short_toolchain(&flags),
        flags,
        checks_in_loops: Default::default(),
        checks_not_counted: None,
    }
}

pub fn table_order(driver: &Driver) -> (Implementation, usize, String) {
    let place = VARIANTS.iter().position(|variant| *variant == driver.1);
    (driver.0, place.unwrap_or(VARIANTS.len()), driver.1.clone())
}
