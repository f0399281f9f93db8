//! The identity of a toolchain: where its program lies, and the contents of everything that compiles.
//!
//! Versions do not tell compilers apart: a patched compiler prints the version of the unpatched one. An identity
//! therefore has the canonical path of the program, and a hash of its content and of what it runs. A wrapper script is
//! not its target: its own content counts, and so do the answers that the compiler gives through it.

use std::collections::BTreeMap;

use serde::Serialize;

use super::content::text_hash;
use super::invocation::{Family, Invocation};
use super::machine::Machine;

/// The programs that GCC runs.
const GCC_PROGRAMS: [&str; 6] = ["cc1", "lto1", "lto-wrapper", "collect2", "as", "ld"];
/// The files that GCC loads or links into a program, and its specs, if they are a file.
const GCC_FILES: [&str; 6] = [
    "liblto_plugin.so",
    "libgcc.a",
    "libgcov.a",
    "crtbegin.o",
    "crtbeginS.o",
    "specs",
];
/// The programs that clang runs.
const CLANG_PROGRAMS: [&str; 3] = ["as", "ld", "ld.lld"];
/// The linker's plugin for clang's link-time optimisation.
const CLANG_FILES: [&str; 1] = ["LLVMgold.so"];
/// Compiles an empty file. With `-###` before it, a compiler prints the commands instead.
const COMPILE_NOTHING: [&str; 6] = ["-O2", "-S", "-o", "/dev/null", "-xc", "/dev/null"];

/// A file that a compiler consists of.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Part {
    /// What the file is to the compiler: `program`, `driver`, `cc1`, `library`, `sysroot`, …
    pub role: String,
    /// Its path.
    pub path: String,
    /// SHA-256 of its content.
    pub sha256: String,
}

/// What makes a toolchain itself. Two toolchains are equal if and only if their identities are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Identity {
    /// Canonical path of the program that the user named.
    pub path: String,
    /// SHA-256 over the contents of all parts and over the commands that the compiler would run.
    pub sha256: String,
    /// The files.
    #[serde(skip)]
    pub parts: Vec<Part>,
}

impl Identity {
    /// The identity of an installed compiler.
    ///
    /// # Errors
    /// Names the part that cannot be read.
    pub fn of(
        machine: &dyn Machine,
        family: Family,
        invocation: &Invocation,
    ) -> Result<Self, String> {
        let mut parts = Parts::new(machine);
        let mut commands = String::new();
        let path = match family {
            Family::Gcc | Family::Clang => {
                let program = invocation.program();
                let path = parts.program(program)?;
                commands = parts.c_compiler(family, program)?;
                path
            }
            Family::Rustc => parts.rust_compiler(invocation)?,
        };
        Ok(Self::from_parts(path, parts.into_list(), &commands))
    }

    /// The identity of a program with these parts, which would run these commands.
    pub fn from_parts(path: String, mut parts: Vec<Part>, commands: &str) -> Self {
        parts.sort();
        parts.dedup();
        let mut contents: Vec<_> = parts
            .iter()
            .map(|part| format!("{} {}\n", part.role, part.sha256))
            .collect();
        contents.sort();
        let sha256 = text_hash(&format!("{}{commands}", contents.concat()));
        Self {
            path,
            sha256,
            parts,
        }
    }

    /// A short name for folders: 12 hexadecimal digits, made of the path and the contents.
    pub fn key(&self) -> String {
        short(&format!("{}\n{}", self.path, self.sha256))
    }

    /// A short name for the path alone.
    pub fn path_key(&self) -> String {
        short(&self.path)
    }
}

fn short(text: &str) -> String {
    let mut hash = text_hash(text);
    hash.truncate(12);
    hash
}

/// The parts of a compiler, while they are collected.
struct Parts<'m> {
    machine: &'m dyn Machine,
    /// By path. The first role of a file counts.
    found: BTreeMap<String, Part>,
}

impl<'m> Parts<'m> {
    fn new(machine: &'m dyn Machine) -> Self {
        Self {
            machine,
            found: BTreeMap::new(),
        }
    }

    fn into_list(self) -> Vec<Part> {
        self.found.into_values().collect()
    }

    fn add(&mut self, role: &str, path: &str) -> Result<(), String> {
        if self.found.contains_key(path) {
            return Ok(());
        }
        let hash = self.machine.hash(path);
        let sha256 = hash.map_err(|error| format!("cannot read {path}, its {role}: {error}"))?;
        let part = Part {
            role: role.to_owned(),
            path: path.to_owned(),
            sha256,
        };
        self.found.insert(path.to_owned(), part);
        Ok(())
    }

    /// Adds the program that the user named. Returns its canonical path.
    fn program(&mut self, program: &str) -> Result<String, String> {
        let path = self
            .machine
            .canonical(program)
            .ok_or_else(|| format!("{program} is not found"))?;
        self.add("program", &path)?;
        Ok(path)
    }

    /// Adds what a C compiler runs, loads and links. Returns the commands that it would run.
    fn c_compiler(&mut self, family: Family, program: &str) -> Result<String, String> {
        let (programs, files): (&[&str], &[&str]) = match family {
            Family::Clang => (&CLANG_PROGRAMS, &CLANG_FILES),
            _ => (&GCC_PROGRAMS, &GCC_FILES),
        };
        let answer = |question: String| self.machine.output(program, &[&question]);
        let mut answers = Vec::new();
        for name in programs {
            answers.push((*name, answer(format!("-print-prog-name={name}"))));
        }
        for name in files {
            // A compiler prints only the name of a file that it does not find.
            let path = answer(format!("-print-file-name={name}"));
            answers.push((*name, path.filter(|path| path.contains('/'))));
        }
        answers.push(("libgcc", answer("-print-libgcc-file-name".to_owned())));
        for (role, answer) in answers {
            self.add_if_there(role, answer.as_deref().unwrap_or("").trim())?;
        }
        self.libraries(program, &COMPILE_NOTHING)?;
        self.commands(program)
    }

