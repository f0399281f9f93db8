//! Builds peers from sources: one program for each batch size.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{ensure, Context, Result};

use super::flags::{for_project_cpu, language, ProjectFlags, PROFILE};
use super::manifest::{Change, Manifest, Peer, Recipe, Source, UNMODIFIED_BATCH};
use super::record::{Build, Origin, PeerRecord, SourceRecord};
use super::source::Store;
use super::{c2rust, tool, Absent};
use crate::build::builds::variants::DEFAULT;

/// Longest time to compile or translate one program.
pub(super) const COMPILE: Duration = Duration::from_secs(180);
/// Longest time for cargo to build all programs of a variant.
const CARGO: Duration = Duration::from_secs(600);
/// The note of what a folder was built from.
const STAMP: &str = "built-from.txt";

/// Where and with which flags peers are built.
#[derive(Debug)]
pub(crate) struct Workshop<'a> {
    /// The project's folder.
    pub project: &'a Path,
    /// The absolute folder for what is built.
    pub output: &'a Path,
    /// The project's flags.
    pub flags: &'a ProjectFlags,
    /// The environment of cargo: another compiler, or changes to the profile.
    pub environment: &'a [(String, String)],
    /// The batch sizes.
    pub batches: &'a [u32],
    /// The sources.
    pub store: Store<'a>,
}

/// The forwarder of a source for one batch size.
#[derive(Debug)]
pub(super) struct Program {
    /// The line that sets the batch size, if the program is not the unmodified one.
    change: Option<String>,
    /// Its file, relative to the sources.
    pub file: PathBuf,
    /// The name of the file, without its ending.
    pub stem: String,
}

impl Program {
    fn new(source: &Source, batch: u32) -> Self {
        let change = (batch != UNMODIFIED_BATCH).then(|| source.constant_for(batch));
        let mut stem = source
            .program
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if change.is_some() {
            stem += &format!("-{batch}");
        }
        let mut file = source.program.with_file_name(&stem);
        file.set_extension(source.program.extension().unwrap_or_default());
        Self { change, file, stem }
    }
}

