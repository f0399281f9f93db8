//! Translates a peer in C to Rust, with the C2Rust that generates `rust-unsafe/`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{ensure, Context, Result};
use perfcounters::Interrupt;
use regex::Regex;

use super::flags::language;
use super::manifest::Source;
use super::source::{Absent, Program};
use crate::build::runner;
use crate::build::stamp::{make_folder, read, write};

const TRANSLATE: Duration = Duration::from_secs(180);
/// The first line of every file: translated C cannot satisfy the lints for Rust.
const ALLOW: &str = "#![allow(warnings)]\n";
const PACKAGE: &str = "name = \"translated\"\nversion = \"0.0.0\"\n";

#[derive(Debug)]
pub(super) struct Tool {
    program: PathBuf,
    pub name: String,
    options: Vec<String>,
}

impl Tool {
    pub fn find(project: &Path, interrupt: &Interrupt) -> Result<Self> {
        let program = runner::c2rust(project, interrupt)?.ok_or_else(|| {
            let way_out = "builds it in some minutes, and needs 1 GB of packages";
            Absent(format!(
                "C2Rust is not installed: `bench/setup/c2rust.sh` {way_out}"
            ))
        })?;
        let record = project.join("rust-unsafe/src/gen/SOURCES.sha256");
        let why = || {
            format!(
                "{} does not begin with C2Rust and its command",
                record.display()
            )
        };
        let (name, options) = parse_record(&read(&record)?).with_context(why)?;
        Ok(Self {
            program,
            name,
            options,
        })
    }

    /// Translates `source/` in `folder` into a package in `rust/`: a library, and the programs.
    pub fn translate(
        &self,
        source: &Source,
        programs: &[Program],
        folder: &Path,
        interrupt: &Interrupt,
    ) -> Result<()> {
        let (sources, output) = (folder.join("source"), folder.join("rust"));
        let mut command = Command::new(&self.program);
        command
            .arg("transpile")
            .args(&self.options)
            .arg("-o")
            .arg(&output)
            .args(&source.files)
            .args(programs.iter().map(|program| &program.file))
            .arg("--")
            .arg(format!("-I{}", source.include.display()))
            .arg("-O2")
            .args(language(&source.own_flags))
            // Keeps this machine's paths out of what __FILE__ gives.
            .arg(format!("-fmacro-prefix-map={}/=", sources.display()))
            .current_dir(&sources);
        runner::output(command, TRANSLATE, interrupt).context("cannot translate the sources")?;
        let src = output.join("src");
        // C2Rust leaves out the folder that all files share, and writes `_` for `-`.
        let translated = |file: &Path| {
            let path = file.strip_prefix("src").unwrap_or(file);
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            path.with_file_name(name.replace('-', "_") + ".rs")
        };
        make_folder(&src.join("bin"))?;
        for program in programs {
            let text = read_translated(&src.join(translated(&program.file)))?;
            let to = src.join(format!("bin/{}.rs", program.stem));
            write(&to, &format!("{ALLOW}extern crate translated;\n{text}"))?;
        }
        let mut library = ALLOW.to_owned();
        for (place, file) in source.files.iter().enumerate() {
            let path = translated(file);
            write(&src.join(&path), &read_translated(&src.join(&path))?)?;
            library += &format!("#[path = {path:?}]\npub mod m{place};\n");
        }
        write(&src.join("lib.rs"), &library)?;
        let manifest = format!("[package]\nedition = \"2021\"\n{PACKAGE}");
        write(&output.join("Cargo.toml"), &manifest)?;
        let lock = format!("version = 3\n\n[[package]]\n{PACKAGE}");
        write(&folder.join("Cargo.lock"), &lock)
    }
}

/// The name of C2Rust and its options in `SOURCES.sha256`, whose first lines are comments.
fn parse_record(text: &str) -> Option<(String, Vec<String>)> {
    let mut lines = text.lines();
    let name = lines.next()?.strip_prefix("# ")?.split(',').next()?;
    let command = lines.next()?.strip_prefix("# c2rust transpile ")?;
    let (options, _) = command.split_once(" -- ")?;
    let options = options.split_whitespace().map(str::to_owned);
    Some((name.to_owned(), options.collect()))
}

/// Reads a translated file, without what only unstable compilers accept. C2Rust writes a struct without a
/// definition as `pub type NAME;` in an extern block. An empty struct takes its place, as the code uses only
/// pointers to it.
fn read_translated(path: &Path) -> Result<String> {
    let text = define_opaque(&read(path).context("C2Rust did not write a file")?)?;
    let stable = !text.contains("#![feature");
    ensure!(stable, "{} needs an unstable compiler", path.display());
    Ok(text)
}

fn define_opaque(text: &str) -> Result<String> {
    let opaque = Regex::new(r"(?m)^ *pub type ([A-Za-z0-9_]+);\n")?;
    let mut changed = opaque.replace_all(text, "").into_owned();
    for found in opaque.captures_iter(text) {
        let name = &found[1];
        changed += &format!("#[repr(C)]\npub struct {name} {{\n    _opaque: [u8; 0],\n}}\n");
    }
    Ok(changed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_record_of_the_generated_driver_has_the_options() {
        let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let record = project.join("rust-unsafe/src/gen/SOURCES.sha256");
        let (name, options) = parse_record(&fs::read_to_string(record).unwrap()).unwrap();
        assert!(name.starts_with("c2rust-"), "{name}");
        let wanted = "--emit-modules".to_owned();
        assert!(options.contains(&wanted), "{options:?}");
        assert_eq!(parse_record("# c2rust-1, h\n0123  c/src/a.c\n"), None);
    }

    #[test]
    fn opaque_structs_get_a_definition() {
        let text = "extern \"C\" {\n    pub type _IO_marker;\n    fn f(p: *mut _IO_marker);\n}\n";
        let changed = define_opaque(text).unwrap();
        assert!(!changed.contains("pub type"), "{changed}");
        assert!(changed.contains("pub struct _IO_marker {"), "{changed}");
        let other = "pub type size_t = usize;\n";
        assert_eq!(define_opaque(other).unwrap(), other);
    }
}
