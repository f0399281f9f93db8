//! Finds the compilers that the user asked for, and says how to install the missing ones.

use std::path::Path;

use record::short_toolchain;

use super::compiler::{
    is_release_of, numbers, older, Family, Invocation, SkippedCompiler, Toolchain,
};
use super::machine::Machine;

/// The oldest Rust that builds the drivers.
const RUST_NEEDED: &str = env!("CARGO_PKG_RUST_VERSION");
/// The major versions of GCC and clang that `installed` looks for.
const MAJORS: std::ops::RangeInclusive<u32> = 8..=40;
/// The oldest GCC and clang that support C11 and the drivers' target processors.
const GCC_NEEDED: &str = "5";
const CLANG_NEEDED: &str = "6";

/// What [`find`] found.
#[derive(Debug, Default)]
pub struct Found {
    /// The compilers, each once.
    pub toolchains: Vec<Toolchain>,
    /// The compilers that cannot be used.
    pub skipped: Vec<SkippedCompiler>,
    /// Names of compilers that the list has twice, in sentences.
    pub same: Vec<String>,
}

/// Finds the compilers of a list: `gcc-12`, `clang-19`, `rustc-1.85`, `rustc-stable`, `gcc`, a
/// path, or `installed` for all installed compilers. `LABEL=` before a name gives it a label.
/// Identities decide whether two names are one compiler; such a compiler is found once.
pub fn find(machine: &dyn Machine, names: &[String]) -> Found {
    let mut found = Found::default();
    let rustup = rustup_toolchains(machine);
    for given in names {
        let (label, name) = match given.split_once('=') {
            Some((label, name)) => (Some(label), name),
            None => (None, given.as_str()),
        };
        let all = match (name, label) {
            ("installed", None) => installed(machine, &rustup),
            (name, _) => vec![one(machine, &rustup, name)],
        };
        for result in all {
            match result {
                Ok(toolchain) => found.note(given, toolchain.labelled(label)),
                Err(skip) if found.skipped.contains(&skip) => {}
                Err(skip) => found.skipped.push(skip),
            }
        }
    }
    found
}

/// Why the label of a compiler, `LABEL=NAME`, cannot be used; `None` if it can, or if there is none.
pub fn wrong_label(given: &str) -> Option<String> {
    let (label, name) = given.split_once('=')?;
    let word = |c: char| c.is_ascii_alphanumeric() || "._+-".contains(c);
    if name == "installed" {
        return Some(format!("{given}: a label belongs to one compiler"));
    }
    (label.is_empty() || !label.chars().all(word))
        .then(|| format!("{label:?} is not a label: use letters, digits and any of . _ + -"))
}

impl Found {
    /// Adds a compiler, unless it is there under another name. A label that the user gave stays.
    fn note(&mut self, given: &str, toolchain: Toolchain) {
        let same = |known: &&mut Toolchain| known.identity == toolchain.identity;
        let Some(known) = self.toolchains.iter_mut().find(same) else {
            self.toolchains.push(toolchain);
            return;
        };
        if toolchain.named && !known.named {
            *known = toolchain;
        }
        let (label, path) = (&known.label, &known.identity.path);
        self.same.push(format!(
            "{given} names a compiler of the list a second time: {path}, shown as {label}"
        ));
    }
}

/// The names of rustup's toolchains.
fn rustup_toolchains(machine: &dyn Machine) -> Vec<String> {
    let list = machine
        .output("rustup", &["toolchain", "list", "--quiet"])
        .or_else(|| machine.output("rustup", &["toolchain", "list"]));
    list.unwrap_or_default()
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect()
}

fn installed(machine: &dyn Machine, rustup: &[String]) -> Vec<Result<Toolchain, SkippedCompiler>> {
    let compilers = ["gcc", "clang"]
        .into_iter()
        .flat_map(|family| MAJORS.map(move |major| format!("{family}-{major}")))
        .filter(|program| machine.has(program))
        .map(|program| one(machine, rustup, &program));
    // Nightly and beta compilers have no fixed version, so only their names select them.
    let rust = rustup
        .iter()
        .filter(|name| !name.starts_with("nightly") && !name.starts_with("beta"))
        .map(|name| rust_by_rustup(machine, name, name));
    compilers.chain(rust).collect()
}

fn one(machine: &dyn Machine, rustup: &[String], name: &str) -> Result<Toolchain, SkippedCompiler> {
    if name.contains('/') {
        return by_path(machine, name);
    }
    let (family, version) = match name.split_once('-') {
        Some((family, version)) => (family, Some(version)),
        None => (name, None),
    };
    match family {
        "gcc" | "clang" => c_compiler(machine, name),
        "rustc" => rust_compiler(machine, rustup, name, version),
        _ => Err(SkippedCompiler {
            name: name.to_owned(),
            why: "not a compiler name: use gcc-N, clang-N, rustc-N.N or a path".to_owned(),
            fix: None,
        }),
    }
}

