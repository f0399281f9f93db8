//! The recorded difference: what Linux writes, what our drivers write, and the reason.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

use anyhow::{bail, ensure, Context, Result};
use serde::Deserialize;
use strum::IntoEnumIterator;

use crate::summary::{Family, Phase, Place, Summary};

/// The record, relative to the repository's root.
pub const FILE: &str = "drivers/conformance/oracle/data/compared.toml";
/// The command that records our side, and writes the page.
pub const UPDATE: &str = ".ci/part registers-compared";
/// In place of the reason of a new difference.
const NO_REASON: &str = "?";

const HEAD: &str = "\
# What the stock Linux driver writes to the registers of a card, what our drivers write, and why that differs.
# `.ci/part registers-compared` records our side, and with `archive` Linux's side too. Only [reasons] and the key
# `reason` of a row are written by hand. CONTRIBUTING.md and README.md say what to do when a test fails.
#
# cards        the families of cards, if not all
# linux, ours  all values, each once, in the order of their last write. If a write only sets or clears bits, all
#              those bits together. Words stand for values that differ from run to run.
# reason       one of the reasons, if the last values differ; each ends with a section of the 82599 datasheet, or
#              with the code that confirms it
";

/// Summaries of one side, for each family.
pub type Side = BTreeMap<Family, Summary>;

/// Entries of a register that Linux writes alike and that our drivers write alike, on some cards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The register, and its first entry if it is an array.
    pub place: Place,
    /// The entries; none if the register is not an array.
    pub entries: BTreeSet<u32>,
    /// The families of the cards.
    pub cards: Vec<Family>,
    /// What Linux writes; empty if it does not write the register.
    pub linux: String,
    /// What our drivers write.
    pub ours: String,
    /// The name of the reason; empty without a difference.
    pub reason: String,
}

/// All rows and reasons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// Linux's driver and its version.
    pub driver: String,
    /// The reasons, by name.
    pub reasons: BTreeMap<String, String>,
    /// The rows, in order of phase and register.
    pub rows: Vec<Row>,
}

/// The file's form.
#[derive(Deserialize)]
struct File {
    driver: String,
    reasons: BTreeMap<String, String>,
    #[serde(flatten)]
    phases: BTreeMap<String, Vec<Line>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    register: String,
    cards: Option<Vec<Family>>,
    #[serde(default)]
    linux: String,
    #[serde(default)]
    ours: String,
    #[serde(default)]
    reason: String,
}

impl Row {
    /// Whether the last values differ.
    #[must_use]
    pub fn differs(&self) -> bool {
        last(&self.linux) != last(&self.ours)
    }

    /// The register with its entries: `CTRL`, `RDBAL(0)`, `EITR(0-1,16)`.
    #[must_use]
    pub fn label(&self) -> String {
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        for entry in &self.entries {
            match ranges.last_mut() {
                Some((_, last)) if *last + 1 == *entry => *last = *entry,
                _ => ranges.push((*entry, *entry)),
            }
        }
        let range = |(first, last): &(u32, u32)| match last - first {
            0 => first.to_string(),
            _ => format!("{first}-{last}"),
        };
        let ranges: Vec<String> = ranges.iter().map(range).collect();
        match ranges.is_empty() {
            true => self.place.name.clone(),
            false => format!("{}({})", self.place.name, ranges.join(",")),
        }
    }

    fn of_line(phase: Phase, line: Line) -> Result<Self> {
        let (name, list) = line
            .register
            .split_once('(')
            .unwrap_or((&line.register, ""));
        let mut entries = BTreeSet::new();
        for range in list
            .trim_end_matches(')')
            .split(',')
            .filter(|range| !range.is_empty())
        {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            let wrong = || {
                format!(
                    "{}: {range} is no range of entries, such as 1-7",
                    line.register
                )
            };
            let (first, last): (u16, u16) = (
                first.parse().with_context(wrong)?,
                last.parse().with_context(wrong)?,
            );
            entries.extend(u32::from(first)..=u32::from(last));
        }
        Ok(Self {
            place: Place::new(phase, name, entries.first().copied()),
            entries,
            cards: line.cards.unwrap_or_else(|| Family::iter().collect()),
            linux: line.linux,
            ours: line.ours,
            reason: line.reason,
        })
    }

