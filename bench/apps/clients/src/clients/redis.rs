//! redis-benchmark and redis-cli.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use anyhow::{ensure, Context, Result};

use super::{Load, LIMIT};
use crate::process::{run_well, Output};
use crate::server::ADDRESS;

/// Connections of redis-benchmark.
const CONNECTIONS: &str = "50";

/// Runs redis-benchmark with 50 connections: `test` is `SET`, `GET` or another of its tests.
///
/// # Errors
/// If it fails, or prints something else than its percentiles.
pub fn benchmark(test: &str, requests: u64) -> Result<Load> {
    let mut command = Command::new("redis-benchmark");
    command.args([
        "-h",
        ADDRESS,
        "-c",
        CONNECTIONS,
        "-n",
        &requests.to_string(),
    ]);
    command.args(["-t", &test.to_lowercase(), "--precision", "3"]);
    let output = run_well(&mut command, LIMIT)?;
    let mut load = parse_benchmark(&output.text)
        .with_context(|| format!("{command:?} printed:\n{}", output.text))?;
    load.client = format!("redis-benchmark {test}");
    load.requests = requests;
    load.cpu = output.cpu;
    Ok(load)
}

/// Reads the summary of a test, and the cumulative distribution of its latencies.
fn parse_benchmark(text: &str) -> Option<Load> {
    let number = |line: &str| line.split_whitespace().next()?.parse::<f64>().ok();
    let summary = text
        .lines()
        .find(|line| line.contains("throughput summary:"))?;
    let rate = number(summary.split_once("throughput summary:")?.1)?;
    let seconds = text
        .lines()
        .find(|line| line.contains("requests completed in"))?;
    let seconds = number(seconds.split_once("completed in")?.1)?;
    // "99.902% <= 1.234 milliseconds (cumulative count 99902)"
    let distribution: Vec<(f64, f64)> = text
        .lines()
        .filter(|line| line.contains("cumulative count"))
        .filter_map(|line| {
            let (percent, rest) = line.trim().split_once("% <= ")?;
            Some((percent.parse().ok()?, number(rest)?))
        })
        .collect();
    let percentile = |wanted: f64| {
        let reached = distribution
            .iter()
            .filter(|(percent, _)| *percent >= wanted);
        reached.map(|(_, latency)| *latency).min_by(f64::total_cmp)
    };
    Some(Load {
        seconds,
        rate,
        p50_ms: percentile(50.0),
        p99_ms: percentile(99.0),
        p999_ms: percentile(99.9),
        ..Load::default()
    })
}

/// Sends SET, GET, GET of a missing key and INCR, so many of each, all at once by `redis-cli --pipe`. It counts the
/// answers, and the errors among them.
///
/// # Errors
/// If redis-cli fails, or prints something else.
pub fn pipeline(each: u64) -> Result<Load> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("requests");
    let mut requests = String::new();
    for i in 0..each {
        let key = format!("k{}", i % 1000);
        let value = format!("value {i}");
        for words in [
            &["SET", &key, &value][..],
            &["GET", &key],
            &["GET", "missing"],
            &["INCR", "n"],
        ] {
            write!(requests, "*{}\r\n", words.len())?;
            for word in words {
                write!(requests, "${}\r\n{word}\r\n", word.len())?;
            }
        }
    }
    std::fs::write(&file, requests)?;
    let output = cli_with(&file, &["--pipe"])?;
    let field = |name: &str| -> Option<u64> {
        let rest = output.text.split_once(name)?.1;
        rest.split(|character: char| !character.is_ascii_digit())
            .find(|word| !word.is_empty())?
            .parse()
            .ok()
    };
    let (errors, replies) = field("errors:")
        .zip(field("replies:"))
        .context(output.text.clone())?;
    let requests = 4 * each;
    Ok(Load {
        client: "redis-cli --pipe".to_owned(),
        requests,
        failed: errors + requests.saturating_sub(replies),
        seconds: output.seconds,
        rate: replies as f64 / output.seconds,
        cpu: output.cpu,
        ..Load::default()
    })
}

/// Runs redis-cli with these requests as its input.
fn cli_with(requests: &Path, options: &[&str]) -> Result<Output> {
    // `Process` gives programs no standard input, so a shell opens the file.
    let mut command = Command::new("sh");
    let script = "file=$1; shift; exec redis-cli \"$@\" < \"$file\"";
    command.args(["-c", script, "sh"]).arg(requests);
    command.args(["-h", ADDRESS]).args(options);
    run_well(&mut command, LIMIT)
}

/// Runs one command with redis-cli, and returns what it prints.
///
/// # Errors
/// If redis-cli fails.
pub fn cli(words: &[&str]) -> Result<String> {
    let mut command = Command::new("redis-cli");
    command.args(["-h", ADDRESS, "-e"]).args(words);
    let output = run_well(&mut command, LIMIT)?;
    Ok(output.text.trim_end().to_owned())
}

/// Keys that [`check_answers`] writes in turn.
const CHECKED_KEYS: u64 = 1000;

/// Sends SET, GET, GET of a missing key and INCR by redis-cli, so many of each one after the other, and compares
/// every answer.
///
/// # Errors
/// If an answer is another one.
pub fn check_answers(each: u64) -> Result<Load> {
    let mut requests = "SET counter 0\n".to_owned();
    let mut expected = "OK\n".to_owned();
    for i in 0..each {
        let key = i % CHECKED_KEYS;
        let value = format!("value-{i}-{}", "x".repeat((i % 900) as usize));
        write!(
            requests,
            "SET check{key} {value}\nGET check{key}\nGET missing{i}\nINCR counter\n"
        )?;
        write!(expected, "OK\n{value}\n\n{}\n", i + 1)?;
    }
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("requests");
    std::fs::write(&file, requests)?;
    let output = cli_with(&file, &[])?;
    let differs = output
        .text
        .lines()
        .zip(expected.lines())
        .position(|(found, expected)| found != expected);
    ensure!(
        output.text == expected,
        "answer {differs:?} differs: {:?}",
        differs.and_then(|line| output.text.lines().nth(line))
    );
    Ok(Load {
        client: "redis-cli".to_owned(),
        requests: 4 * each,
        seconds: output.seconds,
        rate: (4 * each) as f64 / output.seconds,
        cpu: output.cpu,
        ..Load::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distribution_gives_the_percentiles() {
        let text = "====== SET ======\n  100000 requests completed in 2.00 seconds\n\
            Cumulative distribution of latencies:\n\
            0.000% <= 0.103 milliseconds (cumulative count 0)\n\
            49.000% <= 0.503 milliseconds (cumulative count 49000)\n\
            99.000% <= 1.207 milliseconds (cumulative count 99000)\n\
            99.950% <= 2.007 milliseconds (cumulative count 99950)\n\
            100.000% <= 3.007 milliseconds (cumulative count 100000)\n\n\
            Summary:\n  throughput summary: 50000.00 requests per second\n";
        let load = parse_benchmark(text).unwrap();
        assert_eq!((load.rate, load.seconds), (50_000.0, 2.0));
        assert_eq!(
            (load.p50_ms, load.p99_ms, load.p999_ms),
            (Some(1.207), Some(1.207), Some(2.007))
        );
        assert!(parse_benchmark("nothing").is_none());
    }
}
