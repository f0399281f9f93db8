//! The verdict on any program: the crate `foreign` runs its conformance cases, each in a process of its own with a time
//! limit. The table shows them beside what our drivers did when the table of foreign's README was written.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{ensure, Context, Result};
use clap::Args;
use nic::Expected;
use perfcounters::process::{find_program, is_executable};
use perfcounters::Interrupt;
use serde_json::{json, Value};

use crate::build::runner;
use crate::progress::Progress;
use crate::usage::{columns, Outcome, UsageError};

/// The cases of a quick verdict: the data path, the lies about a frame, and the end.
const QUICK: &str = "forwards sizes rx-length-beyond rx-length-zero rx-no-eop stop";
const BUILD: Duration = Duration::from_secs(900);
/// Longest time of a case: it may run twice, and each run waits for a start and some recoveries.
const CASE: Duration = Duration::from_secs(180);
/// The estimated time of a case that passes.
const USUAL: Duration = Duration::from_millis(2500);

/// What the card counted: frames that the program received and sent, that did not come back, and that came back wrong.
const COUNTS: [&str; 4] = ["received", "sent", "lost", "wrong"];

/// `--program` and `--expect`
#[derive(Debug, Args)]
pub struct ProgramArguments {
    /// Judge this program instead: words between blanks, in which {port0} and {port1} stand for the PCI addresses of a
    /// VFIO program, or {socket0} and {socket1} for the card's vfio-user sockets
    #[arg(long, value_name = "WORDS", conflicts_with_all = ["patch", "drivers"])]
    pub program: Option<String>,
    /// What that program does to a frame: touch (byte 1 goes up by one), touch@N, mac or none
    #[arg(long, value_name = "CHANGE", default_value = "touch", requires = "program", value_parser = expectation)]
    expect: String,
}

/// Parses what a program does to a frame. Returns the text, because it is passed on.
fn expectation(text: &str) -> Result<String, nic::ConfigError> {
    text.parse::<Expected>().map(|_| text.to_owned())
}

impl ProgramArguments {
    /// Judges the program: what each case came to.
    pub fn run(&self, quick: bool, build: &Path, interrupt: &Interrupt) -> Result<Vec<Value>> {
        let words = self.program.as_deref().unwrap_or_default();
        let bin = build.join("bin");
        let bridge = bin.join("libtriptych_bridge.so");
        let there = !needs_bridge(words)? || bridge.is_file();
        ensure!(there, "{} is missing: run `make build`", bridge.display());
        let foreign = build_foreign(build, interrupt)?;
        let ask = |last: &[&str]| {
            let mut command = Command::new(&foreign);
            command.args(["--json", "--program", words, "--expect", &self.expect]);
            command.args(last).arg("--bin").arg(&bin);
            runner::output(command, CASE, interrupt).context("the crate foreign failed")
        };
        let list = ask(&["--list"])?;
        let names = list.lines().filter_map(|line| line.split('`').nth(1));
        let chosen = |case: &&str| !quick || QUICK.split(' ').any(|name| name == *case);
        let cases: Vec<&str> = names.filter(chosen).collect();
        let number = u32::try_from(cases.len())?;
        let mut progress = Progress::new(USUAL * number);
        progress.begin("cases", number.into(), USUAL * number);
        let mut rows = Vec::new();
        for case in cases {
            progress.step(case);
            let row = ask(&["--case", case])?;
            let read = serde_json::from_str::<Value>(&row);
            rows.push(read.with_context(|| format!("the crate foreign wrote {row}"))?);
            // A program that forwards nothing would make most cases wait for a minute.
            if case == "forwards" && rows[0]["counted"]["sent"] == 0 {
                break;
            }
        }
        progress.finish();
        Ok(rows)
    }
}

/// Prints the verdict: whether any case fails.
pub(super) fn show(rows: &[Value], json: bool) -> Result<Outcome> {
    if json {
        println!("{:#}", json!({ "rows": rows }));
    } else {
        print!("{}", text(rows));
    }
    let failed = rows.iter().find(|row| row["changed"] != false);
    Ok(failed.map_or(Outcome::Good, |_| Outcome::Worse))
}

