//! The sides of a comparison of machine code: how the user writes them, and how each is built.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{ensure, Context, Result};
use perfcounters::Interrupt;
use record::Implementation;

use super::checkout::hash_of;
use super::request::{Built, Request};
use super::toolchain::compiler::{Family, Toolchain};
use super::toolchain::find::find;
use super::toolchain::recipe::{BuildRecipe, OptLevel, DEFAULT_CPU};
use crate::usage::UsageError;

/// How to write a side, for the help of commands.
pub const SYNTAX: &str = "\
A side is a driver, or parts separated by colons, or both: DRIVER@PART:PART:...
  DRIVER        c, rust or rust-unsafe; without it, the driver that the other side or the compiler has
  gcc-12        a compiler: gcc-N, clang-N, rustc-N.N, a path, or NAME=PATH
  -O3           a flag: -O1, -O2, -O3 and -Os replace the level, all others are added at the end
  no-lto        without link-time optimisation
  commit:REF    the sources of a commit, taken below the build folder for the time of the build
  program:FILE  an existing program, not stripped; nothing is built

Examples:
  c@gcc-11 c@gcc-12                 two versions of a compiler
  c@gcc-12 c@gcc-12:-O3             two levels of optimisation
  c rust                            two drivers, as `make build` builds them
  rust rust@commit:HEAD~1           the driver of today and that of the commit before
  c@-fno-inline c@patched=/opt/gcc/bin/gcc:-fno-inline";

/// A side as the user writes it: `DRIVER@PART:PART:...`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SideSpec {
    pub text: String,
    pub driver: Option<Implementation>,
    /// The compiler, if it is named: a name, a path or `NAME=PATH`.
    pub toolchain: Option<String>,
    pub opt: OptLevel,
    pub no_lto: bool,
    pub flags: Vec<String>,
    pub commit: Option<String>,
    pub program: Option<PathBuf>,
}

impl FromStr for SideSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut spec = Self {
            text: text.to_owned(),
            ..Self::default()
        };
        if let Ok(driver) = known_driver(text) {
            spec.driver = Some(driver);
            return Ok(spec);
        }
        let mut rest = text;
        if let Some((driver, parts)) = text.split_once('@') {
            // An @ may also be a part of a commit's name, such as HEAD@{1}.
            if !driver.contains([':', '/', '=']) {
                spec.driver = Some(known_driver(driver)?);
                rest = parts;
            }
        }
        let mut parts = rest.split(':');
        while let Some(part) = parts.next() {
            let mut value = |example: &str| {
                let value = parts.next().filter(|value| !value.is_empty());
                let why = || format!("`{part}:` needs a value, as in `{part}:{example}`");
                value.map(str::to_owned).ok_or_else(why)
            };
            match part {
                "" => return Err(format!("{text:?} has an empty part")),
                "commit" => once(&mut spec.commit, value("HEAD~1")?, "commits")?,
                "program" => {
                    let program = value("build/bin/c/ixgbe-fwd")?.into();
                    once(&mut spec.program, program, "programs")?;
                }
                "no-lto" | "-fno-lto" => spec.no_lto = true,
                flag if flag.starts_with('-') => {
                    let level = flag.strip_prefix("-O").filter(|level| *level != "default");
                    match level.and_then(|level| level.parse().ok()) {
                        Some(level) => spec.opt = level,
                        None => spec.flags.push(flag.to_owned()),
                    }
                }
                name => once(&mut spec.toolchain, name.to_owned(), "compilers")?,
            }
        }
        if spec.program.is_some() && rest.split(':').count() > 2 {
            let why = "so it takes no compiler, flag or commit";
            return Err(format!("`program:` names a finished program, {why}"));
        }
        Ok(spec)
    }
}

fn once<T>(place: &mut Option<T>, value: T, what: &str) -> Result<(), String> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(format!("it names two {what}; a side has one of them")),
    }
}

