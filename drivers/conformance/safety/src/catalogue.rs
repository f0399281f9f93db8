//! `hazards.toml`: what hazards there are, and what came of them when it was recorded.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{ensure, Context, Result};
use serde::Deserialize;
use strum::IntoEnumIterator;

use crate::outcome::{AtFault, Outcome, Subject};
use crate::root;

/// A hazard.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hazard {
    /// Short name, unique.
    pub id: String,
    /// In a few words.
    pub title: String,
    /// Number of the weakness in the Common Weakness Enumeration.
    pub cwe: u32,
    /// Whose fault it is.
    pub at_fault: AtFault,
    /// How it is provoked.
    pub provocation: String,
    /// What came of it.
    pub outcome: BTreeMap<Subject, Recorded>,
    /// Why, where that is not plain.
    #[serde(default)]
    pub why: BTreeMap<Subject, String>,
}

/// A recorded outcome: one, or for a race all that were seen.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Recorded {
    /// Always the same.
    One(Outcome),
    /// Now this, now that.
    AnyOf(Vec<Outcome>),
}

impl Recorded {
    /// Whether an outcome agrees with it.
    pub fn allows(&self, outcome: Outcome) -> bool {
        match self {
            Self::One(one) => *one == outcome,
            Self::AnyOf(several) => several.contains(&outcome),
        }
    }

    /// In words.
    pub fn describe(&self) -> String {
        match self {
            Self::One(one) => one.to_string(),
            Self::AnyOf(several) => {
                let words: Vec<_> = several.iter().map(Outcome::to_string).collect();
                words.join(" or ")
            }
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    hazard: Vec<Hazard>,
}

/// Where the catalogue is.
pub fn path() -> PathBuf {
    root().join("drivers/conformance/hazards.toml")
}

/// Reads a catalogue.
///
/// # Errors
/// If it is not what it should be, with the place.
pub fn read(path: &Path) -> Result<Vec<Hazard>> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    parse(&text).with_context(|| path.display().to_string())
}

fn parse(text: &str) -> Result<Vec<Hazard>> {
    let File { hazard: hazards } = toml::from_str(text)?;
    for (nth, hazard) in hazards.iter().enumerate() {
        let id = &hazard.id;
        ensure!(
            hazards[..nth].iter().all(|other| other.id != *id),
            "hazard {id} is there twice"
        );
        for subject in Subject::iter() {
            ensure!(
                hazard.outcome.contains_key(&subject),
                "hazard {id} has no outcome for {subject}"
            );
        }
        for (subject, recorded) in &hazard.outcome {
            if let Recorded::AnyOf(several) = recorded {
                ensure!(
                    several.len() > 1,
                    "hazard {id}, {subject}: a list has several outcomes"
                );
                ensure!(
                    hazard.why.contains_key(subject),
                    "hazard {id}, {subject}: why is the outcome not always the same?"
                );
            }
        }
    }
    Ok(hazards)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::SCENARIOS;

    const HAZARD: &str = r#"
        [[hazard]]
        id = "a"
        title = "t"
        cwe = 416
        at_fault = "wire"
        provocation = "p"
        outcome = { c = "hang", c-hardened = "leak", rust = ["hang", "leak"], rust-unsafe = "hang" }
        why = { rust = "a race" }
    "#;

    #[test]
    fn a_race_may_have_several_outcomes_but_no_others() {
        let hazards = parse(HAZARD).unwrap();
        let rust = &hazards[0].outcome[&Subject::Rust];
        assert!(rust.allows(Outcome::Hang) && rust.allows(Outcome::Leak));
        assert!(!rust.allows(Outcome::Nothing));
        assert_eq!(rust.describe(), "hang or leak");
    }

    #[test]
    fn what_does_not_make_sense_is_refused() {
        for (from, to, says) in [
            (r#"c = "hang","#, "", "no outcome for c"),
            (r#""hang", "leak"]"#, r#""hang"]"#, "several"),
            (r#"why = { rust = "a race" }"#, "", "not always"),
            (r#"c = "hang""#, r#"c = "bang""#, "bang"),
        ] {
            let text = HAZARD.replace(from, to);
            assert_ne!(text, HAZARD);
            let error = format!("{:#}", parse(&text).unwrap_err());
            assert!(error.contains(says), "{says}: {error}");
        }
        let twice = [HAZARD, HAZARD].concat();
        assert!(parse(&twice).unwrap_err().to_string().contains("twice"));
    }

    #[test]
    fn every_hazard_of_the_catalogue_can_be_provoked_and_the_other_way_round() {
        let hazards = read(&path()).unwrap();
        let mut ids: Vec<_> = hazards.iter().map(|hazard| hazard.id.as_str()).collect();
        let mut scenarios: Vec<_> = SCENARIOS.iter().map(|(id, _)| *id).collect();
        ids.sort_unstable();
        scenarios.sort_unstable();
        assert_eq!(ids, scenarios);
    }

    /// The claim of the safe driver, as far as it is about what others do to it.
    #[test]
    fn no_device_and_no_wire_corrupts_ends_or_hangs_the_safe_driver() {
        for hazard in read(&path()).unwrap() {
            if !matches!(hazard.at_fault, AtFault::Device | AtFault::Wire) {
                continue;
            }
            for bad in [
                Outcome::Hang,
                Outcome::Trap,
                Outcome::Corruption,
                Outcome::Disclosure,
                Outcome::Leak,
            ] {
                let recorded = &hazard.outcome[&Subject::Rust];
                assert!(!recorded.allows(bad), "{}: {bad}", hazard.id);
            }
        }
    }
}
