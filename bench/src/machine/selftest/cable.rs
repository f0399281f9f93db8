//! Whether a cable connects the two ports.
//!
//! Each port sends a few frames, and both ports listen. What arrives where says how the ports are
//! wired.

use std::time::{Duration, Instant};

use perfcounters::Interrupt;

use super::finding::Finding;
use super::frame::{Damage, Stream, Verifier};
use super::library::{Frames, Ports};

/// Frames that each port sends.
const FRAMES: u64 = 64;
/// Time for all of them to arrive.
const LIMIT: Duration = Duration::from_secs(2);
/// Time in which frames of other senders would show.
const LISTEN: Duration = Duration::from_millis(100);

/// What one port heard.
#[derive(Debug)]
struct Heard {
    /// Frames of the other port.
    other: Verifier,
    /// Frames of its own.
    own: u64,
    /// The first frame of another sender, as its first bytes.
    stranger: Option<String>,
}

/// What the cable check sent and received.
#[derive(Debug, Clone, Copy, Default)]
pub struct Exchanged {
    /// Frames that each port sent.
    pub sent: [u64; 2],
    /// Their bytes, with CRC.
    pub sent_bytes: [u64; 2],
    /// Frames that each port received, of any sender.
    pub received: [u64; 2],
    /// Their bytes, with CRC.
    pub received_bytes: [u64; 2],
}

/// Checks the wiring. Returns the finding, and what was exchanged if the ports are cabled together.
pub fn check(ports: &mut Ports, run: u32, interrupt: &Interrupt) -> (Finding, Option<Exchanged>) {
    // Numbers of another run: these frames are not part of the main exchange.
    let streams = [0, 1].map(|port| Stream { run: !run, port });
    let mut exchanged = Exchanged::default();
    let mut heard = [1, 0].map(|other: usize| Heard {
        other: Verifier::new(streams[other]),
        own: 0,
        stranger: None,
    });
    let mut frames = Frames::new();
    for (port, stream) in streams.iter().enumerate() {
        let mut frame = Vec::new();
        for number in 0..FRAMES {
            stream.write(number, &mut frame);
            frames.push(&frame);
        }
        let sizes: Vec<_> = frames.iter().map(|(_, size)| size as u64).collect();
        let sent = ports.send(port as u32, &mut frames);
        exchanged.sent[port] = sent as u64;
        exchanged.sent_bytes[port] = sizes.iter().take(sent).map(|size| size + 4).sum();
        frames.remove(frames.len());
    }
    let begin = Instant::now();
    loop {
        for port in 0..2 {
            ports.receive(port as u32, &mut frames);
            for (bytes, size) in frames.iter() {
                exchanged.received[port] += 1;
                exchanged.received_bytes[port] += size as u64 + 4;
                heard[port].take(bytes, size, streams[port], exchanged.sent[1 - port]);
            }
        }
        let complete = heard.iter().all(|heard| heard.other.arrived() == FRAMES);
        let now = begin.elapsed();
        if now >= LIMIT || (complete && now >= LISTEN) || interrupt.is_set() {
            break;
        }
    }
    let finding = judge(&heard);
    let cabled = heard.iter().all(|heard| heard.other.arrived() > 0);
    (finding, cabled.then_some(exchanged))
}

impl Heard {
    fn take(&mut self, bytes: &[u8], size: usize, own: Stream, sent: u64) {
        let mut frame = Vec::new();
        let is_own = (0..FRAMES).any(|number| {
            own.write(number, &mut frame);
            frame == bytes
        });
        if is_own {
            self.own += 1;
            return;
        }
        let before = self.other.count(Damage::Foreign);
        self.other.take(bytes, size, sent);
        if self.other.count(Damage::Foreign) > before && self.stranger.is_none() {
            self.stranger = Some(sender(bytes));
        }
    }
}

/// The sender and the type of a frame.
fn sender(bytes: &[u8]) -> String {
    let hex = |range: std::ops::Range<usize>, between: &str| {
        let bytes = bytes.get(range).unwrap_or_default().iter();
        let bytes: Vec<_> = bytes.map(|byte| format!("{byte:02x}")).collect();
        bytes.join(between)
    };
    format!("{} (EtherType 0x{})", hex(6..12, ":"), hex(12..14, ""))
}

