//! `triptych compare --reproducer`: a folder that shows, without this repository, how two compilers or
//! two sets of flags differ in the code of the data path.
//!
//! [`preprocessed`] writes the sources of the C driver, [`minimal_crate`] those of a Rust driver,
//! [`script`] the commands, and [`readme`] the description. The folder's script is run once, so the
//! listings in the folder are what the folder itself gives.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{bail, Context, Result};
use perfcounters::process::Process;
use perfcounters::Interrupt;
use record::Implementation;

use crate::build::sides::build::{build, check, Built};
use crate::build::sides::show::entries::Context as Rows;
use crate::build::sides::show::summary::summary;
use crate::build::sides::show::unified::unified;
use crate::build::sides::show::{Comparison, Shown};
use crate::build::sides::side::{resolve, DriverBuild, Side};
use crate::build::sides::spec::SideSpec;
use crate::build::toolchain::machine::ThisMachine;
use crate::code::machine_code::code::Code;
use crate::code::machine_code::code_match::{code_match, CodeMatch};
use crate::code::machine_code::data_path::DATA_PATH;
use crate::code::machine_code::disassembly::disassemble;
use crate::usage::UsageError;
use arguments::ReproducerArguments;
use file::write;
use script::Commands;

pub mod arguments;
mod counts;
mod file;
mod measured;
mod minimal_crate;
mod preprocessed;
mod readme;
mod script;
mod versions;

/// Longest time for the folder's script: two builds.
const LIMIT: Duration = Duration::from_secs(1200);

/// Writes the folder.
///
/// # Errors
/// A usage error if the folder exists with files in it, or a side is a finished program. Otherwise the
/// compiler's message, or the file that cannot be written.
pub fn run(
    arguments: &ReproducerArguments,
    specs: &[SideSpec; 2],
    build_dir: &Path,
    results: &Path,
    interrupt: &Interrupt,
) -> Result<()> {
    let Some(output) = &arguments.output else {
        bail!(UsageError("--reproducer needs --output DIR".to_owned()));
    };
    check_empty(output)?;
    let [a, b] = resolve(&ThisMachine, specs, arguments.driver)?;
    let drivers = [driver(&a)?, driver(&b)?];
    check([&a, &b])?;
    let wanted: Vec<&str> = match &arguments.function {
        Some(name) => vec![name],
        None => DATA_PATH.to_vec(),
    };
    // The programs stay until the end, because a commit's sources are removed with them.
    let built = [
        build(&a, build_dir, interrupt)?,
        build(&b, build_dir, interrupt)?,
    ];
    let codes = [built[0].code(&wanted)?, built[1].code(&wanted)?];
    let functions = [functions(&codes[0]), functions(&codes[1])];

    std::fs::create_dir_all(output)
        .with_context(|| format!("cannot create {}", output.display()))?;
    let mut commands = Vec::new();
    for (side, name) in ["a", "b"].into_iter().enumerate() {
        let folder = output.join(format!("source-{name}"));
        commands.push(sources(
            drivers[side],
            &built[side],
            &folder,
            &functions[side],
            interrupt,
        )?);
    }
    let shared = merge(output)?;
    let commands = [commands.remove(0), commands.remove(0)];
    script::write(output, &commands, shared)?;
    versions::write(output, drivers)?;
    eprintln!("running {}", output.join("build.sh").display());
    run_script(output, drivers, interrupt)?;
    let equal = [
        keep(output, "a", &built[0], &functions[0])?,
        keep(output, "b", &built[1], &functions[1])?,
    ];
    std::fs::remove_dir_all(output.join("out")).context("cannot remove the folder's builds")?;
    let measured = [
        measured::instructions(results, drivers[0]),
        measured::instructions(results, drivers[1]),
    ];
    let [code_a, code_b] = codes;
    let shown = |driver: &DriverBuild, code: Code| Shown {
        label: driver.label(),
        code,
    };
    let comparison = Comparison::new(shown(drivers[0], code_a), shown(drivers[1], code_b), false);
    let listing = unified(&comparison, Rows::Rows(8), false);
    write(
        output,
        "diff.txt",
        &format!("{}\n{listing}", summary(&comparison)),
    )?;
    counts::write(output, &comparison, &commands, &measured)?;
    readme::write(output, &comparison, &commands, shared, &equal, &measured)?;
    println!("{}", summary(&comparison));
    println!(
        "{} is complete; its README.md says how to build it",
        output.display()
    );
    Ok(())
}

