//! A million frames each way, of every size, compared byte by byte.

use std::time::{Duration, Instant};

use perfcounters::Interrupt;
use strum::IntoEnumIterator;

use super::finding::Finding;
use super::frame::{Damage, Stream, Verifier, MAX_SIZE, MIN_SIZE};
use super::library::{Frames, Ports};

/// Frames that may be on their way in each direction. A ring has 512 descriptors, so the receiver
/// drops none of them.
const WINDOW: u64 = 256;
/// Frames handed to the driver at once.
const BATCH: u64 = 32;
/// Frames that have not arrived after this time without any arrival are given up.
const PATIENCE: Duration = Duration::from_millis(500);
/// The same for the last frames. A software card may have to wait for a processor.
const LAST_PATIENCE: Duration = Duration::from_secs(2);
/// How often frames may be given up before the exchange ends early.
const MAX_PAUSES: u32 = 8;

/// The frames of one port.
struct Sender {
    stream: Stream,
    sent: u64,
    bytes: u64,
    /// Frames that were sent before the last pause and will not arrive any more.
    given_up: u64,
    /// Frames that the driver has not taken yet.
    waiting: Frames,
    written: u64,
}

impl Sender {
    fn new(stream: Stream) -> Self {
        Self {
            stream,
            sent: 0,
            bytes: 0,
            given_up: 0,
            waiting: Frames::new(),
            written: 0,
        }
    }

    /// Sends as many frames as the window and the driver permit.
    fn send(&mut self, ports: &mut Ports, total: u64, received: u64, frame: &mut Vec<u8>) {
        let on_their_way = self.written.saturating_sub(received + self.given_up);
        let room = WINDOW.saturating_sub(on_their_way).min(BATCH);
        for _ in 0..room.min(total - self.written) {
            self.stream.write(self.written, frame);
            self.waiting.push(frame);
            self.written += 1;
        }
        if self.waiting.is_empty() {
            return;
        }
        let sizes: Vec<_> = self.waiting.iter().map(|(_, size)| size as u64).collect();
        let taken = ports.send(u32::from(self.stream.port), &mut self.waiting);
        self.sent += taken as u64;
        self.bytes += sizes.iter().take(taken).map(|size| size + 4).sum::<u64>();
        self.waiting.remove(taken);
    }
}

/// One direction of the exchange, when it is over.
pub struct Direction {
    /// Frames that the sender's driver took.
    pub sent: u64,
    /// Their bytes, with CRC.
    pub sent_bytes: u64,
    /// What arrived.
    pub verifier: Verifier,
}

/// The result of an exchange.
pub struct Exchange {
    /// From port 0 to port 1, and back.
    pub directions: [Direction; 2],
    /// How long it took.
    pub time: Duration,
    /// Why it ended early.
    pub ended_early: Option<&'static str>,
}

/// Exchanges `total` frames in each direction, in at most `limit`.
pub fn run(
    ports: &mut Ports,
    run: u32,
    total: u64,
    limit: Duration,
    interrupt: &Interrupt,
) -> Exchange {
    let streams = [0, 1].map(|port| Stream { run, port });
    let mut senders = streams.map(Sender::new);
    let mut verifiers = streams.map(Verifier::new);
    let (mut arrived, mut frame) = (Frames::new(), Vec::new());
    let begin = Instant::now();
    let (mut last_arrival, mut pauses) = (begin, 0);
    let ended_early = loop {
        let mut received = 0;
        for from in 0..2 {
            let verifier = &mut verifiers[from];
            senders[from].send(ports, total, verifier.received(), &mut frame);
            ports.receive(1 - from as u32, &mut arrived);
            for (bytes, size) in arrived.iter() {
                verifier.take(bytes, size, senders[from].sent);
            }
            received += arrived.len();
        }
        let done = (0..2).all(|from| senders[from].sent == total);
        if done && verifiers.iter().all(|verifier| verifier.arrived() >= total) {
            break None;
        }
        let now = Instant::now();
        if received > 0 {
            last_arrival = now;
        } else if done && now - last_arrival > LAST_PATIENCE {
            break None;
        } else if !done && now - last_arrival > PATIENCE {
            pauses += 1;
            if pauses > MAX_PAUSES {
                break Some("too many pauses without any arrival");
            }
            for (sender, verifier) in senders.iter_mut().zip(&verifiers) {
                sender.given_up = sender.written.saturating_sub(verifier.received());
            }
            last_arrival = now;
        }
        if interrupt.is_set() {
            break Some("interrupted");
        }
        if now - begin > limit {
            break Some("out of time");
        }
    };
    let time = begin.elapsed();
    let [a, b] = senders;
    let [from_a, from_b] = verifiers;
    let direction = |sender: Sender, mut verifier: Verifier| {
        verifier.finish(sender.sent);
        Direction {
            sent: sender.sent,
            sent_bytes: sender.bytes,
            verifier,
        }
    };
    Exchange {
        directions: [direction(a, from_a), direction(b, from_b)],
        time,
        ended_early,
    }
}

impl Exchange {
    /// A finding for each direction.
    pub fn findings(&self, total: u64) -> Vec<Finding> {
        let pairs = self.directions.iter().enumerate();
        pairs
            .map(|(from, direction)| self.judge(from, direction, total))
            .collect()
    }

    fn judge(&self, from: usize, direction: &Direction, total: u64) -> Finding {
        let check = format!("frames {from} to {}", 1 - from);
        let verifier = &direction.verifier;
        let damages: Vec<_> = Damage::iter()
            .map(|damage| (damage, verifier.count(damage)))
            .filter(|(_, count)| *count > 0)
            .collect();
        let mut lines = vec![format!(
            "{} of {total} frames of {MIN_SIZE} to {MAX_SIZE} bytes intact, in {:.1} s",
            verifier.intact(),
            self.time.as_secs_f64()
        )];
        if let Some(why) = self.ended_early {
            lines.push(format!("ended after {} frames: {why}", direction.sent));
        }
        for (damage, count) in &damages {
            let example = verifier.examples().iter().find(|it| it.damage == *damage);
            let example = example.map(|it| it.text()).unwrap_or_default();
            lines.push(format!("{count} {damage}; first: {example}"));
        }
        let text = lines.join("\n");
        let good = damages.is_empty() && direction.sent == total && self.ended_early.is_none();
        let finding = match good {
            true => Finding::pass(check, text),
            false => Finding::fail(check, text),
        };
        let counts: std::collections::BTreeMap<_, _> = Damage::iter()
            .map(|damage| (damage.to_string(), verifier.count(damage)))
            .collect();
        finding
            .figure("sent", direction.sent)
            .figure("received", verifier.received())
            .figure("intact", verifier.intact())
            .figure("damage", counts)
            .figure("examples", verifier.examples())
            .figure("seconds", self.time.as_secs_f64())
    }
}
