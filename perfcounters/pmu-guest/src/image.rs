//! What a machine boots: QEMU and kernel from `bench/setup/pmu-guest.sh`, and an initramfs with the
//! program `pmu-checks`.

use std::fs;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{ensure, Context, Result};
use cpio::newc::{trailer, Builder, ModeFileType};
use tempfile::NamedTempFile;

/// The repository's root.
pub fn repository() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_owned()
}

/// An image that machines boot.
#[derive(Debug)]
pub struct Image {
    /// The command that runs QEMU.
    pub qemu: PathBuf,
    /// The kernel.
    pub kernel: PathBuf,
    initramfs: NamedTempFile,
}

impl Image {
    /// Builds `pmu-checks` for the guest, and packs it. `fetched` is the folder that
    /// `bench/setup/pmu-guest.sh` prints, and cargo builds in `target`.
    ///
    /// # Errors
    /// If a file is missing or the program does not build.
    pub fn prepare(fetched: &Path, target: &Path) -> Result<Self> {
        let program = build(fs::read_to_string(fetched.join("target"))?.trim(), target)?;
        let mut archive = Vec::new();
        for folder in ["bin", "dev", "proc", "sys", "tmp"] {
            Builder::new(folder)
                .mode(0o755)
                .set_mode_file_type(ModeFileType::Directory)
                .write(&mut archive, 0)
                .finish()?;
        }
        let init = Path::new(env!("CARGO_MANIFEST_DIR")).join("init.sh");
        let busybox = fetched.join("busybox");
        for (name, from) in [
            ("init", &init),
            ("bin/busybox", &busybox),
            // The first program needs a shell before it can make the other links of busybox.
            ("bin/sh", &busybox),
            ("bin/pmu-checks", &program),
        ] {
            let content = fs::read(from).with_context(|| from.display().to_string())?;
            let entry = Builder::new(name)
                .mode(0o755)
                .set_mode_file_type(ModeFileType::Regular);
            let mut into = entry.write(&mut archive, u32::try_from(content.len())?);
            std::io::copy(&mut Cursor::new(content), &mut into)?;
            into.finish()?;
        }
        let archive = trailer(archive)?;
        let mut initramfs = NamedTempFile::with_prefix("initramfs-")?;
        initramfs.write_all(&archive)?;
        Ok(Self {
            qemu: fetched.join("qemu"),
            kernel: fetched.join("vmlinuz"),
            initramfs,
        })
    }

    /// The initramfs.
    pub fn initramfs(&self) -> &Path {
        self.initramfs.path()
    }
}

/// Builds `pmu-checks` for a target of Rust, as a program without shared libraries.
fn build(triple: &str, target: &Path) -> Result<PathBuf> {
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
        .current_dir(repository())
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