fn c_compiler(machine: &dyn Machine, name: &str) -> Result<Toolchain, SkippedCompiler> {
    let fix = || Some(format!("sudo apt-get install {name}"));
    let skip = |why: &str| SkippedCompiler {
        name: name.to_owned(),
        why: why.to_owned(),
        fix: fix(),
    };
    if !machine.has(name) {
        return Err(skip("not installed"));
    }
    let said = machine
        .output(name, &["--version"])
        .ok_or_else(|| skip("`--version` fails"))?;
    described(machine, name, &said, Invocation::Program(name.to_owned()))
}

fn by_path(machine: &dyn Machine, path: &str) -> Result<Toolchain, SkippedCompiler> {
    let skip = |why: &str| SkippedCompiler {
        name: path.to_owned(),
        why: why.to_owned(),
        fix: None,
    };
    if !machine.has(path) {
        return Err(skip("there is no such program, or it cannot be executed"));
    }
    let absolute = std::path::absolute(Path::new(path)).ok();
    let absolute = absolute.and_then(|path| Some(path.to_str()?.to_owned()));
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._+-~@,".contains(c);
    let path = match &absolute {
        Some(path) if path.chars().all(plain) => path.as_str(),
        _ => {
            return Err(skip(
                "make cannot use this path: link to it from a path of plain characters",
            ))
        }
    };
    let said = machine
        .output(path, &["--version"])
        .ok_or_else(|| skip("`--version` fails"))?;
    let invocation = Invocation::Program(path.to_owned());
    match said.starts_with("rustc ") {
        true => rust(machine, path, path, &[], invocation),
        false => described(machine, path, &said, invocation),
    }
}

/// Recognises a C compiler by its version line.
fn described(
    machine: &dyn Machine,
    name: &str,
    said: &str,
    invocation: Invocation,
) -> Result<Toolchain, SkippedCompiler> {
    let skip = |why: String| SkippedCompiler {
        name: name.to_owned(),
        why,
        fix: None,
    };
    let line = said.lines().next().unwrap_or("");
    let short = by_macros(machine, &invocation).unwrap_or_else(|| short_toolchain(line));
    let (family, needed) = match short.split_whitespace().next() {
        Some("clang") => (Family::Clang, CLANG_NEEDED),
        Some("gcc" | "cc") => (Family::Gcc, GCC_NEEDED),
        _ => {
            return Err(skip(format!(
                "its version line {line:?} is not that of gcc, clang or rustc"
            )))
        }
    };
    let version = short.split_whitespace().nth(1).unwrap_or("").to_owned();
    if older(&version, needed) {
        return Err(skip(format!("{version} is too old: {needed} is needed")));
    }
    let major = version.split('.').next().and_then(|text| text.parse().ok());
    let llvm = major.filter(|_| family == Family::Clang);
    Toolchain::new(machine, family, version, llvm, invocation).map_err(skip)
}

/// Family and version of a C compiler by its predefined macros, which no name of a program and no
/// distributor changes; `None` if it does not print them.
fn by_macros(machine: &dyn Machine, invocation: &Invocation) -> Option<String> {
    let question = ["-dM", "-E", "-xc", "/dev/null"];
    let said = machine.output(invocation.program(), &question)?;
    let value = |name: &str| {
        let named = |line: &&str| line.split_whitespace().nth(1) == Some(name);
        said.lines().find(named)?.split_whitespace().nth(2)
    };
    let version = |names: [&str; 3]| {
        let [major, minor, patch] = names.map(value);
        Some(format!("{}.{}.{}", major?, minor?, patch?))
    };
    let clang = version(["__clang_major__", "__clang_minor__", "__clang_patchlevel__"]);
    let gcc = || version(["__GNUC__", "__GNUC_MINOR__", "__GNUC_PATCHLEVEL__"]);
    match clang {
        Some(version) => Some(format!("clang {version}")),
        None => Some(format!("gcc {}", gcc()?)),
    }
}

fn rust_compiler(
    machine: &dyn Machine,
    rustup: &[String],
    name: &str,
    version: Option<&str>,
) -> Result<Toolchain, SkippedCompiler> {
    let Some(wanted) = version else {
        return rust(
            machine,
            name,
            "rustc",
            &[],
            Invocation::Program("rustc".to_owned()),
        );
    };
    // The newest release of the wanted version.
    let mut releases: Vec<&String> = rustup
        .iter()
        .filter(|toolchain| {
            let channel = toolchain
                .split_once("-x86_64")
                .map_or(&toolchain[..], |(c, _)| c);
            is_release_of(channel, wanted)
        })
        .collect();
    releases.sort_by_key(|toolchain| numbers(toolchain));
    if let Some(toolchain) = releases.last() {
        return rust_by_rustup(machine, name, toolchain);
    }
    // The distribution's rustc or `stable` may have the wanted version.
    let others = rustup
        .iter()
        .map(|toolchain| rust_by_rustup(machine, name, toolchain))
        .chain([rust(
            machine,
            name,
            "rustc",
            &[],
            Invocation::Program("rustc".to_owned()),
        )]);
    let fitting = others
        .flatten()
        .find(|toolchain| is_release_of(&toolchain.version, wanted));
    fitting.ok_or_else(|| {
        too_old(name, wanted).unwrap_or_else(|| SkippedCompiler {
            name: name.to_owned(),
            why: "not installed".to_owned(),
            fix: Some(format!(
                "rustup toolchain install {wanted} --profile minimal"
            )),
        })
    })
}

