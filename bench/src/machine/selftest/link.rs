//! Starting two ports, and their links.
//!
//! A link needs both ends, so both ports start before either is waited for. Some cards get no link
//! until they are reset once more, above all under traffic. So a port without a link starts again
//! after 2, 4, 8 and more seconds.

use std::time::{Duration, Instant};

use perfcounters::Interrupt;

use super::finding::Finding;
use super::library::Ports;

/// Time for the first attempt. Each later attempt has twice the time of the one before.
const FIRST_ATTEMPT: Duration = Duration::from_secs(2);
/// A link that has just come up may go down once more, and counts errors meanwhile.
const SETTLE: Duration = Duration::from_millis(100);
/// Pause between two looks at the link.
const LOOK: Duration = Duration::from_millis(1);
/// The speed that the drivers and the published figures are for, Mbit/s.
const SPEED: u32 = 10_000;

/// Starts a port, and describes how that went.
fn start(ports: &mut Ports, port: u32) -> Result<Duration, String> {
    let begin = Instant::now();
    ports.start(port)?;
    Ok(begin.elapsed())
}

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
pub fn bring_up(
    ports: &mut Ports,
    limit: Duration,
    interrupt: &Interrupt,
    findings: &mut dyn FnMut(Finding),
) -> bool {
    let mut times = Vec::new();
    for port in 0..2 {
        match start(ports, port) {
            Ok(time) => times.push(time.as_secs_f64() * 1e3),
            Err(why) => {
                findings(Finding::fail("start", format!("port {port}: {why}")));
                return false;
            }
        }
    }
    let texts = times.iter().enumerate();
    let texts = texts.map(|(port, ms)| format!("port {port} in {ms:.0} ms"));
    let text = texts.collect::<Vec<_>>().join(", ");
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
fn wait(ports: &mut Ports, limit: Duration, interrupt: &Interrupt) -> Result<[Link; 2], String> {
    let begin = Instant::now();
    let mut links = [Link {
        attempts: 1,
        ..Link::default()
    }; 2];
    let mut attempt = FIRST_ATTEMPT;
    let mut again = attempt;
    loop {
        for (port, link) in (0..).zip(&mut links) {
            if link.speed == 0 {
                link.speed = ports.link_speed(port)?;
                link.after = begin.elapsed();
            }
        }
        let now = begin.elapsed();
        let mut up = links.iter().all(|link| link.speed > 0);
        if up {
            std::thread::sleep(SETTLE);
            for (port, link) in (0..).zip(&mut links) {
                link.speed = ports.link_speed(port)?;
                up &= link.speed > 0;
            }
        }
        if up || now >= limit || interrupt.is_set() {
            return Ok(links);
        }
        if now >= again {
            attempt *= 2;
            again = now + attempt;
            for (port, link) in (0..).zip(&mut links) {
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
    let describe = |(port, link): (usize, &Link)| match link.speed {
        0 => format!(
            "port {port}: no link after {:.1} s and {} attempts",
            link.after.as_secs_f64(),
            link.attempts
        ),
        speed => format!(
            "port {port}: {speed} Mbit/s after {:.0} ms, attempt {}",
            link.after.as_secs_f64() * 1e3,
            link.attempts
        ),
    };
    let mut text = links
        .iter()
        .enumerate()
        .map(describe)
        .collect::<Vec<_>>()
        .join("; ");
    let down = links.iter().any(|link| link.speed == 0);
    let slow = links
        .iter()
        .any(|link| link.speed > 0 && link.speed != SPEED);
    if down {
        text += &format!(
            "\nCheck cable and modules at both ends. Optics must be of the same kind, fibres crossed.\n\
             `--link-timeout` above {} s waits longer.",
            limit.as_secs()
        );
    } else if slow {
        text += "\nThe measurements need 10 Gbit/s: check cable and modules.";
    }
    let finding = match down || slow {
        true => Finding::fail("link", text),
        false => Finding::pass("link", text),
    };
    finding
        .figure("speed_mbit", links.map(|link| link.speed))
        .figure("link_ms", links.map(|link| link.after.as_secs_f64() * 1e3))
        .figure("attempts", links.map(|link| link.attempts))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::selftest::finding::Outcome;

    fn link(speed: u32) -> Link {
        Link {
            speed,
            after: Duration::from_millis(12),
            attempts: 2,
        }
    }

    #[test]
    fn only_two_links_at_full_speed_pass() {
        let limit = Duration::from_secs(30);
        let full = judge(&[link(10_000), link(10_000)], limit);
        assert_eq!(full.outcome, Outcome::Pass);
        assert!(
            full.text.contains("10000 Mbit/s after 12 ms, attempt 2"),
            "{}",
            full.text
        );
        for bad in [[link(10_000), link(1_000)], [link(0), link(10_000)]] {
            assert_eq!(judge(&bad, limit).outcome, Outcome::Fail);
        }
        let down = judge(&[link(10_000), link(0)], limit).text;
        assert!(
            down.contains("port 1: no link after 0.0 s and 2 attempts"),
            "{down}"
        );
    }
}