impl Workshop<'_> {
    /// Builds a peer in one variant, unless it is there.
    ///
    /// # Errors
    /// [`Absent`] if what the build needs cannot be had. Otherwise the compiler's message.
    pub fn build(
        &self,
        manifest: &Manifest,
        peer: &Peer,
        variant: &str,
        origin: Origin,
    ) -> Result<PeerRecord> {
        let source = manifest.source(peer.recipe.source().unwrap_or_default())?;
        let here = std::env::consts::ARCH;
        if let Some(only) = source.architecture.as_ref().filter(|only| *only != here) {
            let why = format!("its sources are for {only}, and this machine is {here}");
            return Err(Absent(why).into());
        }
        let is_default = variant == DEFAULT;
        let project = self.flags;
        let (profile, rust) = if is_default {
            (PROFILE, &project.rust[..])
        } else {
            ("release", "")
        };
        let rust_text = format!("{} --profile {profile} {rust}", project.rustc_version);
        let c_flags = if is_default {
            [language(&source.own_flags), project.c.clone()].concat()
        } else {
            for_project_cpu(&source.own_flags, &project.c)
        };
        let c2rust = match peer.recipe {
            Recipe::C2rust { .. } => Some(c2rust::Tool::find(self)?),
            _ => None,
        };
        let toolchain = match &c2rust {
            Some(tool) => format!("{}, {}", tool.name, rust_text.trim_end()),
            None if matches!(peer.recipe, Recipe::C { .. }) => {
                format!("{} {}", project.cc_version, c_flags.join(" "))
            }
            None => rust_text.trim_end().to_owned(),
        };
        let lock = match &peer.recipe {
            Recipe::Rust { lock, .. } => {
                let path = self.project.join(lock);
                fs::read_to_string(&path)
                    .with_context(|| format!("cannot read {}", path.display()))?
            }
            _ => "version = 3\n\n[[package]]\nname = \"translated\"\nversion = \"0.0.0\"\n"
                .to_owned(),
        };
        let folder = self
            .output
            .join(peer.implementation.to_string())
            .join(variant);
        let programs: Vec<_> = self
            .batches
            .iter()
            .map(|batch| Program::new(source, *batch))
            .collect();
        let stamp = format!(
            "{source:?}\n{peer:?}\n{toolchain}\n{c2rust:?}\n{:?}\n{project:?}\n{lock}\n{:?}\n",
            self.batches, self.environment
        );
        if !is_built(&folder, &stamp, &programs) {
            let sources = folder.join("source");
            if folder.exists() {
                fs::remove_dir_all(&folder)
                    .with_context(|| format!("cannot empty {}", folder.display()))?;
            }
            self.store.write(source, &sources)?;
            for program in &programs {
                write_program(source, program, &sources)?;
            }
            match &peer.recipe {
                Recipe::C { .. } => {
                    for program in &programs {
                        self.compile(source, &c_flags, program, &sources)?;
                    }
                }
                Recipe::C2rust { changes, .. } => {
                    for change in changes {
                        change.apply(&sources)?;
                    }
                    if let Some(tool) = &c2rust {
                        tool.translate(self, source, &programs, &folder)?;
                    }
                    self.cargo(&folder, "rust", &lock, (profile, rust), &programs)?;
                }
                _ => self.cargo(&folder, "source", &lock, (profile, rust), &programs)?,
            }
            write(&folder.join(STAMP), &stamp)?;
        }
        let builds = self
            .batches
            .iter()
            .zip(programs)
            .map(|(batch, program)| Build {
                batch: *batch,
                change: program.change,
                program: folder.join(program.stem),
                args: ["{port0}", "{port1}"].map(str::to_owned).to_vec(),
                env: Default::default(),
                ring_size: peer.ring_size,
            });
        Ok(PeerRecord {
            implementation: peer.implementation,
            variant: variant.to_owned(),
            toolchain,
            source: SourceRecord {
                url: source.url.clone(),
                commit: source.commit.clone(),
                from: origin,
            },
            expect: peer.expect.get(variant).cloned().unwrap_or_default(),
            builds: builds.collect(),
        })
    }

    fn compile(
        &self,
        source: &Source,
        flags: &[String],
        program: &Program,
        sources: &Path,
    ) -> Result<()> {
        let mut command = Command::new(&self.flags.cc);
        command
            // Paths relative to the sources keep this machine's paths out of the program.
            .current_dir(sources)
            .args(flags)
            .arg("-I")
            .arg(&source.include)
            .arg(&program.file)
            .args(&source.files)
            .arg("-o")
            .arg(sources.with_file_name(&program.stem));
        tool::run(command, COMPILE, self.store.interrupt).map(drop)
    }

    /// Builds programs of the package in the folder `member` of a workspace around it, which has the project's profile.
    fn cargo(
        &self,
        folder: &Path,
        member: &str,
        lock: &str,
        (profile, rust): (&str, &str),
        programs: &[Program],
    ) -> Result<()> {
        let profile_table = BTreeMap::from([(PROFILE, &self.flags.profile)]);
        let text = toml::to_string(&BTreeMap::from([("profile", profile_table)]))?;
        let manifest = format!("[workspace]\nmembers = [{member:?}]\n\n");
        write(&folder.join("Cargo.toml"), &(manifest + &text))?;
        write(&folder.join("Cargo.lock"), lock)?;
        let cargo = |word: &str, options: &[&str]| {
            let mut command =
                Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
            command
                .args([word, "--quiet", "--locked", "--manifest-path"])
                .arg(folder.join("Cargo.toml"))
                .args(options)
                .current_dir(self.project)
                .envs(self.environment.iter().map(|(key, value)| (key, value)))
                .env("RUSTFLAGS", rust);
            tool::run(command, CARGO, self.store.interrupt)
        };
        if let Err(error) = cargo("fetch", &["--offline"]).or_else(|_| cargo("fetch", &[])) {
            ensure!(!self.store.interrupt.is_set(), error);
            let text = error.to_string();
            let line = text.lines().next().unwrap_or_default();
            return Err(Absent(format!(
                "cargo cannot fetch the crates that it needs: {line}"
            ))
            .into());
        }
        let target = folder.join("target");
        let kind = if member == "rust" {
            "--bin"
        } else {
            "--example"
        };
        let mut options = vec!["--offline", "--profile", profile, "--target-dir"];
        let place = target.to_string_lossy();
        options.push(&place);
        options.extend(programs.iter().flat_map(|program| [kind, &program.stem]));
        cargo("build", &options)?;
        let built = target
            .join(profile)
            .join(if member == "rust" { "" } else { "examples" });
        for program in programs {
            let from = built.join(&program.stem);
            fs::copy(&from, folder.join(&program.stem))
                .with_context(|| format!("cannot copy {}", from.display()))?;
        }
        fs::remove_dir_all(&target).with_context(|| format!("cannot remove {place}"))
    }
}

/// Whether a folder was built from the same, and has all programs.
fn is_built(folder: &Path, stamp: &str, programs: &[Program]) -> bool {
    let noted = fs::read_to_string(folder.join(STAMP));
    noted.is_ok_and(|text| text == stamp)
        && programs
            .iter()
            .all(|program| folder.join(&program.stem).is_file())
}

/// Writes the changed forwarder of a batch size beside the unmodified one.
fn write_program(source: &Source, program: &Program, sources: &Path) -> Result<()> {
    let Some(to) = &program.change else {
        return Ok(());
    };
    let file = sources.join(&program.file);
    fs::copy(sources.join(&source.program), &file)
        .with_context(|| format!("cannot write {}", file.display()))?;
    let change = Change {
        file: program.file.clone(),
        from: source.constant.clone(),
        times: 1,
        to: to.clone(),
    };
    change.apply(sources)
}

impl Change {
    /// Changes the file in a copy of the sources.
    fn apply(&self, sources: &Path) -> Result<()> {
        let path = sources.join(&self.file);
        let text =
            fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let count = text.matches(&self.from).count();
        ensure!(
            count == self.times,
            "{} has {:?} {count} times, and {} is expected",
            self.file.display(),
            self.from,
            self.times
        );
        write(&path, &text.replace(&self.from, &self.to))
    }
}

pub(super) fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}