    /// The row as a line of the file.
    fn line(&self) -> String {
        let cards = match self.cards.len() == Family::iter().count() {
            true => String::new(),
            false => format!(
                ", cards = {:?}",
                self.cards.iter().map(Family::to_string).collect::<Vec<_>>()
            ),
        };
        let texts = [
            ("linux", &self.linux),
            ("ours", &self.ours),
            ("reason", &self.reason),
        ];
        let texts = texts.iter().filter(|(_, text)| !text.is_empty());
        let texts: String = texts
            .map(|(key, text)| format!(", {key} = {text:?}"))
            .collect();
        format!("    {{ register = {:?}{cards}{texts} }},\n", self.label())
    }

    /// What a reason is about: the phase, the register, and which side writes it.
    fn subject(&self) -> (Phase, &str, bool, bool) {
        (
            self.place.phase,
            &self.place.name,
            self.linux.is_empty(),
            self.ours.is_empty(),
        )
    }
}

/// The last value.
fn last(written: &str) -> &str {
    match written.starts_with("0x") {
        true => written.rsplit(' ').next().unwrap_or_default(),
        false => written,
    }
}

impl Recorded {
    /// Reads the record of the repository.
    ///
    /// # Errors
    /// If the file cannot be read or has another form.
    pub fn read() -> Result<Self> {
        let text = std::fs::read_to_string(repository().join(FILE)).context(FILE)?;
        Self::parse(&text).context(FILE)
    }

    /// Writes the record to the repository.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self) -> Result<()> {
        std::fs::write(repository().join(FILE), self.text()).context(FILE)
    }

    fn parse(text: &str) -> Result<Self> {
        let mut file: File = toml::from_str(text)?;
        let mut rows = Vec::new();
        for phase in Phase::iter() {
            for line in file.phases.remove(&phase.to_string()).unwrap_or_default() {
                rows.push(Row::of_line(phase, line)?);
            }
        }
        ensure!(
            file.phases.is_empty(),
            "unknown phases: {:?}",
            file.phases.keys()
        );
        Ok(Self {
            driver: file.driver,
            reasons: file.reasons,
            rows,
        })
    }

    /// The file's text.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = format!("{HEAD}\ndriver = {:?}\n", self.driver);
        for phase in Phase::iter() {
            let rows = self.rows.iter().filter(|row| row.place.phase == phase);
            let lines: String = rows.map(Row::line).collect();
            // Writing to a string cannot fail.
            let _ = write!(text, "\n{phase} = [\n{lines}]\n");
        }
        text += "\n[reasons]\n";
        for (name, reason) in &self.reasons {
            let _ = writeln!(text, "{name} = {reason:?}");
        }
        text
    }

    /// Linux's side.
    #[must_use]
    pub fn linux(&self) -> Side {
        self.side(|row| &row.linux)
    }

    /// Our side.
    #[must_use]
    pub fn ours(&self) -> Side {
        self.side(|row| &row.ours)
    }

    fn side(&self, content: impl Fn(&Row) -> &String) -> Side {
        let mut side = Side::new();
        for row in self.rows.iter().filter(|row| !content(row).is_empty()) {
            let entries = row.entries.iter().map(|entry| Some(*entry));
            let none = row.entries.is_empty().then_some(None);
            for entry in entries.chain(none) {
                for card in &row.cards {
                    let place = Place {
                        entry,
                        ..row.place.clone()
                    };
                    let summary = side.entry(*card).or_default();
                    summary.insert(place, content(row).clone());
                }
            }
        }
        side
    }

    /// The record with other summaries. A row keeps the reason of the row on the same subject.
    #[must_use]
    pub fn with(&self, linux: &Side, ours: &Side) -> Self {
        let mut rows = join(linux, ours);
        for row in rows.iter_mut().filter(|row| row.differs()) {
            let alike = self.rows.iter().filter(|old| {
                old.subject() == row.subject()
                    && old.cards.iter().any(|card| row.cards.contains(card))
            });
            let reason = alike
                .map(|old| &old.reason)
                .find(|reason| !reason.is_empty());
            row.reason = reason.map_or(NO_REASON, |reason| reason).to_owned();
        }
        Self {
            rows,
            ..self.clone()
        }
    }

    /// Compares the record with summaries that were taken now.
    ///
    /// # Errors
    /// If one of them differs. The error lists the rows, old and new.
    pub fn expect(&self, linux: &Side, ours: &Side) -> Result<()> {
        let now = self.with(linux, ours);
        let lines = |rows: &[Row], others: &[Row], sign| -> String {
            let changed = rows.iter().filter(|row| !others.contains(row));
            changed
                .map(|row| format!("{sign} {}: {}", row.place.phase, row.line()))
                .collect()
        };
        let changed = lines(&self.rows, &now.rows, '-') + &lines(&now.rows, &self.rows, '+');
        ensure!(
            changed.is_empty(),
            "{FILE} is out of date: run `{UPDATE}`\n{changed}"
        );
        Ok(())
    }

    /// Checks that every difference has a reason, and every reason a difference.
    ///
    /// # Errors
    /// If one lacks. The error lists all that do.
    pub fn check_reasons(&self) -> Result<()> {
        let mut problems = Vec::new();
        for row in &self.rows {
            if row.differs() != self.reasons.contains_key(&row.reason) {
                let what = if row.differs() {
                    "no such reason"
                } else {
                    "no difference"
                };
                problems.push(format!("{}: {}{what}\n", row.place.phase, row.line()));
            }
        }
        for (name, reason) in &self.reasons {
            if !self.rows.iter().any(|row| row.reason == *name) {
                problems.push(format!("{name}: there is no such difference\n"));
            }
            if !reason.ends_with(')') {
                problems.push(format!("{name}: the source in parentheses is missing\n"));
            }
        }
        match problems.is_empty() {
            true => Ok(()),
            false => bail!(
                "{FILE}:\n{}Write the reasons, or correct the drivers",
                problems.concat()
            ),
        }
    }
}

