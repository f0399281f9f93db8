//! The reason for each difference.

use std::collections::BTreeSet;
use std::str::FromStr;

use anyhow::{bail, ensure, Context, Result};
use serde::Deserialize;

use crate::compare::{FieldDifference, Row, Side};
use crate::entries;
use crate::files;
use crate::summary::{Family, Name, Phase, Written};

/// All reasons, in the file's order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reasons(Vec<Reason>);

/// The reason for some differences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    side: Side,
    registers: BTreeSet<String>,
    /// The phases; none means all.
    phases: BTreeSet<Phase>,
    /// The families; none means all.
    families: BTreeSet<Family>,
    /// The fields that differ, if both sides write the registers.
    fields: BTreeSet<String>,
    /// The reason, in plain words.
    pub text: String,
    /// The datasheet's section, or the source that confirms the reason.
    pub source: String,
}

/// The file's form.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    reason: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    writes: String,
    registers: Vec<String>,
    #[serde(default)]
    phases: Vec<String>,
    #[serde(default)]
    families: Vec<String>,
    #[serde(default)]
    fields: BTreeSet<String>,
    reason: String,
    source: String,
}

/// A row of the table: a register, the cards on which both sides write it so, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explained {
    /// The part of the run.
    pub phase: Phase,
    /// The register and its entries.
    pub label: String,
    /// The register.
    pub register: Name,
    /// Who writes it.
    pub side: Side,
    /// The families of the cards.
    pub families: Vec<Family>,
    /// What Linux writes.
    pub linux: Option<Written>,
    /// What our drivers write.
    pub ours: Option<Written>,
    /// The fields that differ, if both sides write a value.
    pub fields: Vec<FieldDifference>,
    /// The reason for a difference.
    pub reason: Option<Reason>,
}

impl Reasons {
    /// Reads the file's text.
    ///
    /// # Errors
    /// If the text has another form, or if a reason is empty.
    pub fn parse(text: &str) -> Result<Self> {
        let file: File = toml::from_str(text)?;
        let reasons = file.reason.into_iter().enumerate().map(|(nth, entry)| {
            let name = format!("reason {} ({})", nth + 1, entry.registers.join(", "));
            Reason::new(entry).context(name)
        });
        Ok(Self(reasons.collect::<Result<_>>()?))
    }

    /// Gives each difference its reason, and joins the rows that are equal for several families.
    ///
    /// # Errors
    /// If a difference has no reason or two, or if a reason explains no difference. The error lists
    /// all of them.
    pub fn explain(&self, rows: Vec<Row>) -> Result<Vec<Explained>> {
        let mut problems = self.stale(&rows);
        let mut explained: Vec<Explained> = Vec::new();
        for row in rows {
            let reason = match row.side() {
                Side::Same => None,
                _ => match self.reason_for(&row) {
                    Ok(reason) => Some(reason.clone()),
                    Err(error) => {
                        problems.push(format!("{}: {error}", describe(&row)));
                        continue;
                    }
                },
            };
            let new = Explained {
                phase: row.phase,
                label: entries::label(&row.register.name, &row.entries),
                side: row.side(),
                families: vec![row.family],
                fields: row.fields(),
                linux: row.linux,
                ours: row.ours,
                register: row.register,
                reason,
            };
            let alike = explained.iter_mut().find(|other| {
                let families = other.families.clone();
                **other
                    == Explained {
                        families,
                        ..new.clone()
                    }
            });
            match alike {
                Some(other) => other.families.push(row.family),
                None => explained.push(new),
            }
        }
        ensure!(
            problems.is_empty(),
            "{} and the register traces disagree:\n{}\nAdd or correct the reason, or correct the drivers. \
             Then run `{}`",
            files::REASONS,
            problems.join("\n"),
            files::WRITE_TABLE
        );
        Ok(explained)
    }

    fn reason_for(&self, row: &Row) -> Result<&Reason> {
        let mut fitting = self.0.iter().filter(|reason| reason.fits(row));
        let Some(reason) = fitting.next() else {
            bail!("no reason");
        };
        ensure!(fitting.next().is_none(), "two reasons");
        for field in row.fields() {
            ensure!(
                reason.fields.contains(field.field),
                "the reason does not list the field {:?}",
                field.field
            );
        }
        Ok(reason)
    }

