//! The catalogue, `hazards.toml`: the hazards and their recorded outcomes.

use std::collections::{BTreeMap, HashSet};

use anyhow::{bail, ensure, Context, Result};
use serde::Deserialize;
use strum::IntoEnumIterator;

use crate::builds::root;
use crate::outcome::{AtFault, DriverBuild, Outcome};

/// Between the outcomes of a race, of which a run has one.
const OR: &str = " or ";

/// A hazard.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hazard {
    /// Its name, as in `dev-length-zero`.
    pub id: String,
    /// What happens, in a few words.
    pub title: String,
    /// Number of the weakness in the Common Weakness Enumeration.
    pub cwe: u32,
    /// How the lab provokes it.
    pub provocation: String,
    /// The recorded outcomes of each driver. The builds with a feature have one if the device is at fault.
    pub outcome: BTreeMap<DriverBuild, String>,
    /// The reason for an outcome that is not obvious.
    #[serde(default)]
    pub why: BTreeMap<DriverBuild, String>,
    /// The party that the id begins with.
    #[serde(skip)]
    pub at_fault: AtFault,
}

/// Whether the record has this outcome.
pub fn allows(recorded: &str, outcome: Outcome) -> bool {
    let outcome = outcome.to_string();
    recorded.split(OR).any(|one| one == outcome)
}

/// Reads the catalogue.
///
/// # Errors
/// If the file cannot be read or has a mistake; the error names the line or the hazard.
pub fn read() -> Result<Vec<Hazard>> {
    let path = root().join("drivers/conformance/hazards.toml");
    let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    parse(&text).with_context(|| path.display().to_string())
}

fn parse(text: &str) -> Result<Vec<Hazard>> {
    let mut file: BTreeMap<String, Vec<Hazard>> = toml::from_str(text)?;
    let mut hazards = file.remove("hazard").context("no hazards")?;
    let mut ids = HashSet::new();
    for hazard in &mut hazards {
        let id = hazard.id.clone();
        complete(hazard).with_context(|| format!("hazard {id}"))?;
        ensure!(ids.insert(id.clone()), "hazard {id} appears twice");
    }
    Ok(hazards)
}

/// Derives the party at fault, checks the outcomes, and adds those that the file leaves out.
fn complete(hazard: &mut Hazard) -> Result<()> {
    hazard.at_fault = match hazard.id.split_once('-') {
        Some(("app", _)) => AtFault::Application,
        Some(("dev", _)) => AtFault::Device,
        Some(("drv", _)) => AtFault::Driver,
        Some(("wire", _)) => AtFault::Wire,
        _ => bail!("the id names no party at fault"),
    };
    for driver in DriverBuild::iter() {
        // What differs in these builds is what they trust the device with.
        if driver.feature().is_some() && hazard.at_fault != AtFault::Device {
            continue;
        }
        let like = match driver.driver() {
            DriverBuild::Rust => DriverBuild::Rust,
            _ => DriverBuild::C,
        };
        let outcome = &mut hazard.outcome;
        let recorded = outcome.get(&driver).or_else(|| outcome.get(&like));
        let recorded = recorded.with_context(|| format!("no outcome for {driver}"))?;
        for word in recorded.split(OR) {
            let known = word.parse::<Outcome>();
            known.with_context(|| format!("there is no outcome {word:?}"))?;
        }
        ensure!(
            !recorded.contains(OR) || hazard.why.contains_key(&driver),
            "{driver}: `why` must say why the outcome varies"
        );
        let recorded = recorded.clone();
        outcome.insert(driver, recorded);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario;

    const HAZARD: &str = r#"
        [[hazard]]
        id = "wire-a"
        title = "t"
        cwe = 416
        provocation = "p"
        outcome = { c = "hang", rust = "hang or leak" }
        why = { rust = "a race" }
    "#;

    #[test]
    fn a_race_allows_the_recorded_outcomes_only() {
        let hazards = parse(HAZARD).unwrap();
        let rust = &hazards[0].outcome[&DriverBuild::Rust];
        assert!(allows(rust, Outcome::Hang) && allows(rust, Outcome::Leak));
        assert!(!allows(rust, Outcome::NoEffect));
        assert_eq!(hazards[0].outcome[&DriverBuild::RustUnsafe], "hang");
    }

    #[test]
    fn an_error_names_the_mistake() {
        for (from, to, message) in [
            (r#"c = "hang","#, "", "no outcome for c"),
            (r#"why = { rust = "a race" }"#, "", "varies"),
            ("cwe", "cew", "cew"),
            ("wire-a", "a", "party"),
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
        let hazards = read().unwrap();
        for hazard in &hazards {
            scenario::of(&hazard.id).unwrap();
        }
        for (id, _) in scenario::SCENARIOS {
            assert!(hazards.iter().any(|hazard| hazard.id == *id), "{id}");
        }
    }

    /// The claim of the safe driver about the NIC and the wire: whatever they do, it returns an error or
    /// counts the loss.
    #[test]
    fn no_device_or_wire_hazard_breaks_the_safe_driver() {
        let bad = [
            Outcome::Hang,
            Outcome::Trap,
            Outcome::Corruption,
            Outcome::Disclosure,
            Outcome::Leak,
            Outcome::Stall,
            Outcome::Loss,
        ];
        for hazard in read().unwrap() {
            if !matches!(hazard.at_fault, AtFault::Device | AtFault::Wire) {
                continue;
            }
            for (driver, recorded) in &hazard.outcome {
                let breaks = bad.iter().find(|bad| allows(recorded, **bad));
                assert!(
                    driver.driver() != DriverBuild::Rust || breaks.is_none(),
                    "{}, {driver}: {breaks:?}",
                    hazard.id
                );
            }
        }
    }
}
