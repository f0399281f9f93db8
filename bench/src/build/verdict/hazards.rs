//! The cases of a verdict that are hazards: the safety lab runs each in a process of its own.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{ensure, Context, Result};
use perfcounters::Interrupt;
use record::Implementation;
use serde::Deserialize;

use super::build::Folders;
use super::child;
use super::message;
use super::report::Row;

/// Hazards of a quick verdict: each checks a promise of the data path, and none needs further builds.
const QUICK: [&str; 8] = [
    "dev-length-beyond-buffer",
    "dev-length-zero",
    "dev-dd-without-eop",
    "dev-ring-overrun",
    "dev-removed",
    "wire-giant",
    "wire-size-boundary",
    "wire-broadcast-flood",
];
/// Longest time for all hazards. The lab limits each of them itself.
const LIMIT: Duration = Duration::from_secs(3600);

/// A line of `safety run --json`.
#[derive(Debug, Deserialize)]
struct Line {
    hazard: String,
    title: String,
    driver: String,
    recorded: String,
    /// Absent if the lab could not try the hazard.
    seen: Option<String>,
    evidence: String,
    agrees: bool,
    /// Whether the mistake of the catalogue can be put into these sources.
    applies: bool,
}

/// The rows of the hazards, and those that the changed sources do not allow.
#[derive(Debug, Default)]
pub struct Outcomes {
    /// A row for each hazard and driver.
    pub rows: Vec<Row>,
    /// Hazards that could not be tried, with the reason.
    pub not_run: Vec<String>,
}

/// Runs the hazards with these drivers.
///
/// # Errors
/// If the lab fails, or the user asks to stop.
pub fn run(
    lab: &Path,
    drivers: &[Implementation],
    quick: bool,
    folders: &Folders,
    interrupt: &Interrupt,
) -> Result<Outcomes> {
    let mut command = Command::new(lab);
    command
        .args(["run", "--json"])
        .env("TRIPTYCH_BUILD", &folders.build);
    if quick {
        command.args(QUICK.iter().flat_map(|id| ["--hazard", id]));
    }
    for driver in drivers {
        command.args(["--impl", &driver.to_string()]);
        if *driver == Implementation::C && !quick {
            command.args(["--impl", "c-hardened"]);
        }
    }
    let ended = child::run("hazards", command, &folders.logs, LIMIT, interrupt)?;
    let outcomes = parse(&ended.stdout)?;
    ensure!(
        !outcomes.rows.is_empty(),
        "the safety lab tried no hazard ({}): {}",
        ended.failure.unwrap_or_default(),
        ended.stderr.trim()
    );
    Ok(outcomes)
}

fn parse(text: &str) -> Result<Outcomes> {
    let mut outcomes = Outcomes::default();
    for line in text.lines() {
        let line: Line =
            serde_json::from_str(line).with_context(|| format!("the safety lab wrote {line}"))?;
        if !line.applies {
            outcomes.not_run.push(format!(
                "{}, {}: its mistake cannot be put into the changed sources",
                line.hazard, line.driver
            ));
            continue;
        }
        let seen = match line.seen {
            Some(outcome) => format!("{outcome} ({})", line.evidence),
            None => format!(
                "could not be tried: {}",
                message::of_compiler(&line.evidence)
            ),
        };
        outcomes.rows.push(Row {
            case: format!("{}: {}", line.hazard, line.title),
            driver: line.driver,
            expected: line.recorded,
            seen,
            changed: !line.agrees,
        });
    }
    Ok(outcomes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_labs_lines_become_rows() {
        let line = |applies, agrees| {
            format!(
                r#"{{"hazard":"wire-runt","title":"runts","driver":"c","recorded":"counted drop","seen":"leak","evidence":"3 buffers","agrees":{agrees},"applies":{applies}}}"#
            )
        };
        let text = [line(true, false), line(true, true), line(false, false)].join("\n");
        let outcomes = parse(&text).unwrap();
        assert_eq!(outcomes.rows.len(), 2);
        assert!(outcomes.rows[0].changed && !outcomes.rows[1].changed);
        assert_eq!(outcomes.rows[0].seen, "leak (3 buffers)");
        assert_eq!(outcomes.not_run.len(), 1);
        assert!(parse("no json").is_err());
    }
}
