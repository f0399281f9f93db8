//! `triptych asm`: the data path's machine code beside its source, checks and panics marked.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use anyhow::{bail, Context, Result};
use perfcounters::process::find_program;
use perfcounters::record::Implementation;
use perfcounters::Interrupt;

use crate::cli::AsmArguments;
use crate::compare::build::{Builder, Extra};
use crate::compare::plan::{Way, USUAL_CPU};
use crate::compare::toolchain::{self, Family, Here};
use crate::matrix;
use crate::run::UsageError;
use checks::{Analysis, Panic};
use listing::Function;

pub mod checks;
pub mod listing;

/// The functions of the data path.
pub const DATA_PATH: [&str; 3] = ["forward", "rx_batch", "tx_batch"];

/// Bounds checks in the loops of a driver's data path, by function.
///
/// # Errors
/// If the program cannot be read, or has no such function by name.
pub fn hot_bounds_checks(program: &Path) -> Result<usize> {
    let functions = disassemble(program, false)?;
    let found = select(&functions, &DATA_PATH);
    if found.is_empty() {
        bail!(nothing(program, &functions, &DATA_PATH));
    }
    Ok(found
        .into_iter()
        .map(|function| checks::analyse(function).hot(Panic::Bounds))
        .sum())
}

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
    let program = match &arguments.program {
        Some(program) => program.clone(),
        None => {
            let way = way(arguments)?;
            let builder = Builder {
                sources: std::env::current_dir().context("cannot find the current folder")?,
                output: arguments.build_dir.join("asm"),
                build: &arguments.build_dir,
                interrupt,
            };
            eprintln!(
                "building {implementation} by {} {}",
                way.toolchain.name(),
                way.flags()
            );
            builder.make(&way, implementation, &line_tables(way.toolchain.family))?;
            matrix::build_folder(&builder.output, implementation, &way.variant).join("ixgbe-fwd")
        }
    };
    let functions = disassemble(&program, true)?;
    let found = select(&functions, &wanted);
    if found.is_empty() {
        bail!(nothing(&program, &functions, &wanted));
    }
    let mut sources = Sources::default();
    let mut totals = BTreeMap::new();
    let mut text = String::new();
    for function in found {
        let analysis = checks::analyse(function);
        text.push_str(&show(function, &analysis, &mut sources));
        for kind in [Panic::Bounds, Panic::Overflow, Panic::Trap, Panic::Other] {
            let (all, hot) = totals.entry(kind).or_insert((0, 0));
            *all += analysis.count(kind);
            *hot += analysis.hot(kind);
        }
    }
    for (kind, (all, hot)) in totals {
        text.push_str(&format!("{kind} checks: {all}, {hot} of them in loops\n"));
    }
    match std::io::stdout().write_all(text.as_bytes()) {
        // Who reads only the beginning, as `head` does, has what they want.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => other.context("cannot write"),
    }
}

/// The compiler that was asked for, or that of `make build`.
fn way(arguments: &AsmArguments) -> Result<Way> {
    let usual = match arguments.implementation {
        Implementation::C => "gcc",
        _ => "rustc",
    };
    let name = arguments.toolchain.as_deref().unwrap_or(usual);
    let (found, skipped) = toolchain::find(&Here, &[name.to_owned()]);
    if let Some(skip) = skipped.first() {
        bail!(UsageError(skip.to_string()));
    }
    let toolchain = found.into_iter().next();
    let toolchain = toolchain.with_context(|| format!("there is no compiler {name}"))?;
    let way = Way::new(toolchain, arguments.opt, USUAL_CPU, true, false);
    if !way.implementations().contains(&arguments.implementation) {
        bail!(UsageError(format!(
            "{} does not build the {} driver",
            way.toolchain.name(),
            arguments.implementation
        )));
    }
    Ok(way)
}

/// Line tables, and nothing that could change the code.
fn line_tables(family: Family) -> Extra {
    let c = match family {
        Family::Clang => "-gline-tables-only",
        _ => "-g1",
    };
    let (name, value) = ("CARGO_PROFILE_DRIVER_DEBUG", "line-tables-only");
    Extra {
        c: c.to_owned(),
        rust: String::new(),
        environment: vec![(name.to_owned(), value.to_owned())],
    }
}

fn disassemble(program: &Path, lines: bool) -> Result<Vec<Function>> {
    if !program.is_file() {
        bail!(
            "there is no {}: `make build` builds the drivers",
            program.display()
        );
    }
    if find_program("objdump").is_none() {
        bail!("there is no objdump; `sudo apt-get install binutils` installs it");
    }
    let mut command = Command::new("objdump");
    command.args([
        "--disassemble",
        "--demangle",
        "--no-show-raw-insn",
        "--section=.text",
    ]);
    if lines {
        command.args(["--line-numbers", "--inlines"]);
    }
    let output = command
        .arg(program)
        .output()
        .context("cannot run objdump")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("objdump cannot read {}: {}", program.display(), said.trim());
    }
    Ok(listing::parse(&String::from_utf8_lossy(&output.stdout)))
}

