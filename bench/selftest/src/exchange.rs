//! A million frames each way, of every size, compared byte by byte.

use std::time::{Duration, Instant};

use ixgbe::driver::mempool::Packet;
use perfcounters::Interrupt;

use crate::finding::Finding;
use crate::frame::{Stream, Verifier, MAX_SIZE, MIN_SIZE};
use crate::ports::Ports;

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

/// Longest time for the exchange.
fn limit(frames: u64) -> Duration {
    // A card takes 1.3 s for a million frames, and a machine without processor to spare much more.
    Duration::from_secs(20) + Duration::from_micros(40 * frames)
}

/// One direction of the exchange.
struct Direction<'p> {
    stream: Stream,
    verifier: Verifier,
    /// Frames that were handed to the driver.
    written: u64,
    /// Those that the driver has not taken yet.
    waiting: Vec<Packet<'p>>,
    /// Frames that were sent before the last pause and will not arrive any more.
    given_up: u64,
}

impl<'p> Direction<'p> {
    fn new(stream: Stream) -> Self {
        Self {
            stream,
            verifier: Verifier::new(stream),
            written: 0,
            waiting: Vec::new(),
            given_up: 0,
        }
    }

    /// Frames that the driver took.
    fn sent(&self) -> u64 {
        self.written - self.waiting.len() as u64
    }

    /// Sends as many frames as the window and the driver permit.
    fn send(&mut self, ports: &mut Ports<'p>, total: u64, frame: &mut Vec<u8>) {
        let port = usize::from(self.stream.port);
        let arrived = self.verifier.received + self.given_up;
        let room = WINDOW.saturating_sub(self.written.saturating_sub(arrived));
        for _ in 0..room.min(BATCH).min(total - self.written) {
            self.stream.write(self.written, frame);
            let Some(packet) = ports.packet(port, frame) else {
                break;
            };
            self.waiting.push(packet);
            self.written += 1;
        }
        if !self.waiting.is_empty() {
            ports.send(port, &mut self.waiting);
        }
    }
}

/// Exchanges `total` frames in each direction. Says a finding for each.
pub(crate) fn check(
    ports: &mut Ports<'_>,
    run: u32,
    total: u64,
    interrupt: &Interrupt,
    say: &mut dyn FnMut(Finding),
) {
    let mut directions = [0, 1].map(|port| Direction::new(Stream { run, port }));
    let mut frame = Vec::new();
    let begin = Instant::now();
    let (mut last_arrival, mut pauses) = (begin, 0);
    let ended_early = loop {
        let mut received = 0;
        for (from, direction) in directions.iter_mut().enumerate() {
            direction.send(ports, total, &mut frame);
            let sent = direction.sent();
            received += ports.receive(1 - from, |bytes| direction.verifier.take(bytes, sent));
        }
        let done = directions.iter().all(|it| it.sent() == total);
        if done && directions.iter().all(|it| it.verifier.arrived >= total) {
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
            for it in &mut directions {
                it.given_up = it.written.saturating_sub(it.verifier.received);
            }
            last_arrival = now;
        }
        if interrupt.is_set() {
            break Some("interrupted");
        }
        if now - begin > limit(total) {
            break Some("out of time");
        }
    };
    let seconds = begin.elapsed().as_secs_f64();
    for direction in &mut directions {
        say(judge(direction, total, seconds, ended_early));
    }
}

fn judge(
    direction: &mut Direction<'_>,
    total: u64,
    seconds: f64,
    ended_early: Option<&str>,
) -> Finding {
    let sent = direction.sent();
    let verifier = &mut direction.verifier;
    verifier.finish(sent);
    let intact = verifier.intact;
    let mut lines = vec![format!(
        "{intact} of {total} frames of {MIN_SIZE} to {MAX_SIZE} bytes intact, in {seconds:.1} s"
    )];
    lines.extend(ended_early.map(|why| format!("ended after {sent} frames: {why}")));
    let damages = verifier.damages.iter();
    lines.extend(damages.map(|(damage, it)| format!("{} {damage}; first: {}", it.count, it.first)));
    let port = direction.stream.port;
    let check = format!("frames {port} to {}", 1 - port);
    let finding = match (lines.as_slice(), sent == total) {
        ([line], true) => Finding::pass(check, line),
        (lines, _) => Finding::fail(check, lines.join("\n")),
    };
    finding
        .figure("sent", sent)
        .figure("received", verifier.received)
        .figure("intact", intact)
        .figure("damage", &verifier.damages)
        .figure("seconds", seconds)
}
