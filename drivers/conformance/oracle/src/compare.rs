//! The join of Linux's summaries and ours.

use std::collections::{BTreeMap, BTreeSet};

use nic::registers::Register;

use crate::summary::{Content, Family, Name, Phase, Summary, Writes, Written};

/// Who writes a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// Linux and we, with different values in the end.
    Different,
    /// Only Linux.
    Linux,
    /// Only our drivers.
    Ours,
    /// Linux and we, with the same value in the end.
    Same,
}

/// Entries of a register that Linux writes alike and that our drivers write alike, on one card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The part of the run.
    pub phase: Phase,
    /// The register.
    pub register: Name,
    /// The entries; none if the register is not an array.
    pub entries: BTreeSet<u32>,
    /// The family of the card.
    pub family: Family,
    /// What Linux writes.
    pub linux: Option<Written>,
    /// What our drivers write.
    pub ours: Option<Written>,
}

/// A field that has different values.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FieldDifference {
    /// The field's name, [`OTHER_BITS`] or [`WHOLE`].
    pub field: &'static str,
    /// Linux's value, shifted to bit 0. For bits outside of fields: those bits in place.
    pub linux: u32,
    /// Our drivers' value.
    pub ours: u32,
}

/// The bits outside all fields of a register.
pub const OTHER_BITS: &str = "other bits";
/// The value of a register without fields.
pub const WHOLE: &str = "value";

impl Row {
    /// Who writes the register.
    #[must_use]
    pub fn side(&self) -> Side {
        match (&self.linux, &self.ours) {
            (Some(_), None) => Side::Linux,
            (None, _) => Side::Ours,
            (Some(linux), Some(ours)) if linux.last == ours.last => Side::Same,
            _ => Side::Different,
        }
    }

    /// The fields in which the values differ, if both sides write the register.
    #[must_use]
    pub fn fields(&self) -> Vec<FieldDifference> {
        let last = |written: &Option<Written>| written.as_ref().map(|written| written.last);
        match (last(&self.linux), last(&self.ours)) {
            (Some(Content::Value(linux)), Some(Content::Value(ours))) => {
                field_differences(self.register.register(), linux, ours)
            }
            _ => Vec::new(),
        }
    }
}

fn field_differences(register: Option<&Register>, linux: u32, ours: u32) -> Vec<FieldDifference> {
    let fields = register.map_or(&[][..], |register| register.fields);
    let mut differences = Vec::new();
    let mut rest = u32::MAX;
    for field in fields {
        rest &= !field.mask;
        let [linux, ours] = [linux, ours].map(|value| nic::registers::field_get(field.mask, value));
        if linux != ours {
            differences.push(FieldDifference {
                field: field.name,
                linux,
                ours,
            });
        }
    }
    if (linux ^ ours) & rest != 0 {
        differences.push(FieldDifference {
            field: if fields.is_empty() { WHOLE } else { OTHER_BITS },
            linux: linux & rest,
            ours: ours & rest,
        });
    }
    differences
}

/// Joins the summaries of all families. The rows are in order of phase, register, entry and family.
#[must_use]
pub fn compare(linux: &BTreeMap<Family, Summary>, ours: &BTreeMap<Family, Summary>) -> Vec<Row> {
    let mut rows = Vec::new();
    let (none, no_phase, no_writes) = (Summary::default(), BTreeMap::new(), Writes::new());
    let families: BTreeSet<Family> = linux.keys().chain(ours.keys()).copied().collect();
    for family in families {
        let both = [linux, ours].map(|side| &side.get(&family).unwrap_or(&none).0);
        let phases: BTreeSet<Phase> = both.iter().flat_map(|side| side.keys().copied()).collect();
        for phase in phases {
            let both = both.map(|side| side.get(&phase).unwrap_or(&no_phase));
            let names: BTreeSet<&Name> = both.iter().flat_map(|side| side.keys()).collect();
            for name in names {
                let [linux, ours] = both.map(|side| side.get(name).unwrap_or(&no_writes));
                for (entries, linux, ours) in join(linux, ours) {
                    rows.push(Row {
                        phase,
                        register: name.clone(),
                        entries,
                        family,
                        linux,
                        ours,
                    });
                }
            }
        }
    }
    rows.sort_by(|a, b| {
        (a.phase, &a.register, &a.entries, a.family).cmp(&(
            b.phase,
            &b.register,
            &b.entries,
            b.family,
        ))
    });
    rows
}

/// What Linux and what our drivers write to some entries.
type Joined = (BTreeSet<u32>, Option<Written>, Option<Written>);

/// Joins the writes to one register. Entries with the same contents are in one group.
fn join(linux: &Writes, ours: &Writes) -> Vec<Joined> {
    let mut groups: Vec<Joined> = Vec::new();
    let entries: BTreeSet<&Option<u32>> = linux.keys().chain(ours.keys()).collect();
    for entry in entries {
        let (a, b) = (linux.get(entry).cloned(), ours.get(entry).cloned());
        let group = groups
            .iter_mut()
            .find(|(_, linux, ours)| *linux == a && *ours == b);
        match group {
            Some((entries, ..)) => entries.extend(*entry),
            None => groups.push((entry.iter().copied().collect(), a, b)),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::Archive;

    fn summaries(registers: &str) -> BTreeMap<Family, Summary> {
        let text = format!("driver = \"\"\ntaken = \"\"\n[82599.set-up]\n{registers}");
        Archive::parse(&text).unwrap().summaries
    }

    #[test]
    fn each_entry_is_in_one_row() {
        let linux = summaries("\"TXDCTL(0-1)\" = \"0x02000000\"\nMRQC = \"0x1\"");
        let ours = summaries("\"TXDCTL(0)\" = \"0x02000000\"\nCTRL_EXT = \"0x00010000\"");
        let rows = compare(&linux, &ours);
        let sides: Vec<_> = rows
            .iter()
            .map(|row| (row.register.name.as_str(), row.side()))
            .collect();
        assert_eq!(
            sides,
            [
                ("CTRL_EXT", Side::Ours),
                ("TXDCTL", Side::Same),
                ("TXDCTL", Side::Linux),
                ("MRQC", Side::Linux),
            ]
        );
        assert_eq!(rows[2].entries, BTreeSet::from([1]));
    }

    #[test]
    fn a_difference_names_the_fields() {
        let linux = summaries("CTRL_EXT = \"0x10000001\"\nRAL = \"0x1\"");
        let ours = summaries("CTRL_EXT = \"0x00010000\"\nRAL = \"0x2\"");
        let rows = compare(&linux, &ours);
        let fields: Vec<_> = rows
            .iter()
            .flat_map(Row::fields)
            .map(|field| (field.field, field.linux, field.ours))
            .collect();
        assert_eq!(
            fields,
            [
                ("NS_DIS", 0, 1),
                ("DRV_LOAD", 1, 0),
                (OTHER_BITS, 1, 0),
                (WHOLE, 1, 2)
            ]
        );
    }
}
