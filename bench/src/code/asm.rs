//! `triptych asm`: the machine code of the data path beside its source, with checks and panics marked, or how
//! that of two builds differs.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{bail, Context as _, Result};
use clap::Args;
use console::Term;
use perfcounters::Interrupt;
use record::Implementation;

use super::checks;
use super::data_path::{called_in_loops, count_in_loops, DATA_PATH};
use super::difference::Difference;
use super::disassembly::Function;
use super::lines::Program;
use super::listing::{Pair, Shown};
use super::selection::Chosen;
use super::source::Sources;
use crate::build::builds::cells::describe_build;
use crate::build::builds::variants::{build_folder, DEFAULT};
use crate::build::request::Request;
use crate::build::sides::{resolve, Side, SideSpec};
use crate::build::toolchain::recipe::OptLevel;
use crate::usage::{one_of, our_driver, BuildDir, Outcome, UsageError};

/// The width of a page that is no terminal.
const WIDTH: usize = 160;

/// Arguments of `triptych asm`.
#[derive(Debug, Args)]
pub struct AsmArguments {
    /// The driver
    #[arg(value_name = "IMPL", required_unless_present = "diff", value_parser = our_driver())]
    implementation: Option<Implementation>,
    /// The compiler, such as gcc-12, clang-19 or rustc-1.85 [default: gcc or rustc]
    #[arg(long, value_name = "COMPILER")]
    toolchain: Option<String>,
    /// The optimisation level; `default` is 2 for C and 3 for Rust
    #[arg(long, value_name = "LEVEL", default_value = "default", value_parser = one_of::<OptLevel>())]
    opt: OptLevel,
    /// Show one function, or what was inlined from it [default: all three]
    #[arg(long, value_name = "NAME", value_parser = DATA_PATH)]
    function: Option<String>,
    /// Also show the code around an inlined function
    #[arg(long, conflicts_with = "diff")]
    all: bool,
    /// Show this program, and build nothing
    #[arg(long, value_name = "FILE", conflicts_with_all = ["toolchain", "opt"])]
    program: Option<PathBuf>,
    /// Compare the machine code of two sides, regardless of addresses and registers; see below
    #[arg(
        long,
        num_args = 2,
        value_names = ["A", "B"],
        allow_hyphen_values = true,
        conflicts_with_all = ["toolchain", "opt", "program"]
    )]
    diff: Option<Vec<SideSpec>>,
    /// Write the code or the whole comparison as JSON
    #[arg(long)]
    json: bool,
    /// Show both sides of --diff in one column, as `diff --unified` does
    #[arg(long, requires = "diff", conflicts_with = "json")]
    unified: bool,
    /// Show this many lines around each difference, or `all`
    #[arg(long, requires = "diff", value_name = "LINES", default_value = "3", value_parser = rows)]
    context: usize,
    /// Count each other register and stack slot as a difference
    #[arg(long, requires = "diff")]
    exact_registers: bool,
    /// The width of the page in characters [default: the terminal's, or 160]
    #[arg(long, requires = "diff", value_name = "CHARACTERS")]
    width: Option<usize>,
    /// The folder with everything built.
    #[command(flatten)]
    build_dir: BuildDir,
}

/// A number of rows; `all` is the largest number.
fn rows(text: &str) -> Result<usize, String> {
    let number = match text {
        "all" => Ok(usize::MAX),
        number => number.parse(),
    };
    number.map_err(|_| format!("{text:?} is neither a number of lines nor `all`"))
}

/// Builds drivers with line tables, or takes existing programs, and prints their code.
pub fn run(arguments: &AsmArguments, interrupt: &Interrupt) -> Result<Outcome> {
    let text = match arguments.diff.as_deref() {
        Some([a, b]) => two_sides(arguments, &[a.clone(), b.clone()], interrupt)?,
        _ => one_side(arguments, interrupt)?,
    };
    match std::io::stdout().write_all(text.as_bytes()) {
        // `head` and other readers may close the pipe early.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => {}
        other => other.context("cannot write to standard output")?,
    }
    Ok(Outcome::Good)
}

fn wanted(arguments: &AsmArguments) -> Vec<&str> {
    match &arguments.function {
        Some(name) => vec![name.as_str()],
        None => DATA_PATH.to_vec(),
    }
}

