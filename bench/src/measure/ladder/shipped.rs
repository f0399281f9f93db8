//! The compiler and the flags of the shipped safe driver.

use std::fs;
use std::path::Path;

use anyhow::{ensure, Context, Result};

/// Returns the compiler of the shipped safe driver, and its flags without the profile, from its
/// `toolchain.txt`. The rungs are built in the same way.
///
/// # Errors
/// If the shipped driver is not built.
pub(super) fn shipped_toolchain(build: &Path) -> Result<(String, String)> {
    let path = build.join("bin/rust/toolchain.txt");
    let text = fs::read_to_string(&path).with_context(|| {
        format!(
            "cannot read {}: build the drivers with `make build`",
            path.display()
        )
    })?;
    parse_toolchain(&text).with_context(|| {
        format!(
            "{} is not in the format of `make rust`: run `make build`",
            path.display()
        )
    })
}

fn parse_toolchain(text: &str) -> Result<(String, String)> {
    let (compiler, rest) = text
        .trim()
        .split_once(" --profile ")
        .context("no profile")?;
    let (profile, flags) = rest.split_once(' ').unwrap_or((rest, ""));
    ensure!(profile == "driver", "profile {profile}, not driver");
    Ok((compiler.to_owned(), flags.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flags_are_those_of_the_shipped_driver() {
        let line = "rustc 1.95.0 (598 2026-04-14) --profile driver -C target-cpu=haswell\n";
        let (compiler, flags) = parse_toolchain(line).unwrap();
        assert_eq!(compiler, "rustc 1.95.0 (598 2026-04-14)");
        assert_eq!(flags, "-C target-cpu=haswell");
        let (_, none) = parse_toolchain("rustc 1.95.0 --profile driver").unwrap();
        assert_eq!(none, "");
        for bad in [
            "",
            "rustc 1.95.0",
            "rustc 1.95.0 --profile driver-no-lto -C x",
        ] {
            assert!(parse_toolchain(bad).is_err(), "{bad}");
        }
    }
}
