//! Compilers: their labels, versions and identities.

use std::fmt;

use serde::Serialize;

pub use super::ask::{Family, Invocation};
use super::identity::Identity;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Toolchain {
    /// What the tables call it: the name that the user gave it, or family and version. Where those
    /// of two compilers are equal, the path follows.
    pub label: String,
    #[serde(skip)]
    pub named: bool,
    pub identity: Identity,
    pub family: Family,
    pub version: String,
    /// Major version of its LLVM; `None` for GCC.
    pub llvm: Option<u32>,
    pub invocation: Invocation,
}

impl Toolchain {
    /// Its name in `samples.csv`, such as `gcc 12.2.0`.
    pub fn name(&self) -> String {
        format!("{} {}", self.family, self.version)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SkippedCompiler {
    pub name: String,
    pub why: String,
    pub fix: Option<String>,
}

impl fmt::Display for SkippedCompiler {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.name, self.why)?;
        let Some(command) = &self.fix else {
            return Ok(());
        };
        let help = "installs it if the package source offers it";
        write!(formatter, "; `{command}` {help}")
    }
}

/// Whether version `a` is older than `b`. Parts that are not numbers count as 0.
pub fn older(a: &str, b: &str) -> bool {
    numbers(a) < numbers(b)
}

pub fn numbers(version: &str) -> Vec<u64> {
    let parts = version.split(['.', '-']);
    parts.map(|part| part.parse().unwrap_or(0)).collect()
}

/// Whether `version` is `wanted` or a release of it: 1.85.1 is a release of 1.85.
pub(super) fn is_release_of(version: &str, wanted: &str) -> bool {
    let rest = version.strip_prefix(wanted);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

#[cfg(test)]
pub mod test_values {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    pub fn toolchain(family: Family, version: &str, llvm: Option<u32>) -> Toolchain {
        let path = format!("/opt/{family}-{version}");
        Toolchain {
            label: format!("{family} {version}"),
            named: false,
            identity: Identity {
                path: path.clone(),
                ..Identity::default()
            },
            family,
            version: version.to_owned(),
            llvm,
            invocation: Invocation::Program(path),
        }
    }

    /// Writes a script that answers as a compiler with this version line does, and returns its path. That of a Rust
    /// compiler is its own sysroot.
    pub fn stub(folder: &Path, line: &str) -> String {
        let version = line.rsplit(' ').next().unwrap();
        let name = line.split(' ').next().unwrap();
        let folder = folder.join(line.replace(|c: char| !c.is_ascii_alphanumeric(), "-"));
        let path = folder.join("bin").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let macros = match name {
            "gcc" => ["__GNUC__", "__GNUC_MINOR__", "__GNUC_PATCHLEVEL__"],
            _ => ["__clang_major__", "__clang_minor__", "__clang_patchlevel__"],
        };
        let macros = macros.iter().zip(version.split('.'));
        let macros = macros.map(|(name, value)| format!("echo '#define {name} {value}';"));
        let macros: String = macros.filter(|_| name != "tcc").collect();
        let script = format!(
            "#!/bin/sh\ncase \"$*\" in\n*sysroot*) echo {} ;;\n*-dM*) {macros} ;;\n*file-name*) echo libx.a ;;\n\
             *) echo '{line}'; echo release: {version}; echo LLVM version: 90.1 ;;\nesac\n",
            folder.display()
        );
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path.to_str().unwrap().to_owned()
    }
}
