//! The recorded difference: what Linux writes, what our drivers write, and the reason.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{ensure, Context, Result};
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
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// The register with its entries: `CTRL`, `RDBAL(0)`, `EITR(0-1,16)`.
    pub register: String,
    /// The families of the cards.
    #[serde(default = "all_cards")]
    pub cards: Vec<Family>,
    /// What Linux writes; empty if it does not write the register.
    #[serde(default)]
    pub linux: String,
    /// What our drivers write.
    #[serde(default)]
    pub ours: String,
    /// The name of the reason; empty without a difference.
    #[serde(default)]
    pub reason: String,
}

/// All rows and reasons.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Recorded {
    /// Linux's driver and its version.
    pub driver: String,
    /// The reasons, by name.
    pub reasons: BTreeMap<String, String>,
    /// The rows of each phase, in order of the register.
    #[serde(flatten)]
    pub rows: BTreeMap<Phase, Vec<Row>>,
}

fn all_cards() -> Vec<Family> {
    Family::iter().collect()
}

/// A register with its entries, in a row's form.
fn label(name: &str, entries: &BTreeSet<u32>) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for entry in entries {
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
    if ranges.is_empty() {
        return name.to_owned();
    }
    format!("{name}({})", ranges.join(","))
}

/// The last value.
fn last(written: &str) -> &str {
    let value = written.rfind("0x").unwrap_or(0);
    &written[value..]
}

impl Row {
    /// The register without its entries.
    pub fn name(&self) -> &str {
        self.register.split('(').next().unwrap_or_default()
    }

    /// The entries; `None` stands for a register that is not an array.
    fn entries(&self) -> Result<Vec<Option<u32>>> {
        let Some((_, list)) = self.register.split_once('(') else {
            return Ok(vec![None]);
        };
        let mut entries = Vec::new();
        for range in list.trim_end_matches(')').split(',') {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            let read = |text: &str| {
                let number = text.parse::<u16>().map(u32::from);
                number.with_context(|| format!("{}: {range} is no range", self.register))
            };
            entries.extend((read(first)?..=read(last)?).map(Some));
        }
        Ok(entries)
    }

    /// Whether the last values differ.
    fn differs(&self) -> bool {
        last(&self.linux) != last(&self.ours)
    }

    /// The families of the cards, if not all.
    pub fn some_cards(&self) -> Option<Vec<String>> {
        let names = self.cards.iter().map(Family::to_string).collect();
        (self.cards != all_cards()).then_some(names)
    }

    /// The row as a line of the file.
    fn line(&self) -> String {
        let Self {
            register,
            linux,
            ours,
            reason,
            ..
        } = self;
        let cards = self.some_cards();
        let cards = cards.map_or(String::new(), |cards| format!(", cards = {cards:?}"));
        let texts = [("linux", linux), ("ours", ours), ("reason", reason)];
        let texts = texts.iter().filter(|(_, text)| !text.is_empty());
        let texts = texts.map(|(key, text)| format!(", {key} = {text:?}"));
        format!(
            "    {{ register = {register:?}{cards}{} }},\n",
            texts.collect::<String>()
        )
    }

    /// Whether both rows are about one register, which the same sides write on one of the cards.
    fn is_about(&self, other: &Self) -> bool {
        let subject = |row: &Self| {
            (
                row.name().to_owned(),
                row.linux.is_empty(),
                row.ours.is_empty(),
            )
        };
        subject(self) == subject(other) && self.cards.iter().any(|card| other.cards.contains(card))
    }
}

impl Recorded {
    /// Reads the record of the repository.
    ///
    /// # Errors
    /// If the file cannot be read or has another form.
    pub fn read() -> Result<Self> {
        let text = std::fs::read_to_string(repository().join(FILE)).context(FILE)?;
        toml::from_str(&text).context(FILE)
    }

    /// Writes the record to the repository.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self) -> Result<()> {
        std::fs::write(repository().join(FILE), self.text()).context(FILE)
    }

    /// The file's text.
    fn text(&self) -> String {
        let mut text = format!("{HEAD}\ndriver = {:?}\n", self.driver);
        for (phase, rows) in &self.rows {
            let lines: String = rows.iter().map(Row::line).collect();
            text += &format!("\n{phase} = [\n{lines}]\n");
        }
        text += "\n[reasons]\n";
        for (name, reason) in &self.reasons {
            text += &format!("{name} = {reason:?}\n");
        }
        text
    }

    /// Linux's side.
    ///
    /// # Errors
    /// If a row names no register.
    pub fn linux(&self) -> Result<Side> {
        self.side(|row| &row.linux)
    }

    /// Our side.
    ///
    /// # Errors
    /// As for [`Recorded::linux`].
    pub fn ours(&self) -> Result<Side> {
        self.side(|row| &row.ours)
    }

    fn side(&self, content: impl Fn(&Row) -> &String) -> Result<Side> {
        let mut side = Side::new();
        for (phase, row) in self.all_rows().filter(|(_, row)| !content(row).is_empty()) {
            for entry in row.entries()? {
                let place = Place::new(phase, row.name(), entry);
                for card in &row.cards {
                    let summary = side.entry(*card).or_default();
                    summary.insert(place.clone(), content(row).clone());
                }
            }
        }
        Ok(side)
    }

    fn all_rows(&self) -> impl Iterator<Item = (Phase, &Row)> {
        let phases = self.rows.iter();
        phases.flat_map(|(phase, rows)| rows.iter().map(|row| (*phase, row)))
    }

    /// The record with other summaries. A row keeps the reason of the row about the same.
    pub fn with(&self, linux: &Side, ours: &Side) -> Self {
        let mut rows = join(linux, ours);
        for (phase, rows) in &mut rows {
            let old = self.rows.get(phase).map_or(&[][..], |rows| rows);
            for row in rows.iter_mut().filter(|row| row.differs()) {
                let mut alike = old
                    .iter()
                    .filter(|old| old.is_about(row) && !old.reason.is_empty());
                let reason = alike.next().map_or(NO_REASON, |old| &old.reason);
                row.reason = reason.to_owned();
            }
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
        let lines = |a: &Self, b: &Self, sign| -> String {
            let others: Vec<_> = b.all_rows().collect();
            let changed = a.all_rows().filter(|row| !others.contains(row));
            changed
                .map(|(phase, row)| format!("{sign} {phase}: {}", row.line()))
                .collect()
        };
        let changed = lines(self, &now, '-') + &lines(&now, self, '+');
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
        let mut problems = String::new();
        for (phase, row) in self.all_rows() {
            let problem = match (row.differs(), self.reasons.contains_key(&row.reason)) {
                (true, false) => "no such reason",
                (false, true) => "no difference",
                _ => continue,
            };
            problems += &format!("{phase}: {}{problem}\n", row.line());
        }
        for (name, reason) in &self.reasons {
            if !self.all_rows().any(|(_, row)| row.reason == *name) {
                problems += &format!("{name}: there is no such difference\n");
            }
            if !reason.ends_with(')') {
                problems += &format!("{name}: the source in parentheses is missing\n");
            }
        }
        ensure!(
            problems.is_empty(),
            "{FILE}:\n{problems}Write the reasons, or correct the drivers"
        );
        Ok(())
    }
}

