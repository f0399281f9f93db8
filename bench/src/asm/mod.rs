//! `triptych asm`: the machine code of the data path beside its source, with checks and panics marked.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;

use anyhow::{bail, Context, Result};
use perfcounters::Interrupt;
use record::Implementation;

use crate::builds::cells::describe_build;
use crate::builds::variants::{build_folder, DEFAULT};
use crate::machine_code::checks::{self, Panic};
use crate::machine_code::code_match::{self, CodeMatch};
use crate::machine_code::data_path::{called_in_loops, count_in_loops, DATA_PATH, KINDS};
use crate::machine_code::disassembly::{disassemble, not_found_message, select};
use crate::machine_code::listing::Function;
use crate::toolchain::builder::{Builder, ExtraFlags};
use crate::toolchain::compiler::Family;
use crate::toolchain::find;
use crate::toolchain::machine::ThisMachine;
use crate::toolchain::recipe::{BuildRecipe, DEFAULT_CPU};
use crate::usage::UsageError;
use arguments::AsmArguments;
use show::{show, Sources};

pub mod arguments;
mod show;

/// Builds, and prints the code.
///
/// # Errors
/// If it cannot be built or read, or the function is nowhere.
pub fn run(arguments: &AsmArguments, interrupt: &Interrupt) -> Result<()> {
    let implementation = arguments.implementation;
    let wanted: Vec<&str> = match &arguments.function {
        Some(name) => vec![name.as_str()],
        None => DATA_PATH.to_vec(),
    };
    let mut built_by = None;
    let program = match &arguments.program {
        Some(program) => program.clone(),
        None => {
            let recipe = recipe(arguments)?;
            let builder = Builder {
                sources: std::env::current_dir().context("cannot find the current folder")?,
                output: arguments.build_dir.join("asm"),
                build: &arguments.build_dir,
                interrupt,
            };
            eprintln!(
                "building {implementation} by {} {}",
                recipe.toolchain.name(),
                recipe.flags()
            );
            builder.make(
                &recipe,
                implementation,
                &line_tables(recipe.toolchain.family),
            )?;
            built_by = recipe.default_flags.then(|| recipe.toolchain.name());
            build_folder(&builder.output, implementation, &recipe.variant).join("ixgbe-fwd")
        }
    };
    let functions = disassemble(&program, true)?;
    let found = select(&functions, &wanted);
    if found.is_empty() {
        bail!(not_found_message(&program, &functions, &wanted));
    }
    let mut sources = Sources::default();
    let mut totals: BTreeMap<Panic, usize> = BTreeMap::new();
    let mut text = String::new();
    for function in &found {
        let analysis = checks::analyse(function);
        text.push_str(&show(function, &analysis, &mut sources));
        for kind in KINDS {
            *totals.entry(kind).or_default() += analysis.count(kind);
        }
    }
    text.push('\n');
    let called: Vec<&str> = called_in_loops(&functions, &found)
        .iter()
        .map(|function| function.name.as_str())
        .collect();
    for (kind, hot) in count_in_loops(&functions, &wanted) {
        let all = totals.get(&kind).copied().unwrap_or_default();
        text.push_str(&format!(
            "{kind} checks: {all}; in loops and what they call: {hot}\n"
        ));
    }
    if !called.is_empty() {
        text.push_str(&format!("called from loops: {}\n", called.join(", ")));
    }
    if let Some(toolchain) = built_by {
        let build = describe_build(&arguments.build_dir, implementation, DEFAULT);
        let shipped = build_folder(&arguments.build_dir, implementation, DEFAULT).join("ixgbe-fwd");
        text.push_str(&match (shipped.is_file(), build.toolchain == toolchain) {
            (false, _) => format!("not compared: there is no {}\n", shipped.display()),
            (true, false) => format!(
                "not compared: {} was built by {}\n",
                shipped.display(),
                build.toolchain
            ),
            (true, true) => compared(&found, &shipped)?,
        });
    }
    match std::io::stdout().write_all(text.as_bytes()) {
        // Who reads only the beginning, as `head` does, has what they want.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => other.context("cannot write"),
    }
}

/// Whether the code that is shown is that of the driver as it is measured, which has no line tables.
fn compared(found: &[&Function], shipped: &Path) -> Result<String> {
    let there = disassemble(shipped, false)?;
    let lines = found.iter().map(|function| {
        let name = &function.name;
        let shipped = shipped.display();
        match code_match::code_match(function, &there) {
            CodeMatch::Same => format!("{name}: the same instructions as in {shipped}\n"),
            CodeMatch::Differs { there, places } => format!(
                "{name}: differs from {shipped}, which has {there} instructions there, in {places} places\n"
            ),
            CodeMatch::Absent => format!("{name}: {shipped} has no such function\n"),
        }
    });
    Ok(lines.collect())
}

/// The compiler that was asked for, or that of `make build`.
fn recipe(arguments: &AsmArguments) -> Result<BuildRecipe> {
    let usual = match arguments.implementation {
        Implementation::C => "gcc",
        _ => "rustc",
    };
    let name = arguments.toolchain.as_deref().unwrap_or(usual);
    let (found, skipped) = find::find(&ThisMachine, &[name.to_owned()]);
    if let Some(skip) = skipped.first() {
        bail!(UsageError(skip.to_string()));
    }
    let toolchain = found.into_iter().next();
    let toolchain = toolchain.with_context(|| format!("there is no compiler {name}"))?;
    let recipe = BuildRecipe::new(toolchain, arguments.opt, DEFAULT_CPU, true, false);
    if !recipe.implementations().contains(&arguments.implementation) {
        bail!(UsageError(format!(
            "{} does not build the {} driver",
            recipe.toolchain.name(),
            arguments.implementation
        )));
    }
    Ok(recipe)
}

/// Line tables, and nothing that could change the code.
fn line_tables(family: Family) -> ExtraFlags {
    let c = match family {
        Family::Clang => "-gline-tables-only",
        _ => "-g1",
    };
    let (name, value) = ("CARGO_PROFILE_DRIVER_DEBUG", "line-tables-only");
    ExtraFlags {
        c: c.to_owned(),
        rust: String::new(),
        environment: vec![(name.to_owned(), value.to_owned())],
    }
}
