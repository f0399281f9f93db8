//! The catalogue, `hazards.toml`: the hazards and their recorded outcomes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{ensure, Context, Result};
use serde::Deserialize;
use strum::IntoEnumIterator;

use crate::outcome::{AtFault, DriverBuild, Outcome};
use crate::paths::root;

/// A hazard.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hazard {
    /// Unique short name.
    pub id: String,
    /// Title of a few words.
    pub title: String,
    /// Number of the weakness in the Common Weakness Enumeration.
    pub cwe: u32,
    /// The party that causes it.
    pub at_fault: AtFault,
    /// How the lab provokes it.
    pub provocation: String,
    /// The recorded outcome of each driver. The builds with packets as slices have one if the
    /// device is at fault.
    pub outcome: BTreeMap<DriverBuild, RecordedOutcome>,
    /// The reason for an outcome that is not obvious.
    #[serde(default)]
    pub why: BTreeMap<DriverBuild, String>,
}

/// A recorded outcome.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum RecordedOutcome {
    /// Every run has this outcome.
    One(Outcome),
    /// Each run has one of these outcomes: the hazard is a race.
    AnyOf(Vec<Outcome>),
}

impl RecordedOutcome {
    /// Whether an observed outcome agrees with the record.
    pub fn allows(&self, outcome: Outcome) -> bool {
        match self {
            Self::One(one) => *one == outcome,
            Self::AnyOf(several) => several.contains(&outcome),
        }
    }

    /// The recorded outcomes in words.
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

/// The catalogue's file.
pub fn path() -> PathBuf {
    root().join("drivers/conformance/hazards.toml")
}

/// Reads a catalogue.
///
/// # Errors
/// If the file cannot be read or has a mistake; the error names the line or the hazard.
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
            "hazard {id} appears twice"
        );
        for driver in DriverBuild::iter() {
            // What differs in these builds is what they trust the device with.
            if driver.feature().is_some() && hazard.at_fault != AtFault::Device {
                continue;
            }
            ensure!(
                hazard.outcome.contains_key(&driver),
                "hazard {id} has no outcome for {driver}"
            );
        }
        for (driver, recorded) in &hazard.outcome {
            if let RecordedOutcome::AnyOf(several) = recorded {
                ensure!(
                    several.len() > 1,
                    "hazard {id}, {driver}: a list needs several outcomes"
                );
                ensure!(
                    hazard.why.contains_key(driver),
                    "hazard {id}, {driver}: `why` must say why the outcome varies"
                );
            }
        }
    }
    Ok(hazards)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{listed, scenario};

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
    fn a_race_allows_the_recorded_outcomes_only() {
        let hazards = parse(HAZARD).unwrap();
        let rust = &hazards[0].outcome[&DriverBuild::Rust];
        assert!(rust.allows(Outcome::Hang) && rust.allows(Outcome::Leak));
        assert!(!rust.allows(Outcome::NoEffect));
        assert_eq!(rust.describe(), "hang or leak");
    }

    #[test]
    fn an_error_names_the_mistake() {
        for (from, to, message) in [
            (r#"c = "hang","#, "", "no outcome for c"),
            (r#""hang", "leak"]"#, r#""hang"]"#, "several"),
            (r#"why = { rust = "a race" }"#, "", "varies"),
            (r#"c = "hang""#, r#"c = "bang""#, "bang"),
        ] {
            let text = HAZARD.replace(from, to);
            assert_ne!(text, HAZARD);
            let error = format!("{:#}", parse(&text).unwrap_err());
            assert!(error.contains(message), "{message}: {error}");
        }
        let twice = [HAZARD, HAZARD].concat();
        assert!(parse(&twice).unwrap_err().to_string().contains("twice"));
    }

    #[test]
    fn every_hazard_has_a_scenario_and_every_scenario_a_hazard() {
        let hazards = read(&path()).unwrap();
        for hazard in &hazards {
            scenario(&hazard.id).unwrap();
        }
        for id in listed() {
            assert!(hazards.iter().any(|hazard| hazard.id == id), "{id}");
        }
    }

    /// The claim of the safe driver about the NIC and the wire: whatever they do, it returns an
    /// error or counts the loss.
    #[test]
    fn no_device_or_wire_hazard_breaks_the_safe_driver() {
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
                Outcome::Stall,
                Outcome::Loss,
            ] {
                for driver in [
                    DriverBuild::Rust,
                    DriverBuild::RustTrustedDevice,
                    DriverBuild::RustUntrustedDeviceCopy,
                ] {
                    let recorded = hazard.outcome.get(&driver);
                    let bad_here = recorded.is_some_and(|recorded| recorded.allows(bad));
                    assert!(!bad_here, "{}, {driver}: {bad}", hazard.id);
                }
            }
        }
    }
}