    /// What the reasons name without a difference.
    fn stale(&self, rows: &[Row]) -> Vec<String> {
        let mut problems = Vec::new();
        for (nth, reason) in self.0.iter().enumerate() {
            let fitting: Vec<&Row> = rows
                .iter()
                .filter(|row| row.side() != Side::Same && reason.fits(row))
                .collect();
            let mut complain = |what: &str, name: &str| {
                let number = nth + 1;
                problems.push(format!(
                    "reason {number}, {what} {name}: there is no such difference"
                ));
            };
            for register in &reason.registers {
                if !fitting.iter().any(|row| row.register.name == *register) {
                    complain("register", register);
                }
            }
            for phase in &reason.phases {
                if !fitting.iter().any(|row| row.phase == *phase) {
                    complain("phase", &phase.to_string());
                }
            }
            for family in &reason.families {
                if !fitting.iter().any(|row| row.family == *family) {
                    complain("family", &family.to_string());
                }
            }
            let differing: BTreeSet<&str> = fitting
                .iter()
                .flat_map(|row| row.fields())
                .map(|field| field.field)
                .collect();
            for field in &reason.fields {
                if !differing.contains(field.as_str()) {
                    complain("field", field);
                }
            }
        }
        problems
    }
}

impl Reason {
    fn new(entry: Entry) -> Result<Self> {
        let side = match entry.writes.as_str() {
            "linux" => Side::Linux,
            "ours" => Side::Ours,
            "both" => Side::Different,
            other => bail!("writes = {other:?}: must be linux, ours or both"),
        };
        ensure!(!entry.registers.is_empty(), "registers is empty");
        ensure!(!entry.reason.is_empty(), "reason is empty");
        ensure!(!entry.source.is_empty(), "source is empty");
        ensure!(
            side == Side::Different || entry.fields.is_empty(),
            "fields: only one side writes these registers"
        );
        Ok(Self {
            side,
            registers: entry.registers.into_iter().collect(),
            phases: known("phase", &entry.phases)?,
            families: known("family", &entry.families)?,
            fields: entry.fields,
            text: entry.reason,
            source: entry.source,
        })
    }

    fn fits(&self, row: &Row) -> bool {
        row.side() == self.side
            && self.registers.contains(&row.register.name)
            && (self.phases.is_empty() || self.phases.contains(&row.phase))
            && (self.families.is_empty() || self.families.contains(&row.family))
    }
}

/// Reads the names of phases or families.
fn known<T: FromStr + Ord>(what: &str, names: &[String]) -> Result<BTreeSet<T>> {
    let read = |name: &String| {
        T::from_str(name)
            .ok()
            .with_context(|| format!("{name:?} is no {what}"))
    };
    names.iter().map(read).collect()
}

