//! The guided tour, `drivers/TOUR.md` and its pages: what it quotes, names and shows is there.

mod hazards;
mod patches;
mod reference;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{ensure, Context, Result};

use crate::reference::{function, lacks, names, references, related, statement, Reference};

/// If this variable is 1, the tests first update what they can generate.
const UPDATE: &str = "TRIPTYCH_UPDATE";
const TOUR: &str = "drivers/TOUR.md";
const PAGES: [&str; 4] = [
    TOUR,
    "drivers/tour/threads.md",
    "drivers/tour/interrupts.md",
    "drivers/tour/requests.md",
];
/// Steps of the tour.
const STEPS: usize = 10;
/// The folder of each driver: C, safe Rust, unsafe Rust.
const DRIVERS: [&str; 3] = ["c/src/", "rust/src/", "rust-unsafe/src/gen/"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(file: &str) -> Result<String> {
    fs::read_to_string(root().join(file)).with_context(|| file.to_owned())
}

/// Replaces a page by what `change` makes of it, if an update is asked for (`make tour`, one test at a time). Returns
/// the page.
fn updated(page: &str, change: impl Fn(&str) -> Result<String>) -> Result<String> {
    let text = read(page)?;
    if !std::env::var(UPDATE).is_ok_and(|value| value == "1") {
        return Ok(text);
    }
    let changed = change(&text)?;
    fs::write(root().join(page), &changed)?;
    Ok(changed)
}

/// The steps, each with its title as the first line.
fn steps(tour: &str) -> Result<Vec<&str>> {
    let steps: Vec<&str> = tour
        .split("\n## ")
        .skip(1)
        .filter(|step| step.starts_with(|c: char| c.is_ascii_digit()))
        .collect();
    ensure!(steps.len() == STEPS, "{} steps, not {STEPS}", steps.len());
    Ok(steps)
}

fn title(step: &str) -> &str {
    step.lines().next().unwrap_or_default()
}

/// A page with new line numbers. Of several equal quotes, it takes the one nearest to the old number.
fn with_new_lines(page: &str) -> Result<String> {
    let lines: Vec<&str> = page.lines().collect();
    let mut text = String::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(reference) = Reference::parse(&lines[at..]) else {
            text += &format!("{line}\n");
            continue;
        };
        let source = read(&reference.file)?;
        let place = reference
            .places(&source)
            .into_iter()
            .min_by_key(|place| place.abs_diff(reference.line))
            .with_context(|| format!("{} has no `{}`", reference.file, reference.quote()))?;
        let Reference {
            file, line: old, ..
        } = &reference;
        text += &line
            .replace(&format!("{file}:{old}]"), &format!("{file}:{place}]"))
            .replace(&format!("{file}#L{old})"), &format!("{file}#L{place})"));
        text.push('\n');
    }
    Ok(text)
}

#[test]
fn every_reference_quotes_its_line() -> Result<()> {
    for page in PAGES {
        let text = updated(page, with_new_lines)?;
        let from_page_to_root = "../".repeat(page.matches('/').count());
        for reference in references(&text) {
            let Reference { file, line, .. } = &reference;
            let places = reference.places(&read(file)?);
            ensure!(
                places.contains(line),
                "{page}: line {file}:{line} is not `{}`, which is in lines {places:?}; {UPDATE}=1 updates the lines",
                reference.quote()
            );
            let link = format!("({from_page_to_root}{file}#L{line})");
            ensure!(text.contains(&link), "{page}: no link leads to {file}");
        }
    }
    Ok(())
}

/// The same lines of each driver: C, safe Rust, unsafe Rust.
type Trio = [Reference; 3];

/// The trios of a step. A step may show the lines of all drivers in turn, or those of one driver later.
///
/// # Errors
/// If the drivers do not have equally many references.
fn trios(step: &str) -> Result<Vec<Trio>> {
    let of = |folder: &str| {
        let mut shown = references(step);
        shown.retain(|reference| reference.file.starts_with(folder));
        shown
    };
    let [c, rust, transpiled] = DRIVERS.map(of);
    ensure!(
        c.len() == rust.len() && c.len() == transpiled.len(),
        "{} references to C, {} to Rust, {} to transpiled Rust",
        c.len(),
        rust.len(),
        transpiled.len()
    );
    let pairs = c.into_iter().zip(rust).zip(transpiled);
    Ok(pairs
        .map(|((c, rust), transpiled)| [c, rust, transpiled])
        .collect())
}

/// Every step shows all three drivers. Transpiled lines must be the translation of the C lines beside them, and Rust lines their twins.
#[test]
fn the_lines_side_by_side_do_the_same() -> Result<()> {
    let mut wrong = Vec::new();
    for step in steps(&read(TOUR)?)? {
        let shown = trios(step).with_context(|| title(step).to_owned())?;
        ensure!(!shown.is_empty(), "step {:?} shows no lines", title(step));
        for trio in shown {
            if let Err(error) = check_trio(&trio) {
                wrong.push(format!("step {:?}: {error}", title(step)));
            }
        }
    }
    ensure!(wrong.is_empty(), "{TOUR}:\n{}", wrong.join("\n"));
    Ok(())
}

fn check_trio([c, rust, transpiled]: &Trio) -> Result<()> {
    let in_function = |reference: &Reference| {
        function(&reference.file, &read(&reference.file)?, reference.line)
            .with_context(|| format!("`{}` is in no function", reference.quote()))
    };
    let [of_c, of_rust, of_transpiled] = [c, rust, transpiled].map(in_function);
    let (of_c, of_rust, of_transpiled) = (of_c?, of_rust?, of_transpiled?);
    let quotes = [c.quote(), rust.quote(), transpiled.quote()];
    // In C the name of a function begins with its subject; in Rust the type says it. `new` is X_create or X_create_Y.
    let are_twins = match of_rust.as_str() {
        "new" => of_c.contains("_create"),
        twin => of_c == twin || of_c.ends_with(&format!("_{twin}")),
    };
    ensure!(
        of_transpiled == of_c && are_twins,
        "{quotes:?} are in {of_c}, {of_rust} and {of_transpiled}"
    );
    let source = read(&transpiled.file)?;
    let lines: Vec<&str> = source.lines().skip(transpiled.line - 1).collect();
    let translation = statement(&lines).join(" ");
    // A block of C shows more than the one statement that the transpiled quote is of.
    let lines_of_c = if c.is_block { c.pieces.len() } else { 1 };
    let lacks = |line: &str| lacks(line, &translation, &quotes[2]).join(", ");
    let translated = |line: &String| !names(line).is_empty() && lacks(line).is_empty();
    ensure!(
        c.pieces[..lines_of_c].iter().any(translated),
        "the first and last of {quotes:?} do something else: the last lacks {}",
        lacks(&c.pieces[0])
    );
    let related = related(&quotes[0], &quotes[1]);
    ensure!(
        related,
        "the first two of {quotes:?} have no name in common"
    );
    Ok(())
}
