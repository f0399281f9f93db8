//! The image that a machine boots: QEMU, kernel and initramfs from `bench/setup/vm.sh`, and a second
//! initramfs with the programs built here. The kernel unpacks the second over the first.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufWriter, Cursor, Read, Seek, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{bail, ensure, Context, Result};
use conformance::{build_folder, forwarder_program, Implementation};
use cpio::newc::{trailer, Builder, ModeFileType};
use tempfile::NamedTempFile;

/// The applications that run over the kernel's own ixgbe.
const APPLICATIONS: [&str; 4] = ["http", "kv", "node", "node-controller"];

/// Their clients.
const CLIENTS: [&str; 2] = ["redis-benchmark", "ab"];

/// The repository's root.
pub fn repository() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(3).unwrap_or(here).to_owned()
}

/// An image that machines boot.
#[derive(Debug)]
pub struct Image {
    /// The command that runs QEMU.
    pub qemu: PathBuf,
    /// The kernel.
    pub kernel: PathBuf,
    /// Both initramfs in one file.
    initramfs: NamedTempFile,
    /// The fetched packages and their versions.
    pub versions: String,
}

impl Image {
    /// Packs the built programs. `fetched` is the folder that `bench/setup/vm.sh` prints, and `agent`
    /// is the program `guest`.
    ///
    /// # Errors
    /// If a file is missing.
    pub fn prepare(fetched: &Path, agent: &Path) -> Result<Self> {
        let mut overlay = Overlay::default();
        overlay.program(agent, "bin/guest")?;
        for implementation in Implementation::OURS {
            let path = format!("drivers/{implementation}/ixgbe-fwd");
            overlay.program(&forwarder_program(implementation)?, &path)?;
            let echo = format!("{implementation}/ixgbe-echo");
            let built = build_folder().join("bin").join(&echo);
            overlay.program(&built, &format!("drivers/{echo}"))?;
        }
        // The applications need a newer Rust than the drivers, so they may not be built.
        for name in APPLICATIONS {
            let program = build_folder().join("bin/apps").join(name);
            if program.is_file() {
                overlay.program(&program, &format!("apps/{name}"))?;
            }
        }
        for client in CLIENTS {
            let program = Path::new("/usr/bin").join(client);
            if program.is_file() {
                overlay.program(&program, &format!("apps/{client}"))?;
            }
        }
        let triptych = repository().join("build/bin/triptych");
        if triptych.is_file() {
            overlay.program(&triptych, "bin/triptych")?;
        }
        let mut initramfs = NamedTempFile::with_prefix("initramfs-")?;
        let base = fetched.join("initramfs");
        let mut base = File::open(&base).with_context(|| base.display().to_string())?;
        std::io::copy(&mut base, &mut initramfs)?;
        // An uncompressed archive must begin at a multiple of four bytes.
        while initramfs.stream_position()? % 4 != 0 {
            initramfs.write_all(&[0])?;
        }
        overlay.write(BufWriter::new(initramfs.as_file()))?;
        Ok(Self {
            qemu: fetched.join("qemu"),
            kernel: fetched.join("vmlinuz"),
            initramfs,
            versions: fs::read_to_string(fetched.join("versions"))?,
        })
    }

    /// The initramfs.
    pub fn initramfs(&self) -> &Path {
        self.initramfs.path()
    }
}

/// The files of the second initramfs.
#[derive(Default)]
struct Overlay {
    folders: BTreeSet<String>,
    files: Vec<(String, PathBuf, u32)>,
    libraries: BTreeSet<PathBuf>,
}

impl Overlay {
    /// Adds a program, and its libraries at the paths where it looks for them.
    fn program(&mut self, from: &Path, to: &str) -> Result<()> {
        ensure!(
            from.is_file(),
            "{} does not exist: run `make build`",
            from.display()
        );
        self.libraries.extend(libraries(from)?);
        self.file(from, to, 0o755);
        Ok(())
    }

    fn file(&mut self, from: &Path, to: &str, mode: u32) {
        let folders = Path::new(to).ancestors().skip(1);
        let names = folders
            .filter_map(Path::to_str)
            .filter(|name| !name.is_empty());
        self.folders.extend(names.map(str::to_owned));
        self.files.push((to.to_owned(), from.to_owned(), mode));
    }

    /// Writes all files as a cpio archive in the kernel's format.
    fn write(mut self, mut to: impl Write) -> Result<()> {
        for library in std::mem::take(&mut self.libraries) {
            let name = library.to_string_lossy().trim_start_matches('/').to_owned();
            let mode = fs::metadata(&library)?.permissions().mode();
            self.file(&library, &name, mode & 0o777);
        }
        for folder in &self.folders {
            Builder::new(folder)
                .mode(0o755)
                .set_mode_file_type(ModeFileType::Directory)
                .write(&mut to, 0)
                .finish()?;
        }
        for (name, from, mode) in &self.files {
            let mut content = Vec::new();
            File::open(from)
                .and_then(|mut file| file.read_to_end(&mut content))
                .with_context(|| from.display().to_string())?;
            let entry = Builder::new(name)
                .mode(*mode)
                .set_mode_file_type(ModeFileType::Regular);
            let mut into = entry.write(&mut to, u32::try_from(content.len())?);
            std::io::copy(&mut Cursor::new(content), &mut into)?;
            into.finish()?;
        }
        trailer(to)?.flush()?;
        Ok(())
    }
}

/// The shared libraries of a program and its loader, as `ldd` finds them.
fn libraries(program: &Path) -> Result<Vec<PathBuf>> {
    let output = Command::new("ldd").arg(program).output().context("ldd")?;
    let text = String::from_utf8(output.stdout)?;
    // A line is `name => path (address)` or `path (address)`. linux-vdso has no path.
    let mut found = Vec::new();
    for line in text.lines() {
        if line.contains("not found") {
            bail!("{}: {}", program.display(), line.trim());
        }
        if let Some(path) = line.split_whitespace().find(|word| word.starts_with('/')) {
            found.push(PathBuf::from(path));
        }
    }
    ensure!(
        output.status.success() && !found.is_empty(),
        "ldd found no libraries of {}: {text}",
        program.display()
    );
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_programs_libraries_include_its_loader() {
        let found = libraries(&std::env::current_exe().unwrap()).unwrap();
        let names: Vec<_> = found
            .iter()
            .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
            .collect();
        assert!(
            names.iter().any(|name| name.starts_with("libc.so")),
            "{names:?}"
        );
        assert!(
            names.iter().any(|name| name.starts_with("ld-linux")),
            "{names:?}"
        );
    }

    #[test]
    fn an_overlay_lists_folders_before_their_files() {
        let mut overlay = Overlay::default();
        let program = std::env::current_exe().unwrap();
        overlay.file(&program, "drivers/c/program", 0o755);
        let mut archive = Vec::new();
        overlay.write(&mut archive).unwrap();
        let mut names = Vec::new();
        let mut rest = Cursor::new(archive);
        loop {
            let reader = cpio::newc::Reader::new(rest).unwrap();
            if reader.entry().is_trailer() {
                break;
            }
            names.push((reader.entry().name().to_owned(), reader.entry().file_size()));
            rest = reader.finish().unwrap();
        }
        let size = u32::try_from(fs::metadata(program).unwrap().len()).unwrap();
        let expected = [
            ("drivers", 0),
            ("drivers/c", 0),
            ("drivers/c/program", size),
        ];
        assert_eq!(names, expected.map(|(name, size)| (name.to_owned(), size)));
    }
}
