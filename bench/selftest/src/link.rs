//! Starting two ports, and their links.
//!
//! A link needs both ends, so both ports start before either is waited for. Some cards get no link
//! until they are reset once more, above all under traffic. So a port without a link starts again
//! after 2, 4, 8 and more seconds.

use std::time::{Duration, Instant};

use ixgbe::error::Result;
use perfcounters::Interrupt;

use crate::finding::Finding;
use crate::ports::Ports;

/// Time for the first attempt. Each later attempt has twice the time of the one before.
const FIRST_ATTEMPT: Duration = Duration::from_secs(2);
/// A link that has just come up may go down once more, and counts errors meanwhile.
const SETTLE: Duration = Duration::from_millis(100);
/// Pause between two looks at the link.
const LOOK: Duration = Duration::from_millis(1);
/// The speed that the drivers and the published figures are for, Mbit/s.
const SPEED: u32 = 10_000;

/// The link of one port.
#[derive(Debug, Clone, Copy, Default)]
struct Link {
    /// Mbit/s, 0 while it is down.
    speed: u32,
    /// Time from the first start until the link was up.
    after: Duration,
    /// How often the port was started.
    attempts: u32,
}

/// Starts both ports and waits for their links, at most `limit`. Adds the findings; returns whether
/// both links are up.
pub(crate) fn bring_up(
    ports: &mut Ports<'_>,
    limit: Duration,
    interrupt: &Interrupt,
    findings: &mut dyn FnMut(Finding),
) -> bool {
    let mut times = [0.0; 2];
    for (port, time) in times.iter_mut().enumerate() {
        let begin = Instant::now();
        if let Err(why) = ports.start(port) {
            findings(Finding::fail("start", format!("port {port}: {why}")));
            return false;
        }
        *time = begin.elapsed().as_secs_f64() * 1e3;
    }
    let text = format!("port 0 in {:.0} ms, port 1 in {:.0} ms", times[0], times[1]);
    findings(Finding::pass("start", text).figure("start_ms", times));
    match wait(ports, limit, interrupt) {
        Ok(links) => {
            findings(judge(&links, limit));
            links.iter().all(|link| link.speed > 0)
        }
        Err(why) => {
            findings(Finding::fail("link", why));
            false
        }
    }
}

/// Waits for both links.
fn wait(ports: &mut Ports<'_>, limit: Duration, interrupt: &Interrupt) -> Result<[Link; 2]> {
    let begin = Instant::now();
    let mut links = [Link {
        attempts: 1,
        ..Link::default()
    }; 2];
    let mut attempt = FIRST_ATTEMPT;
    let mut again = attempt;
    loop {
        for (port, link) in links.iter_mut().enumerate() {
            if link.speed == 0 {
                link.speed = ports.link_speed(port)?;
                link.after = begin.elapsed();
            }
        }
        let now = begin.elapsed();
        if links.iter().all(|link| link.speed > 0) {
            std::thread::sleep(SETTLE);
            for (port, link) in links.iter_mut().enumerate() {
                link.speed = ports.link_speed(port)?;
            }
        }
        let up = links.iter().all(|link| link.speed > 0);
        if up || now >= limit || interrupt.is_set() {
            return Ok(links);
        }
        if now >= again {
            attempt *= 2;
            again = now + attempt;
            for (port, link) in links.iter_mut().enumerate() {
                if link.speed == 0 {
                    ports.start(port)?;
                    link.attempts += 1;
                }
            }
        }
        std::thread::sleep(LOOK);
    }
}

fn judge(links: &[Link; 2], limit: Duration) -> Finding {
    let describe = |(port, link): (usize, &Link)| {
        let (seconds, attempts) = (link.after.as_secs_f64(), link.attempts);
        match (link.speed, seconds * 1e3) {
            (0, _) => format!("port {port}: no link after {seconds:.1} s and {attempts} attempts"),
            (speed, ms) => {
                format!("port {port}: {speed} Mbit/s after {ms:.0} ms, attempt {attempts}")
            }
        }
    };
    let texts: Vec<_> = links.iter().enumerate().map(describe).collect();
    let mut wrong = Vec::new();
    if links.iter().any(|link| link.speed == 0) {
        let advice = "Check cable and modules at both ends. Optics must be of the same kind, fibres crossed.";
        let limit = limit.as_secs();
        let longer = format!("`--link-timeout` above {limit} s waits longer.");
        wrong = vec![texts.join("; "), advice.to_owned(), longer];
    } else if links.iter().any(|link| link.speed != SPEED) {
        let advice = "The measurements need 10 Gbit/s: check cable and modules.";
        wrong = vec![texts.join("; "), advice.to_owned()];
    }
    Finding::unless(&wrong, "link", texts.join("; "))
        .figure("speed_mbit", links.map(|link| link.speed))
        .figure("link_ms", links.map(|link| link.after.as_secs_f64() * 1e3))
        .figure("attempts", links.map(|link| link.attempts))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_two_links_at_full_speed_pass() {
        for (speed, says) in [
            (10_000, "port 1: 10000 Mbit/s after 12 ms, attempt 2"),
            (1_000, "need 10 Gbit/s"),
            (0, "port 1: no link after 0.0 s and 2 attempts"),
        ] {
            let link = |speed| Link {
                speed,
                after: Duration::from_millis(12),
                attempts: 2,
            };
            let found = judge(&[link(10_000), link(speed)], Duration::from_secs(30)).to_string();
            assert_eq!(found.starts_with("pass"), speed == 10_000, "{found}");
            assert!(found.contains(says), "{found}");
        }
    }
}
