//! `triptych asm`: the machine code of the data path beside its source, with checks and panics marked.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::PathBuf;

use anyhow::{bail, Context, Result};
use perfcounters::Interrupt;
use record::Implementation;

use crate::build::builds::cells::describe_build;
use crate::build::builds::variants::{build_folder, DEFAULT};
use crate::build::sides::build::line_tables;
use crate::build::toolchain::builder::Builder;
use crate::build::toolchain::find;
use crate::build::toolchain::machine::ThisMachine;
use crate::build::toolchain::recipe::{BuildRecipe, DEFAULT_CPU};
use crate::code::machine_code::checks::{self, Panic};
use crate::code::machine_code::code_match::{code_match, CodeMatch};
use crate::code::machine_code::data_path::{called_in_loops, count_in_loops, DATA_PATH, KINDS};
use crate::code::machine_code::disassembly::{disassemble, not_found_message, select};
use crate::code::machine_code::listing::Function;
use crate::code::machine_code::source::Sources;
use crate::usage::{Outcome, UsageError};
use arguments::AsmArguments;
use part::Part;
use show::show;

pub mod arguments;
mod diff;
mod part;
mod show;

/// Builds a driver with line tables, or takes an existing program, and prints its code.
///
/// # Errors
/// If the driver cannot be built or read, or the function is not found.
pub fn run(arguments: &AsmArguments, interrupt: &Interrupt) -> Result<Outcome> {
    let wanted: Vec<&str> = match &arguments.function {
        Some(name) => vec![name.as_str()],
        None => DATA_PATH.to_vec(),
    };
    if let Some([a, b]) = arguments.diff.as_deref() {
        let text = diff::run(arguments, &[a.clone(), b.clone()], &wanted, interrupt)?;
        return print(&text);
    }
    let (program, built_by) = match &arguments.program {
        Some(program) => (program.clone(), None),
        None => build_with_line_tables(arguments, interrupt)?,
    };
    let functions = disassemble(&program, true)?;
    let found = select(&functions, &wanted);
    if found.is_empty() {
        bail!(not_found_message(&program, &functions, &wanted));
    }
    let parts = part::parts(&program, &found, &wanted, arguments.all)?;
    let mut text = show_all(&functions, &parts, &wanted);
    if let Some(toolchain) = built_by {
        text.push_str(&compare_with_shipped(arguments, &found, &toolchain)?);
    }
    print(&text)
}

fn print(text: &str) -> Result<Outcome> {
    match std::io::stdout().write_all(text.as_bytes()) {
        // `head` and other readers may close the pipe early.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => {}
        other => other.context("cannot write to standard output")?,
    }
    Ok(Outcome::Good)
}

/// The driver. Without one, `--diff` is given, and this is not called.
fn driver(arguments: &AsmArguments) -> Result<Implementation> {
    let missing = || UsageError("name a driver: c, rust or rust-unsafe".to_owned());
    Ok(arguments.implementation.ok_or_else(missing)?)
}

/// Builds the driver. Returns the program, and the compiler if only the line tables differ from
/// `make build`.
fn build_with_line_tables(
    arguments: &AsmArguments,
    interrupt: &Interrupt,
) -> Result<(PathBuf, Option<String>)> {
    let implementation = driver(arguments)?;
    let recipe = recipe(arguments)?;
    let builder = Builder {
        sources: std::env::current_dir().context("cannot find the current folder")?,
        output: arguments.build_dir.join("asm"),
        build: &arguments.build_dir,
        interrupt,
    };
    eprintln!(
        "building {implementation} with {} {}",
        recipe.toolchain.label,
        recipe.flags()
    );
    builder.make(
        &recipe,
        implementation,
        &line_tables(recipe.toolchain.family),
    )?;
    let folder = build_folder(&builder.output, implementation, &recipe.variant);
    Ok((
        folder.join("ixgbe-fwd"),
        recipe.default_flags.then(|| recipe.toolchain.name()),
    ))
}

/// The code of the found functions, then the number of checks.
fn show_all(functions: &[Function], parts: &[Part<'_>], wanted: &[&str]) -> String {
    let top = std::env::current_dir().unwrap_or_default();
    let mut sources = Sources::new(&top);
    let mut totals: BTreeMap<Panic, usize> = BTreeMap::new();
    let mut text = String::new();
    let found: Vec<&Function> = parts.iter().map(|part| part.function).collect();
    for part in parts {
        let analysis = checks::analyse(part.function);
        text.push_str(&show(part, &analysis, &mut sources));
        for kind in KINDS {
            *totals.entry(kind).or_default() += analysis.count(kind);
        }
    }
    text.push('\n');
    for (kind, hot) in count_in_loops(functions, wanted) {
        let all = totals.get(&kind).copied().unwrap_or_default();
        text.push_str(&format!(
            "{kind} checks: {all}; in loops and the functions they call: {hot}\n"
        ));
    }
    let called: Vec<&str> = called_in_loops(functions, &found)
        .iter()
        .map(|function| function.name.as_str())
        .collect();
    if !called.is_empty() {
        text.push_str(&format!("called from loops: {}\n", called.join(", ")));
    }
    text
}

/// Whether the shown code is the code of the measured driver, which has no line tables.
fn compare_with_shipped(
    arguments: &AsmArguments,
    found: &[&Function],
    toolchain: &str,
) -> Result<String> {
    let implementation = driver(arguments)?;
    let build = describe_build(&arguments.build_dir, implementation, DEFAULT);
    let program = build_folder(&arguments.build_dir, implementation, DEFAULT).join("ixgbe-fwd");
    let shipped = program.display();
    if !program.is_file() {
        return Ok(format!("not compared: there is no {shipped}\n"));
    }
    if build.toolchain != toolchain {
        return Ok(format!(
            "not compared: {shipped} was built by {}\n",
            build.toolchain
        ));
    }
    let other = disassemble(&program, false)?;
    let lines = found.iter().map(|function| {
        let name = &function.name;
        match code_match(function, &other) {
            CodeMatch::Same => format!("{name}: the same instructions as in {shipped}\n"),
            CodeMatch::Differs { there, places } => format!(
                "{name}: differs from {shipped} in {places} places ({there} instructions, not {}); \
                 run `make build`\n",
                function.code.len()
            ),
            CodeMatch::Absent => format!("{name}: {shipped} has no such function\n"),
        }
    });
    Ok(lines.collect())
}

/// The build recipe with the compiler that the user named, or that of `make build`.
fn recipe(arguments: &AsmArguments) -> Result<BuildRecipe> {
    let implementation = driver(arguments)?;
    let default = match implementation {
        Implementation::C => "gcc",
        _ => "rustc",
    };
    let name = arguments.toolchain.as_deref().unwrap_or(default);
    let found = find::find(&ThisMachine, &[name.to_owned()]);
    if let Some(skip) = found.skipped.first() {
        bail!(UsageError(skip.to_string()));
    }
    let toolchain = found.toolchains.into_iter().next();
    let toolchain = toolchain.with_context(|| format!("there is no compiler {name}"))?;
    let recipe = BuildRecipe::new(toolchain, arguments.opt, DEFAULT_CPU, true, false);
    if !recipe.implementations().contains(&implementation) {
        bail!(UsageError(format!(
            "{} cannot build the {} driver",
            recipe.toolchain.name(),
            implementation
        )));
    }
    Ok(recipe)
}