/// Joins both sides: first the entries of a register that have the same contents, then the families.
fn join(linux: &Side, ours: &Side) -> Vec<Row> {
    let none = Summary::new();
    let mut rows: Vec<Row> = Vec::new();
    for card in Family::iter() {
        let [linux, ours] = [linux, ours].map(|side| side.get(&card).unwrap_or(&none));
        let places: BTreeSet<&Place> = linux.keys().chain(ours.keys()).collect();
        let mut of_card: Vec<Row> = Vec::new();
        for place in places {
            let content = |summary: &Summary| summary.get(place).cloned().unwrap_or_default();
            let row = Row {
                place: place.clone(),
                entries: place.entry.into_iter().collect(),
                cards: vec![card],
                linux: content(linux),
                ours: content(ours),
                reason: String::new(),
            };
            let mut others = of_card.iter_mut();
            match others.find(|other| {
                (other.place.phase, &other.place.name) == (place.phase, &place.name)
                    && (&other.linux, &other.ours) == (&row.linux, &row.ours)
            }) {
                Some(other) => other.entries.extend(place.entry),
                None => of_card.push(row),
            }
        }
        for row in of_card {
            let same = |other: &&mut Row| {
                (&other.place, &other.entries, &other.linux, &other.ours)
                    == (&row.place, &row.entries, &row.linux, &row.ours)
            };
            match rows.iter_mut().find(same) {
                Some(other) => other.cards.push(card),
                None => rows.push(row),
            }
        }
    }
    rows.sort_by(|a, b| (&a.place, &a.entries, &a.cards).cmp(&(&b.place, &b.entries, &b.cards)));
    rows
}

