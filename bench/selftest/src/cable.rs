//! Whether a cable connects the two ports.
//!
//! Each port sends a few frames, and both ports listen. What arrives where says how the ports are
//! wired.

use std::time::{Duration, Instant};

use perfcounters::Interrupt;

use crate::finding::Finding;
use crate::frame::{Damage, Stream, Verifier};
use crate::ports::Ports;

/// Frames that each port sends.
const FRAMES: u64 = 64;
/// Time for all of them to arrive.
const LIMIT: Duration = Duration::from_secs(2);
/// Time in which frames of other senders would show.
const LISTEN: Duration = Duration::from_millis(100);

/// What one port heard.
#[derive(Debug)]
struct Heard {
    own_stream: Stream,
    /// Frames of the other port.
    other: Verifier,
    /// Frames of its own.
    own: u64,
    /// The first frame of another sender: its sender and type.
    stranger: Option<String>,
}

impl Heard {
    fn new(streams: &[Stream; 2], port: usize) -> Self {
        Self {
            own_stream: streams[port],
            other: Verifier::new(streams[1 - port]),
            own: 0,
            stranger: None,
        }
    }

    fn take(&mut self, frame: &[u8]) {
        if self.own_stream.number(frame).is_some() {
            self.own += 1;
            return;
        }
        self.other.take(frame, FRAMES);
        if self.stranger.is_none() && self.other.damages.contains_key(&Damage::Foreign) {
            self.stranger = Some(sender(frame));
        }
    }
}

/// Checks the wiring. Returns the finding, and whether the ports are cabled together.
pub(crate) fn check(ports: &mut Ports<'_>, run: u32, interrupt: &Interrupt) -> (Finding, bool) {
    // Numbers of another run: these frames are not part of the main exchange.
    let streams = [0, 1].map(|port| Stream { run: !run, port });
    let mut heard = [0, 1].map(|port| Heard::new(&streams, port));
    let mut frame = Vec::new();
    for (port, stream) in streams.iter().enumerate() {
        let packets = (0..FRAMES).filter_map(|number| {
            stream.write(number, &mut frame);
            ports.packet(port, &frame)
        });
        let mut packets = packets.collect();
        ports.send(port, &mut packets);
    }
    let begin = Instant::now();
    loop {
        for (port, heard) in heard.iter_mut().enumerate() {
            ports.receive(port, |frame| heard.take(frame));
        }
        let complete = heard.iter().all(|heard| heard.other.arrived == FRAMES);
        let now = begin.elapsed();
        if now >= LIMIT || (complete && now >= LISTEN) || interrupt.is_set() {
            break;
        }
    }
    let cabled = heard.iter().all(|heard| heard.other.arrived > 0);
    (judge(&heard), cabled)
}

/// The sender and the type of a frame.
fn sender(frame: &[u8]) -> String {
    let hex = |range: std::ops::Range<usize>, between: &str| {
        let bytes = frame.get(range).unwrap_or_default().iter();
        let bytes: Vec<_> = bytes.map(|byte| format!("{byte:02x}")).collect();
        bytes.join(between)
    };
    format!("{} (EtherType 0x{})", hex(6..12, ":"), hex(12..14, ""))
}

/// Says how the ports are wired.
fn judge(heard: &[Heard; 2]) -> Finding {
    let [at_0, at_1] = [heard[0].other.arrived, heard[1].other.arrived];
    let one_way = |from: usize, to: usize| {
        format!(
            "frames of port {from} arrive at port {to}, but none come back: a fibre is broken, or a \
             transmitter off"
        )
    };
    let mut wrong = Vec::new();
    match [at_0, at_1] {
        [0, 0] => wrong.push(
            "no frame of either port arrives at the other: the ports are not cabled together. \
             Connect the two ports that you named with one cable"
                .to_owned(),
        ),
        [0, _] => wrong.push(one_way(0, 1)),
        [_, 0] => wrong.push(one_way(1, 0)),
        _ => {}
    }
    for (port, Heard { own, stranger, .. }) in heard.iter().enumerate() {
        if *own > 0 {
            wrong.push(format!(
                "port {port} receives {own} of its own frames: a loop-back plug, or a switch that \
                 reflects them"
            ));
        }
        if let Some(sender) = stranger {
            wrong.push(format!(
                "port {port} receives frames from {sender}: it is cabled to something else, or a \
                 switch is in between"
            ));
        }
    }
    let right = format!("{at_1} frames arrived at port 1, {at_0} at port 0");
    Finding::unless(&wrong, "cable", right)
        .figure("received_by_port", [at_0, at_1])
        .figure("own_frames", [heard[0].own, heard[1].own])
        .figure("sent", FRAMES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_wiring_is_named() {
        let streams = [0, 1].map(|port| Stream { run: 1, port });
        let frames = streams.map(|stream| -> Vec<Vec<u8>> {
            let frame = |number| {
                let mut frame = Vec::new();
                stream.write(number, &mut frame);
                frame
            };
            (0..FRAMES).map(frame).collect()
        });
        let [from_0, from_1] = &frames;
        let (none, stranger) = (&vec![], &vec![vec![0x33; 60]]);
        let cases = [
            (from_1, from_0, "64 frames arrived at port 1, 64 at port 0"),
            (none, none, "not cabled together"),
            (none, from_0, "port 0 arrive at port 1, but none come back"),
            (from_1, none, "port 1 arrive at port 0, but none come back"),
            (from_0, none, "port 0 receives 64 of its own frames"),
            (stranger, none, "from 33:33:33:33:33:33 (EtherType 0x3333)"),
        ];
        for (at_0, at_1, says) in cases {
            let mut heard = [0, 1].map(|port| Heard::new(&streams, port));
            for (heard, frames) in heard.iter_mut().zip([at_0, at_1]) {
                frames.iter().for_each(|frame| heard.take(frame));
            }
            let found = judge(&heard).to_string();
            assert!(found.contains(says), "{found}");
            assert_eq!(found.starts_with("pass"), says.starts_with("64"), "{found}");
        }
    }
}
