//! Builds a peer in C that C2Rust translates to Rust, with the C2Rust that generates `rust-unsafe/`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{ensure, Context, Result};
use regex::Regex;

use super::change::{batch_change, copy_changed, copy_folder};
use super::flags::language;
use super::manifest::{C2RustPeer, CPeer, Change, Source};
use super::obstacle::{Obstacle, Outcome};
use super::rust::{remove, variant_flags, write_workspace, CargoBuild};
use super::stamp::Stamp;
use super::tool;
use super::workshop::{two_ports, Built, Workshop, DEFAULT};

/// Longest time in which the set-up script prints a path.
const PATH: Duration = Duration::from_secs(20);
/// Longest time for the translation.
const TRANSLATE: Duration = Duration::from_secs(180);
/// The first line of every file: translated C cannot satisfy the lints for Rust.
const ALLOW: &str = "#![allow(warnings)]\n";
/// Rust's name for the library of all translated files but the programs.
const LIBRARY: &str = "translated";

/// C2Rust, and the options with which it generates `rust-unsafe/`.
#[derive(Debug, PartialEq, Eq)]
struct Tool {
    program: PathBuf,
    /// Its name with its version and LLVM's.
    name: String,
    options: Vec<String>,
}

impl Tool {
    /// Finds C2Rust, and reads the options from the record of the generated driver.
    fn find(workshop: &Workshop<'_>) -> Outcome<Self> {
        let mut command = Command::new(workshop.project.join("bench/setup/c2rust.sh"));
        command.arg("--path");
        let path = tool::run("c2rust.sh", command, PATH, workshop.interrupt)?;
        let program = PathBuf::from(path.trim());
        if !program.is_file() {
            return Err(Obstacle::Absent(
                "C2Rust is not installed: `make setup-c2rust` builds it in some minutes, and needs 1 GB of \
                 packages"
                    .to_owned(),
            ));
        }
        let record = workshop.project.join("rust-unsafe/src/gen/SOURCES.sha256");
        let text = fs::read_to_string(&record)
            .with_context(|| format!("cannot read {}", record.display()))?;
        let (name, options) =
            parse_record(&text).with_context(|| format!("{}", record.display()))?;
        Ok(Self {
            program,
            name,
            options,
        })
    }
}

/// The name of C2Rust and its options in `SOURCES.sha256`, whose first lines are comments.
fn parse_record(text: &str) -> Result<(String, Vec<String>)> {
    let mut lines = text.lines();
    let name = lines
        .next()
        .and_then(|line| line.strip_prefix("# ")?.split(',').next());
    let command = lines
        .next()
        .and_then(|line| line.strip_prefix("# c2rust transpile "));
    let options = command.and_then(|command| command.split(" -- ").next());
    let options =
        options.context("the second line is not `# c2rust transpile OPTIONS -- FLAGS`")?;
    Ok((
        name.context("the first line does not name C2Rust")?
            .to_owned(),
        options.split_whitespace().map(str::to_owned).collect(),
    ))
}

/// A program for one batch size.
struct Program {
    batch: u32,
    change: Option<Change>,
    /// The file name of its C source, without `.c`.
    stem: String,
    path: PathBuf,
}

/// Translates the sources, and builds one program for each batch size with the project's flags.
///
/// # Errors
/// [`Obstacle::Absent`] if C2Rust is not installed; otherwise the message of C2Rust or the compiler.
pub fn build(
    workshop: &Workshop<'_>,
    peer: &C2RustPeer,
    c: &CPeer,
    source: &Source,
    sources: &Path,
) -> Outcome<Built> {
    let tool = Tool::find(workshop)?;
    let folder = workshop.folder(&peer.implementation, DEFAULT);
    let (profile, rust_flags, rust) = variant_flags(workshop.flags, DEFAULT);
    let toolchain = format!("{}, {rust}", tool.name);
    let program = |batch: &u32| Program {
        batch: *batch,
        change: batch_change(&c.program, &c.constant, *batch),
        stem: format!("fwd_{batch}"),
        path: folder.join(format!("ixy-fwd-{batch}")),
    };
    let programs: Vec<Program> = workshop.batches.iter().map(program).collect();
    let paths: Vec<PathBuf> = programs
        .iter()
        .map(|program| program.path.clone())
        .collect();
    let changes = serde_json::to_string(&peer.changes).context("the changes")?;
    let (options, profile_text) = (tool.options.join(" "), workshop.flags.profile.to_string());
    let rustc = &workshop.flags.rustc_hash;
    let parts = [
        &source.tree,
        &toolchain,
        rustc,
        &options,
        &profile_text,
        &changes,
    ];
    let stamp = Stamp::new(&folder, &parts.map(String::as_str));
    if !stamp.holds(&paths) {
        stamp.clear()?;
        let workspace = folder.join("workspace");
        translate(workshop, &tool, peer, c, sources, &programs, &workspace)
            .context("cannot translate the sources")?;
        let cargo = CargoBuild {
            workspace: &workspace,
            target: folder.join("target"),
            profile,
            select: vec!["--bins".to_owned()],
        };
        cargo.build(workshop, rust_flags)?;
        for program in &programs {
            let built = cargo.output().join(&program.stem);
            fs::copy(&built, &program.path)
                .with_context(|| format!("cannot copy {}", built.display()))?;
        }
        remove(&cargo.target)?;
        stamp.set()?;
    }
    let builds = programs.into_iter().map(|program| {
        let change = program.change.map(|change| change.name());
        two_ports(program.batch, change, program.path, c.ring_size)
    });
    Ok(Built {
        toolchain,
        builds: builds.collect(),
    })
}

