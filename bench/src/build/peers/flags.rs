//! The flags of builds: the project's, which the Makefile and Cargo.toml hold, and the peers' own.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{ensure, Context, Result};
use perfcounters::Interrupt;

use super::manifest::CPeer;
use super::tool;

/// Longest time in which make prints the flags.
const LIMIT: Duration = Duration::from_secs(60);
/// The profile in the project's Cargo.toml that its drivers are built with.
pub const PROFILE: &str = "driver";

/// The compilers and flags that the Makefile builds the project's drivers with.
#[derive(Debug, Clone, PartialEq)]
pub struct ProjectFlags {
    /// The C compiler.
    pub cc: String,
    /// What it says about itself, in one line.
    pub cc_version: String,
    /// A hash of its programs.
    pub cc_hash: String,
    /// The flags that decide which code it makes, without language and warnings.
    pub c: Vec<String>,
    /// What rustc says about itself, in one line.
    pub rustc_version: String,
    /// A hash of its program.
    pub rustc_hash: String,
    /// The flags of rustc.
    pub rust: String,
    /// The table `[profile.driver]` of Cargo.toml.
    pub profile: toml::Table,
}

impl ProjectFlags {
    /// Asks the Makefile and Cargo.toml in `project`. `variables` and `environment` are what
    /// `triptych compare` sets for other compilers and flags.
    ///
    /// # Errors
    /// If make fails, or one of the files lacks a flag.
    pub fn ask(
        project: &Path,
        variables: &[String],
        environment: &[(String, String)],
        interrupt: &Interrupt,
    ) -> Result<Self> {
        let mut command = Command::new("make");
        command
            .arg("--silent")
            .arg("--directory")
            .arg(project)
            .arg("peer-flags")
            .args(variables)
            .envs(environment.iter().map(|(key, value)| (key, value)));
        let text = tool::run("make", command, LIMIT, interrupt)
            .context("the Makefile does not print its flags")?;
        let manifest = project.join("Cargo.toml");
        let cargo = fs::read_to_string(&manifest)
            .with_context(|| format!("cannot read {}", manifest.display()))?;
        Self::parse(&text, &cargo)
    }