fn known_driver(name: &str) -> Result<Implementation, String> {
    let ours = Implementation::OURS;
    let driver = ours.into_iter().find(|driver| driver.to_string() == name);
    driver.ok_or_else(|| {
        let names = ours.map(<&str>::from).join(", ");
        format!("{name:?} is not a driver; before the @ stands one of {names}")
    })
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Side {
    Program(PathBuf),
    Build(Box<Request>),
}

impl Side {
    pub fn build(&self, build: &Path, interrupt: &Interrupt) -> Result<Built> {
        match self {
            Self::Build(request) => request.build(build, interrupt),
            Self::Program(program) => Ok(Built {
                label: program.display().to_string(),
                program: program.clone(),
                sources: std::env::current_dir().context("cannot find the current folder")?,
                _checkout: None,
            }),
        }
    }
}

/// Completes both sides, and checks that their commits and programs exist. A side without a driver gets the `default`,
/// the driver of the other side, or the driver that its compiler builds: the first of them that fits its compiler.
pub fn resolve(specs: &[SideSpec; 2], default: Option<Implementation>) -> Result<[Side; 2]> {
    let [a, b] = specs;
    Ok([one(a, default.or(b.driver))?, one(b, default.or(a.driver))?])
}

fn one(spec: &SideSpec, usual: Option<Implementation>) -> Result<Side> {
    if let Some(program) = &spec.program {
        let text = format!("there is no program {}", program.display());
        ensure!(program.is_file(), UsageError(text));
        return Ok(Side::Program(program.clone()));
    }
    if let Some(commit) = &spec.commit {
        hash_of(Path::new("."), commit)?;
    }
    let named = spec.toolchain.as_deref().map(compiler).transpose()?;
    let by_family = named.as_ref().map(|named| match named.family {
        Family::Rustc => Implementation::Rust,
        Family::Gcc | Family::Clang => Implementation::C,
    });
    let is_c = |driver: Implementation| driver == Implementation::C;
    let fits = |driver: &Implementation| by_family.is_none_or(|usual| is_c(usual) == is_c(*driver));
    let driver = spec.driver.or(usual.filter(fits)).or(by_family);
    let implementation = driver.ok_or_else(|| {
        let text = &spec.text;
        let example = format!("write `c@{text}`, `rust@{text}` or `rust-unsafe@{text}`");
        UsageError(format!("{text:?} names no driver: {example}"))
    })?;
    let toolchain = match (named, implementation) {
        (Some(toolchain), _) => toolchain,
        (None, Implementation::C) => compiler("gcc")?,
        (None, _) => compiler("rustc")?,
    };
    let name = toolchain.name();
    let text = format!("{name} cannot build the {implementation} driver");
    ensure!(fits(&implementation), UsageError(text));
    let recipe = BuildRecipe::new(toolchain, spec.opt, DEFAULT_CPU, !spec.no_lto, false);
    Ok(Side::Build(Box::new(Request {
        implementation,
        recipe: recipe.with_line_tables(&spec.flags),
        commit: spec.commit.clone(),
    })))
}

fn compiler(name: &str) -> Result<Toolchain> {
    let found = find(&[name.to_owned()]);
    let skipped = found.skipped.first().map(ToString::to_string);
    let toolchain = found.toolchains.into_iter().next();
    Ok(toolchain.ok_or_else(|| UsageError(skipped.unwrap_or_default()))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::toolchain::compiler::test_values::stub;

    #[test]
    fn a_side_has_a_driver_or_parts_or_both() {
        let spec = |text: &str| text.parse::<SideSpec>().unwrap();
        let all = spec("c@mine=/opt/gcc/bin/gcc:-O3:-fno-inline:no-lto:commit:HEAD~1");
        assert_eq!(all.driver, Some(Implementation::C));
        assert_eq!(all.toolchain.as_deref(), Some("mine=/opt/gcc/bin/gcc"));
        assert_eq!((all.opt, all.no_lto), (OptLevel::Three, true));
        assert_eq!(all.flags, ["-fno-inline"]);
        assert_eq!(all.commit.as_deref(), Some("HEAD~1"));
        assert_eq!(spec("commit:HEAD@{1}").commit.as_deref(), Some("HEAD@{1}"));
        assert_eq!(spec("-O0").flags, ["-O0"]);
        assert_eq!(spec("program:a/b").program, Some(PathBuf::from("a/b")));
        for (text, why) in [
            ("c@gcc-12:gcc-11", "two compilers"),
            ("c@commit:", "HEAD~1"),
            ("commit", "HEAD~1"),
            ("c@", "empty part"),
            ("program:x:-O3", "finished program"),
        ] {
            let error = text.parse::<SideSpec>().unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn a_side_takes_the_driver_from_the_other_side_or_from_its_compiler() {
        use Implementation::RustUnsafe;
        let folder = tempfile::tempdir().unwrap();
        let gcc = stub(folder.path(), "gcc (Stub) 12.2.0");
        let rustc = stub(folder.path(), "rustc 1.95.0");
        let (c, rust) = (format!("c@{gcc}"), format!("rust-unsafe@{rustc}"));
        let (gcc_o2, rustc_o3) = ("c, gcc 12.2.0 -O2", "rust-unsafe, rustc 1.95.0 -O3");
        for (a, b, default, labels) in [
            (&c, c.clone() + ":-O3", None, [gcc_o2, "c, gcc 12.2.0 -O3"]),
            (&rust, rustc.clone(), None, [rustc_o3; 2]),
            (&c, rustc.clone(), None, [gcc_o2, "rust, rustc 1.95.0 -O3"]),
            (&rustc, rust.clone(), Some(RustUnsafe), [rustc_o3; 2]),
        ] {
            let specs = [a, &b].map(|text| text.parse().unwrap());
            let sides = resolve(&specs, default).unwrap().map(|side| match side {
                Side::Build(request) => request.label(),
                Side::Program(_) => String::new(),
            });
            assert_eq!(sides, labels);
        }
        let wrong = format!("c@{rustc}");
        for (side, why) in [
            ("c@gcc-999", "apt-get install gcc-999"),
            (&wrong, "rustc 1.95.0 cannot build the c driver"),
        ] {
            let spec: SideSpec = side.parse().unwrap();
            let error = resolve(&[spec.clone(), spec], None).unwrap_err();
            let text = error.downcast::<UsageError>().unwrap().0;
            assert!(text.contains(why), "{text}");
        }
    }
}