fn describe(row: &Row) -> String {
    let label = entries::label(&row.register.name, &row.entries);
    let content = |written: &Option<Written>| match written {
        Some(written) => written.last.to_string(),
        None => "nothing".to_owned(),
    };
    let fields: Vec<_> = row.fields().iter().map(|field| field.field).collect();
    let fields = match fields.is_empty() {
        true => String::new(),
        false => format!(" ({})", fields.join(", ")),
    };
    format!(
        "{}, {}: {label}: Linux writes {}, we write {}{fields}",
        row.phase,
        row.family,
        content(&row.linux),
        content(&row.ours)
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::archive::Archive;
    use crate::compare::compare;

    fn rows() -> Vec<Row> {
        let summaries = |registers: &str| {
            let text = ["82599", "X540"].map(|family| format!("[{family}.set-up]\n{registers}\n"));
            let text = format!("driver = \"\"\ntaken = \"\"\n{}", text.concat());
            Archive::parse(&text).unwrap().summaries
        };
        let linux = summaries("CTRL_EXT = \"0x10000000\"\nMRQC = \"0x1\"\nGPIE = \"0x3\"");
        let ours = summaries("CTRL_EXT = \"0x00010000\"\nWUS = \"0x1\"\nGPIE = \"0x3\"");
        compare(&linux, &ours)
    }

    const REASONS: [&str; 3] = [
        r#"[[reason]]
        writes = "linux"
        registers = ["MRQC"]
        reason = "Linux has several queues."
        source = "7.1.2""#,
        r#"[[reason]]
        writes = "ours"
        registers = ["WUS"]
        families = ["82599", "X540"]
        reason = "We wake up."
        source = "8.2""#,
        r#"[[reason]]
        writes = "both"
        registers = ["CTRL_EXT"]
        phases = ["set-up"]
        fields = ["NS_DIS", "DRV_LOAD"]
        reason = "There is no firmware to inform."
        source = "8.2.3.1.3""#,
    ];

    fn explain(text: &str) -> Result<Vec<Explained>, String> {
        let reasons = Reasons::parse(text).map_err(|error| format!("{error:#}"))?;
        reasons.explain(rows()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_row_joins_the_families() {
        let explained = explain(&REASONS.join("\n")).unwrap();
        let found: BTreeMap<_, _> = explained
            .iter()
            .map(|row| (row.label.as_str(), (row.side, row.families.len())))
            .collect();
        let expected = [
            ("CTRL_EXT", (Side::Different, 2)),
            ("GPIE", (Side::Same, 2)),
            ("MRQC", (Side::Linux, 2)),
            ("WUS", (Side::Ours, 2)),
        ];
        assert_eq!(found, BTreeMap::from(expected));
    }

    #[test]
    fn a_difference_without_a_reason_is_an_error() {
        for (missing, named) in [(0, "MRQC"), (1, "WUS"), (2, "CTRL_EXT")] {
            let mut reasons = REASONS.to_vec();
            reasons.remove(missing);
            let error = explain(&reasons.join("\n")).unwrap_err();
            assert!(error.contains(&format!("82599: {named}")), "{error}");
            assert!(error.contains("no reason"), "{error}");
        }
    }

    #[test]
    fn a_reason_without_a_difference_is_an_error() {
        let all = REASONS.join("\n");
        for (from, to, complaint) in [
            ("\"MRQC\"", "\"MRQC\", \"GPIE\"", "reason 1, register GPIE"),
            ("\"MRQC\"", "\"MRQC\", \"RDT\"", "reason 1, register RDT"),
            ("\"X540\"", "\"X540\", \"X550\"", "reason 2, family X550"),
            ("\"set-up\"", "\"set-up\", \"stop\"", "reason 3, phase stop"),
            (
                "\"NS_DIS\"",
                "\"NS_DIS\", \"RO_DIS\"",
                "reason 3, field RO_DIS",
            ),
        ] {
            let error = explain(&all.replace(from, to)).unwrap_err();
            assert!(error.contains(complaint), "{error}");
        }
    }

    #[test]
    fn a_new_field_in_a_known_difference_is_an_error() {
        let error = explain(&REASONS.join("\n").replace("\"NS_DIS\", ", "")).unwrap_err();
        assert!(error.contains("\"NS_DIS\""), "{error}");
    }

    #[test]
    fn two_reasons_for_a_difference_are_an_error() {
        let all = [REASONS[0], &REASONS.join("\n")].join("\n");
        let error = explain(&all).unwrap_err();
        assert!(error.contains("two reasons"), "{error}");
    }

    #[test]
    fn an_error_names_the_reason() {
        let all = REASONS.join("\n");
        for (from, to, named) in [
            ("\"linux\"", "\"bsd\"", "must be linux, ours or both"),
            ("\"X540\"", "\"X999\"", "\"X999\" is no family"),
            ("\"7.1.2\"", "\"\"", "reason 1 (MRQC): source is empty"),
            ("[\"MRQC\"]", "[]", "registers is empty"),
        ] {
            let error = explain(&all.replace(from, to)).unwrap_err();
            assert!(error.contains(named), "{error}");
        }
    }
}