    fn parse(text: &str, cargo: &str) -> Result<Self> {
        let values: BTreeMap<_, _> = text
            .lines()
            .filter_map(|line| line.split_once('='))
            .collect();
        let value = |name: &str| {
            let found = values.get(name).map(|value| value.trim());
            found.with_context(|| format!("`make peer-flags` prints no {name}"))
        };
        let cargo: toml::Table = toml::from_str(cargo).context("Cargo.toml")?;
        let profile = cargo
            .get("profile")
            .and_then(|profiles| profiles.get(PROFILE)?.as_table())
            .with_context(|| format!("Cargo.toml has no [profile.{PROFILE}]"))?;
        Ok(Self {
            cc: value("cc")?.to_owned(),
            cc_version: value("cc_version")?.to_owned(),
            cc_hash: value("cc_hash")?.to_owned(),
            c: words(value("c")?),
            rustc_version: value("rustc_version")?.to_owned(),
            rustc_hash: value("rustc_hash")?.to_owned(),
            rust: value("rust")?.to_owned(),
            profile: profile.clone(),
        })
    }
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// The part of a peer's own flags that its sources need with any other flags: language and macros. Of several
/// languages, the compiler takes the last.
pub fn language(own: &[String]) -> Vec<String> {
    let standard = own.iter().rfind(|flag| flag.starts_with("-std="));
    let macros = own.iter().filter(|flag| flag.starts_with("-D"));
    standard.into_iter().chain(macros).cloned().collect()
}

/// A peer's own flags, with the project's target processor in place of `-march=native`.
///
/// Valgrind refuses AVX-512 instructions, which `native` gives on a newer processor. The published figures are of
/// processors for which `native` gave none.
pub fn for_project_cpu(own: &[String], project: &[String]) -> Vec<String> {
    let target = project.iter().rfind(|flag| flag.starts_with("-march="));
    own.iter()
        .map(|flag| match target {
            Some(target) if flag == "-march=native" => target.clone(),
            _ => flag.clone(),
        })
        .collect()
}

/// Compares the flags and files that peers.toml names with the peer's CMakeLists.txt.
///
/// # Errors
/// The difference.
pub fn check_cmake(peer: &CPeer, sources: &Path) -> Result<()> {
    let path = sources.join("CMakeLists.txt");
    let text =
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut flags = cmake_list(&text, "add_compile_options", None)?;
    // CMake adds the language after all other flags, with GNU's extensions.
    for standard in cmake_list(&text, "set", Some("CMAKE_C_STANDARD"))? {
        flags.push(format!("-std=gnu{standard}"));
    }
    ensure!(
        flags == peer.own_flags,
        "{} gives the flags {flags:?}, and peers.toml names {:?}",
        path.display(),
        peer.own_flags
    );
    let files = cmake_list(&text, "set", Some("SOURCE_COMMON"))?;
    let files: Vec<_> = files.iter().map(PathBuf::from).collect();
    ensure!(
        files == peer.sources,
        "{} builds {files:?}, and peers.toml names {:?}",
        path.display(),
        peer.sources
    );
    Ok(())
}

/// The words of the only call of a CMake command, after its first word if that is given.
fn cmake_list(text: &str, command: &str, first: Option<&str>) -> Result<Vec<String>> {
    let opening = match first {
        Some(first) => format!("{command}({first} "),
        None => format!("{command}("),
    };
    let mut parts = text.split(&opening);
    let (_, Some(rest), None) = (parts.next(), parts.next(), parts.next()) else {
        anyhow::bail!("CMakeLists.txt does not have exactly one `{opening}`");
    };
    let (list, _) = rest
        .split_once(')')
        .with_context(|| format!("`{opening}` of CMakeLists.txt does not end"))?;
    Ok(words(list))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::peers::manifest::Manifest;

    const PRINTED: &str =
        "cc=gcc\ncc_version=gcc (D) 12.2.0\ncc_hash=ab\nc=-O2  -march=haswell -flto\n\
                           rustc_version=rustc 1.95.0\nrustc_hash=cd\nrust=-C target-cpu=haswell\n";
    const CARGO: &str = "[profile.driver]\ninherits = \"release\"\nlto = \"fat\"\n";

    #[test]
    fn printed_flags_are_read_and_a_missing_one_is_named() {
        let flags = ProjectFlags::parse(PRINTED, CARGO).unwrap();
        assert_eq!(flags.c, ["-O2", "-march=haswell", "-flto"]);
        assert_eq!(flags.rust, "-C target-cpu=haswell");
        assert_eq!(flags.profile["lto"].as_str(), Some("fat"));
        for name in [
            "cc",
            "cc_version",
            "cc_hash",
            "c",
            "rustc_version",
            "rustc_hash",
            "rust",
        ] {
            let text = PRINTED.replace(&format!("{name}="), "x=");
            let error = ProjectFlags::parse(&text, CARGO).unwrap_err().to_string();
            assert!(error.contains(name), "{error}");
        }
        let error = ProjectFlags::parse(PRINTED, "").unwrap_err().to_string();
        assert!(error.contains("[profile.driver]"), "{error}");
    }

    #[test]
    fn the_makefile_of_this_project_prints_the_flags() {
        let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let interrupt = Interrupt::new();
        let ask =
            |variables: &[String]| ProjectFlags::ask(&project, variables, &[], &interrupt).unwrap();
        let flags = ask(&[]);
        assert!(flags.c.contains(&"-flto".to_owned()), "{flags:?}");
        assert!(
            !flags.c.iter().any(|flag| flag.starts_with("-W")),
            "{flags:?}"
        );
        assert!(flags.rust.contains("target-cpu="), "{flags:?}");
        assert_eq!(flags.cc_hash.len(), 64, "{flags:?}");
        let other = ask(&["C_OPT=-O3".to_owned(), "C_LTO=".to_owned()]);
        assert!(other.c.contains(&"-O3".to_owned()), "{other:?}");
        assert!(!other.c.contains(&"-flto".to_owned()), "{other:?}");
    }

    fn peer() -> CPeer {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        Manifest::read(&root.join("peers.toml")).unwrap().c[0].clone()
    }

    fn cmake(peer: &CPeer) -> String {
        let files: Vec<_> = peer
            .sources
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        format!(
            "set(CMAKE_C_STANDARD 11)\nadd_compile_options({}\n\t{}\n)\nset(SOURCE_COMMON {})\n",
            peer.own_flags[0],
            peer.own_flags[1..peer.own_flags.len() - 1].join("\n\t"),
            files.join(" ")
        )
    }

    #[test]
    fn other_flags_or_files_in_the_build_file_are_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let peer = peer();
        let check = |text: &str| {
            fs::write(folder.path().join("CMakeLists.txt"), text).unwrap();
            check_cmake(&peer, folder.path())
        };
        let good = cmake(&peer);
        check(&good).unwrap();
        for (from, to, why) in [
            ("-O2", "-O3", "gives the flags"),
            ("src/pci.c", "src/pcie.c", "builds"),
            ("add_compile_options", "add_options", "exactly one"),
            ("STANDARD 11", "STANDARD 17", "gives the flags"),
            (
                "STANDARD 11)",
                "STANDARD 11) add_compile_options(-O1)",
                "exactly one",
            ),
        ] {
            let error = check(&good.replace(from, to)).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn own_flags_name_the_target_processor_of_the_project() {
        let found = for_project_cpu(&words("-g -march=native -O2"), &words("-O2 -march=haswell"));
        assert_eq!(found, words("-g -march=haswell -O2"));
        let without = for_project_cpu(&words("-march=native"), &words("-O2"));
        assert_eq!(without, words("-march=native"));
    }

    #[test]
    fn only_language_and_macros_go_with_other_flags() {
        assert_eq!(
            language(&peer().own_flags),
            ["-std=gnu11", "-D_XOPEN_SOURCE=700", "-D_DEFAULT_SOURCE"]
        );
    }
}