/// The repository's root.
#[must_use]
pub fn repository() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(3).unwrap_or(here).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
        driver = "a driver"
        set-up = [
            { register = "CTRL_EXT", linux = "0x10000000", ours = "0x00010000", reason = "firmware" },
            { register = "TXDCTL(0)", linux = "0x00000000 0x02000000", ours = "0x02000000" },
            { register = "TXDCTL(1-3,16)", linux = "0x02000000", reason = "queues" },
            { register = "MRQC", cards = ["82599", "X540"], linux = "0x00000001", reason = "queues" },
            { register = "MRQC", cards = ["X550"], linux = "0x00000002", reason = "queues" },
        ]
        stop = [
            { register = "WUS", ours = "0x00000001", reason = "firmware" },
        ]
        [reasons]
        firmware = "There is no firmware. (8.2.3.1.3)"
        queues = "Linux has several queues. (7.1.2)"
    "#;

    fn recorded() -> Recorded {
        Recorded::parse(TEXT).unwrap()
    }

    /// The problem of the record with `from` replaced.
    fn problem(from: &str, to: &str) -> String {
        assert!(TEXT.contains(from), "{from}");
        let other = Recorded::parse(&TEXT.replacen(from, to, 1));
        let checked = other.and_then(|other| {
            other.expect(&recorded().linux(), &recorded().ours())?;
            other.check_reasons()
        });
        format!("{:#}", checked.unwrap_err())
    }

    #[test]
    fn a_record_can_be_read_back_and_yields_its_summaries() {
        let record = recorded();
        assert_eq!(Recorded::parse(&record.text()).unwrap(), record);
        assert_eq!(record.with(&record.linux(), &record.ours()), record);
        record.expect(&record.linux(), &record.ours()).unwrap();
        record.check_reasons().unwrap();
        let linux = record.linux();
        let queue_16 = Place::new(Phase::SetUp, "TXDCTL", Some(16));
        assert_eq!(linux[&Family::X550][&queue_16], "0x02000000");
    }

    #[test]
    fn a_change_of_either_side_is_shown() {
        let shown = problem("0x00010000", "0x00010001");
        assert!(
            shown.contains("- set-up:     { register = \"CTRL_EXT\"")
                && shown.contains("+ set-up:"),
            "{shown}"
        );
        for change in [
            ("1-3,16", "1-3"),
            ("\"82599\", \"X540\"", "\"X540\""),
            ("0x00000002", "0x00000003"),
        ] {
            assert!(
                problem(change.0, change.1).contains("out of date"),
                "{change:?}"
            );
        }
        // A new difference asks for a reason.
        let mut ours = recorded().ours();
        let place = Place::new(Phase::Stop, "GPIE", None);
        ours.entry(Family::X540)
            .or_default()
            .insert(place, "0x00000001".to_owned());
        let error = recorded()
            .with(&recorded().linux(), &ours)
            .check_reasons()
            .unwrap_err();
        assert!(error.to_string().contains("GPIE"), "{error}");
    }

    #[test]
    fn reasons_and_differences_belong_together() {
        for (from, to, complaint) in [
            (", reason = \"firmware\"", "", "no such reason"),
            ("\"firmware\"", "\"queue\"", "no such reason"),
            (
                "ours = \"0x02000000\"",
                "ours = \"0x02000000\", reason = \"queues\"",
                "no difference",
            ),
            (
                "queues =",
                "unused = \"A. (8.2)\"\nqueues =",
                "unused: there is no such difference",
            ),
            (" (8.2.3.1.3)", "", "firmware: the source"),
        ] {
            let other = Recorded::parse(&TEXT.replacen(from, to, 1)).unwrap();
            let error = other.check_reasons().unwrap_err().to_string();
            assert!(error.contains(complaint), "{error}");
        }
    }

    #[test]
    fn an_error_names_the_place() {
        for (from, to, named) in [
            ("X550", "X999", "X999"),
            ("set-up", "sit-up", "sit-up"),
            ("(1-3,16)", "(x)", "TXDCTL(x): x is no range"),
            ("linux", "bsd", "bsd"),
        ] {
            let error = problem(from, to);
            assert!(error.contains(named), "{error}");
        }
    }
}