/// Checks the words of `--program`. Returns whether the program needs the bridge.
fn needs_bridge(words: &str) -> Result<bool, UsageError> {
    let places = ["{port0}", "{port1}", "{socket0}", "{socket1}"];
    let bridge = match places.map(|place| words.contains(place)) {
        [true, true, false, false] => true,
        [false, false, true, true] => false,
        _ => {
            return Err(UsageError(format!(
                "--program {words:?} does not say where the ports go: write {{port0}} and {{port1}} for a VFIO program, \
                 or {{socket0}} and {{socket1}} for one that speaks vfio-user"
            )))
        }
    };
    let program = words.split_whitespace().next().unwrap_or_default();
    let here = program.contains('/') && is_executable(Path::new(program));
    let found = here || find_program(program).is_some();
    let why =
        format!("--program: {program} is not a program to run: build it, or correct the path");
    found.then_some(bridge).ok_or(UsageError(why))
}

fn build_foreign(folder: &Path, interrupt: &Interrupt) -> Result<PathBuf> {
    let mut command = runner::cargo();
    command.args(["build", "--quiet", "--release", "--package", "foreign"]);
    command.arg("--target-dir").arg(folder.join("cargo"));
    // As in the Makefile: in CI, an outdated Cargo.lock is an error.
    command.args(std::env::var_os("CI").map(|_| "--locked"));
    runner::output(command, BUILD, interrupt).context("cannot build the crate foreign")?;
    Ok(folder.join("cargo/release/foreign"))
}

/// All cases as a table, what each failed one asked for, and a summary in one line.
fn text(rows: &[Value]) -> String {
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (mut cells, mut sums, mut failures) = (Vec::new(), [0; 4], String::new());
    for row in rows {
        let counts = COUNTS.map(|name| row["counted"][name].as_u64().unwrap_or(0));
        sums.iter_mut()
            .zip(counts)
            .for_each(|(sum, count)| *sum += count);
        let [received, sent, lost, wrong] = counts.map(|count| count.to_string());
        let [c, rust, rust_unsafe] =
            ["c", "rust", "rust-unsafe"].map(|driver| word(&row["recorded"][driver]));
        let [case, hazard, seen, asks] =
            ["case", "hazard", "seen", "asks"].map(|key| word(&row[key]));
        if row["changed"] != false {
            failures += &format!("{case}: {seen}\n  asked for: {asks}\n");
        }
        let short = seen.split(": ").next().unwrap_or_default().to_owned();
        cells.push([
            case,
            hazard,
            short,
            received,
            sent,
            lost,
            wrong,
            c,
            rust,
            rust_unsafe,
        ]);
    }
    let passed = rows.iter().filter(|row| row["changed"] == false).count();
    let name = rows
        .first()
        .map_or(String::new(), |row| word(&row["driver"]));
    let [received, sent, lost, wrong] = COUNTS;
    let head = [
        "case",
        "hazard",
        &name,
        received,
        sent,
        lost,
        wrong,
        "c*",
        "rust*",
        "rust-unsafe*",
    ];
    let table = columns(head, cells);
    let frames = COUNTS
        .iter()
        .zip(sums)
        .map(|(count, sum)| format!("{sum} {count}"));
    let (all, frames) = (rows.len(), frames.collect::<Vec<_>>().join(", "));
    format!(
        "{table}* by VFIO, as recorded in drivers/conformance/foreign/README.md\n{failures}\
         {name}: {passed} of {all} cases pass; frames: {frames}.\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_says_where_its_ports_go() {
        assert!(needs_bridge("sh {port0} {port1}").unwrap());
        assert!(!needs_bridge("/bin/sh -c {socket0} {socket1}").unwrap());
        for (words, said) in [
            ("sh {port0}", "{socket0} and {socket1}"),
            ("sh {port0} {port1} {socket0}", "where the ports go"),
            ("./none {port0} {port1}", "./none is not a program"),
            ("no-such-driver {port0} {port1}", "build it"),
        ] {
            let error = needs_bridge(words).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
        assert!(expectation("none").is_ok() && expectation("half").is_err());
    }

    #[test]
    fn the_table_has_every_case_beside_our_drivers() {
        let row = |case, seen: &str| {
            let counted = json!({"received": 7, "sent": 6, "lost": 1, "wrong": 0});
            json!({"case": case, "asks": "ends", "driver": "fwd", "seen": seen, "changed": seen != "pass",
                "counted": counted, "recorded": {"c": "as C"}})
        };
        let rows = [("forwards", "pass"), ("removed", "ends, status 1: why")];
        let text = text(&rows.map(|(case, seen)| row(case, seen)));
        let sum = "fwd: 1 of 2 cases pass; frames: 14 received, 12 sent, 2 lost, 0 wrong.\n";
        let failed = "removed: ends, status 1: why\n  asked for: ends\n";
        assert!(text.ends_with(&format!("{failed}{sum}")), "{text}");
        assert!(text.contains("as C"), "{text}");
    }
}