/// Joins both sides: first the entries of a register that have the same contents, then the families.
fn join(linux: &Side, ours: &Side) -> BTreeMap<Phase, Vec<Row>> {
    let none = Summary::new();
    let mut cards_of: BTreeMap<_, Vec<Family>> = BTreeMap::new();
    for card in Family::iter() {
        let sides = [linux, ours].map(|side| side.get(&card).unwrap_or(&none));
        let mut entries_of: BTreeMap<_, BTreeSet<u32>> = BTreeMap::new();
        for place in sides.iter().flat_map(|side| side.keys()) {
            let written = sides.map(|side| side.get(place).cloned().unwrap_or_default());
            let register = Place {
                entry: None,
                ..place.clone()
            };
            entries_of
                .entry((register, written))
                .or_default()
                .extend(place.entry);
        }
        for ((register, written), entries) in entries_of {
            cards_of
                .entry((register, entries, written))
                .or_default()
                .push(card);
        }
    }
    let mut rows: BTreeMap<Phase, Vec<Row>> = BTreeMap::new();
    for ((register, entries, [linux, ours]), cards) in cards_of {
        rows.entry(register.phase).or_default().push(Row {
            register: label(&register.name, &entries),
            cards,
            linux,
            ours,
            reason: String::new(),
        });
    }
    rows
}

/// The repository's root.
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

    /// Checks the text with `from` replaced, first its reasons, then against the summaries of [`TEXT`].
    fn check(from: &str, to: &str) -> Result<Recorded> {
        let expected: Recorded = toml::from_str(TEXT)?;
        let record: Recorded = toml::from_str(&TEXT.replacen(from, to, 1))?;
        assert_eq!(record, toml::from_str(&record.text())?);
        record.check_reasons()?;
        assert_eq!(record.with(&record.linux()?, &record.ours()?), record);
        record.expect(&expected.linux()?, &expected.ours()?)?;
        Ok(record)
    }

    #[test]
    fn a_record_yields_its_summaries_and_a_new_difference_asks_for_a_reason() {
        let record = check("", "").unwrap();
        let linux = record.linux().unwrap();
        let queue_16 = Place::new(Phase::SetUp, "TXDCTL", Some(16));
        assert_eq!(linux[&Family::X550][&queue_16], "0x02000000");
        let mut ours = record.ours().unwrap();
        let of_x540 = ours.entry(Family::X540).or_default();
        of_x540.insert(
            Place::new(Phase::Stop, "GPIE", None),
            "0x00000001".to_owned(),
        );
        let now = record.with(&linux, &ours);
        let error = now.check_reasons().unwrap_err().to_string();
        assert!(
            error.contains("GPIE\", cards = [\"X540\"]") && error.contains("\"?\""),
            "{error}"
        );
    }

    #[test]
    #[rustfmt::skip] // a change a line
    fn an_error_names_the_place() {
        for (from, to, named) in [
            // A change of either side.
            ("0x00010000", "0x00010001", "- set-up:     { register = \"CTRL_EXT\""),
            ("0x00010000", "0x00010001", "+ set-up:     { register = \"CTRL_EXT\""),
            ("1-3,16", "1-3", "TXDCTL(1-3)"),
            ("\"82599\", \"X540\"", "\"X540\"", "out of date"),
            ("0x00000002", "0x00000003", "out of date"),
            // Reasons and differences belong together.
            (", reason = \"firmware\"", "", "no such reason"),
            ("\"firmware\"", "\"queue\"", "no such reason"),
            ("ours = \"0x02000000\"", "ours = \"0x02000000\", reason = \"queues\"", "no difference"),
            ("queues =", "unused = \"A. (8.2)\"\nqueues =", "unused: there is no such difference"),
            (" (8.2.3.1.3)", "", "firmware: the source"),
            // The form.
            ("X550", "X999", "X999"),
            ("set-up", "sit-up", "sit-up"),
            ("(1-3,16)", "(x)", "TXDCTL(x): x is no range"),
            ("linux", "bsd", "bsd"),
        ] {
            let error = format!("{:#}", check(from, to).unwrap_err());
            assert!(error.contains(named), "{from}: {error}");
        }
    }
}
