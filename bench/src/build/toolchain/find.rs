//! Finds the compilers that the user asked for and their tools for profiles, and says how to install the missing ones.

use std::path::{Path, PathBuf};

use super::ask::{ask, exists};
use super::compiler::{
    is_release_of, numbers, older, Family, Invocation, SkippedCompiler, Toolchain,
};
use super::identity::Identity;

const RUST_NEEDED: &str = env!("CARGO_PKG_RUST_VERSION");
/// The major versions of GCC and clang that `installed` looks for.
const MAJORS: std::ops::RangeInclusive<u32> = 8..=40;
/// The oldest GCC and clang that support C11 and the drivers' target processors.
const GCC_NEEDED: &str = "5";
const CLANG_NEEDED: &str = "6";

#[derive(Debug, Default)]
pub struct Found {
    pub toolchains: Vec<Toolchain>,
    pub skipped: Vec<SkippedCompiler>,
    /// Names of compilers that the list has twice, in sentences.
    pub same: Vec<String>,
}

type Unusable = (String, Option<String>);

/// Finds the compilers of a list: `gcc-12`, `clang-19`, `rustc-1.85`, `rustc-stable`, `gcc`, a
/// path, or `installed` for all installed compilers. `LABEL=` before a name gives it a label.
/// Identities decide whether two names are one compiler; such a compiler is found once.
pub fn find(names: &[String]) -> Found {
    let mut found = Found::default();
    let rustup = rustup_toolchains();
    for given in names {
        let labelled = given.split_once('=');
        let (label, name) = labelled.map_or((None, &**given), |(label, name)| (Some(label), name));
        let all = match (name, label) {
            ("installed", None) => installed(&rustup),
            (name, _) => vec![(name.to_owned(), one(&rustup, name))],
        };
        for (name, result) in all {
            match result {
                Ok(mut toolchain) => {
                    if let Some(label) = label {
                        toolchain.label = label.to_owned();
                        toolchain.named = true;
                    }
                    found.note(given, toolchain);
                }
                Err((why, fix)) => {
                    let skip = SkippedCompiler { name, why, fix };
                    if !found.skipped.contains(&skip) {
                        found.skipped.push(skip);
                    }
                }
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
    let why = || format!("{label:?} is not a label: use letters, digits and any of . _ + -");
    (label.is_empty() || !label.chars().all(word)).then(why)
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
        let what = format!("names a compiler of the list a second time: {path}, shown as {label}");
        self.same.push(format!("{given} {what}"));
    }
}

fn rustup_toolchains() -> Vec<String> {
    let list = ask("rustup", &["toolchain", "list"]).unwrap_or_default();
    let names = list.lines().filter_map(|line| line.split(' ').next());
    names.map(str::to_owned).collect()
}

fn installed(rustup: &[String]) -> Vec<(String, Result<Toolchain, Unusable>)> {
    let programs = ["gcc", "clang"].into_iter();
    let programs = programs.flat_map(|family| MAJORS.map(move |major| format!("{family}-{major}")));
    let c = programs.filter(|program| exists(program)).map(|program| {
        let found = one(rustup, &program);
        (program, found)
    });
    // Nightly and beta compilers have no fixed version, so only their names select them.
    let fixed = |name: &&String| !name.starts_with("nightly") && !name.starts_with("beta");
    let rust = rustup.iter().filter(fixed);
    let rust = rust.map(|name| (name.clone(), rustc(Invocation::Rustup(name.clone()))));
    c.chain(rust).collect()
}

fn one(rustup: &[String], name: &str) -> Result<Toolchain, Unusable> {
    if name.contains('/') {
        return by_path(name);
    }
    let mut parts = name.splitn(2, '-');
    match (parts.next().unwrap_or_default(), parts.next()) {
        ("gcc" | "clang", _) if exists(name) => c_compiler(name),
        ("gcc" | "clang", _) => {
            let fix = format!("sudo apt-get install {name}");
            Err(("not installed".to_owned(), Some(fix)))
        }
        ("rustc", None) => rustc(Invocation::Program("rustc".to_owned())),
        ("rustc", Some(version)) => rustc_release(rustup, version),
        _ => {
            let names = "gcc-N, clang-N, rustc-N.N or a path";
            Err(unusable(format!("not a compiler name: use {names}")))
        }
    }
}

fn unusable(why: impl Into<String>) -> Unusable {
    (why.into(), None)
}

fn by_path(path: &str) -> Result<Toolchain, Unusable> {
    if !exists(path) {
        return Err(unusable("there is no such program to execute"));
    }
    let absolute = std::path::absolute(path).ok();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._+-~@,".contains(c);
    let path = absolute.as_ref().and_then(|path| path.to_str());
    let path = path.filter(|path| path.chars().all(plain));
    let why = "make cannot use this path: link to it from a path of plain characters";
    let path = path.ok_or_else(|| unusable(why))?;
    let said = ask(path, &["--version"]).ok_or_else(|| unusable("`--version` fails"))?;
    if said.starts_with("rustc ") {
        rustc(Invocation::Program(path.to_owned()))
    } else {
        c_compiler(path)
    }
}

/// Recognises a C compiler by its predefined macros, which no name of a program and no distributor changes.
fn c_compiler(program: &str) -> Result<Toolchain, Unusable> {
    let said = ask(program, &["-dM", "-E", "-xc", "/dev/null"]).unwrap_or_default();
    let value = |name: &str| {
        let named = |line: &&str| line.split_whitespace().nth(1) == Some(name);
        said.lines().find(named)?.split_whitespace().nth(2)
    };
    let version = |names: [&str; 3]| {
        let [major, minor, patch] = names.map(value);
        Some(format!("{}.{}.{}", major?, minor?, patch?))
    };
    // Clang also has GCC's macros.
    let clang = version(["__clang_major__", "__clang_minor__", "__clang_patchlevel__"]);
    let gcc = || version(["__GNUC__", "__GNUC_MINOR__", "__GNUC_PATCHLEVEL__"]);
    let (family, version, needed) = match clang {
        Some(version) => (Family::Clang, Some(version), CLANG_NEEDED),
        None => (Family::Gcc, gcc(), GCC_NEEDED),
    };
    let other = "it has not the macros of gcc or clang, and is not rustc";
    let version = version.ok_or_else(|| unusable(other))?;
    if older(&version, needed) {
        let why = format!("{version} is too old: {needed} is needed");
        return Err(unusable(why));
    }
    let major = version.split('.').next().and_then(|text| text.parse().ok());
    let llvm = major.filter(|_| family == Family::Clang);
    let program = program.to_owned();
    toolchain((family, version, llvm), Invocation::Program(program))
}

fn toolchain(
    (family, version, llvm): (Family, String, Option<u32>),
    invocation: Invocation,
) -> Result<Toolchain, Unusable> {
    Ok(Toolchain {
        label: format!("{family} {version}"),
        named: false,
        identity: Identity::of(family, &invocation).map_err(unusable)?,
        family,
        version,
        llvm,
        invocation,
    })
}

fn rustc_release(rustup: &[String], wanted: &str) -> Result<Toolchain, Unusable> {
    let channel = |name: &str| name.split("-x86_64").next().unwrap_or(name).to_owned();
    let releases = rustup.iter();
    let releases = releases.filter(|name| is_release_of(&channel(name), wanted));
    if let Some(newest) = releases.max_by_key(|name| numbers(name)) {
        return rustc(Invocation::Rustup(newest.clone()));
    }
    // The distribution's rustc or `stable` may have the wanted version.
    let others = rustup.iter().cloned().map(Invocation::Rustup);
    let here = Invocation::Program("rustc".to_owned());
    let mut others = others.chain([here]).map(rustc);
    let fits = |found: &Toolchain| is_release_of(&found.version, wanted);
    let fitting = others.find_map(|found| found.ok().filter(fits));
    fitting.ok_or_else(|| {
        let fix = format!("rustup toolchain install {wanted} --profile minimal");
        too_old(wanted).unwrap_or_else(|| ("not installed".to_owned(), Some(fix)))
    })
}

fn too_old(version: &str) -> Option<Unusable> {
    let number = version.starts_with(|c: char| c.is_ascii_digit());
    let why = || format!("{version} is too old: the drivers need Rust {RUST_NEEDED}");
    (number && older(version, RUST_NEEDED)).then(|| unusable(why()))
}

fn rustc(invocation: Invocation) -> Result<Toolchain, Unusable> {
    let (program, mut arguments) = invocation.rustc();
    arguments.push("-vV");
    let said = ask(program, &arguments).ok_or_else(|| unusable("`rustc -vV` fails"))?;
    let field = |key: &str| {
        let line = said.lines().find_map(|line| line.strip_prefix(key));
        line.map(|value| value.trim().to_owned())
    };
    let version = field("release:").ok_or_else(|| unusable("`rustc -vV` prints no release"))?;
    if let Some(too_old) = too_old(&version) {
        return Err(too_old);
    }
    let llvm = field("LLVM version:").and_then(|text| text.split('.').next()?.parse().ok());
    toolchain((Family::Rustc, version, llvm), invocation)
}

/// The `llvm-profdata` that merges profiles for a compiler. It must belong to the compiler's LLVM
/// or a newer one. `None` for GCC, which merges profiles itself.
pub fn profdata(toolchain: &Toolchain) -> Result<Option<PathBuf>, SkippedCompiler> {
    let Some(llvm) = toolchain.llvm else {
        return Ok(None);
    };
    let skip = |why: String, fix: String| SkippedCompiler {
        name: format!("{} with PGO", toolchain.name()),
        why,
        fix: Some(fix),
    };
    let (program, before) = toolchain.invocation.rustc();
    if toolchain.family == Family::Rustc {
        let print = [&before[..], &["--print", "target-libdir"]].concat();
        let folder = ask(program, &print);
        let own = folder.map(|folder| Path::new(folder.trim()).with_file_name("bin/llvm-profdata"));
        if let Some(own) = own.filter(|own| own.is_file()) {
            return Ok(Some(own));
        }
    } else {
        // Clang prints the path of a file that it finds, and the bare name of a file that it does not find.
        let has = |library: String| {
            let found = ask(program, &[&format!("--print-file-name={library}")]);
            found.is_some_and(|path| path.contains('/'))
        };
        let library = format!("libclang_rt.profile-{}.a", std::env::consts::ARCH);
        if !has(library) && !has("libclang_rt.profile.a".to_owned()) {
            let why = "its profiling library, libclang_rt.profile, is not installed";
            let fix = format!("sudo apt-get install libclang-rt-{llvm}-dev");
            return Err(skip(why.to_owned(), fix));
        }
    }
    let mut newer = (llvm..=llvm + 10).map(|major| format!("llvm-profdata-{major}"));
    if let Some(name) = newer.find(|name| exists(name)) {
        return Ok(Some(PathBuf::from(name)));
    }
    let fix = match &toolchain.invocation {
        Invocation::Rustup(name) => format!("rustup component add llvm-tools --toolchain {name}"),
        Invocation::Program(_) => format!("sudo apt-get install llvm-{llvm}"),
    };
    let why = format!("there is no llvm-profdata of LLVM {llvm}");
    Err(skip(why, fix))
}

#[cfg(test)]
mod tests {
    use super::super::compiler::test_values::{stub, toolchain};
    use super::{find, profdata, Family, Invocation};

    #[test]
    fn compilers_are_recognised_by_what_they_say() {
        let folder = tempfile::tempdir().unwrap();
        let stub = |line| stub(folder.path(), line);
        for (name, expected) in [
            (stub("gcc (Debian) 12.2.0"), Ok(("gcc 12.2.0", None))),
            (stub("clang version 19.1.7"), Ok(("clang 19.1.7", Some(19)))),
            (stub("rustc 1.95.0"), Ok(("rustc 1.95.0", Some(90)))),
            (stub("gcc (GCC) 4.4.7"), Err("too old")),
            (stub("rustc 1.70.0"), Err("too old")),
            (stub("tcc version 0.9.27"), Err("not the macros")),
            ("rustc-1.60".to_owned(), Err("too old")),
            ("icc-1".to_owned(), Err("not a compiler")),
            ("/no/gcc".to_owned(), Err("no such program")),
            ("gcc-999".to_owned(), Err("sudo apt-get install gcc-999")),
            ("rustc-1.999".to_owned(), Err("toolchain install 1.999")),
        ] {
            let found = find(&[name.clone(), name]);
            let toolchain = found.toolchains.first();
            match expected {
                Ok((name, llvm)) => {
                    let toolchain = toolchain.unwrap();
                    assert_eq!((&*toolchain.name(), toolchain.llvm), (name, llvm));
                    assert!(found.same[0].contains("a second time"));
                }
                Err(why) => {
                    assert!(toolchain.is_none());
                    let skip = found.skipped[0].to_string();
                    assert!(skip.contains(why), "{skip}");
                }
            }
        }
    }

    #[test]
    fn profiles_need_the_profdata_of_the_same_llvm() {
        let folder = tempfile::tempdir().unwrap();
        let lacks = |family, line| {
            let mut compiler = toolchain(family, "90.1", Some(90));
            compiler.invocation = Invocation::Program(stub(folder.path(), line));
            profdata(&compiler).unwrap_err().to_string()
        };
        let clang = lacks(Family::Clang, "clang 90.1");
        assert!(clang.contains("libclang-rt-90-dev"), "{clang}");
        let rustc = lacks(Family::Rustc, "rustc 1.90.1");
        assert!(rustc.contains("apt-get install llvm-90"), "{rustc}");
        assert_eq!(profdata(&toolchain(Family::Gcc, "12", None)), Ok(None));
    }
}
