//! The references of the guided tour, `drivers/TOUR.md`: each quotes a line of a file.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{ensure, Context, Result};

/// If this variable is 1, the test first updates the line numbers.
const UPDATE: &str = "TRIPTYCH_UPDATE";

/// `[FILE:LINE](../FILE#LLINE) `CODE``
#[derive(Debug, PartialEq, Eq)]
struct Reference {
    file: String,
    line: usize,
    code: String,
}

impl Reference {
    /// Parses the reference in a line of the tour, if it has one.
    fn parse(line: &str) -> Option<Self> {
        let (_, rest) = line.split_once('[')?;
        let (place, rest) = rest.split_once("](../")?;
        let (target, rest) = rest.split_once(") `")?;
        let (file, number) = place.rsplit_once(':')?;
        let code = rest.strip_suffix('`')?;
        let reference = Self {
            file: file.to_owned(),
            line: number.parse().ok()?,
            code: code.to_owned(),
        };
        (target == format!("{file}#L{number}")).then_some(reference)
    }

    /// The numbers of the source lines that equal the quoted line.
    fn places(&self, source: &str) -> Vec<usize> {
        (1..)
            .zip(source.lines())
            .filter(|(_, line)| line.trim() == self.code)
            .map(|(number, _)| number)
            .collect()
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn tour() -> Result<String> {
    let path = root().join("drivers/TOUR.md");
    fs::read_to_string(&path).with_context(|| path.display().to_string())
}

/// The tour with new line numbers. Of several equal lines, it takes the one nearest to the old number.
fn updated(tour: &str) -> Result<String> {
    let mut text = String::new();
    for line in tour.lines() {
        let Some(reference) = Reference::parse(line) else {
            text += &format!("{line}\n");
            continue;
        };
        let source = fs::read_to_string(root().join(&reference.file))?;
        let place = reference
            .places(&source)
            .into_iter()
            .min_by_key(|place| place.abs_diff(reference.line))
            .with_context(|| format!("{} has no line `{}`", reference.file, reference.code))?;
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
    if std::env::var(UPDATE).is_ok_and(|value| value == "1") {
        fs::write(root().join("drivers/TOUR.md"), updated(&tour()?)?)?;
    }
    for reference in tour()?.lines().filter_map(Reference::parse) {
        let source = fs::read_to_string(root().join(&reference.file))
            .with_context(|| format!("the tour names {}", reference.file))?;
        let places = reference.places(&source);
        ensure!(
            places.contains(&reference.line),
            "drivers/TOUR.md: line {}:{} is not `{}`, which is in lines {places:?}; {UPDATE}=1 \
             updates the line numbers",
            reference.file,
            reference.line,
            reference.code
        );
    }
    Ok(())
}

#[test]
fn every_step_shows_all_three_drivers() -> Result<()> {
    let tour = tour()?;
    let steps: Vec<&str> = tour
        .split("\n## ")
        .skip(1)
        .filter(|step| step.starts_with(|c: char| c.is_ascii_digit()))
        .collect();
    ensure!(steps.len() == 10, "{} steps, not 10", steps.len());
    for step in steps {
        let title = step.lines().next().unwrap_or_default();
        for folder in ["c/src/", "rust/src/", "rust-unsafe/src/gen/"] {
            let shown = step
                .lines()
                .filter_map(Reference::parse)
                .any(|reference| reference.file.starts_with(folder));
            ensure!(shown, "step {title:?} shows nothing of {folder}");
        }
    }
    Ok(())
}

/// `| STEP | `ID` | text | C | safe Rust | unsafe Rust |`
#[test]
fn every_hazard_has_the_outcome_of_the_catalogue() -> Result<()> {
    let path = root().join("drivers/conformance/hazards.toml");
    let catalogue: toml::Table = fs::read_to_string(path)?.parse()?;
    let hazards = catalogue["hazard"].as_array().context("no hazards")?;
    let tour = tour()?;
    let rows: Vec<Vec<&str>> = tour
        .lines()
        .map(|line| line.split('|').map(str::trim).collect::<Vec<_>>())
        .filter(|cells| cells.len() == 8 && cells[2].starts_with('`'))
        .collect();
    ensure!(rows.len() >= 10, "{} rows of hazards", rows.len());
    for cells in rows {
        let id = cells[2].trim_matches('`');
        let hazard = hazards
            .iter()
            .find(|hazard| hazard["id"].as_str() == Some(id))
            .with_context(|| format!("the catalogue has no {id}"))?;
        for (implementation, said) in ["c", "rust", "rust-unsafe"].iter().zip(&cells[4..]) {
            let recorded = hazard["outcome"][implementation].as_str();
            ensure!(
                recorded == Some(*said),
                "drivers/TOUR.md: {id}, {implementation}: {said:?}, in the catalogue {recorded:?}"
            );
        }
    }
    Ok(())
}

/// The tests above skip an item that is not a valid reference.
#[test]
fn every_item_is_a_reference() -> Result<()> {
    for line in tour()?.lines() {
        let item = ["- C: ", "- safe Rust: ", "- unsafe Rust: "]
            .iter()
            .any(|name| line.starts_with(name));
        ensure!(
            !item || Reference::parse(line).is_some(),
            "drivers/TOUR.md: not a reference: {line}"
        );
    }
    Ok(())
}

#[test]
fn a_wrong_reference_does_not_parse() {
    let right = "- C: [c/src/rx.c:7](../c/src/rx.c#L7) `int x;`";
    let reference = Reference::parse(right).unwrap();
    assert_eq!((reference.line, reference.code.as_str()), (7, "int x;"));
    assert_eq!(
        reference.places("a\n\tint x;\nint x; // y\nint x;\n"),
        [2, 4]
    );
    for wrong in [
        "- C: [c/src/rx.c:7](../c/src/rx.c#L8) `int x;`",
        "- C: [c/src/rx.c:7](../c/src/tx.c#L7) `int x;`",
        "- C: [c/src/rx.c](../c/src/rx.c#L7) `int x;`",
        "- C: [c/src/rx.c:7](../c/src/rx.c#L7) int x;",
    ] {
        assert_eq!(Reference::parse(wrong), None, "{wrong}");
    }
}
