//! The guided tour, `drivers/TOUR.md`: what it quotes, names and shows is there.

mod hazards;
mod patches;
mod reference;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{bail, ensure, Context, Result};

use crate::reference::{function, lacks, related, statement, Reference};

/// If this variable is 1, the tests first update what they can generate.
const UPDATE: &str = "TRIPTYCH_UPDATE";
/// Steps of the tour.
const STEPS: usize = 10;
/// An item's beginning for each driver, and the folder of that driver.
const ITEMS: [(&str, &str); 3] = [
    ("- C: ", "c/src/"),
    ("- safe Rust: ", "rust/src/"),
    ("- unsafe Rust: ", "rust-unsafe/src/gen/"),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(file: &str) -> Result<String> {
    fs::read_to_string(root().join(file)).with_context(|| file.to_owned())
}

/// Replaces the tour by what `change` makes of it, if an update is asked for. Returns the tour.
fn tour(change: impl Fn(&str) -> Result<String>) -> Result<String> {
    let file = "drivers/TOUR.md";
    // Several tests update the file, each in a thread of its own.
    static TURN: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _turn = TURN.lock();
    if !std::env::var(UPDATE).is_ok_and(|value| value == "1") {
        return read(file);
    }
    let changed = change(&read(file)?)?;
    fs::write(root().join(file), &changed)?;
    Ok(changed)
}

fn unchanged(tour: &str) -> Result<String> {
    Ok(tour.to_owned())
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

fn references(step: &str) -> impl Iterator<Item = Reference> + '_ {
    step.lines().filter_map(Reference::parse)
}

/// The tour with new line numbers. Of several equal statements, it takes the one nearest to the old
/// number.
fn with_new_lines(tour: &str) -> Result<String> {
    let mut text = String::new();
    for line in tour.lines() {
        let Some(reference) = Reference::parse(line) else {
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
    for reference in references(&tour(with_new_lines)?) {
        let source = read(&reference.file)?;
        let places = reference.places(&source);
        ensure!(
            places.contains(&reference.line),
            "drivers/TOUR.md: line {}:{} is not `{}`, which is in lines {places:?}; {UPDATE}=1 \
             updates the line numbers",
            reference.file,
            reference.line,
            reference.quote()
        );
    }
    Ok(())
}

/// A line of each driver, one below the other: C, safe Rust, unsafe Rust.
type Trio = [Reference; 3];

/// The trios of a step.
///
/// # Errors
/// If an item is not a reference to its driver, or does not belong to a trio.
fn trios(step: &str) -> Result<Vec<Trio>> {
    let mut trios = Vec::new();
    let mut open: Vec<Reference> = Vec::new();
    for line in step.lines() {
        let Some(nth) = ITEMS.iter().position(|(item, _)| line.starts_with(item)) else {
            ensure!(open.is_empty(), "a driver is missing before {line:?}");
            continue;
        };
        let reference =
            Reference::parse(line).with_context(|| format!("not a reference: {line}"))?;
        ensure!(
            nth == open.len() && reference.file.starts_with(ITEMS[nth].1),
            "not the line of its driver: {line}"
        );
        open.push(reference);
        match <Trio>::try_from(std::mem::take(&mut open)) {
            Ok(trio) => trios.push(trio),
            Err(short) => open = short,
        }
    }
    Ok(trios)
}

#[test]
fn every_step_shows_all_three_drivers() -> Result<()> {
    for step in steps(&tour(unchanged)?)? {
        let shown = trios(step).with_context(|| title(step).to_owned())?;
        ensure!(!shown.is_empty(), "step {:?} shows no lines", title(step));
    }
    Ok(())
}

/// A transpiled line must be the translation of the C line beside it, and a Rust line its twin.
#[test]
fn the_lines_side_by_side_do_the_same() -> Result<()> {
    let mut wrong = Vec::new();
    for step in steps(&tour(unchanged)?)? {
        for trio in trios(step)? {
            if let Err(error) = check_trio(&trio) {
                wrong.push(format!("step {:?}: {error}", title(step)));
            }
        }
    }
    ensure!(wrong.is_empty(), "drivers/TOUR.md:\n{}", wrong.join("\n"));
    Ok(())
}

fn check_trio([c, rust, transpiled]: &Trio) -> Result<()> {
    let in_function = |reference: &Reference| {
        function(&reference.file, &read(&reference.file)?, reference.line)
            .with_context(|| format!("`{}` is in no function", reference.quote()))
    };
    let [of_c, of_rust, of_transpiled] = [
        in_function(c)?,
        in_function(rust)?,
        in_function(transpiled)?,
    ];
    ensure!(
        of_transpiled == of_c,
        "`{}` is in {of_transpiled}, and `{}` in {of_c}",
        transpiled.quote(),
        c.quote()
    );
    // In C the name of a function begins with its subject; in Rust the type says it. `new` is X_create.
    let twin = match of_rust.as_str() {
        "new" => "create",
        name => name,
    };
    ensure!(
        of_c == twin || of_c.ends_with(&format!("_{twin}")),
        "`{}` is in {of_rust}, and `{}` in {of_c}",
        rust.quote(),
        c.quote()
    );
    let source = read(&transpiled.file)?;
    let lines: Vec<&str> = source.lines().skip(transpiled.line - 1).collect();
    let translation = statement(&lines).join(" ");
    let lacks = lacks(&c.pieces[0], &translation, &transpiled.quote());
    ensure!(
        lacks.is_empty(),
        "`{}` does something else than `{}`: it lacks {}",
        transpiled.quote(),
        c.quote(),
        lacks.join(", ")
    );
    if !related(&c.quote(), &rust.quote()) {
        bail!(
            "`{}` has no name in common with `{}`",
            rust.quote(),
            c.quote()
        );
    }
    Ok(())
}