/// Writes a workspace with the translated sources: a library, and a program for each batch size.
fn translate(
    workshop: &Workshop<'_>,
    tool: &Tool,
    peer: &C2RustPeer,
    c: &CPeer,
    sources: &Path,
    programs: &[Program],
    workspace: &Path,
) -> Result<()> {
    let staged = workspace.join("c");
    copy_folder(sources, &staged)?;
    for change in &peer.changes {
        copy_changed(
            sources,
            &change.file,
            Some(change),
            &staged.join(&change.file),
        )?;
    }
    let home = c.program.parent().unwrap_or(Path::new(""));
    let mut files = c.sources.clone();
    for program in programs {
        let file = home.join(format!("{}.c", program.stem));
        copy_changed(
            sources,
            &c.program,
            program.change.as_ref(),
            &staged.join(&file),
        )?;
        files.push(file);
    }
    let output = workspace.join("rust");
    let mut command = Command::new(&tool.program);
    command
        .arg("transpile")
        .args(&tool.options)
        .arg("-o")
        .arg(&output)
        .args(&files)
        .arg("--")
        .arg(format!("-I{}", c.include.display()))
        .arg("-O2")
        .args(language(&c.own_flags))
        // Keeps this machine's paths out of what __FILE__ gives.
        .arg(format!("-fmacro-prefix-map={}/=", staged.display()))
        .current_dir(&staged);
    tool::run("c2rust", command, TRANSLATE, workshop.interrupt)?;
    arrange(&output, &c.sources, home, programs)?;
    write_workspace(workspace, "rust", workshop.flags)?;
    let package = "[package]\nname = \"translated\"\nversion = \"0.0.0\"\nedition = \"2021\"\n";
    write(&output.join("Cargo.toml"), package)?;
    let lock = "version = 3\n\n[[package]]\nname = \"translated\"\nversion = \"0.0.0\"\n";
    write(&workspace.join("Cargo.lock"), lock)
}

/// Moves C2Rust's files to where Cargo expects them, and declares the modules of the library.
fn arrange(output: &Path, sources: &[PathBuf], home: &Path, programs: &[Program]) -> Result<()> {
    let src = output.join("src");
    let bin = src.join("bin");
    fs::create_dir_all(&bin).with_context(|| format!("cannot create {}", bin.display()))?;
    // C2Rust leaves out the folder that all files share.
    let below = |path: &Path| path.strip_prefix("src").unwrap_or(path).to_owned();
    for program in programs {
        let from = src.join(below(home)).join(format!("{}.rs", program.stem));
        let text = read_translated(&from)?;
        let text = format!("{ALLOW}extern crate {LIBRARY};\n{text}");
        write(&bin.join(format!("{}.rs", program.stem)), &text)?;
    }
    let mut library = ALLOW.to_owned();
    for (place, file) in sources.iter().enumerate() {
        let path = below(file).with_extension("rs");
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .replace('-', "_");
        let path = path.with_file_name(name);
        let text = read_translated(&src.join(&path))?;
        write(&src.join(&path), &text)?;
        library += &format!(
            "#[path = {:?}]\npub mod m{place};\n",
            path.display().to_string()
        );
    }
    write(&src.join("lib.rs"), &library)
}

/// Reads a translated file, without what only unstable compilers accept. C2Rust writes a struct without a
/// definition as `pub type NAME;` in an extern block. An empty struct takes its place, as the code uses only
/// pointers to it.
fn read_translated(path: &Path) -> Result<String> {
    let text =
        fs::read_to_string(path).with_context(|| format!("C2Rust wrote no {}", path.display()))?;
    let text = define_opaque(&text)?;
    ensure!(
        !text.contains("#![feature"),
        "{} needs an unstable compiler",
        path.display()
    );
    Ok(text)
}

fn define_opaque(text: &str) -> Result<String> {
    let opaque = Regex::new(r"(?m)^ *pub type ([A-Za-z0-9_]+);\n")?;
    let names: Vec<_> = opaque
        .captures_iter(text)
        .map(|found| found[1].to_owned())
        .collect();
    let mut changed = opaque.replace_all(text, "").into_owned();
    for name in names {
        changed += &format!("#[repr(C)]\npub struct {name} {{\n    _opaque: [u8; 0],\n}}\n");
    }
    Ok(changed)
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_record_of_the_generated_driver_has_the_options() {
        let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let record = project.join("rust-unsafe/src/gen/SOURCES.sha256");
        let (name, options) = parse_record(&fs::read_to_string(record).unwrap()).unwrap();
        assert!(name.starts_with("c2rust-"), "{name}");
        assert!(
            options.contains(&"--emit-modules".to_owned()),
            "{options:?}"
        );
        assert!(
            options.iter().all(|option| option.starts_with("--")),
            "{options:?}"
        );
    }

    #[test]
    fn a_damaged_record_is_refused() {
        for text in ["", "# c2rust-1", "# c2rust-1, h\n0123  c/src/a.c\n"] {
            assert!(parse_record(text).is_err(), "{text:?}");
        }
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
