//! wrk, ab and curl.

use std::process::Command;

use anyhow::{Context, Result};

use super::{Load, LIMIT};
use crate::process::run_well;
use crate::server::ADDRESS;

/// The record that is asked for.
const RECORD: &str = "/records/42";

/// wrk ends with an error at the first wrong body.
const WRK_CHECK: &str = "response = function(status, headers, body)\n\
    if body ~= '{\"id\":42,\"name\":\"record 42\",\"value\":5.25}' then error('wrong body: ' .. body) end\n\
    end\n";

/// wrk prints this at its end: counts, and percentiles in microseconds.
const WRK_SCRIPT: &str = "done = function(summary, latency, requests)\n\
    local errors = summary.errors\n\
    io.write(string.format('totals %d %d %d %f %f %f\\n', summary.requests, summary.duration,\n\
        errors.connect + errors.read + errors.write + errors.status + errors.timeout,\n\
        latency:percentile(50), latency:percentile(99), latency:percentile(99.9)))\n\
    end\n";

fn url(path: &str) -> String {
    format!("http://{ADDRESS}{path}")
}

/// Runs wrk with 2 threads and 10 connections for so many seconds.
///
/// # Errors
/// If it fails, or prints something else.
pub fn wrk(seconds: u64) -> Result<Load> {
    run_wrk(seconds, WRK_SCRIPT)
}

/// The same, and compares every body, which costs wrk time.
///
/// # Errors
/// As [`wrk`], or if a body is wrong.
pub fn wrk_checked(seconds: u64) -> Result<Load> {
    run_wrk(seconds, &format!("{WRK_CHECK}{WRK_SCRIPT}"))
}

fn run_wrk(seconds: u64, lua: &str) -> Result<Load> {
    let folder = tempfile::tempdir()?;
    let script = folder.path().join("totals.lua");
    std::fs::write(&script, lua)?;
    let mut command = Command::new("wrk");
    command.args(["-t", "2", "-c", "10", "-d", &format!("{seconds}s"), "-s"]);
    command.arg(script).arg(url(RECORD));
    let output = run_well(&mut command, LIMIT)?;
    parse_wrk(&output.text)
        .with_context(|| format!("{command:?} printed:\n{}", output.text))
        .map(|load| Load {
            cpu: output.cpu,
            ..load
        })
}

fn parse_wrk(text: &str) -> Option<Load> {
    let line = text.lines().find_map(|line| line.strip_prefix("totals "))?;
    let mut numbers = line.split_whitespace().map(|word| word.parse::<f64>().ok());
    let mut next = || numbers.next().flatten();
    let (requests, microseconds, failed) = (next()?, next()?, next()?);
    Some(Load {
        client: "wrk".to_owned(),
        requests: requests as u64,
        failed: failed as u64,
        seconds: microseconds / 1e6,
        rate: requests / (microseconds / 1e6),
        p50_ms: Some(next()? / 1e3),
        p99_ms: Some(next()? / 1e3),
        p999_ms: Some(next()? / 1e3),
        ..Load::default()
    })
}

/// Runs ab with 50 connections, each for one request. `body` is what it posts, to `/records`.
///
/// # Errors
/// If it fails, or prints something else.
pub fn ab(requests: u64, connections: u64, body: Option<&str>) -> Result<Load> {
    let folder = tempfile::tempdir()?;
    // Its text has whole milliseconds, and its file microseconds.
    let percentiles = folder.path().join("percentiles.csv");
    let mut command = Command::new("ab");
    command.args([
        "-q",
        "-n",
        &requests.to_string(),
        "-c",
        &connections.to_string(),
        "-e",
    ]);
    command.arg(&percentiles);
    match body {
        Some(body) => {
            let file = folder.path().join("body");
            std::fs::write(&file, body)?;
            command.args(["-T", "application/json", "-p"]).arg(file);
            // The answer has the number of the record, whose length varies.
            command.arg("-l").arg(url("/records"));
        }
        None => {
            command.arg(url(RECORD));
        }
    }
    let output = run_well(&mut command, LIMIT)?;
    let percentiles = std::fs::read_to_string(&percentiles).context("ab wrote no percentiles")?;
    parse_ab(&output.text, &percentiles)
        .with_context(|| format!("{command:?} printed:\n{}{percentiles}", output.text))
        .map(|load| Load {
            client: if body.is_some() { "ab POST" } else { "ab" }.to_owned(),
            cpu: output.cpu,
            ..load
        })
}

/// Reads the text of ab, and its file of percentiles, whose lines are such as `99,1.834`.
fn parse_ab(text: &str, percentiles: &str) -> Option<Load> {
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse::<f64>().ok()
    };
    let percentile = |percent: &str| {
        let mut lines = percentiles.lines();
        let time = lines.find_map(|line| line.strip_prefix(percent))?;
        time.parse::<f64>().ok()
    };
    let requests = field("Complete requests:")?;
    Some(Load {
        requests: requests as u64,
        failed: (field("Failed requests:")? + field("Non-2xx responses:").unwrap_or(0.0)) as u64,
        seconds: field("Time taken for tests:")?,
        rate: field("Requests per second:")?,
        p50_ms: percentile("50,"),
        p99_ms: percentile("99,"),
        ..Load::default()
    })
}

/// Fetches a path with curl. Returns status and body.
///
/// # Errors
/// If there is no answer.
pub fn curl(path: &str, options: &[&str]) -> Result<(String, String)> {
    let mut command = Command::new("curl");
    command.args(["--silent", "--show-error", "--max-time", "10"]);
    command
        .args(["--write-out", "\n%{http_code}"])
        .args(options)
        .arg(url(path));
    let output = run_well(&mut command, LIMIT)?;
    let (body, status) = output.text.rsplit_once('\n').context("no status")?;
    Ok((status.to_owned(), body.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_of_wrk_gives_counts_and_percentiles() {
        let text = "Running 2s test\ntotals 1000 2000000 3 150.0 900.5 2000.0\n";
        let load = parse_wrk(text).unwrap();
        assert_eq!((load.requests, load.failed, load.rate), (1000, 3, 500.0));
        assert_eq!(
            (load.p50_ms, load.p99_ms, load.p999_ms),
            (Some(0.15), Some(0.9005), Some(2.0))
        );
    }

    #[test]
    fn ab_counts_wrong_statuses_apart() {
        let text = "Time taken for tests:   0.500 seconds\nComplete requests:      1000\n\
            Failed requests:        1\nNon-2xx responses:      2\n\
            Requests per second:    2000.00 [#/sec] (mean)\n";
        let percentiles = "Percentage served,Time in ms\n50,4.712\n99,12.041\n100,20.3\n";
        let load = parse_ab(text, percentiles).unwrap();
        assert_eq!((load.requests, load.failed, load.rate), (1000, 3, 2000.0));
        assert_eq!((load.p50_ms, load.p99_ms), (Some(4.712), Some(12.041)));
    }
}