fn driver(side: &Side) -> Result<&DriverBuild> {
    match side {
        Side::Build(driver) => Ok(driver),
        Side::Program(program) => bail!(UsageError(format!(
            "a reproducer needs sources, and {} is a finished program",
            program.display()
        ))),
    }
}

fn check_empty(output: &Path) -> Result<()> {
    let empty = std::fs::read_dir(output).map_or(true, |mut entries| entries.next().is_none());
    match empty && !output.is_file() {
        true => Ok(()),
        false => bail!(UsageError(format!(
            "{} is not empty: name a new folder with --output",
            output.display()
        ))),
    }
}

/// The functions of the program that hold the code, each once.
fn functions(code: &Code) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for part in &code.parts {
        let name = part.name.rsplit(" in ").next().unwrap_or(&part.name);
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

fn sources(
    driver: &DriverBuild,
    built: &Built,
    folder: &Path,
    functions: &[String],
    interrupt: &Interrupt,
) -> Result<Commands> {
    let toolchain = script::recorded_toolchain(&built.program)?;
    match driver.implementation {
        Implementation::C => {
            preprocessed::write(driver, built, &toolchain, folder, functions, interrupt)
        }
        _ => minimal_crate::write(driver, built, &toolchain, folder, functions),
    }
}

/// Leaves one folder with sources if both are equal. Returns whether they were.
fn merge(output: &Path) -> Result<bool> {
    let (a, b) = (output.join("source-a"), output.join("source-b"));
    let equal = content(&a)? == content(&b)?;
    if equal {
        std::fs::remove_dir_all(&b).context("cannot remove the second copy of the sources")?;
        std::fs::rename(&a, output.join("source")).context("cannot rename the sources")?;
    }
    Ok(equal)
}

/// All files below a folder with their content.
fn content(folder: &Path) -> Result<Vec<(PathBuf, Vec<u8>)>> {
    let mut all = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        let entries =
            std::fs::read_dir(&next).with_context(|| format!("cannot read {}", next.display()))?;
        for entry in entries {
            let path = entry?.path();
            if path.is_dir() {
                open.push(path);
                continue;
            }
            let bytes =
                std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
            all.push((path.strip_prefix(folder).unwrap_or(&path).to_owned(), bytes));
        }
    }
    all.sort();
    Ok(all)
}

/// Runs the folder's script with the compilers of both sides.
fn run_script(output: &Path, drivers: [&DriverBuild; 2], interrupt: &Interrupt) -> Result<()> {
    let mut command = Command::new("bash");
    command.arg("build.sh").current_dir(output);
    for (name, driver) in ["A", "B"].into_iter().zip(drivers) {
        let (variable, value) = script::compiler_variable(name, driver);
        command.env(variable, value);
    }
    // Cargo sets these for its tests.
    for name in ["CARGO_TARGET_DIR", "RUSTFLAGS", "MAKEFLAGS"] {
        command.env_remove(name);
    }
    let logs = perfcounters::temporary::TemporaryFolder::create()?;
    Process::start("build.sh", command, None, logs.path(), Stdio::null())?
        .wait(LIMIT, interrupt)
        .with_context(|| format!("the script in {} fails", output.display()))
}

/// Keeps the listing that the script wrote. Returns whether the folder's program has the same code as
/// the driver's, or the first function that differs.
fn keep(output: &Path, side: &str, built: &Built, functions: &[String]) -> Result<Option<String>> {
    let listing = output.join(format!("{side}.s"));
    let from = output.join("out").join(format!("{side}.s"));
    std::fs::copy(&from, &listing).with_context(|| format!("cannot copy {}", from.display()))?;
    let ours = disassemble(&output.join("out").join(side).join("program"), false)?;
    let original = disassemble(&built.program, false)?;
    for function in original
        .iter()
        .filter(|there| functions.contains(&there.name))
    {
        match code_match(function, &ours) {
            CodeMatch::Same => {}
            CodeMatch::Absent => return Ok(Some(format!("{} is missing", function.name))),
            CodeMatch::Differs { places, .. } => {
                return Ok(Some(format!(
                    "{} differs in {places} places",
                    function.name
                )));
            }
        }
    }
    Ok(None)
}