fn too_old(name: &str, version: &str) -> Option<SkippedCompiler> {
    let number = version.starts_with(|c: char| c.is_ascii_digit());
    (number && older(version, RUST_NEEDED)).then(|| SkippedCompiler {
        name: name.to_owned(),
        why: format!("{version} is too old: the drivers need Rust {RUST_NEEDED}"),
        fix: None,
    })
}

fn rust_by_rustup(
    machine: &dyn Machine,
    name: &str,
    toolchain: &str,
) -> Result<Toolchain, SkippedCompiler> {
    let arguments = ["run", toolchain, "rustc"];
    rust(
        machine,
        name,
        "rustup",
        &arguments,
        Invocation::Rustup(toolchain.to_owned()),
    )
}

fn rust(
    machine: &dyn Machine,
    name: &str,
    program: &str,
    arguments: &[&str],
    invocation: Invocation,
) -> Result<Toolchain, SkippedCompiler> {
    let skip = |why: &str| SkippedCompiler {
        name: name.to_owned(),
        why: why.to_owned(),
        fix: None,
    };
    let arguments: Vec<&str> = arguments.iter().copied().chain(["-vV"]).collect();
    let said = machine
        .output(program, &arguments)
        .ok_or_else(|| skip("`rustc -vV` fails"))?;
    let field = |key: &str| {
        let line = said.lines().find_map(|line| line.strip_prefix(key));
        line.map(|value| value.trim().to_owned())
    };
    let version = field("release:").ok_or_else(|| skip("`rustc -vV` prints no release"))?;
    if let Some(skip) = too_old(name, &version) {
        return Err(skip);
    }
    let llvm = field("LLVM version:").and_then(|text| text.split('.').next()?.parse().ok());
    Toolchain::new(machine, Family::Rustc, version, llvm, invocation).map_err(|why| skip(&why))
}
#[cfg(test)]
mod tests {
    use super::super::machine::simulated::machine;
    use super::*;

    fn found(names: &[&str]) -> (Vec<String>, Vec<SkippedCompiler>) {
        let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
        let found = find(&machine(), &names);
        (
            found.toolchains.iter().map(Toolchain::name).collect(),
            found.skipped,
        )
    }

    #[test]
    fn compilers_are_found_by_name_and_version() {
        let (names, skipped) = found(&["gcc-12", "clang-19", "rustc-1.85", "rustc-1.95"]);
        assert_eq!(
            names,
            ["gcc 12.2.0", "clang 19.1.7", "rustc 1.85.0", "rustc 1.95.0"]
        );
        assert!(skipped.is_empty(), "{skipped:?}");
        let names = ["clang-19".to_owned(), "rustc-1.85".to_owned()];
        let all = find(&machine(), &names).toolchains;
        assert_eq!([all[0].llvm, all[1].llvm], [Some(19), Some(19)]);
    }

    #[test]
    fn a_compiler_with_two_names_is_found_once() {
        assert_eq!(found(&["gcc-12", "gcc"]).0, ["gcc 12.2.0"]);
    }

    #[test]
    fn a_missing_compiler_is_named_with_the_command_that_installs_it() {
        let (names, skipped) = found(&["gcc-11", "rustc-1.96", "clang-19"]);
        assert_eq!(names, ["clang 19.1.7"]);
        assert!(skipped[0]
            .to_string()
            .contains("sudo apt-get install gcc-11"));
        assert!(skipped[1]
            .to_string()
            .contains("rustup toolchain install 1.96"));
    }

    #[test]
    fn an_old_compiler_is_refused() {
        for name in ["rustc-1.70", "rustc-1.60", "/opt/gcc-4"] {
            let (names, skipped) = found(&[name]);
            assert!(names.is_empty());
            assert!(skipped[0].why.contains("too old"), "{skipped:?}");
        }
    }

    #[test]
    fn a_program_that_is_not_a_compiler_is_skipped() {
        for (name, why) in [
            ("icc-1", "not a compiler"),
            ("/opt/cc", "not that of gcc"),
            ("/no/gcc", "no such program"),
        ] {
            let (names, skipped) = found(&[name]);
            assert!(names.is_empty());
            assert!(skipped[0].why.contains(why), "{skipped:?}");
        }
    }

    #[test]
    fn installed_finds_all_releases_but_no_nightly() {
        let (names, skipped) = found(&["installed"]);
        assert_eq!(
            names,
            ["gcc 12.2.0", "clang 19.1.7", "rustc 1.95.0", "rustc 1.85.0"]
        );
        assert_eq!(skipped.len(), 1);
    }
}