/// Says how the ports are wired.
fn judge(heard: &[Heard; 2]) -> Finding {
    let arrived = [&heard[0], &heard[1]].map(|heard| heard.other.arrived());
    let mut wrong = Vec::new();
    match arrived {
        [0, 0] => wrong.push(
            "no frame of either port arrives at the other: the ports are not cabled together. \
             Connect the two ports that you named with one cable"
                .to_owned(),
        ),
        [0, _] => wrong.push(one_way(0, 1)),
        [_, 0] => wrong.push(one_way(1, 0)),
        _ => {}
    }
    for (port, heard) in heard.iter().enumerate() {
        if heard.own > 0 {
            wrong.push(format!(
                "port {port} receives {} of its own frames: a loop-back plug, or a switch that \
                 reflects them",
                heard.own
            ));
        }
        if let Some(sender) = &heard.stranger {
            wrong.push(format!(
                "port {port} receives frames from {sender}: it is cabled to something else, or a \
                 switch is in between"
            ));
        }
    }
    let figures = |finding: Finding| {
        finding
            .figure("received_by_port", arrived)
            .figure("own_frames", [heard[0].own, heard[1].own])
            .figure("sent", FRAMES)
    };
    figures(match wrong.is_empty() {
        true => Finding::pass(
            "cable",
            format!(
                "{} frames arrived at port 1, {} at port 0",
                arrived[1], arrived[0]
            ),
        ),
        false => Finding::fail("cable", wrong.join("\n")),
    })
}

fn one_way(from: usize, to: usize) -> String {
    format!(
        "frames of port {from} arrive at port {to}, but none come back: a fibre is broken, or a \
         transmitter off"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::selftest::finding::Outcome;

    const STREAMS: [Stream; 2] = [Stream { run: 1, port: 0 }, Stream { run: 1, port: 1 }];

    /// What a port hears if these frames arrive.
    fn heard(port: usize, frames: &[Vec<u8>]) -> Heard {
        let mut heard = Heard {
            other: Verifier::new(STREAMS[1 - port]),
            own: 0,
            stranger: None,
        };
        for frame in frames {
            heard.take(frame, frame.len(), STREAMS[port], FRAMES);
        }
        heard
    }

    fn frames_of(port: usize) -> Vec<Vec<u8>> {
        (0..FRAMES)
            .map(|number| {
                let mut frame = Vec::new();
                STREAMS[port].write(number, &mut frame);
                frame
            })
            .collect()
    }

    fn text(at_0: &[Vec<u8>], at_1: &[Vec<u8>]) -> (Outcome, String) {
        let finding = judge(&[heard(0, at_0), heard(1, at_1)]);
        (finding.outcome, finding.text)
    }

    #[test]
    fn frames_both_ways_mean_one_cable() {
        let (outcome, text) = text(&frames_of(1), &frames_of(0));
        assert_eq!(
            (outcome, text.as_str()),
            (Outcome::Pass, "64 frames arrived at port 1, 64 at port 0")
        );
    }

    #[test]
    fn every_other_wiring_is_named() {
        let stranger = vec![vec![0x33; 60]];
        for (at_0, at_1, says) in [
            (vec![], vec![], "not cabled together"),
            (
                vec![],
                frames_of(0),
                "frames of port 0 arrive at port 1, but none come back",
            ),
            (
                frames_of(1),
                vec![],
                "frames of port 1 arrive at port 0, but none come back",
            ),
            (frames_of(0), vec![], "port 0 receives 64 of its own frames"),
            (
                stranger,
                vec![],
                "port 0 receives frames from 33:33:33:33:33:33 (EtherType 0x3333)",
            ),
        ] {
            let (outcome, text) = text(&at_0, &at_1);
            assert_eq!(outcome, Outcome::Fail);
            assert!(text.contains(says), "{text}");
        }
    }
}
