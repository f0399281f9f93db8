//! The flags of builds: the project's, which the Makefile and Cargo.toml hold, and the peers' own.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use perfcounters::Interrupt;
use serde::Deserialize;

use crate::build::{runner, stamp};

const LIMIT: Duration = Duration::from_secs(60);
/// The profile in the project's Cargo.toml that its drivers are built with.
pub(super) const PROFILE: &str = "driver";

/// The compilers and flags that the Makefile builds the project's drivers with, as `make peer-flags` prints them.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProjectFlags {
    pub cc: String,
    pub cc_version: String,
    /// The flags that decide which code it makes, without language and warnings.
    pub c: String,
    pub rustc_version: String,
    pub hashes: String,
    pub rust: String,
    #[serde(skip)]
    pub profile: toml::Table,
}

impl ProjectFlags {
    /// Asks the Makefile and Cargo.toml in `project`. `variables` and `environment` are what
    /// `triptych compare` sets for other compilers and flags.
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
        let printed = runner::output(command, LIMIT, interrupt)?;
        let flags: Self = toml::from_str(&printed).context("what `make peer-flags` prints")?;
        let cargo = stamp::read(&project.join("Cargo.toml"))?;
        let cargo: toml::Value = toml::from_str(&cargo).context("Cargo.toml")?;
        let profile = cargo
            .get("profile")
            .and_then(|all| all.get(PROFILE)?.as_table());
        let profile = profile.with_context(|| format!("Cargo.toml has no [profile.{PROFILE}]"))?;
        let profile = profile.clone();
        Ok(Self { profile, ..flags })
    }

    pub fn c_flags(&self, own: &[String], is_default: bool) -> Vec<String> {
        let project: Vec<_> = self.c.split_whitespace().map(str::to_owned).collect();
        if is_default {
            return [language(own), project].concat();
        }
        // Valgrind refuses AVX-512 instructions, which `native` gives on a newer processor. The published figures are
        // of processors for which `native` gave none.
        let target = project.iter().rfind(|flag| flag.starts_with("-march="));
        let native = |flag: &String| target.filter(|_| flag == "-march=native");
        let flags = own.iter().map(|flag| native(flag).unwrap_or(flag).clone());
        flags.collect()
    }
}

/// The part of a peer's own flags that its sources need with any other flags: language and macros. Of several
/// languages, the compiler takes the last.
pub(super) fn language(own: &[String]) -> Vec<String> {
    let standard = own.iter().rfind(|flag| flag.starts_with("-std="));
    let macros = own.iter().filter(|flag| flag.starts_with("-D"));
    standard.into_iter().chain(macros).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_makefile_of_this_project_prints_the_flags() {
        let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let variables = ["C_OPT=-O3".to_owned(), "C_LTO=".to_owned()];
        let flags = ProjectFlags::ask(&project, &variables, &[], &Interrupt::new()).unwrap();
        let is_lto = flags.c.contains("-flto");
        assert!(flags.c.contains("-O3") && !is_lto, "{flags:?}");
        assert!(flags.rust.contains("target-cpu="), "{flags:?}");
        assert_eq!(flags.profile["lto"].as_str(), Some("fat"));
        let own = "-g -march=native -std=c11 -D_X=1 -Wall -std=gnu11".split(' ');
        let own: Vec<_> = own.map(str::to_owned).collect();
        let default = flags.c_flags(&own, true);
        assert_eq!(default[..2], ["-std=gnu11", "-D_X=1"]);
        assert!(default.contains(&"-O3".to_owned()), "{default:?}");
        let theirs = flags.c_flags(&own, false);
        assert_eq!(theirs[2..], own[2..]);
        assert!(own[1] != theirs[1] || !flags.c.contains("-march="));
    }
}
