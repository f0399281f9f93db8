//! The cases of a verdict that are hazards: one run of the safety lab tries them all, and limits the time of each.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{bail, Context, Result};
use record::Implementation;
use serde::Deserialize;

use super::message;
use super::report::{Row, Verdict};
use super::site::Site;
use crate::build::runner;

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

/// Runs the hazards with these drivers, and adds their rows and those that the changed sources do not allow.
pub(super) fn run(
    lab: &Path,
    drivers: &[Implementation],
    site: &Site<'_>,
    verdict: &mut Verdict,
) -> Result<()> {
    let mut command = Command::new(lab);
    command
        .args(["run", "--json"])
        .env("TRIPTYCH_BUILD", &site.build);
    if verdict.quick {
        command.args(QUICK.iter().flat_map(|id| ["--hazard", id]));
    }
    for driver in drivers {
        command.args(["--impl", &driver.to_string()]);
        if *driver == Implementation::C && !verdict.quick {
            command.args(["--impl", "c-hardened"]);
        }
    }
    let ended = runner::run(command, LIMIT, site.interrupt)?;
    let before = verdict.rows.len();
    parse(&ended.stdout, verdict)?;
    if verdict.rows.len() == before {
        ended.result.context("the safety lab failed")?;
        bail!("the safety lab tried no hazard: {}", ended.stderr.trim());
    }
    Ok(())
}

fn parse(text: &str, verdict: &mut Verdict) -> Result<()> {
    for line in text.lines() {
        let read = serde_json::from_str::<Line>(line);
        let line = read.with_context(|| format!("the safety lab wrote {line}"))?;
        if !line.applies {
            let why = "its mistake cannot be put into the changed sources";
            let reason = format!("{}, {}: {why}", line.hazard, line.driver);
            verdict.not_run.push(reason);
            continue;
        }
        let seen = match line.seen {
            Some(outcome) => format!("{outcome} ({})", line.evidence),
            None => format!("not tried: {}", message::of_compiler(&line.evidence)),
        };
        verdict.rows.push(Row {
            case: format!("{}: {}", line.hazard, line.title),
            driver: line.driver,
            expected: line.recorded,
            seen,
            changed: !line.agrees,
        });
    }
    Ok(())
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
        let mut outcomes = Verdict::default();
        parse(&text, &mut outcomes).unwrap();
        assert_eq!(outcomes.rows.len(), 2);
        assert!(outcomes.rows[0].changed && !outcomes.rows[1].changed);
        assert_eq!(outcomes.rows[0].seen, "leak (3 buffers)");
        assert_eq!(outcomes.not_run.len(), 1);
        assert!(parse("no json", &mut outcomes).is_err());
    }
}
