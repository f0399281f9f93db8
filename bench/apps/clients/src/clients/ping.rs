//! ping.

use std::process::Command;

use anyhow::{Context, Result};

use super::{Load, LIMIT};
use crate::process::run;
use crate::server::ADDRESS;

/// Sends `count` echo requests, each as soon as the last one is answered.
///
/// # Errors
/// If ping prints something else than a summary.
pub fn flood(count: u64) -> Result<Load> {
    let mut command = Command::new("ping");
    command.args([
        "-f",
        "-q",
        "-n",
        "-w",
        "60",
        "-c",
        &count.to_string(),
        ADDRESS,
    ]);
    let output = run(&mut command, LIMIT)?;
    parse(&output.text, count)
        .with_context(|| format!("{command:?} printed:\n{}{}", output.text, output.error))
        .map(|load| Load {
            cpu: output.cpu,
            ..load
        })
}

/// Reads `10000 packets transmitted, 10000 received, 0% packet loss, time 1234ms`.
fn parse(text: &str, count: u64) -> Option<Load> {
    let line = text
        .lines()
        .find(|line| line.contains("packets transmitted"))?;
    let numbers: Vec<f64> = line
        .split(|character: char| !character.is_ascii_digit() && character != '.')
        .filter_map(|word| word.parse().ok())
        .collect();
    let (sent, received, milliseconds) = (numbers.first()?, numbers.get(1)?, numbers.last()?);
    let seconds = milliseconds / 1e3;
    Some(Load {
        client: "ping -f".to_owned(),
        requests: *sent as u64,
        failed: count.max(*sent as u64) - *received as u64,
        seconds,
        rate: received / seconds,
        ..Load::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_says_how_many_were_lost() {
        let text = "--- 10.0.0.2 ping statistics ---\n\
                    2000 packets transmitted, 1998 received, 0.1% packet loss, time 500ms\n";
        let load = parse(text, 2000).unwrap();
        assert_eq!((load.requests, load.failed, load.rate), (2000, 2, 3996.0));
        assert!(parse("nothing", 1).is_none());
    }
}