/// How the machine code of two builds differs.
fn two_sides(
    arguments: &AsmArguments,
    specs: &[SideSpec; 2],
    interrupt: &Interrupt,
) -> Result<String> {
    let [a, b] = resolve(specs, arguments.implementation)?;
    let shown = |side: &Side| -> Result<Shown> {
        let built = side.build(&arguments.build_dir, interrupt)?;
        let program = Program::read(&built.program)?;
        if !program.is_x86_64 {
            bail!(
                "{} is not for x86-64, and code of other processors cannot be compared yet; \
                 `triptych asm` without --diff shows it",
                built.program.display()
            );
        }
        let chosen = program.choose(&wanted(arguments), false)?;
        let code = program.code(&chosen, &mut Sources::new(&built.sources));
        let label = built.label;
        Ok(Shown { label, code })
    };
    let pair = Pair::new([shown(&a)?, shown(&b)?], arguments.exact_registers);
    if arguments.json {
        return pair.json().context("cannot write the difference as JSON");
    }
    let (context, colours) = (arguments.context, console::colors_enabled());
    let listing = if arguments.unified {
        pair.unified(context, colours)
    } else {
        let terminal = Term::stdout().size_checked();
        let width = terminal.map_or(WIDTH, |(_, columns)| columns.into());
        pair.side_by_side(context, arguments.width.unwrap_or(width), colours)
    };
    Ok(format!("{}\n{listing}", pair.summary()))
}

/// The machine code of one build, then the number of checks.
fn one_side(arguments: &AsmArguments, interrupt: &Interrupt) -> Result<String> {
    let driver = arguments.implementation.map(|driver| driver.to_string());
    let mut spec: SideSpec = driver.unwrap_or_default().parse().map_err(UsageError)?;
    spec.toolchain = arguments.toolchain.clone();
    spec.opt = arguments.opt;
    spec.program = arguments.program.clone();
    let [side, _] = resolve(&[spec.clone(), spec], None)?;
    let built = side.build(&arguments.build_dir, interrupt)?;
    let program = Program::read(&built.program)?;
    let chosen = program.choose(&wanted(arguments), arguments.all)?;
    let code = program.code(&chosen, &mut Sources::new(&built.sources));
    let label = built.label;
    let shown = Shown { label, code };
    if arguments.json {
        return shown.json().context("cannot write the code as JSON");
    }
    let mut functions: Vec<&Function> = chosen.iter().map(|part| part.function).collect();
    let mut seen = BTreeSet::new();
    functions.retain(|function| seen.insert(std::ptr::from_ref::<Function>(function)));
    let analyses = functions.iter().map(|function| checks::analyse(function));
    let checks = analyses.flat_map(|analysis| analysis.checks.into_values());
    let checks: Vec<_> = checks.collect();
    let mut text = shown.text();
    text.push('\n');
    for (kind, hot) in count_in_loops(&program.functions, &functions) {
        let all = checks.iter().filter(|there| **there == kind).count();
        text += &format!("{kind} checks: {all}; in loops and the functions they call: {hot}\n");
    }
    let called = called_in_loops(&program.functions, &functions).into_iter();
    let called: Vec<&str> = called.map(|function| function.name.as_str()).collect();
    if !called.is_empty() {
        text += &format!("called from loops: {}\n", called.join(", "));
    }
    if let Side::Build(driver) = &side {
        if driver.recipe.default_flags {
            text += &compare_with_shipped(arguments, driver, &program, &functions)?;
        }
    }
    Ok(text)
}

/// Whether the code of some functions is that of the measured driver, which has no line tables.
fn compare_with_shipped(
    arguments: &AsmArguments,
    driver: &Request,
    program: &Program,
    functions: &[&Function],
) -> Result<String> {
    let build = describe_build(&arguments.build_dir, driver.implementation, DEFAULT);
    let path = build_folder(&arguments.build_dir, driver.implementation, DEFAULT).join("ixgbe-fwd");
    let shipped = path.display();
    if !path.is_file() {
        return Ok(format!("not compared: there is no {shipped}\n"));
    }
    if build.toolchain != driver.recipe.toolchain.name() {
        let by = build.toolchain;
        return Ok(format!("not compared: {shipped} was built by {by}\n"));
    }
    let other = Program::read(&path)?;
    let mut sources = Sources::new(Path::new(""));
    let mut code =
        |program: &Program, function| program.code(&[Chosen::whole(function)], &mut sources);
    let mut text = String::new();
    for function in functions {
        let name = &function.name;
        let ours = code(program, function);
        // A generic function may occur several times.
        let named = other.functions.iter().filter(|there| there.name == *name);
        let differences = named.map(|there| {
            let theirs = code(&other, there);
            Difference::new([&ours, &theirs], true).counts().differ
        });
        text.push_str(&match differences.min() {
            Some(0) => format!("{name}: the same instructions as in {shipped}\n"),
            Some(count) => {
                format!("{name}: differs from {shipped} in {count} lines; run `make build`\n")
            }
            None => format!("{name}: {shipped} has no such function\n"),
        });
    }
    Ok(text)
}
