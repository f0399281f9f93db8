//! The files of a guest: busybox, and the program `pmu-checks`.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{ensure, Context, Result};
use cpio::newc::{trailer, Builder, ModeFileType};
use tempfile::NamedTempFile;

/// Builds `pmu-checks` for the guest, and packs it. `fetched` is the folder that
/// `bench/setup/pmu-guest.sh` prints, and cargo builds in `target`.
pub fn pack(root: &Path, fetched: &Path, target: &Path) -> Result<NamedTempFile> {
    let triple = fs::read_to_string(fetched.join("target"))?;
    let program = build(root, triple.trim(), target)?;
    let init = root.join("perfcounters/pmu-guest/init.sh");
    let busybox = fetched.join("busybox");
    let mut archive = Vec::new();
    let entry = |name, kind| Builder::new(name).mode(0o755).set_mode_file_type(kind);
    for folder in ["bin", "dev", "proc", "sys"] {
        let entry = entry(folder, ModeFileType::Directory);
        entry.write(&mut archive, 0).finish()?;
    }
    for (name, from) in [
        ("init", &init),
        ("bin/busybox", &busybox),
        // The first program needs a shell before it can make the other links of busybox.
        ("bin/sh", &busybox),
        ("bin/pmu-checks", &program),
    ] {
        let content = fs::read(from).with_context(|| from.display().to_string())?;
        let entry = entry(name, ModeFileType::Regular);
        let mut into = entry.write(&mut archive, u32::try_from(content.len())?);
        into.write_all(&content)?;
        into.finish()?;
    }
    let mut initramfs = NamedTempFile::with_prefix("initramfs-")?;
    initramfs.write_all(&trailer(archive)?)?;
    Ok(initramfs)
}

/// Builds `pmu-checks` for a target of Rust, as a program without shared libraries.
fn build(root: &Path, triple: &str, target: &Path) -> Result<PathBuf> {
    // A crate asks for libdl, which musl's libc contains. Rust's copy of musl lacks the empty archive.
    let libraries = target.join(triple).join("libdl");
    fs::create_dir_all(&libraries).with_context(|| libraries.display().to_string())?;
    fs::write(libraries.join("libdl.a"), "!<arch>\n")?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let variable = |name: &str| {
        let triple = triple.replace('-', "_").to_uppercase();
        format!("CARGO_TARGET_{triple}_{name}")
    };
    let status = Command::new(cargo)
        .current_dir(root)
        .args(["build", "--quiet", "--package", "pmu-guest"])
        .args(["--bin", "pmu-checks", "--target", triple, "--target-dir"])
        .arg(target)
        // Rust's own linker and C library, so that the host needs no cross compiler.
        .env(variable("LINKER"), "rust-lld")
        .env(
            variable("RUSTFLAGS"),
            format!("-L native={}", libraries.display()),
        )
        .env_remove("RUSTFLAGS")
        .env("CARGO_PROFILE_DEV_DEBUG", "false")
        .env("CARGO_INCREMENTAL", "0")
        .status()
        .context("cargo")?;
    ensure!(status.success(), "pmu-checks does not build for {triple}");
    Ok(target.join(triple).join("debug/pmu-checks"))
}
