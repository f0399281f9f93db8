//! `triptych asm`: the data path's machine code beside its source, checks and panics marked.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use anyhow::{bail, Context, Result};
use perfcounters::process::find_program;
use perfcounters::record::{Build, Implementation};
use perfcounters::Interrupt;

use crate::cli::AsmArguments;
use crate::compare::build::{Builder, Extra};
use crate::compare::plan::{Way, USUAL_CPU};
use crate::compare::toolchain::{self, Family, Here};
use crate::matrix;
use crate::run::UsageError;
use checks::{Analysis, Panic};
use listing::Function;
use same::Twin;

pub mod checks;
pub mod listing;
pub mod same;

/// The functions of the data path.
pub const DATA_PATH: [&str; 3] = ["forward", "rx_batch", "tx_batch"];

/// All kinds of checks.
const KINDS: [Panic; 4] = [Panic::Bounds, Panic::Overflow, Panic::Trap, Panic::Other];

/// Checks in the loops of a driver's data path, by kind: in the loops of `forward` and of the
/// functions of the data path that it calls, and in all that is called from within these loops.
///
/// # Errors
/// If the program cannot be read, or `forward` is inlined: a program without line tables does not
/// say where.
pub fn checks_in_loops(program: &Path) -> Result<BTreeMap<Panic, usize>> {
    let functions = disassemble(program, false)?;
    if !functions.iter().any(|function| is(function, DATA_PATH[0])) {
        bail!(
            "{} has no function {}: it is inlined or stripped, and there are no line tables",
            program.display(),
            DATA_PATH[0]
        );
    }
    Ok(count_in_loops(&functions, &DATA_PATH))
}

/// A driver's build with the checks that are left in its data path. Only safe Rust has some that
/// could be left.
pub fn with_checks(build: Build, program: &Path) -> Build {
    if build.implementation != Implementation::Rust {
        return build;
    }
    match checks_in_loops(program) {
        Ok(counts) => Build {
            checks_in_loops: counts
                .into_iter()
                .map(|(kind, count)| (kind.to_string(), count))
                .collect(),
            ..build
        },
        Err(error) => Build {
            checks_not_counted: Some(format!("{error:#}")),
            ..build
        },
    }
}

fn count_in_loops(functions: &[Function], names: &[&str]) -> BTreeMap<Panic, usize> {
    let mut counts: BTreeMap<Panic, usize> = KINDS.into_iter().map(|kind| (kind, 0)).collect();
    let mut add = |kind: Panic, count: usize| *counts.entry(kind).or_default() += count;
    let chosen = select(functions, names);
    for function in &chosen {
        let analysis = checks::analyse(function);
        for kind in KINDS {
            add(kind, analysis.hot(kind));
        }
    }
    // What a loop calls is as hot as the loop.
    for function in called_in_loops(functions, &chosen) {
        let analysis = checks::analyse(function);
        for kind in KINDS {
            add(kind, analysis.count(kind));
        }
    }
    counts
}

/// Functions of the driver, and those that index slices, that are called from within the loops of
/// some functions, directly or by one another. The rest of the libraries is left out: formatting an
/// error has many checks and is in no loop that turns.
fn called_in_loops<'a>(functions: &'a [Function], from: &[&'a Function]) -> Vec<&'a Function> {
    let by_address: BTreeMap<u64, &Function> = functions
        .iter()
        .filter_map(|function| Some((function.code.first()?.address, function)))
        .collect();
    let followed = |function: &Function| {
        ["ixgbe", "core::slice::", "::Index"]
            .iter()
            .any(|part| function.name.contains(part))
    };
    let calls = |function: &Function, everywhere: bool| -> Vec<u64> {
        let analysis = checks::analyse(function);
        let called =
            function.code.iter().enumerate().filter(|(place, there)| {
                there.is_call() && (everywhere || analysis.depth[*place] > 0)
            });
        called.filter_map(|(_, there)| there.target()).collect()
    };
    let mut open: Vec<u64> = from
        .iter()
        .flat_map(|function| calls(function, false))
        .collect();
    let mut found: BTreeMap<u64, &Function> = BTreeMap::new();
    while let Some(address) = open.pop() {
        let Some(function) = by_address.get(&address) else {
            continue;
        };
        let counted = from.iter().any(|known| known.name == function.name);
        if counted || !followed(function) || found.contains_key(&address) {
            continue;
        }
        found.insert(address, function);
        open.extend(calls(function, true));
    }
    found.into_values().collect()
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
    let mut built_by = None;
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
            built_by = way.usual.then(|| way.toolchain.name());
            matrix::build_folder(&builder.output, implementation, &way.variant).join("ixgbe-fwd")
        }
    };
    let functions = disassemble(&program, true)?;
    let found = select(&functions, &wanted);
    if found.is_empty() {
        bail!(nothing(&program, &functions, &wanted));
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
        let build = matrix::describe_build(&arguments.build_dir, implementation, matrix::DEFAULT);
        let shipped = matrix::build_folder(&arguments.build_dir, implementation, matrix::DEFAULT)
            .join("ixgbe-fwd");
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
        match same::twin(function, &there) {
            Twin::Same => format!("{name}: the same instructions as in {shipped}\n"),
            Twin::Differs { there, places } => format!(
                "{name}: differs from {shipped}, which has {there} instructions there, in {places} places\n"
            ),
            Twin::Absent => format!("{name}: {shipped} has no such function\n"),
        }
    });
    Ok(lines.collect())
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

fn is(function: &Function, name: &str) -> bool {
    listing::short(&function.name) == name
}

/// Functions of these names; for a name that none has, those into which it was inlined.
fn select<'a>(functions: &'a [Function], names: &[&str]) -> Vec<&'a Function> {
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
    fn what_a_loop_calls_is_as_hot_as_the_loop() {
        let functions = listing::parse(
            "\
0000000000001000 <ixgbe::forwarder::Direction::forward>:
    1000:\tcall   3000 <ixgbe::stats::once>
    1005:\tcall   2000 <ixgbe::dma::at>
    100a:\tcall   4000 <core::fmt::write>
    1010:\tjne    1005 <ixgbe::forwarder::Direction::forward+0x5>
    1012:\tret
0000000000002000 <ixgbe::dma::at>:
    2000:\tjae    2005 <ixgbe::dma::at+0x5>
    2002:\tcall   2000 <ixgbe::dma::at>
    2004:\tret
    2005:\tcall   5000 <core::panicking::panic_bounds_check>
0000000000003000 <ixgbe::stats::once>:
    3000:\tjae    3005 <ixgbe::stats::once+0x5>
    3004:\tret
    3005:\tcall   5000 <core::panicking::panic_bounds_check>
0000000000004000 <core::fmt::write>:
    4000:\tjae    4005 <core::fmt::write+0x5>
    4004:\tret
    4005:\tcall   5000 <core::panicking::panic_bounds_check>
",
        );
        let counts = count_in_loops(&functions, &DATA_PATH);
        assert_eq!(counts[&Panic::Bounds], 1, "{counts:?}");
        assert_eq!(counts[&Panic::Overflow], 0);
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        let stripped = nothing(Path::new("p"), &[function(".text", &[])], &DATA_PATH);
        assert!(stripped.contains("stripped"), "{stripped}");
        let inlined = nothing(Path::new("p"), &[function("main", &[])], &["forward"]);
        assert!(inlined.contains("inlined"), "{inlined}");
        let error = checks_in_loops(Path::new("/no/program")).unwrap_err();
        assert!(error.to_string().contains("make build"), "{error}");
    }
}