/// Functions of these names; for a name that none has, those into which it was inlined.
fn select<'a>(functions: &'a [Function], names: &[&str]) -> Vec<&'a Function> {
    let is = |function: &Function, name: &str| listing::short(&function.name) == name;
    let alone = |name: &str| functions.iter().any(|function| is(function, name));
    let chosen = |function: &&Function| {
        names.iter().any(|name| match alone(name) {
            true => is(function, name),
            false => function.holds(&[*name]),
        })
    };
    functions.iter().filter(chosen).collect()
}

fn nothing(program: &Path, functions: &[Function], names: &[&str]) -> String {
    let names = names.join(", ");
    // Without symbols, objdump names sections only.
    match functions.iter().all(|function| function.name.starts_with('.')) {
        true => format!("{} is stripped: it has no symbols to find {names} by", program.display()),
        false => format!(
            "{} has no function {names}: it is inlined, and there are no line tables that say where; \
             without --program it is built with them",
            program.display()
        ),
    }
}

/// Source files that were read, by name; `None` for those that are not here.
#[derive(Debug, Default)]
struct Sources(BTreeMap<String, Option<Vec<String>>>);

impl Sources {
    fn line(&mut self, file: &str, line: usize) -> String {
        let read = |file: &String| {
            let text = std::fs::read_to_string(file).ok()?;
            Some(text.lines().map(|line| line.trim().to_owned()).collect())
        };
        let key = file.to_owned();
        let lines = self.0.entry(key).or_insert_with_key(read);
        let text = lines
            .as_ref()
            .and_then(|lines| lines.get(line.checked_sub(1)?));
        text.cloned().unwrap_or_default()
    }
}

/// A function as text: loops as bars at the left, checks and panics marked at the right.
fn show(function: &Function, analysis: &Analysis, sources: &mut Sources) -> String {
    let mut text = format!(
        "\n{}: {} instructions, {} loops\n",
        function.name,
        function.code.len(),
        analysis.loops
    );
    let here = std::env::current_dir().unwrap_or_default();
    let mut last = None;
    for (place, instruction) in function.code.iter().enumerate() {
        let bars = "│".repeat(analysis.depth[place]);
        // Of inlined functions the innermost of ours: a reader knows the libraries.
        let ours = |there: &&listing::Place| {
            Path::new(&there.file).starts_with(&here) || !there.file.starts_with('/')
        };
        let source = instruction
            .places
            .iter()
            .find(ours)
            .or(instruction.places.first());
        if source.is_some() && source != last {
            if let Some(there) = source {
                let file = Path::new(&there.file);
                let file = file.strip_prefix(&here).unwrap_or(file).display();
                let line = sources.line(&there.file, there.line);
                text.push_str(&format!("{bars:4} ; {file}:{}  {line}\n", there.line));
            }
            last = source;
        }
        let mark = match (analysis.checks.get(&place), analysis.panics.get(&place)) {
            (Some(kind), _) => format!("  <== {kind} check"),
            (None, Some(kind)) => format!("  <== panic: {kind}"),
            (None, None) => String::new(),
        };
        text.push_str(&format!(
            "{bars:4} {:8x}  {:60}{mark}",
            instruction.address, instruction.text
        ));
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(name: &str, inlined: &[&str]) -> Function {
        Function {
            name: name.to_owned(),
            inlined: inlined.iter().map(|name| (*name).to_owned()).collect(),
            code: Vec::new(),
        }
    }

    #[test]
    fn a_function_is_shown_where_it_is_or_where_it_was_inlined() {
        let functions = [
            function("main", &["forward"]),
            function("x::Direction::forward", &["rx_batch"]),
            function("tx_batch", &[]),
            function("other", &["max"]),
        ];
        let names = |wanted: &[&str]| -> Vec<String> {
            let found = select(&functions, wanted);
            found
                .into_iter()
                .map(|function| function.name.clone())
                .collect()
        };
        assert_eq!(names(&DATA_PATH), ["x::Direction::forward", "tx_batch"]);
        assert_eq!(names(&["rx_batch"]), ["x::Direction::forward"]);
        assert!(names(&["min"]).is_empty());
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        let stripped = nothing(Path::new("p"), &[function(".text", &[])], &DATA_PATH);
        assert!(stripped.contains("stripped"), "{stripped}");
        let inlined = nothing(Path::new("p"), &[function("main", &[])], &["forward"]);
        assert!(inlined.contains("inlined"), "{inlined}");
        let error = hot_bounds_checks(Path::new("/no/program")).unwrap_err();
        assert!(error.to_string().contains("make build"), "{error}");
    }
}
