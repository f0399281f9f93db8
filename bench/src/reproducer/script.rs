//! The folder's script, and the flags that the driver was built with.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use anyhow::{Context, Result};

use super::file::write as write_file;
use crate::build::sides::side::DriverBuild;
use crate::build::toolchain::compiler::{Family, Invocation};

/// How one side of the folder is built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commands {
    /// The side in a line.
    pub label: String,
    /// The compiler's variable in the script, with its default value; `None` if the user must name it.
    pub compiler: Option<String>,
    /// The functions of the program that the listing has.
    pub functions: Vec<String>,
    /// The build itself.
    pub build: Build,
}

/// The build of one side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Build {
    /// Preprocessed C: the flags and the files in the order of linking.
    C {
        /// For compiling and linking.
        flags: Vec<String>,
        /// Without `.i`.
        files: Vec<String>,
    },
    /// A crate.
    Rust {
        /// `RUSTFLAGS`.
        flags: String,
        /// Variables that change the profile.
        environment: Vec<String>,
        /// The name of the program.
        program: String,
    },
}

/// The first line of the `toolchain.txt` beside a program: the compiler's version and the flags.
pub fn recorded_toolchain(program: &Path) -> Result<String> {
    let path = program.with_file_name("toolchain.txt");
    let text = std::fs::read_to_string(&path)
        .with_context(|| format!("cannot read {}", path.display()))?;
    Ok(text.lines().next().unwrap_or_default().to_owned())
}

/// The script's variable for the compiler of a side, and the compiler here.
pub fn compiler_variable(side: &str, driver: &DriverBuild) -> (String, String) {
    let toolchain = &driver.recipe.toolchain;
    let prefix = match (toolchain.family, &toolchain.invocation) {
        (Family::Gcc | Family::Clang, _) => "CC",
        (Family::Rustc, Invocation::Rustup(_)) => "RUSTUP_TOOLCHAIN",
        (Family::Rustc, Invocation::Program(_)) => "RUSTC",
    };
    let value = match &toolchain.invocation {
        Invocation::Program(value) | Invocation::Rustup(value) => value,
    };
    (format!("{prefix}_{side}"), value.clone())
}

/// The default compiler of a side; `None` for a path, which other machines do not have.
pub fn default_compiler(driver: &DriverBuild) -> Option<String> {
    let (_, value) = compiler_variable("", driver);
    (!value.contains('/')).then_some(value)
}

const HEAD: &str = r#"#!/usr/bin/env bash
# Builds the program with both compilers, writes the assembly of the functions below to out/a.s and out/b.s, and
# compares it with a.s and b.s. Needs bash, binutils and the compilers; README.md names the variables for others.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

# assembly PROGRAM FUNCTION...: prints the functions without addresses.
assembly() {
    local program="$1"; shift
    objdump --disassemble --demangle --no-show-raw-insn --section=.text "$program" |
        NAMES="$(printf '%s\n' "$@")" awk '
            BEGIN { count = split(ENVIRON["NAMES"], list, "\n"); for (i = 1; i <= count; i++) wanted["<" list[i] ">:"] = 1 }
            /^[0-9a-f]+ </ { name = substr($0, index($0, "<")); show = name in wanted; if (show) print name; next }
            show && /:\t/ { sub(/^[^\t]*/, ""); print }' |
        sed -E 's/ [0-9a-f]+ (<[^>]*>)/ \1/g; s/-?0x[0-9a-f]+\(%rip\)/(%rip)/g; s/[[:space:]]+$//'
}

# check SIDE: says whether the assembly is that of the folder.
check() {
    if cmp -s "$1.s" "out/$1.s"; then
        echo "$1: the same assembly as in $1.s"
    elif [ -e "$1.s" ]; then
        echo "$1: another assembly than in $1.s: compare it with out/$1.s"
    fi
}
"#;

const C_FUNCTION: &str = r#"
# build_c SIDE COMPILER FOLDER FLAGS...: compiles and links the preprocessed files.
build_c() {
    local side="$1" compiler="$2" folder="$3" file objects=(); shift 3
    mkdir -p "out/$side"
    for file in "${files[@]}"; do
        "$compiler" "$@" -w -c "$folder/$file.i" -o "out/$side/$file.o"
        objects+=("out/$side/$file.o")
    done
    "$compiler" "$@" "${objects[@]}" -o "out/$side/program"
}
"#;

/// Writes `build.sh`. With `shared`, both sides have the same sources.
pub fn write(output: &Path, commands: &[Commands; 2], shared: bool) -> Result<()> {
    let mut text = HEAD.to_owned();
    if commands
        .iter()
        .any(|side| matches!(side.build, Build::C { .. }))
    {
        text.push_str(C_FUNCTION);
    }
    for (commands, (upper, lower)) in commands.iter().zip([("A", "a"), ("B", "b")]) {
        let folder = match shared {
            true => "source".to_owned(),
            false => format!("source-{lower}"),
        };
        text.push_str(&format!("\n# Side {upper}: {}\n", commands.label));
        text.push_str(&side(commands, upper, lower, &folder));
        let functions: Vec<String> = commands.functions.iter().map(|name| quoted(name)).collect();
        text.push_str(&format!(
            "assembly out/{lower}/program {} > out/{lower}.s\ncheck {lower}\n",
            functions.join(" ")
        ));
    }
    write_file(output, "build.sh", &text)?;
    let path = output.join("build.sh");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755))
        .with_context(|| format!("cannot make {} executable", path.display()))
}

/// The commands of a side.
fn side(commands: &Commands, upper: &str, lower: &str, folder: &str) -> String {
    let variable = |name: &str| {
        let name = format!("{name}_{upper}");
        match &commands.compiler {
            Some(default) => format!("${{{name}:-{default}}}"),
            None => format!("${{{name}:?set it to the compiler of side {upper}}}"),
        }
    };
    match &commands.build {
        Build::C { flags, files } => {
            let flags: Vec<String> = flags.iter().map(|flag| quoted(flag)).collect();
            format!(
                "files=({})\nbuild_c {lower} \"{}\" {folder} {}\n",
                files.join(" "),
                variable("CC"),
                flags.join(" ")
            )
        }
        Build::Rust {
            flags,
            environment,
            program,
        } => {
            let chosen = match commands.compiler.as_deref() {
                Some(name) if name != "rustc" => {
                    format!("RUSTUP_TOOLCHAIN=\"{}\"", variable("RUSTUP_TOOLCHAIN"))
                }
                _ => format!("RUSTC=\"{}\"", variable("RUSTC")),
            };
            let environment: String = environment.iter().map(|set| format!(" {set}")).collect();
            format!(
                "{chosen}{environment} RUSTFLAGS={} \\\n    cargo build --quiet --locked --manifest-path \
                 {folder}/Cargo.toml --profile driver \\\n    --bin {program} --target-dir out/target-{lower}\n\
                 mkdir -p out/{lower}\ncp out/target-{lower}/driver/{program} out/{lower}/program\n",
                quoted(flags)
            )
        }
    }
}

/// A word for the shell.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./+,".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}