    /// Adds a file or a program of the search path, unless it does not exist.
    fn add_if_there(&mut self, role: &str, name: &str) -> Result<(), String> {
        if name.is_empty() {
            return Ok(());
        }
        match self.machine.canonical(name) {
            Some(path) => self.add(role, &path),
            None => Ok(()),
        }
    }

    /// Adds the shared libraries that a command loads.
    fn libraries(&mut self, program: &str, arguments: &[&str]) -> Result<(), String> {
        for library in self.machine.libraries(program, arguments) {
            self.add_if_there("library", &library)?;
        }
        Ok(())
    }

    /// The commands that a C compiler runs, with all flags that wrappers and configuration files
    /// add. Adds the programs, which may lie behind wrappers.
    fn commands(&mut self, program: &str) -> Result<String, String> {
        let question = [&["-###"][..], &COMPILE_NOTHING].concat();
        let said = self.machine.errors(program, &question).unwrap_or_default();
        for line in said.lines() {
            if let Some(driver) = line.strip_prefix("COLLECT_GCC=") {
                self.add_if_there("driver", driver)?;
            }
            let first = line.strip_prefix(' ').and_then(|command| {
                let command = command.strip_prefix('"').unwrap_or(command);
                command.split(['"', ' ']).next()
            });
            if let Some(path) = first.filter(|path| path.starts_with('/')) {
                self.add_if_there("driver", path)?;
            }
        }
        let commands = said.lines().filter(|line| line.starts_with(' '));
        Ok(commands.map(|line| format!("{line}\n")).collect())
    }

    /// Adds what a Rust compiler loads and links. Returns the canonical path of its program: that
    /// of the toolchain, if the user named a proxy of rustup.
    fn rust_compiler(&mut self, invocation: &Invocation) -> Result<String, String> {
        let (program, before) = invocation.rustc();
        let ask = |question: &[&str]| {
            let arguments = [&before[..], question].concat();
            self.machine.output(program, &arguments)
        };
        let sysroot = ask(&["--print", "sysroot"]).ok_or("`rustc --print sysroot` fails")?;
        let sysroot = sysroot.trim();
        let said = ask(&["-vV"]).ok_or("`rustc -vV` fails")?;
        let host = said.lines().find_map(|line| line.strip_prefix("host: "));
        let named = match invocation {
            Invocation::Rustup(_) => None,
            Invocation::Program(program) => Some(self.program(program)?),
        };
        let own = format!("{sysroot}/bin/rustc");
        self.add_if_there("rustc", &own)?;
        self.libraries(program, &[&before[..], &["-vV"]].concat())?;
        for folder in ["lib", "bin"] {
            let folder = format!(
                "{sysroot}/lib/rustlib/{}/{folder}",
                host.unwrap_or("").trim()
            );
            for file in self.machine.files_below(&folder) {
                self.add("sysroot", &file)?;
            }
        }
        let is_proxy = |path: &String| path.ends_with("/rustup") || path.ends_with("/rustup-init");
        match named.filter(|path| !is_proxy(path)) {
            Some(path) => Ok(path),
            None => {
                self.found.retain(|path, _| !is_proxy(path));
                let path = self.machine.canonical(&own);
                path.ok_or_else(|| format!("there is no {own}"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::compiler::test_values::toolchain;
    use super::super::recipe::{BuildRecipe, OptLevel};
    use super::*;
    use proptest::prelude::*;

    fn parts() -> impl Strategy<Value = Vec<Part>> {
        let part = ("cc1|as|ld", "[ab]", "[01]").prop_map(|(role, path, sha256)| Part {
            role,
            path,
            sha256,
        });
        proptest::collection::vec(part, 0..3)
    }

    /// A path, contents with commands, and flags: few values, so that many are equal.
    fn build() -> impl Strategy<Value = (String, Vec<Part>, String, OptLevel, bool)> {
        let opt = prop_oneof![Just(OptLevel::Two), Just(OptLevel::Size)];
        ("/[ab]", parts(), "[xy]?", opt, any::<bool>())
    }

    proptest! {
        /// Two builds share a folder if and only if path, contents, commands and flags are equal.
        #[test]
        fn folders_are_equal_exactly_if_compiler_and_flags_are(a in build(), b in build()) {
            let contents = |parts: &[Part]| {
                let mut all: Vec<_> = parts.to_vec();
                all.sort();
                all.dedup();
                let mut contents: Vec<_> =
                    all.into_iter().map(|part| (part.role, part.sha256)).collect();
                contents.sort();
                contents
            };
            let of = |(path, parts, commands, opt, lto): &(String, Vec<Part>, String, OptLevel, bool)| {
                let mut compiler = toolchain(Family::Gcc, "12.2.0", None);
                compiler.identity = Identity::from_parts(path.clone(), parts.clone(), commands);
                BuildRecipe::new(compiler, *opt, "default", *lto, false).variant
            };
            let equal = a.0 == b.0
                && contents(&a.1) == contents(&b.1)
                && (&a.2, a.3, a.4) == (&b.2, b.3, b.4);
            prop_assert_eq!(of(&a) == of(&b), equal);
        }
    }
}
