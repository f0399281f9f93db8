//! The flags of builds: the project's, which the Makefile and Cargo.toml hold, and the peers' own.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use perfcounters::Interrupt;

use super::tool;

/// Longest time in which make prints the flags.
const LIMIT: Duration = Duration::from_secs(60);
/// The profile in the project's Cargo.toml that its drivers are built with.
pub(super) const PROFILE: &str = "driver";

/// The compilers and flags that the Makefile builds the project's drivers with.
#[derive(Debug, Clone)]
pub(crate) struct ProjectFlags {
    /// The C compiler.
    pub cc: String,
    /// What it says about itself, in one line.
    pub cc_version: String,
    /// The flags that decide which code it makes, without language and warnings.
    pub c: Vec<String>,
    /// What rustc says about itself, in one line.
    pub rustc_version: String,
    /// The flags of rustc.
    pub rust: String,
    /// The table `[profile.driver]` of Cargo.toml.
    pub profile: toml::Table,
    /// All that make printed. It has hashes of the compilers, too.
    pub printed: String,
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
            .args(["--silent", "peer-flags", "--directory"])
            .arg(project)
            .args(variables)
            .envs(environment.iter().map(|(key, value)| (key, value)));
        let text = tool::run(command, LIMIT, interrupt)
            .context("the Makefile does not print its flags")?;
        let manifest = project.join("Cargo.toml");
        let cargo = fs::read_to_string(&manifest)
            .with_context(|| format!("cannot read {}", manifest.display()))?;
        Self::parse(text, &cargo)
    }

    fn parse(printed: String, cargo: &str) -> Result<Self> {
        let lines = printed.lines().filter_map(|line| line.split_once('='));
        let values: BTreeMap<_, _> = lines.collect();
        let value = |name: &str| {
            let found = values.get(name).map(|value| value.trim().to_owned());
            found.with_context(|| format!("`make peer-flags` prints no {name}"))
        };
        let cargo: toml::Table = toml::from_str(cargo).context("Cargo.toml")?;
        let profile = cargo
            .get("profile")
            .and_then(|profiles| profiles.get(PROFILE)?.as_table())
            .with_context(|| format!("Cargo.toml has no [profile.{PROFILE}]"))?;
        Ok(Self {
            cc: value("cc")?,
            cc_version: value("cc_version")?,
            c: words(&value("c")?),
            rustc_version: value("rustc_version")?,
            rust: value("rust")?,
            profile: profile.clone(),
            printed,
        })
    }
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// The part of a peer's own flags that its sources need with any other flags: language and macros. Of several
/// languages, the compiler takes the last.
pub(super) fn language(own: &[String]) -> Vec<String> {
    let standard = own.iter().rfind(|flag| flag.starts_with("-std="));
    let macros = own.iter().filter(|flag| flag.starts_with("-D"));
    standard.into_iter().chain(macros).cloned().collect()
}

/// A peer's own flags, with the project's target processor in place of `-march=native`.
///
/// Valgrind refuses AVX-512 instructions, which `native` gives on a newer processor. The published figures are of
/// processors for which `native` gave none.
pub(super) fn for_project_cpu(own: &[String], project: &[String]) -> Vec<String> {
    let target = project.iter().rfind(|flag| flag.starts_with("-march="));
    let replace = |flag: &String| match target {
        Some(target) if flag == "-march=native" => target.clone(),
        _ => flag.clone(),
    };
    own.iter().map(replace).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_makefile_of_this_project_prints_the_flags() {
        let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let interrupt = Interrupt::new();
        let variables = ["C_OPT=-O3".to_owned(), "C_LTO=".to_owned()];
        let flags = ProjectFlags::ask(&project, &variables, &[], &interrupt).unwrap();
        let has = |flag: &str| flags.c.iter().any(|found| found.starts_with(flag));
        assert!(has("-O3") && !has("-flto") && !has("-W"), "{flags:?}");
        assert!(flags.rust.contains("target-cpu="), "{flags:?}");
        assert_eq!(flags.profile["lto"].as_str(), Some("fat"));
        let without = flags.printed.replace("rustc_version=", "x=");
        let cargo = fs::read_to_string(project.join("Cargo.toml")).unwrap();
        let error = ProjectFlags::parse(without, &cargo).unwrap_err();
        assert!(error.to_string().contains("rustc_version"), "{error}");
    }

    #[test]
    fn own_flags_are_adapted() {
        let own = words("-g -march=native -std=c11 -D_X=1 -Wall -std=gnu11");
        let found = for_project_cpu(&own[..2], &words("-O2 -march=haswell"));
        assert_eq!(found, words("-g -march=haswell"));
        assert_eq!(for_project_cpu(&own, &words("-O2")), own);
        assert_eq!(language(&own), words("-std=gnu11 -D_X=1"));
    }
}
